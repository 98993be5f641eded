/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/lt_world.h -- libcublasLt as a provider: the emulated one, or
 * the file that LT_LIBRARY names: what we read there needs no GPU. */
#ifndef TESTS_LT_WORLD_H
#define TESTS_LT_WORLD_H

#include "shim/lt/content.h"

#include <stdbool.h>
#include <string.h>

enum { LT_PROVIDERS = 2, LT_POISON = 0xee };

/* Two of the same library. `lacks` is what they lack, or NULL. */
extern struct ac_provider lt_providers[LT_PROVIDERS];
extern const char *lt_lacks;

/* Open the library, for a test program's first line; prints its version. */
void lt_world_open(void);
/* Providers that nothing was learnt of. */
void lt_world_clear(void);

/* A function of the library, that we call or not. */
ac_fn lt_function(const char *symbol);
#define LT(symbol) ((__typeof__(&symbol))lt_function(#symbol))

/* ---- Descriptors, poisoned first, as those on a stack are ---------------- */

/* Larger than any, so that what lies behind is poison. */
union lt_operation {
	cublasLtMatmulDescOpaque_t opaque;
	unsigned char bytes[512];
};
union lt_matrix {
	cublasLtMatrixLayoutOpaque_t opaque;
	unsigned char bytes[128];
};
struct lt_call {
	union lt_operation operation;
	union lt_matrix a, b, c, d;
	struct ac_lt_asked asked; /* of all of those */
};

/* op(A) is m x k, FP32 and in column order; the descriptor has `bytes`, its
 * header's size for 0. */
void lt_call_init(struct lt_call *call, size_t bytes);

/* The library's status. */
int lt_set(struct lt_call *call, int attribute, const void *value,
    size_t bytes);
int lt_set_layout(union lt_matrix *matrix, int attribute, const void *value,
    size_t bytes);
/* The size of an attribute of the descriptor and its value, at most 16 bytes;
 * 0: it has none of that number. */
size_t lt_get(struct lt_call *call, int attribute, void *value_out);

#define LT_SET(call, name, value) assert_int_equal(lt_set(call,           \
    CUBLASLT_MATMUL_DESC_##name, &(value), sizeof (value)), 0)
#define LT_SET_LAYOUT(matrix, name, value) assert_int_equal(              \
    lt_set_layout(matrix, CUBLASLT_MATRIX_LAYOUT_##name, &(value),        \
    sizeof (value)), 0)

#endif
