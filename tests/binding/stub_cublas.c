/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub_cublas.c -- libcublas.so.VERSION for who wants to know
 * where a call went: a product says so and answers VERSION * 100, an Ex product
 * one more, and a handle of another library is noticed. Complete enough for a
 * call to be recast. RELEASE: another library of the same name; its answers are
 * ten higher. THROUGH_LT: products go on to cublasLtMatmul(), as many of the
 * real one's do. */
#include "stub.h"

#include <cublas_api.h>

#include <stdlib.h>

#define TEXT(x) #x
#define NAME(version) "libcublas.so." TEXT(version)
#define LIBRARY NAME(VERSION)

#ifndef RELEASE
#define RELEASE 0
#endif

enum { ANSWER = 100 * VERSION + 10 * RELEASE, ANSWER_EX, ANSWER_STRIDED_EX,
	NOT_MY_HANDLE = 100 * VERSION + 66 };

/* No two of them have a function at the same place: a pointer into one that
 * was unloaded leads nowhere in the next. */
static __attribute__((used)) void
fill(void)
{
	__asm__ volatile (".skip %c0, 0xcc" : : "i" (48 * VERSION
	    + 656 * RELEASE));
}

struct cublasContext {
	long                version;
	cudaStream_t        stream;
	cublasMath_t        math;
	cublasPointerMode_t pointers;
};

extern int cublasLtMatmul(void *);

/* 0, or what a call with this handle is answered. */
static int
refused(cublasHandle_t handle)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (handle->version == VERSION)
		return 0;
	say(LIBRARY, "a handle that is not mine");
	return NOT_MY_HANDLE;
}

static cublasStatus_t
product(cublasHandle_t handle, const char *name, int answer)
{
	int refusal;

	say(LIBRARY, name);
	refusal = refused(handle);
#ifdef THROUGH_LT
	if (!refusal)
		answer = cublasLtMatmul(handle);
#endif
	return (cublasStatus_t)(refusal ? refusal : answer);
}

SHOWN cublasStatus_t
cublasCreate_v2(cublasHandle_t *handle)
{
	*handle = calloc(1, sizeof **handle);
	if (!*handle)
		return CUBLAS_STATUS_ALLOC_FAILED;
	(*handle)->version = VERSION;
	return CUBLAS_STATUS_SUCCESS;
}

SHOWN cublasStatus_t
cublasDestroy_v2(cublasHandle_t handle)
{
	const int refusal = refused(handle);

	if (!refusal)
		free(handle);
	return (cublasStatus_t)refusal;
}

SHOWN cublasStatus_t
cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const float *alpha,
    const float *A, int lda, const float *B, int ldb, const float *beta,
    float *C, int ldc)
{
	(void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha;
	(void)A, (void)lda, (void)B, (void)ldb, (void)beta, (void)C, (void)ldc;
	return product(handle, "cublasSgemm_v2", ANSWER);
}

SHOWN cublasStatus_t
cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha,
    const void *A, cudaDataType a, int lda, const void *B, cudaDataType b,
    int ldb, const void *beta, void *C, cudaDataType c, int ldc,
    cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
	(void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha;
	(void)A, (void)a, (void)lda, (void)B, (void)b, (void)ldb, (void)beta;
	(void)C, (void)c, (void)ldc, (void)compute, (void)algo;
	return product(handle, "cublasGemmEx", ANSWER_EX);
}

SHOWN cublasStatus_t
cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
    cublasOperation_t transb, int m, int n, int k, const void *alpha,
    const void *A, cudaDataType a, int lda, long long stride_a,
    const void *B, cudaDataType b, int ldb, long long stride_b,
    const void *beta, void *C, cudaDataType c, int ldc, long long stride_c,
    int count, cublasComputeType_t compute, cublasGemmAlgo_t algo)
{
	(void)transa, (void)transb, (void)m, (void)n, (void)k, (void)alpha;
	(void)A, (void)a, (void)lda, (void)stride_a, (void)B, (void)b;
	(void)ldb, (void)stride_b, (void)beta, (void)C, (void)c, (void)ldc;
	(void)stride_c, (void)count, (void)compute, (void)algo;
	return product(handle, "cublasGemmStridedBatchedEx", ANSWER_STRIDED_EX);
}

/* What a handle remembers; only a wrong handle is worth a word. */
#define REMEMBERS(what, type, field) \
SHOWN cublasStatus_t \
cublasGet##what(cublasHandle_t handle, type *value) \
{ \
	const int refusal = refused(handle); \
	if (!refusal) \
		*value = handle->field; \
	return (cublasStatus_t)refusal; \
} \
SHOWN cublasStatus_t \
cublasSet##what(cublasHandle_t handle, type value) \
{ \
	const int refusal = refused(handle); \
	if (!refusal) \
		handle->field = value; \
	return (cublasStatus_t)refusal; \
}
REMEMBERS(Stream_v2, cudaStream_t, stream)
REMEMBERS(PointerMode_v2, cublasPointerMode_t, pointers)
REMEMBERS(MathMode, cublasMath_t, math)
