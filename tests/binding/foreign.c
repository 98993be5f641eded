/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/foreign.c -- somebody else's interposer of cublasSgemm_v2, in
 * the usual way: defines the name, asks dlsym(RTLD_NEXT) once. */
#include "client.h"
#include "stub.h"

#include <dlfcn.h>
#include <stdint.h>

cublasStatus_t
cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *A, int lda, const float *B, int ldb, const float *beta,
    float *C, int ldc)
{
	static sgemm_fn next;

	if (!next)
		next = (sgemm_fn)(uintptr_t)dlsym(RTLD_NEXT, "cublasSgemm_v2");
	say("foreign.so", "cublasSgemm_v2");
	return next ? next(handle, transa, transb, m, n, k, alpha, A, lda, B,
	    ldb, beta, C, ldc) : CUBLAS_STATUS_INTERNAL_ERROR;
}
