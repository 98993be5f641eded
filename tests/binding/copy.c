/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/copy.c -- a library with a cuBLAS of its own that anybody can
 * see, as of a plugin that was linked to the static one. Its answer is 77. */
#include "client.h"

struct cublasContext {
	int answer;
};

cublasStatus_t
cublasCreate_v2(cublasHandle_t *handle)
{
	static struct cublasContext context = { 77 };

	*handle = &context;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasDestroy_v2(cublasHandle_t handle)
{
	return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t
cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *A, int lda, const float *B, int ldb, const float *beta,
    float *C, int ldc)
{
	(void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha;
	(void)A, (void)lda, (void)B, (void)ldb, (void)beta, (void)C, (void)ldc;
	return (cublasStatus_t)handle->answer;
}
