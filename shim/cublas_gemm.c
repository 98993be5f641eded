/* SPDX-License-Identifier: Apache-2.0 */
/* shim/cublas_gemm.c -- the wrappers of cublas_gemm.def: pack the arguments,
 * hand them to gemm.c, make the original call if that recast nothing.
 * The original call is made with the program's own arguments, in sight. */
#include "base/guard.h"
#include "policy/op.h"
#include "shim/gemm.h"

/* ---- Shapes: parameters, arguments, packing ---------------------------- */

#define HEAD(index) \
	cublasHandle_t handle, cublasOperation_t transa, \
	cublasOperation_t transb, index m, index n, index k

#define SINGLE_PARAMS(index) HEAD(index), const float *alpha, \
	const float *A, index lda, const float *B, index ldb, \
	const float *beta, float *C, index ldc
#define SINGLE_ARGS handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, \
	beta, C, ldc
#define SINGLE_PACK .operation = AC_OP_GEMM_SINGLE, .rewritable = true, \
	.batch = 1, .a = { A, CUDA_R_32F, lda, 0 }, \
	.b = { B, CUDA_R_32F, ldb, 0 }, .c = { C, CUDA_R_32F, ldc, 0 }

#define STRIDED_PARAMS(index) HEAD(index), const float *alpha, \
	const float *A, index lda, long long stride_a, \
	const float *B, index ldb, long long stride_b, \
	const float *beta, float *C, index ldc, long long stride_c, index count
#define STRIDED_ARGS handle, transa, transb, m, n, k, alpha, A, lda, \
	stride_a, B, ldb, stride_b, beta, C, ldc, stride_c, count
#define STRIDED_PACK .operation = AC_OP_GEMM_STRIDED, .rewritable = true, \
	.batch = count, .a = { A, CUDA_R_32F, lda, stride_a }, \
	.b = { B, CUDA_R_32F, ldb, stride_b }, \
	.c = { C, CUDA_R_32F, ldc, stride_c }

#define POINTERS_PARAMS(index) HEAD(index), const float *alpha, \
	const float *const A[], index lda, const float *const B[], index ldb, \
	const float *beta, float *const C[], index ldc, index count
#define POINTERS_ARGS handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, \
	beta, C, ldc, count
#define POINTERS_PACK .operation = AC_OP_GEMM_BATCHED, .batch = count, \
	.a = { A, CUDA_R_32F, lda, 0 }, .b = { B, CUDA_R_32F, ldb, 0 }, \
	.c = { C, CUDA_R_32F, ldc, 0 }

#define SGEMM_EX_PARAMS(index) HEAD(index), const float *alpha, \
	const void *A, cudaDataType type_a, index lda, \
	const void *B, cudaDataType type_b, index ldb, \
	const float *beta, void *C, cudaDataType type_c, index ldc
#define SGEMM_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, lda, \
	B, type_b, ldb, beta, C, type_c, ldc
#define SGEMM_EX_PACK .operation = AC_OP_GEMM_SINGLE, .batch = 1, \
	.a = { A, type_a, lda, 0 }, .b = { B, type_b, ldb, 0 }, \
	.c = { C, type_c, ldc, 0 }

#define GEMM_EX_PARAMS(index) HEAD(index), const void *alpha, \
	const void *A, cudaDataType type_a, index lda, \
	const void *B, cudaDataType type_b, index ldb, \
	const void *beta, void *C, cudaDataType type_c, index ldc, \
	cublasComputeType_t compute, cublasGemmAlgo_t algo
#define GEMM_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, lda, \
	B, type_b, ldb, beta, C, type_c, ldc, compute, algo
#define GEMM_EX_PACK .operation = AC_OP_GEMM_SINGLE, .rewritable = true, \
	.batch = 1, .compute = (int)compute, .a = { A, type_a, lda, 0 }, \
	.b = { B, type_b, ldb, 0 }, .c = { C, type_c, ldc, 0 }

#define STRIDED_EX_PARAMS(index) HEAD(index), const void *alpha, \
	const void *A, cudaDataType type_a, index lda, long long stride_a, \
	const void *B, cudaDataType type_b, index ldb, long long stride_b, \
	const void *beta, void *C, cudaDataType type_c, index ldc, \
	long long stride_c, index count, cublasComputeType_t compute, \
	cublasGemmAlgo_t algo
#define STRIDED_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, \
	lda, stride_a, B, type_b, ldb, stride_b, beta, C, type_c, ldc, \
	stride_c, count, compute, algo
#define STRIDED_EX_PACK .operation = AC_OP_GEMM_STRIDED, .rewritable = true, \
	.batch = count, .compute = (int)compute, \
	.a = { A, type_a, lda, stride_a }, .b = { B, type_b, ldb, stride_b }, \
	.c = { C, type_c, ldc, stride_c }

#define POINTERS_EX_PARAMS(index) HEAD(index), const void *alpha, \
	const void *const A[], cudaDataType type_a, index lda, \
	const void *const B[], cudaDataType type_b, index ldb, \
	const void *beta, void *const C[], cudaDataType type_c, index ldc, \
	index count, cublasComputeType_t compute, cublasGemmAlgo_t algo
