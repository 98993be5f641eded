/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_legacy.c -- cuBLAS calls without a handle: the
 * first API, on the legacy stream. Contracts are NVIDIA's. */
#include "emulator/cublas/cublas_gemm.h"
#include "emulator/names/keep.h"

static struct cublasContext only; /* its context: the current one */
static _Thread_local cublasStatus_t last;

static cublasStatus_t
check_only(void)
{
	atomic_store_explicit(&only.base.mark, emu_toolkit.mark,
	    memory_order_relaxed);
	return emu_blas_check(&only);
}

cublasStatus_t
cublasInit(void)
{
	EMU_ENTER(&emu_blas);
	return check_only();
}

cublasStatus_t
cublasShutdown(void)
{
	EMU_ENTER(&emu_blas);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasGetError(void)
{
	const cublasStatus_t status = last;

	last = CUBLAS_STATUS_SUCCESS;
	return status;
}

void
emu_stub_keep(int status)
{
	last = (cublasStatus_t)status;
}

cublasStatus_t
cublasAlloc(int n, int element, void **pointer)
{
	cublasStatus_t status;

	EMU_ENTER(&emu_blas);
	status = check_only();
	if (!status && (n <= 0 || element <= 0 || !pointer))
		status = CUBLAS_STATUS_INVALID_VALUE;
	return status ? status : emu_blas_status(emu_memory_allocate(
	    (size_t)n * (size_t)element, EMU_MEMORY_DEVICE, pointer));
}

cublasStatus_t
cublasFree(void *pointer)
{
	EMU_ENTER(&emu_blas);
	return emu_blas_status(emu_memory_free(pointer, false));
}

static cublasOperation_t
operation(char letter)
{
	switch (letter) {
	case 'n':
	case 'N':
		return CUBLAS_OP_N;
	case 't':
	case 'T':
		return CUBLAS_OP_T;
	case 'c':
	case 'C':
		return CUBLAS_OP_C;
	default:
		return (cublasOperation_t)-1;
	}
}

#define LEGACY_GEMM(symbol, T, storage, compute)                          \
void                                                                      \
symbol(char transa, char transb, int m, int n, int k, T alpha,            \
    const T *A, int lda, const T *B, int ldb, T beta, T *C, int ldc)      \
{                                                                         \
	static struct emu_call entry = { .name = __func__ };              \
	struct emu_gemm g = {                                             \
		.transa = operation(transa), .transb = operation(transb), \
		.m = m, .n = n, .k = k, .batch = 1,                       \
		.a = { .data = A, .type = storage, .ld = lda },           \
		.b = { .data = B, .type = storage, .ld = ldb },           \
		.c = { .data = C, .type = storage, .ld = ldc }            \
	};                                                                \
	int status = emu_call_enter(&entry, &emu_blas);                   \
	if (!status)                                                      \
		status = check_only();                           \
	if (!status)                                                      \
		status = emu_gemm_call(&only, &g, &alpha, &beta, compute); \
	if (status)                                                       \
		last = (cublasStatus_t)status;                            \
}
LEGACY_GEMM(cublasSgemm, float, CUDA_R_32F, CUBLAS_COMPUTE_32F)
LEGACY_GEMM(cublasDgemm, double, CUDA_R_64F, CUBLAS_COMPUTE_64F)
LEGACY_GEMM(cublasCgemm, cuComplex, CUDA_C_32F, CUBLAS_COMPUTE_32F)
