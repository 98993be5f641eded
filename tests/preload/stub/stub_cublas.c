/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/stub/stub_cublas.c -- a libcublas that does nothing at all, at
 * once: what remains of a call's cost is the interposer's. Built with NVIDIA's
 * SONAME and version node, else it would not be what programs bind to. */
#include <cublas_api.h>

#include <stdlib.h>

#define STUB __attribute__((visibility("default")))
/* A function that does nothing, or fails, whatever its arguments are. */
#define ONLY(name, does) STUB __attribute__((alias(#does))) \
	__typeof__(name) name;
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif

struct cublasContext {
	cublasMath_t mode;
	cublasPointerMode_t pointer_mode;
	cudaStream_t stream;
};

static cublasStatus_t
succeed(void)
{
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
fail(void)
{
	return CUBLAS_STATUS_INTERNAL_ERROR;
}

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

ONLY(cublasSgemm_v2, succeed)
#if CUBLAS_VERSION >= 120000
ONLY(cublasSgemm_v2_64, succeed)
#endif

/* ---- What a recast by the library needs of a provider, and lanes mirror -- */

STUB cublasStatus_t
cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	(void)handle;
	*version = CUBLAS_VERSION;
	return CUBLAS_STATUS_SUCCESS;
}

#define GETS(what, type, value) \
STUB cublasStatus_t \
cublasGet##what(cublasHandle_t handle, type *value_out) \
{ \
	(void)handle; \
	*value_out = value; \
	return CUBLAS_STATUS_SUCCESS; \
}
#define REMEMBERS(what, type, field) \
GETS(what, type, handle->field) \
STUB cublasStatus_t \
cublasSet##what(cublasHandle_t handle, type value) \
{ \
	handle->field = value; \
	return CUBLAS_STATUS_SUCCESS; \
}
REMEMBERS(MathMode, cublasMath_t, mode)
REMEMBERS(PointerMode_v2, cublasPointerMode_t, pointer_mode)
REMEMBERS(Stream_v2, cudaStream_t, stream)
GETS(AtomicsMode, cublasAtomicsMode_t, CUBLAS_ATOMICS_NOT_ALLOWED)
GETS(SmCountTarget, int, 0)
ONLY(cublasSetAtomicsMode, succeed)
ONLY(cublasSetSmCountTarget, succeed)
ONLY(cublasSetWorkspace_v2, succeed)
ONLY(cublasGemmStridedBatchedEx, fail) /* it need only be there */

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
