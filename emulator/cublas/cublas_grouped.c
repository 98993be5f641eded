/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_grouped.c -- cuBLAS calls: groups of products. Each
 * group has its own sizes and scalars, which lie on the host; the pointers to
 * matrices lie in device memory, group after group. Contracts are NVIDIA's. */
#include "emulator/cublas/cublas_gemm.h"

/* Arrays of int, or of int64_t if `wide`. */
struct groups {
	bool wide;
	int64_t count;
	const cublasOperation_t *transa, *transb;
	const void *m, *n, *k, *lda, *ldb, *ldc, *size, *alpha, *beta;
	const void *const *a, *const *b, *const *c;
	cudaDataType a_type, b_type, c_type;
	cublasComputeType_t compute;
};

static int64_t
number(const struct groups *s, const void *array, int64_t i)
{
	return s->wide ? ((const int64_t *)array)[i] :
	    ((const int *)array)[i];
}

static struct emu_gemm
group(const struct groups *s, int64_t i, int64_t skip)
{
	return (struct emu_gemm){
		.transa = s->transa[i], .transb = s->transb[i],
		.m = number(s, s->m, i), .n = number(s, s->n, i),
		.k = number(s, s->k, i), .batch = number(s, s->size, i),
		.a = { .array = s->a + skip, .type = s->a_type,
		       .ld = number(s, s->lda, i) },
		.b = { .array = s->b + skip, .type = s->b_type,
		       .ld = number(s, s->ldb, i) },
		.c = { .array = s->c + skip, .type = s->c_type,
		       .ld = number(s, s->ldc, i) }
	};
}

static const void *
scalar(const struct groups *s, const void *array, int64_t i)
{
	return (const char *)array + i * (s->a_type == CUDA_R_64F ||
	    s->a_type == CUDA_C_32F ? 8 : 4);
}

static bool
has_arrays(const struct groups *s)
{
	return s->transa && s->transb && s->m && s->n && s->k && s->lda &&
	    s->ldb && s->ldc && s->size && s->alpha && s->beta;
}

/* Two passes over the groups: a bad one must leave nothing queued. Scalars are
 * taken from the host only. */
static cublasStatus_t
call(cublasHandle_t handle, const struct groups *s)
{
	cublasStatus_t status = s->count < 0 ? CUBLAS_STATUS_INVALID_VALUE :
	    CUBLAS_STATUS_SUCCESS;

	if (s->count && !has_arrays(s))
		status = CUBLAS_STATUS_INVALID_VALUE;
	if (!status && handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
		status = CUBLAS_STATUS_NOT_SUPPORTED;
	for (int pass = 0; pass < 2; pass++) {
		int64_t skip = 0;

		for (int64_t i = 0; !status && i < s->count; i++) {
			struct emu_gemm g = group(s, i, skip);

			status = emu_gemm_check(handle, &g,
			    scalar(s, s->alpha, i), scalar(s, s->beta, i),
			    s->compute);
			if (!status && pass)
				status = emu_gemm_queue(handle, &g);
			skip += g.batch;
		}
	}
	return status;
}

#define GROUPS(index, a_type_, b_type_, c_type_, compute_)                \
	struct groups s = {                                               \
		sizeof(index) == 8, group_count, transa, transb, m, n, k, \
		lda, ldb, ldc, group_size, alpha, beta,                   \
		(const void *const *)A, (const void *const *)B,           \
		(const void *const *)C, a_type_, b_type_, c_type_,        \
		compute_                                                  \
	};                                                                \
	BLAS_ENTER(handle);                                               \
	return call(handle, &s)

#define GROUPED(symbol, index, elem, type, compute)                       \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, const cublasOperation_t transa[],           \
    const cublasOperation_t transb[], const index m[], const index n[],   \
    const index k[], const elem alpha[], const elem *const A[],           \
    const index lda[], const elem *const B[], const index ldb[],          \
    const elem beta[], elem *const C[], const index ldc[],                \
    index group_count, const index group_size[])                          \
{                                                                         \
	GROUPS(index, type, type, type, compute);                         \
}
#define GROUPED_EX(symbol, index)                                         \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, const cublasOperation_t transa[],           \
    const cublasOperation_t transb[], const index m[], const index n[],   \
    const index k[], const void *alpha, const void *const A[],            \
    cudaDataType_t Atype, const index lda[], const void *const B[],       \
    cudaDataType_t Btype, const index ldb[], const void *beta,            \
    void *const C[], cudaDataType_t Ctype, const index ldc[],             \
    index group_count, const index group_size[],                          \
    cublasComputeType_t compute)                                          \
{                                                                         \
	GROUPS(index, Atype, Btype, Ctype, compute);                      \
}

GROUPED(cublasSgemmGroupedBatched, int, float, CUDA_R_32F,
    CUBLAS_COMPUTE_32F)
GROUPED(cublasSgemmGroupedBatched_64, int64_t, float, CUDA_R_32F,
    CUBLAS_COMPUTE_32F)
GROUPED(cublasDgemmGroupedBatched, int, double, CUDA_R_64F,
    CUBLAS_COMPUTE_64F)
GROUPED(cublasDgemmGroupedBatched_64, int64_t, double, CUDA_R_64F,
    CUBLAS_COMPUTE_64F)
GROUPED_EX(cublasGemmGroupedBatchedEx, int)
GROUPED_EX(cublasGemmGroupedBatchedEx_64, int64_t)
