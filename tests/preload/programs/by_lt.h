/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/by_lt.h -- included before a program that multiplies
 * by cublasSgemm(): it does so by cublasLt then, on the stream of its
 * handle. */
#ifndef TESTS_PRELOAD_PROGRAMS_BY_LT_H
#define TESTS_PRELOAD_PROGRAMS_BY_LT_H

#include "client.h"

#include <cublasLt.h>

static inline cublasLtMatrixLayout_t
lt_layout(int rows, int columns, int ld)
{
	cublasLtMatrixLayout_t layout;

	BLAS(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, (uint64_t)rows,
	    (uint64_t)columns, ld));
	return layout;
}

/* With an algorithm that cublasLt chooses, and as much as a thread leaves
 * behind: its handle. */
static inline cublasStatus_t
sgemm_by_lt(cublasHandle_t blas, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *a, int lda, const float *b, int ldb, const float *beta,
    float *c, int ldc)
{
	static _Thread_local cublasLtHandle_t handle;
	const bool ta = transa != CUBLAS_OP_N, tb = transb != CUBLAS_OP_N;
	const cublasLtMatrixLayout_t of_a = lt_layout(ta ? k : m, ta ? m : k,
	    lda), of_b = lt_layout(tb ? n : k, tb ? k : n, ldb),
	    of_c = lt_layout(m, n, ldc);
	cublasLtMatmulDesc_t operation;
	cublasStatus_t status;
	cudaStream_t stream;

	if (!handle)
		BLAS(cublasLtCreate(&handle));
	BLAS(cublasGetStream(blas, &stream));
	BLAS(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F));
	BLAS(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_TRANSA, &transa, sizeof transa));
	BLAS(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_TRANSB, &transb, sizeof transb));
	status = cublasLtMatmul(handle, operation, alpha, a, of_a, b, of_b,
	    beta, c, of_c, c, of_c, NULL, NULL, 0, stream);
	BLAS(cublasLtMatmulDescDestroy(operation));
	BLAS(cublasLtMatrixLayoutDestroy(of_c));
	BLAS(cublasLtMatrixLayoutDestroy(of_b));
	BLAS(cublasLtMatrixLayoutDestroy(of_a));
	return status;
}

#undef cublasSgemm
#define cublasSgemm sgemm_by_lt

#endif