#define POINTERS_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, \
	lda, B, type_b, ldb, beta, C, type_c, ldc, count, compute, algo
#define POINTERS_EX_PACK .operation = AC_OP_GEMM_BATCHED, .batch = count, \
	.compute = (int)compute, .a = { A, type_a, lda, 0 }, \
	.b = { B, type_b, ldb, 0 }, .c = { C, type_c, ldc, 0 }

/* Grouped calls hold several products, described one by one in host arrays
 * (only the matrices' pointers are in device memory). */
#define GROUPS(index) \
	cublasHandle_t handle, const cublasOperation_t transa[], \
	const cublasOperation_t transb[], const index m[], const index n[], \
	const index k[]

#define GROUPED_PARAMS(index) GROUPS(index), const float alpha[], \
	const float *const A[], const index lda[], \
	const float *const B[], const index ldb[], const float beta[], \
	float *const C[], const index ldc[], index groups, const index size[]
#define GROUPED_ARGS handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, \
	beta, C, ldc, groups, size
#define GROUPED_TYPES(kind) kind(CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 0)

#define GROUPED_EX_PARAMS(index) GROUPS(index), const void *alpha, \
	const void *const A[], cudaDataType type_a, const index lda[], \
	const void *const B[], cudaDataType type_b, const index ldb[], \
	const void *beta, void *const C[], cudaDataType type_c, \
	const index ldc[], index groups, const index size[], \
	cublasComputeType_t compute
#define GROUPED_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, \
	lda, B, type_b, ldb, beta, C, type_c, ldc, groups, size, compute
#define GROUPED_EX_TYPES(kind) kind(type_a, type_b, type_c, (int)compute)

/* ---- Wrappers ---------------------------------------------------------- */

/* One product per call: recast it, or make the original call. */
#define ONE_PRODUCT(shape, symbol, index)                                     \
AC_EXPORT cublasStatus_t CUBLASWINAPI                                         \
symbol(shape##_PARAMS(index))                                                 \
{                                                                             \
	const struct ac_gemm g = {                                            \
		.entry = ENTRY_##symbol, .handle = handle,                    \
		.caller = __builtin_return_address(0),                        \
		.transa = transa, .transb = transb, .m = m, .n = n, .k = k,   \
		.alpha = alpha, .beta = beta, shape##_PACK                    \
	};                                                                    \
	const bool outermost = ac_guard_enter(); /* cuBLAS calls itself */    \
	cublasStatus_t status;                                                \
	ac_fn next;                                                           \
	if (!outermost)                                                       \
		next = ac_gemm_next(&g);                                      \
	if (!outermost || !ac_gemm_recast(&g, &next, &status))                \
		status = ((__typeof__(&symbol))next)(shape##_ARGS);           \
	if (outermost)                                                        \
		ac_guard_leave();                                             \
	return status;                                                        \
}

/* Several products per call: each is counted, none is recast. The arrays are
 * read only as far as `groups` says and only when they are all there. */
#define GROUP(types_a, types_b, types_c, compute_type)                        \
	struct ac_gemm g = {                                                  \
		.entry = entry, .handle = handle,                             \
		.caller = __builtin_return_address(0),                        \
		.operation = AC_OP_GEMM_GROUPED, .compute = compute_type,     \
		.a.type = types_a, .b.type = types_b, .c.type = types_c       \
	};

#define SEVERAL_PRODUCTS(shape, symbol, index)                                \
AC_EXPORT cublasStatus_t CUBLASWINAPI                                         \
symbol(shape##_PARAMS(index))                                                 \
{                                                                             \
	const enum ac_entry entry = ENTRY_##symbol;                           \
	shape##_TYPES(GROUP)                                                  \
	const bool outermost = ac_guard_enter();                              \
	const bool complete = transa && transb && m && n && k && size;        \
	ac_fn next = ac_gemm_next(&g);                                        \
	cublasStatus_t status;                                                \
	for (index i = 0; outermost && complete && i < groups; i++) {         \
		g.transa = transa[i];                                         \
		g.transb = transb[i];                                         \
		g.m = m[i];                                                   \
		g.n = n[i];                                                   \
		g.k = k[i];                                                   \
		g.batch = size[i];                                            \
		ac_gemm_recast(&g, &next, &status);                           \
	}                                                                     \
	status = ((__typeof__(&symbol))next)(shape##_ARGS);                   \
	if (outermost)                                                        \
		ac_guard_leave();                                             \
	return status;                                                        \
}

#define SINGLE_WRAPPER ONE_PRODUCT
#define STRIDED_WRAPPER ONE_PRODUCT
#define POINTERS_WRAPPER ONE_PRODUCT
#define SGEMM_EX_WRAPPER ONE_PRODUCT
#define GEMM_EX_WRAPPER ONE_PRODUCT
#define STRIDED_EX_WRAPPER ONE_PRODUCT
#define POINTERS_EX_WRAPPER ONE_PRODUCT
#define GROUPED_WRAPPER SEVERAL_PRODUCTS
#define GROUPED_EX_WRAPPER SEVERAL_PRODUCTS

#define GEMM(shape, symbol, index) shape##_WRAPPER(shape, symbol, index)
#include "shim/cublas_gemm.def"
