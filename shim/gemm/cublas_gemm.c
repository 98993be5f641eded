/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/cublas_gemm.c -- the wrappers of cuBLAS's products: pack the
 * arguments, hand them to gemm.c, make the original call if that recast
 * nothing. The original call is made with the program's own arguments, in
 * sight. */
#include "shim/gemm/gemm.h"
#include "shim/bind/wrapper.h"

/* ---- Shapes: parameters, arguments, packing ----------------------------
 * ..._ALGO: the algorithm that the program names, where it can.
 * ..._LOCALS: what ONE_PRODUCT names, and the program does not. */

#define HEAD(index) \
	cublasHandle_t handle, cublasOperation_t transa, \
	cublasOperation_t transb, index m, index n, index k

/* All members are set: nothing is cleared first. */
#define PLAIN .in_arrays = false, .symmetric = 0
#define IN_ARRAYS .in_arrays = true, .symmetric = 0

#define SINGLE_PARAMS(index) HEAD(index), const float *alpha, \
	const float *A, index lda, const float *B, index ldb, \
	const float *beta, float *C, index ldc
#define SINGLE_ARGS handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, \
	beta, C, ldc
#define SINGLE_FORM AC_TYPE_F32, AC_ASKED_UNSAID
#define SINGLE_BATCH 1
#define SINGLE_LOCALS(index)
#define SINGLE_ALGO CUBLAS_GEMM_DEFAULT
#define SINGLE_OPERANDS PLAIN, .a = { A, CUDA_R_32F, lda, 0 }, \
	.b = { B, CUDA_R_32F, ldb, 0 }, .c = { C, CUDA_R_32F, ldc, 0 }

#define STRIDED_PARAMS(index) HEAD(index), const float *alpha, \
	const float *A, index lda, long long stride_a, \
	const float *B, index ldb, long long stride_b, \
	const float *beta, float *C, index ldc, long long stride_c, index count
#define STRIDED_ARGS handle, transa, transb, m, n, k, alpha, A, lda, \
	stride_a, B, ldb, stride_b, beta, C, ldc, stride_c, count
#define STRIDED_FORM AC_TYPE_F32, AC_ASKED_UNSAID
#define STRIDED_BATCH count
#define STRIDED_LOCALS(index)
#define STRIDED_ALGO CUBLAS_GEMM_DEFAULT
#define STRIDED_OPERANDS .a = { A, CUDA_R_32F, lda, stride_a }, \
	.b = { B, CUDA_R_32F, ldb, stride_b }, \
	.c = { C, CUDA_R_32F, ldc, stride_c }, PLAIN

#define POINTERS_PARAMS(index) HEAD(index), const float *alpha, \
	const float *const A[], index lda, const float *const B[], index ldb, \
	const float *beta, float *const C[], index ldc, index count
#define POINTERS_ARGS handle, transa, transb, m, n, k, alpha, A, lda, B, ldb, \
	beta, C, ldc, count
#define POINTERS_FORM AC_TYPE_F32, AC_ASKED_UNSAID
#define POINTERS_BATCH count
#define POINTERS_LOCALS(index)
#define POINTERS_ALGO CUBLAS_GEMM_DEFAULT
#define POINTERS_OPERANDS .a = { A, CUDA_R_32F, lda, 0 }, \
	.b = { B, CUDA_R_32F, ldb, 0 }, .c = { C, CUDA_R_32F, ldc, 0 }, \
	IN_ARRAYS

#define COMPLEX_PARAMS(index) HEAD(index), const cuComplex *alpha, \
	const cuComplex *A, index lda, const cuComplex *B, index ldb, \
	const cuComplex *beta, cuComplex *C, index ldc
#define COMPLEX_ARGS SINGLE_ARGS
#define COMPLEX_FORM AC_TYPE_C32, AC_ASKED_UNSAID
#define COMPLEX_BATCH 1
#define COMPLEX_LOCALS(index)
#define COMPLEX_ALGO CUBLAS_GEMM_DEFAULT
#define COMPLEX_OPERANDS PLAIN, .a = { A, CUDA_C_32F, lda, 0 }, \
	.b = { B, CUDA_C_32F, ldb, 0 }, .c = { C, CUDA_C_32F, ldc, 0 }

#define COMPLEX_STRIDED_PARAMS(index) HEAD(index), const cuComplex *alpha, \
	const cuComplex *A, index lda, long long stride_a, \
	const cuComplex *B, index ldb, long long stride_b, \
	const cuComplex *beta, cuComplex *C, index ldc, long long stride_c, \
	index count
