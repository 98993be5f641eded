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
	cudaStream_t stream;
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

/* ---- What a recast by the library needs of a provider ------------------ */

STUB cublasStatus_t
cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	(void)handle;
	*version = CUBLAS_VERSION;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	handle->mode = mode;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode)
{
	*mode = handle->pointer_mode;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode)
{
	handle->pointer_mode = mode;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream)
{
	*stream = handle->stream;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
	handle->stream = stream;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha,
    const void *A, cudaDataType type_a, int lda, const void *B,
    cudaDataType type_b, int ldb, const void *beta, void *C,
    cudaDataType type_c, int ldc, cublasComputeType_t compute,
    cublasGemmAlgo_t algo)
{
	(void)handle, (void)transa, (void)transb, (void)m, (void)n, (void)k;
	(void)alpha, (void)A, (void)type_a, (void)lda, (void)B, (void)type_b;
	(void)ldb, (void)beta, (void)C, (void)type_c, (void)ldc, (void)algo;
	return compute == CUBLAS_COMPUTE_32F_FAST_TF32
	    || compute == CUBLAS_COMPUTE_32F ? CUBLAS_STATUS_SUCCESS
	    : CUBLAS_STATUS_INTERNAL_ERROR;
}

/* ---- What a lane mirrors ------------------------------------------------ */

STUB cublasStatus_t
cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
	(void)handle, (void)workspace, (void)bytes;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t *mode)
{
	(void)handle;
	*mode = CUBLAS_ATOMICS_NOT_ALLOWED;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode)
{
	(void)handle, (void)mode;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasGetSmCountTarget(cublasHandle_t handle, int *target)
{
	(void)handle;
	*target = 0;
	return CUBLAS_STATUS_SUCCESS;
}

STUB cublasStatus_t
cublasSetSmCountTarget(cublasHandle_t handle, int target)
{
	(void)handle, (void)target;
	return CUBLAS_STATUS_SUCCESS;
}

/* Its presence is all that is asked for. */
STUB cublasStatus_t
cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha,
    const void *A, cudaDataType type_a, int lda, long long stride_a,
    const void *B, cudaDataType type_b, int ldb, long long stride_b,
    const void *beta, void *C, cudaDataType type_c, int ldc,
    long long stride_c, int count, cublasComputeType_t compute,
    cublasGemmAlgo_t algo)
{
	(void)handle, (void)transa, (void)transb, (void)m, (void)n, (void)k;
	(void)alpha, (void)A, (void)type_a, (void)lda, (void)stride_a, (void)B;
	(void)type_b, (void)ldb, (void)stride_b, (void)beta, (void)C;
	(void)type_c, (void)ldc, (void)stride_c, (void)count, (void)compute;
	(void)algo;
	return CUBLAS_STATUS_INTERNAL_ERROR;
}

/* ---- Others ------------------------------------------------------------ */

#if CUBLAS_VERSION >= 120000
STUB cublasStatus_t
cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int64_t m, int64_t n, int64_t k,
    const float *alpha, const float *A, int64_t lda, const float *B,
    int64_t ldb, const float *beta, float *C, int64_t ldc)
{
	(void)handle, (void)transa, (void)transb, (void)m, (void)n, (void)k;
	(void)alpha, (void)A, (void)lda, (void)B, (void)ldb, (void)beta;
	(void)C, (void)ldc;
	return CUBLAS_STATUS_SUCCESS;
}
#endif

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
