/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_gemm_entry.c -- the exported matrix products: packs
 * each argument list into a struct emu_gemm, and does nothing else. */
#include "emulator/cublas/cublas_gemm.h"

#define HEAD(index) cublasHandle_t handle, cublasOperation_t transa,      \
	cublasOperation_t transb, index m, index n, index k
#define OPERAND(pointer, type_, ld_, stride_) { .data = pointer,          \
	.type = type_, .ld = ld_, .stride = stride_ }
#define POINTER_OPERAND(pointer, type_, ld_) {                            \
	.array = (const void *const *)pointer, .type = type_, .ld = ld_ }

#define SINGLE_PARAMS(index, elem) HEAD(index), const elem *alpha,        \
	const elem *A, index lda, const elem *B, index ldb,               \
	const elem *beta, elem *C, index ldc
#define SINGLE_PACK(t) .batch = 1, .a = OPERAND(A, t, lda, 0),            \
	.b = OPERAND(B, t, ldb, 0), .c = OPERAND(C, t, ldc, 0)
#define SINGLE_COMPUTE(t) plain(t)

#define TYPED_PARAMS(index, elem) HEAD(index), const elem *alpha,         \
	const void *A, cudaDataType Atype, index lda, const void *B,      \
	cudaDataType Btype, index ldb, const elem *beta, void *C,         \
	cudaDataType Ctype, index ldc
#define TYPED_PACK(t) .batch = 1, .a = OPERAND(A, Atype, lda, 0),         \
	.b = OPERAND(B, Btype, ldb, 0), .c = OPERAND(C, Ctype, ldc, 0)
#define TYPED_COMPUTE(t) CUBLAS_COMPUTE_32F

#define EX_PARAMS(index, elem) TYPED_PARAMS(index, elem),                 \
	cublasComputeType_t compute, cublasGemmAlgo_t algorithm
#define EX_PACK(t) TYPED_PACK(t)
#define EX_COMPUTE(t) ((void)algorithm, compute)

#define STRIDED_PARAMS(index, elem) HEAD(index), const elem *alpha,       \
	const elem *A, index lda, long long strideA, const elem *B,       \
	index ldb, long long strideB, const elem *beta, elem *C,          \
	index ldc, long long strideC, index batch
#define STRIDED_PACK(t) .batch = batch,                                   \
	.a = OPERAND(A, t, lda, strideA),                                 \
	.b = OPERAND(B, t, ldb, strideB), .c = OPERAND(C, t, ldc, strideC)
#define STRIDED_COMPUTE(t) plain(t)

#define STRIDED_EX_PARAMS(index, elem) HEAD(index), const elem *alpha,    \
	const void *A, cudaDataType Atype, index lda, long long strideA,  \
	const void *B, cudaDataType Btype, index ldb, long long strideB,  \
	const elem *beta, void *C, cudaDataType Ctype, index ldc,         \
	long long strideC, index batch, cublasComputeType_t compute,      \
	cublasGemmAlgo_t algorithm
#define STRIDED_EX_PACK(t) .batch = batch,                                \
	.a = OPERAND(A, Atype, lda, strideA),                             \
	.b = OPERAND(B, Btype, ldb, strideB),                             \
	.c = OPERAND(C, Ctype, ldc, strideC)
#define STRIDED_EX_COMPUTE(t) ((void)algorithm, compute)

#define POINTERS_PARAMS(index, elem) HEAD(index), const elem *alpha,      \
	const elem *const A[], index lda, const elem *const B[],          \
	index ldb, const elem *beta, elem *const C[], index ldc,          \
	index batch
#define POINTERS_PACK(t) .batch = batch, .a = POINTER_OPERAND(A, t, lda), \
	.b = POINTER_OPERAND(B, t, ldb), .c = POINTER_OPERAND(C, t, ldc)
#define POINTERS_COMPUTE(t) plain(t)

#define POINTERS_EX_PARAMS(index, elem) HEAD(index), const elem *alpha,   \
	const void *const A[], cudaDataType Atype, index lda,             \
	const void *const B[], cudaDataType Btype, index ldb,             \
	const elem *beta, void *const C[], cudaDataType Ctype, index ldc, \
	index batch, cublasComputeType_t compute,                         \
	cublasGemmAlgo_t algorithm
#define POINTERS_EX_PACK(t) .batch = batch,                               \
	.a = POINTER_OPERAND(A, Atype, lda),                              \
	.b = POINTER_OPERAND(B, Btype, ldb),                              \
	.c = POINTER_OPERAND(C, Ctype, ldc)
#define POINTERS_EX_COMPUTE(t) ((void)algorithm, compute)

/* The compute type of calls that do not name one. */
static cublasComputeType_t
plain(cudaDataType type)
{
	return type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}

#define ENTRY(shape, symbol, index, elem, storage)                        \
cublasStatus_t                                                            \
symbol(shape##_PARAMS(index, elem))                                       \
{                                                                         \
	struct emu_gemm g = {                                             \
		.transa = transa, .transb = transb, .m = m, .n = n, .k = k, \
		shape##_PACK(storage)                                     \
	};                                                                \
	BLAS_ENTER(handle);                                               \
	return emu_gemm_call(handle, &g, alpha, beta,                     \
	    shape##_COMPUTE(storage));                                    \
}
#define GEMM(shape, symbol, elem, storage)                                \
	ENTRY(shape, symbol, int, elem, storage)                          \
	ENTRY(shape, symbol##_64, int64_t, elem, storage)
#include "emulator/cublas/cublas_gemm.def"