#define COMPLEX_STRIDED_ARGS STRIDED_ARGS
#define COMPLEX_STRIDED_FORM AC_TYPE_C32, AC_ASKED_UNSAID
#define COMPLEX_STRIDED_BATCH count
#define COMPLEX_STRIDED_LOCALS(index)
#define COMPLEX_STRIDED_ALGO CUBLAS_GEMM_DEFAULT
#define COMPLEX_STRIDED_OPERANDS .a = { A, CUDA_C_32F, lda, stride_a }, \
	.b = { B, CUDA_C_32F, ldb, stride_b }, \
	.c = { C, CUDA_C_32F, ldc, stride_c }, PLAIN

#define COMPLEX_EX_PARAMS(index) HEAD(index), const cuComplex *alpha, \
	const void *A, cudaDataType type_a, index lda, \
	const void *B, cudaDataType type_b, index ldb, \
	const cuComplex *beta, void *C, cudaDataType type_c, index ldc
#define COMPLEX_EX_ARGS SGEMM_EX_ARGS
#define COMPLEX_EX_FORM SGEMM_EX_FORM
#define COMPLEX_EX_BATCH 1
#define COMPLEX_EX_LOCALS(index)
#define COMPLEX_EX_ALGO CUBLAS_GEMM_DEFAULT
#define COMPLEX_EX_OPERANDS SGEMM_EX_OPERANDS

#define SGEMM_EX_PARAMS(index) HEAD(index), const float *alpha, \
	const void *A, cudaDataType type_a, index lda, \
	const void *B, cudaDataType type_b, index ldb, \
	const float *beta, void *C, cudaDataType type_c, index ldc
#define SGEMM_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, lda, \
	B, type_b, ldb, beta, C, type_c, ldc
#define SGEMM_EX_FORM ac_type_class_of(type_a, type_b, type_c, \
	CUBLAS_COMPUTE_32F), AC_ASKED_UNSAID
#define SGEMM_EX_BATCH 1
#define SGEMM_EX_LOCALS(index)
#define SGEMM_EX_ALGO CUBLAS_GEMM_DEFAULT
#define SGEMM_EX_OPERANDS PLAIN, .a = { A, type_a, lda, 0 }, \
	.b = { B, type_b, ldb, 0 }, .c = { C, type_c, ldc, 0 }

#define GEMM_EX_PARAMS(index) HEAD(index), const void *alpha, \
	const void *A, cudaDataType type_a, index lda, \
	const void *B, cudaDataType type_b, index ldb, \
	const void *beta, void *C, cudaDataType type_c, index ldc, \
	cublasComputeType_t compute, cublasGemmAlgo_t algo
#define GEMM_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, lda, \
	B, type_b, ldb, beta, C, type_c, ldc, compute, algo
#define GEMM_EX_FORM ac_type_class_of(type_a, type_b, type_c, (int)compute), \
	ac_asked_by_compute((int)compute)
#define GEMM_EX_BATCH 1
#define GEMM_EX_LOCALS(index)
#define GEMM_EX_ALGO algo
#define GEMM_EX_OPERANDS PLAIN, .a = { A, type_a, lda, 0 }, \
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
#define STRIDED_EX_FORM \
	ac_type_class_of(type_a, type_b, type_c, (int)compute), \
	ac_asked_by_compute((int)compute)
#define STRIDED_EX_BATCH count
#define STRIDED_EX_LOCALS(index)
#define STRIDED_EX_ALGO algo
#define STRIDED_EX_OPERANDS .a = { A, type_a, lda, stride_a }, \
	.b = { B, type_b, ldb, stride_b }, .c = { C, type_c, ldc, stride_c }, \
	PLAIN

#define POINTERS_EX_PARAMS(index) HEAD(index), const void *alpha, \
	const void *const A[], cudaDataType type_a, index lda, \
	const void *const B[], cudaDataType type_b, index ldb, \
	const void *beta, void *const C[], cudaDataType type_c, index ldc, \
	index count, cublasComputeType_t compute, cublasGemmAlgo_t algo
#define POINTERS_EX_ARGS handle, transa, transb, m, n, k, alpha, A, type_a, \
	lda, B, type_b, ldb, beta, C, type_c, ldc, count, compute, algo
#define POINTERS_EX_FORM \
	ac_type_class_of(type_a, type_b, type_c, (int)compute), \
	ac_asked_by_compute((int)compute)
#define POINTERS_EX_BATCH count
#define POINTERS_EX_LOCALS(index)
#define POINTERS_EX_ALGO algo
#define POINTERS_EX_OPERANDS .a = { A, type_a, lda, 0 }, \
	.b = { B, type_b, ldb, 0 }, .c = { C, type_c, ldc, 0 }, \
	IN_ARRAYS

