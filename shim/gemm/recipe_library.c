/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/recipe_library.c -- let cuBLAS convert: another compute type, the
 * program's own handle, scalars and pointers (doc/rules.md R1). A sampled call
 * has two launches of ours around it. */
#include "shim/gemm/recipe.h"

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
	return job->g->door->issue(job, job->g,
	    ac_library_compute(job->call.candidate->rung), false,
	    job->status_out);
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
		    reason == AC_REASON_NONE && !*job->status_out);
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
	clean = reason == AC_REASON_NONE && !*job->status_out
	    && !ac_recast_finish(job->call.place->kernels, &layout.recast,
		loan.stream);
	ac_lane_return(&loan, clean);
	if (clean)
		ac_trial_sampled(job->call.trial, job->call.turn);
	return reason;
}
