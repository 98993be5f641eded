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
fits_int(const struct ac_gemm *p)
{
	return ((uint64_t)(p->m | p->n | p->k | p->batch)
	    | (uint64_t)(p->a.ld | p->b.ld | p->c.ld)) <= INT_MAX;
}

/* One argument list for the int and the int64_t form of each function. */
#define ISSUE_SINGLE(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->b.data, p->b.type, (index)p->b.ld, p->beta, c, p->c.type, \
	    (index)p->c.ld, compute, CUBLAS_GEMM_DEFAULT)
#define ISSUE_STRIDED(function, index) \
	(function)(p->handle, p->transa, p->transb, (index)p->m, (index)p->n, \
	    (index)p->k, p->alpha, p->a.data, p->a.type, (index)p->a.ld, \
	    p->a.stride, p->b.data, p->b.type, (index)p->b.ld, p->b.stride, \
	    p->beta, c, p->c.type, (index)p->c.ld, p->c.stride, \
	    (index)p->batch, compute, CUBLAS_GEMM_DEFAULT)

static enum ac_reason
issue_wide(struct ac_provider *provider, const struct ac_gemm *p,
    cublasComputeType_t compute, cublasStatus_t *status_out)
{
#if CUBLAS_VERSION >= 120000
	__typeof__(&cublasGemmEx_64) single =
	    PROVIDER(provider, cublasGemmEx_64);
	__typeof__(&cublasGemmStridedBatchedEx_64) batched =
	    PROVIDER(provider, cublasGemmStridedBatchedEx_64);
	void *const c = (void *)(uintptr_t)p->c.data;

	if (!single || !batched)
		return AC_REASON_UNSUPPORTED;
	*status_out = p->batch > 1 ? ISSUE_STRIDED(batched, int64_t)
	    : ISSUE_SINGLE(single, int64_t);
	return AC_REASON_NONE;
#else
	(void)provider, (void)p, (void)compute, (void)status_out;
	return AC_REASON_UNSUPPORTED;
#endif
}

enum ac_reason
ac_product_issue(struct ac_provider *provider, const struct ac_gemm *p,
    cublasComputeType_t compute, cublasStatus_t *status_out)
{
	void *const c = (void *)(uintptr_t)p->c.data;
	cublasStatus_t status;
	enum ac_reason reason = AC_REASON_NONE;

	if (!fits_int(p))
		reason = issue_wide(provider, p, compute, &status);
	else if (p->batch > 1)
		status = ISSUE_STRIDED(PROVIDER(provider,
		    cublasGemmStridedBatchedEx), int);
	else
		status = ISSUE_SINGLE(PROVIDER(provider, cublasGemmEx), int);
	if (reason != AC_REASON_NONE)
		return reason;
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
multiply(const struct ac_job *job)
{
	return ac_product_issue(job->site->binding.provider, job->g,
	    ac_library_compute(job->call.candidate->rung), job->status_out);
}

static enum ac_reason
multiply_timed(const struct ac_job *job)
{
	struct ac_timing *timing = job->call.turn->timing;
	const bool timed = timing && job->call.place
	    && ac_timing_begin(timing, job->call.place);
	const enum ac_reason reason = multiply(job);

	if (timed)
		ac_timing_end(timing, job->call.place,
		    reason == AC_REASON_NONE);
	return reason;
}

/* Nothing of the sample may keep the product from running. */
static bool
begin_sample(const struct ac_job *job, struct ac_layout *layout,
    struct ac_lane_loan *loan)
{
	struct ac_recast *r = &layout->recast;

	if (!job->call.turn->sampled || !job->site->decision.sample_period
	    || !job->call.place
	    || ac_job_borrow(job, false, false, layout, loan) != AC_REASON_NONE)
		return false;
	ac_job_bind(job, loan, &job->call.turn->slot, layout);
	if (r->history && !ac_recast_settle(job->call.place->kernels, r,
	    loan->stream))
		return true;
	ac_lane_return(loan, false);
	return false;
}

enum ac_reason
ac_recipe_library(const struct ac_job *job)
{
	struct ac_lane_loan loan;
	struct ac_layout layout;
	const bool sampled = begin_sample(job, &layout, &loan);
	const enum ac_reason reason = multiply_timed(job);
	bool clean;

	if (!sampled)
		return reason;
	clean = reason == AC_REASON_NONE
	    && !ac_recast_finish(job->call.place->kernels, &layout.recast,
		loan.stream);
	ac_lane_return(&loan, clean);
	if (clean)
		ac_trial_sampled(job->call.trial, job->call.turn);
	return reason;
}
