/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_xt.c -- the part of cuBLASXt that is emulated: one
 * product, in host or device memory, done when the call returns. Contracts are
 * NVIDIA's. */
#define EMU_BLAS_XT
#include "emulator/cublas/cublas_gemm.h"

#include <limits.h>
#include <stdlib.h>

struct cublasXtContext {
	int block_dimension;
};

cublasStatus_t
cublasXtCreate(cublasXtHandle_t *handle)
{
	cublasStatus_t status;

	EMU_ENTER(&emu_blas);
	status = handle ? emu_blas_status(emu_device_enter()) :
	    CUBLAS_STATUS_INVALID_VALUE;
	if (!status) {
		struct cublasXtContext *new = calloc(1, sizeof *new);

		if (!new)
			return CUBLAS_STATUS_ALLOC_FAILED;
		new->block_dimension = 2048;
		*handle = new;
	}
	return status;
}

cublasStatus_t
cublasXtDestroy(cublasXtHandle_t handle)
{
	EMU_ENTER(&emu_blas);
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	free(handle);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[])
{
	EMU_ENTER(&emu_blas);
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	for (int i = 0; i < count; i++)
		if (!devices || !emu_device_exists(devices[i]))
			return CUBLAS_STATUS_INVALID_VALUE;
	return count > 0 ? CUBLAS_STATUS_SUCCESS :
	    CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t
cublasXtSetBlockDim(cublasXtHandle_t handle, int dimension)
{
	EMU_ENTER(&emu_blas);
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (dimension <= 0)
		return CUBLAS_STATUS_INVALID_VALUE;
	handle->block_dimension = dimension;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, size_t m, size_t n, size_t k,
    const float *alpha, const float *A, size_t lda, const float *B,
    size_t ldb, const float *beta, float *C, size_t ldc)
{
	const bool ta = transa != CUBLAS_OP_N, tb = transb != CUBLAS_OP_N;
	struct emu_gemm g = {
		.transa = transa, .transb = transb, .m = (int64_t)m,
		.n = (int64_t)n, .k = (int64_t)k, .batch = 1,
		.arithmetic = EMU_FP32,
		.a = { .data = A, .type = CUDA_R_32F, .ld = (int64_t)lda },
		.b = { .data = B, .type = CUDA_R_32F, .ld = (int64_t)ldb },
		.c = { .data = C, .type = CUDA_R_32F, .ld = (int64_t)ldc }
	};

	EMU_ENTER(&emu_blas);
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (!alpha || !beta || lda < (ta ? k : m) || ldb < (tb ? n : k) ||
	    ldc < m || m > INT_MAX || n > INT_MAX || k > INT_MAX)
		return CUBLAS_STATUS_INVALID_VALUE;
	g.alpha.value = (double)*alpha;
	g.beta.value = (double)*beta;
	emu_stream_wait_all();
	if (m && n)
		emu_product_run(&g);
	return CUBLAS_STATUS_SUCCESS;
}
