/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/recipe_library.c -- let cuBLAS convert: another compute type, the
 * program's own handle, scalars and pointers (doc/rules.md R1). A sampled call
 * has two launches of ours around it. */
#include "shim/gemm/recipe.h"

#include <limits.h>

/* Whether the original call may still be made after this answer. */
static bool
is_refusal(cublasStatus_t status)
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
	return ((uint64_t)(p->m | p->n | p->k | p->batch)
	    | (uint64_t)(p->a.ld | p->b.ld | p->ldc)) <= INT_MAX;
}

/* One argument list for the int and the int64_t form of each function. */
#define ISSUE_SINGLE(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->b.data, p->b.type, (index)p->b.ld, p->beta, p->c, p->type_c, \
	    (index)p->ldc, p->compute, CUBLAS_GEMM_DEFAULT)
#define ISSUE_STRIDED(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->a.stride, p->b.data, p->b.type, (index)p->b.ld, p->b.stride, \
	    p->beta, p->c, p->type_c, (index)p->ldc, p->stride_c, \
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

enum ac_reason
ac_product_answer(bool issued, cublasStatus_t status,
    cublasStatus_t *status_out)
{
	if (!issued)
		return AC_REASON_UNSUPPORTED;
	if (is_refusal(status))
		return AC_REASON_REFUSED;
	*status_out = status;
	return AC_REASON_NONE;
}

cublasComputeType_t
ac_library_compute(enum ac_rung rung)
{
	switch (rung) {
	case AC_RUNG_BF16: return CUBLAS_COMPUTE_32F_FAST_16BF;
	case AC_RUNG_FP16: return CUBLAS_COMPUTE_32F_FAST_16F;
	default:           return CUBLAS_COMPUTE_32F_FAST_TF32;
	}
}

static enum ac_reason
multiply(const struct ac_job *job, cublasStatus_t *status_out)
{
	const struct ac_gemm *g = job->g;
	const struct ac_product product = {
		.handle = g->handle, .transa = g->transa, .transb = g->transb,
		.m = g->m, .n = g->n, .k = g->k, .batch = g->batch,
		.alpha = g->alpha, .beta = g->beta, .a = g->a, .b = g->b,
		.c = (void *)(uintptr_t)g->c.data, .ldc = g->c.ld,
		.stride_c = g->c.stride, .type_c = g->c.type,
		.compute = ac_library_compute(job->candidate->rung),
	};
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	const bool issued = ac_product_issue(job->site->binding.provider,
	    &product, &status);

	return ac_product_answer(issued, status, status_out);
}

static enum ac_reason
multiply_timed(const struct ac_job *job, cublasStatus_t *status_out)
{
	struct ac_timing *timing = job->turn->timing;
	const bool timed = timing && job->place
	    && ac_timing_begin(timing, job->place);
	const enum ac_reason reason = multiply(job, status_out);

	if (timed)
		ac_timing_end(timing, job->place, reason == AC_REASON_NONE);
	return reason;
}

/* Nothing of the sample may keep the product from running. */
static bool
begin_sample(const struct ac_job *job, struct ac_layout *layout,
    struct ac_lane_loan *loan)
{
	struct ac_recast *r = &layout->recast;

	if (!job->turn->sampled || !job->site->decision.sample_period
	    || !job->place
	    || !ac_layout_make(job->g, false, false, layout)
	    || ac_job_borrow(job, layout, loan) != AC_REASON_NONE)
		return false;
	ac_layout_bind(layout, loan);
	r->history = ac_job_history(job, job->turn->candidate, loan);
	ac_job_sample(job, &job->turn->slot, layout);
	if (r->history && !ac_recast_settle(job->place->kernels, r,
	    loan->stream))
		return true;
	ac_lane_return(loan, false);
	return false;
}

enum ac_reason
ac_recipe_library(const struct ac_job *job, cublasStatus_t *status_out)
{
	struct ac_lane_loan loan;
	struct ac_layout layout;
	const bool sampled = begin_sample(job, &layout, &loan);
	const enum ac_reason reason = multiply_timed(job, status_out);
	bool clean;

	if (!sampled)
		return reason;
	clean = reason == AC_REASON_NONE
	    && !ac_recast_finish(job->place->kernels, &layout.recast,
	        loan.stream);
	ac_lane_return(&loan, clean);
	if (clean)
		ac_trial_sampled(job->trial, job->turn);
	return reason;
}
