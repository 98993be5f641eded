/* SPDX-License-Identifier: Apache-2.0 */
/* shim/recipe_library.c -- let cuBLAS convert: another compute type, the
 * program's own handle, scalars and pointers (recasting.md R1). */
#include "shim/recipe.h"

#include <limits.h>

bool
ac_status_is_refusal(cublasStatus_t status)
{
	switch (status) {
	case CUBLAS_STATUS_NOT_SUPPORTED:
	case CUBLAS_STATUS_INVALID_VALUE:
	case CUBLAS_STATUS_ARCH_MISMATCH:
	case CUBLAS_STATUS_ALLOC_FAILED:
	case CUBLAS_STATUS_NOT_INITIALIZED:
		return true;
	default:
		return false;
	}
}

static bool
fits_int(const struct ac_product *p)
{
	return p->m <= INT_MAX && p->n <= INT_MAX && p->k <= INT_MAX
	    && p->batch <= INT_MAX && p->a.ld <= INT_MAX && p->b.ld <= INT_MAX
	    && p->ldc <= INT_MAX;
}

/* One argument list for the int and the int64_t form of each function. */
#define ISSUE_SINGLE(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->b.data, p->b.type, (index)p->b.ld, p->beta, p->c, CUDA_R_32F, \
	    (index)p->ldc, p->compute, CUBLAS_GEMM_DEFAULT)
#define ISSUE_STRIDED(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->a.stride, p->b.data, p->b.type, (index)p->b.ld, p->b.stride, \
	    p->beta, p->c, CUDA_R_32F, (index)p->ldc, p->stride_c, \
	    (index)p->batch, p->compute, CUBLAS_GEMM_DEFAULT)

static bool
issue_wide(struct ac_provider *provider, const struct ac_product *p,
    bool strided, cublasStatus_t *status_out)
{
#if CUBLAS_VERSION >= 120000
	__typeof__(&cublasGemmEx_64) single =
	    PROVIDER(provider, cublasGemmEx_64);
	__typeof__(&cublasGemmStridedBatchedEx_64) batched =
	    PROVIDER(provider, cublasGemmStridedBatchedEx_64);

	if (!single || !batched)
		return false;
	*status_out = strided ? ISSUE_STRIDED(batched, int64_t)
	    : ISSUE_SINGLE(single, int64_t);
	return true;
#else
	(void)provider, (void)p, (void)strided, (void)status_out;
	return false;
#endif
}

bool
ac_product_issue(struct ac_provider *provider, const struct ac_product *p,
    cublasStatus_t *status_out)
{
	const bool strided = p->batch > 1;

	if (!fits_int(p))
		return issue_wide(provider, p, strided, status_out);
	*status_out = strided
	    ? ISSUE_STRIDED(PROVIDER(provider, cublasGemmStridedBatchedEx), int)
	    : ISSUE_SINGLE(PROVIDER(provider, cublasGemmEx), int);
	return true;
}

static cublasComputeType_t
compute_of(enum ac_rung rung)
{
	switch (rung) {
	case AC_RUNG_BF16: return CUBLAS_COMPUTE_32F_FAST_16BF;
	case AC_RUNG_FP16: return CUBLAS_COMPUTE_32F_FAST_16F;
	default:           return CUBLAS_COMPUTE_32F_FAST_TF32;
	}
}

enum ac_reason
ac_recipe_library(const struct ac_gemm *g, const struct ac_site *site,
    cublasStatus_t *status_out)
{
	const struct ac_product product = {
		.handle = g->handle, .transa = g->transa, .transb = g->transb,
		.m = g->m, .n = g->n, .k = g->k, .batch = g->batch,
		.alpha = g->alpha, .beta = g->beta, .a = g->a, .b = g->b,
		.c = (void *)(uintptr_t)g->c.data, .ldc = g->c.ld,
		.stride_c = g->c.stride,
		.compute = compute_of(site->decision.rung),
	};
	cublasStatus_t status;

	if (!ac_product_issue(site->binding.provider, &product, &status))
		return AC_REASON_UNSUPPORTED;
	if (ac_status_is_refusal(status))
		return AC_REASON_REFUSED;
	*status_out = status;
	return AC_REASON_NONE;
}
