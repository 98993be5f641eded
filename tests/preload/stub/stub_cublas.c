/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/stub/stub_cublas.c -- a libcublas that does nothing at all, at
 * once: what remains of a call's cost is the interposer's. Built with NVIDIA's
 * SONAME and version node, else it would not be what programs bind to. */
#include <cublas_api.h>

#include <stdlib.h>

#define STUB __attribute__((visibility("default")))

struct cublasContext {
	cublasMath_t mode;
	cublasPointerMode_t pointer_mode;
};

STUB cublasStatus_t
cublasCreate_v2(cublasHandle_t *handle)
{
	*handle = calloc(1, sizeof **handle);
	return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

STUB cublasStatus_t
cublasDestroy_v2(cublasHandle_t handle)
{
	free(handle);
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
	*mode = handle->mode;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *A, int lda, const float *B, int ldb, const float *beta,
    float *C, int ldc)
{
	(void)handle, (void)transa, (void)transb, (void)m, (void)n, (void)k;
	(void)alpha, (void)A, (void)lda, (void)B, (void)ldb, (void)beta;
	(void)C, (void)ldc;
	return CUBLAS_STATUS_SUCCESS;
}

/* Ten arguments, four of them on the stack, and a count that proves that all
 * of them arrived behind a marker's jump. */
STUB cublasStatus_t
cublasStrsm_v2(cublasHandle_t handle, cublasSideMode_t side,
    cublasFillMode_t uplo, cublasOperation_t trans, cublasDiagType_t diag,
    int m, int n, const float *alpha, const float *A, int lda, float *B,
    int ldb)
{
	const int seen = (int)side + uplo + trans + diag + m + n + lda + ldb;

	return handle && alpha && A && B && seen == 8128
	    ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
