/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/client.h -- the one product that every program here asks for,
 * and how it prints what it got. */
#ifndef TESTS_BINDING_CLIENT_H
#define TESTS_BINDING_CLIENT_H

#include <cublas_api.h>

#include <stdio.h>

struct client_data {
	float one, a[64], b[64], c[64];
};

/* `sgemm`, a name or a pointer, on 8 x 8 matrices. */
#define MULTIPLY(sgemm, handle) __extension__ ({ \
	struct client_data data = { .one = 1 }; \
	(int)sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, 8, &data.one, \
	    data.a, 8, data.b, 8, &data.one, data.c, 8); \
})

typedef __typeof__(&cublasSgemm_v2) sgemm_fn;
typedef __typeof__(&cublasCreate_v2) create_fn;
typedef __typeof__(&cublasDestroy_v2) destroy_fn;

/* Unbuffered: the stubs' lines come in between. */
static inline void
print_status(const char *what, int status)
{
	dprintf(1, "%s %d\n", what, status);
}

#endif