/* Of a symmetric matrix, on the left or on the right of B. */
#define SYMM_PARAMS(index) cublasHandle_t handle, cublasSideMode_t side, \
	cublasFillMode_t uplo, index m, index n, const float *alpha, \
	const float *A, index lda, const float *B, index ldb, \
	const float *beta, float *C, index ldc
#define SYMM_ARGS handle, side, uplo, m, n, alpha, A, lda, B, ldb, beta, C, ldc
#define SYMM_LOCALS(index) \
	const bool left = side == CUBLAS_SIDE_LEFT; \
	const cublasOperation_t transa = symmetric_op(side, uplo); \
	const cublasOperation_t transb = transa; \
	const index k = left ? m : n;
#define SYMM_FORM AC_TYPE_F32, AC_ASKED_UNSAID
#define SYMM_BATCH 1
#define SYMM_ALGO CUBLAS_GEMM_DEFAULT
#define SYMM_OPERANDS \
	.a = { left ? A : B, CUDA_R_32F, left ? lda : ldb, 0 }, \
	.b = { left ? B : A, CUDA_R_32F, left ? ldb : lda, 0 }, \
	.c = { C, CUDA_R_32F, ldc, 0 }, \
	.in_arrays = false, \
	.symmetric = (uint8_t)((left ? AC_SYMMETRIC_A : AC_SYMMETRIC_B) \
	    | (uplo == CUBLAS_FILL_MODE_LOWER ? AC_SYMMETRIC_LOWER : 0))

/* None that there is, where cuBLAS is to say what it does not know. */
static inline cublasOperation_t
symmetric_op(cublasSideMode_t side, cublasFillMode_t uplo)
{
	return (unsigned)side > CUBLAS_SIDE_RIGHT
	    || (unsigned)uplo > CUBLAS_FILL_MODE_UPPER
	    ? CUBLAS_OP_CONJG : CUBLAS_OP_N;
}

/* ---- Wrappers ---------------------------------------------------------- */

/* One product per call: recast it, or make the original call. The full
 * description is built only for a call that is to be recast; each field is
 * named, else all are cleared first. */
#define ONE_PRODUCT(shape, symbol, index)                                     \
AC_WRAPPER(AC_NO_ARRAY cublasStatus_t CUBLASWINAPI, symbol)                   \
    (shape##_PARAMS(index))                                                   \
{                                                                             \
	struct ac_wrapped call = ac_wrapper_enter(                            \
	    __builtin_return_address(0));                                     \
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                        \
	enum ac_outcome outcome = AC_OUTCOME_KEPT;                            \
	struct {                                                              \
		struct ac_site scratch;                                       \
		struct ac_kept kept;                                          \
		struct ac_gemm g; /* next to the frame's base */              \
	} room;                                                               \
	if (__builtin_expect(call.outermost, 1)) { /* else cuBLAS calls */    \
		shape##_LOCALS(index)                                         \
		const struct ac_site *site = AC_SITE_OF(handle, call.caller,  \
		    call.via, m, n, k, shape##_BATCH, ac_form_of(             \
		    ENTRY_##symbol, transa, transb, shape##_FORM),            \
		    &room.scratch);                                           \
		call.binding = site->binding;                                 \
		if (site->is_plain) {                                         \
			ac_report_count_decided(site->record);                \
		} else {                                                      \
			room.g = (struct ac_gemm){                            \
				.backend = &ac_cublas_backend,                \
				.handle = handle,                             \
				.transa = transa, .transb = transb,           \
				.m = m, .n = n, .k = k,                       \
				.batch = shape##_BATCH, .alpha = alpha,       \
				.beta = beta, shape##_OPERANDS,               \
				.tail = NULL                                  \
			};                                                    \
			outcome = ac_gemm_recast(&room.g, site, &room.kept,   \
			    &status);                                         \
		}                                                             \
		if (__builtin_expect((int)shape##_ALGO == AC_ALGO_AUTOTUNE,   \
		    0) && outcome != AC_OUTCOME_DONE)                         \
			ac_site_note_autotune(site);                          \
	} else {                                                              \
		call = ac_wrapper_bound(call, ENTRY_##symbol);                \
	}                                                                     \
	if (outcome != AC_OUTCOME_DONE)                                       \
		status = ORIGINAL(call, symbol)(shape##_ARGS);                \
	if (__builtin_expect(outcome == AC_OUTCOME_TIMED, 0))                 \
		ac_kept_end(&room.kept);                                      \
	ac_wrapper_leave(&call);                                              \
	return status;                                                        \
}

#define GEMM ONE_PRODUCT
#define GROUP(shape, symbol, index)
#define TRIANGLE(shape, symbol, index)
#include "shim/bind/entries.def"
