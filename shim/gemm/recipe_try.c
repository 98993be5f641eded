/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/recipe_try.c -- products beside C: every candidate of a trial, for
 * the samples alone (doc/rules.md R4), or one of them under guard=strict, which
 * writes C only once the sample was good. */
#include "shim/gemm/recipe.h"

/* The library's conversion, on the program's handle and with its alpha, but
 * without C: its beta is a zero of the handle's pointer mode. */
static enum ac_reason
multiply_by_library(const struct ac_job *job, const struct ac_layout *layout,
    cublasStatus_t *status_out)
{
	static const float zero = 0;
	const struct ac_recast *r = &layout->recast;
	struct ac_gemm product = *job->g;

	product.beta = r->alpha.device ? &r->state->zero : &zero;
	product.c = (struct ac_operand){ r->output.result, CUDA_R_32F,
		product.m, product.m * product.n };
	return job->g->door->issue(job, &product,
	    ac_library_compute(job->call.candidate->rung), true, status_out);
}

/* Queue one candidate, from the cast to the post. Its casts are left out of
 * the layout if it has none. */
static enum ac_reason
run_beside(const struct ac_job *job, struct ac_layout *layout,
    const struct ac_lane_loan *loan)
{
	const struct ac_place *place = job->call.place;
	struct ac_recast *r = &layout->recast;
	const bool casts = job->call.candidate->tactic == AC_TACTIC_CAST;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
	enum ac_reason reason;

	for (unsigned i = 0; i < 2 && !casts; i++)
		r->operand[i].to = NULL;
	if (casts ? !ac_cast_queue(job, layout) : !r->history
	    || ac_recast_settle(place->kernels, r, place->stream))
		return AC_REASON_OUT_OF_MEMORY;
	reason = casts ? ac_cast_multiply(job, layout, loan, &status)
	    : multiply_by_library(job, layout, &status);
	if (reason == AC_REASON_NONE && status)
		reason = AC_REASON_REFUSED;
	if (reason == AC_REASON_NONE
	    && ac_recast_finish(place->kernels, r, place->stream))
		reason = AC_REASON_OUT_OF_MEMORY;
	return reason;
}

static bool
any_casts(const struct ac_job *job)
{
	bool any = false;

	for (unsigned i = 0; i < ac_trial_count(job->call.trial); i++)
		any |= job->call.turn->tries >> i & 1 && ac_trial_candidate(
		    job->call.trial, i)->tactic == AC_TACTIC_CAST;
	return any;
}

/* One layout serves every candidate: their products go to one place, one after
 * the other. A product that was refused is finished all the same: that clears
 * the words for the next one. */
static void
try_all(const struct ac_job *job, struct ac_layout *layout,
    const struct ac_lane_loan *loan, unsigned *queued, unsigned *refused)
{
	bool clean = true;
	struct ac_trial *trial = job->call.trial;

	for (unsigned i = 0; clean && i < ac_trial_count(trial); i++) {
		struct ac_job one = *job;
		struct ac_slot slot;
		enum ac_reason reason;

		if (!(job->call.turn->tries >> i & 1))
			continue;
		slot = ac_trial_slot(trial, job->call.turn, i);
		one.call.candidate = ac_trial_candidate(trial, i);
		ac_job_bind(&one, loan, &slot, layout);
		reason = run_beside(&one, layout, loan);
		if (reason == AC_REASON_NONE)
			*queued |= 1u << i;
		else if (reason != AC_REASON_OUT_OF_MEMORY)
			*refused |= 1u << i;
		clean = reason == AC_REASON_NONE
		    || (reason != AC_REASON_OUT_OF_MEMORY
		    && !ac_recast_finish(job->call.place->kernels,
			&layout->recast, loan->stream));
	}
	ac_lane_return(loan, clean);
}

enum ac_reason
ac_recipe_try(struct ac_conduct *call)
{
	const struct ac_job *job = (struct ac_job *)call;
	unsigned queued = 0, refused = 0;
	struct ac_lane_loan loan;
	struct ac_layout layout;
	const enum ac_reason reason = ac_job_borrow(job, any_casts(job),
	    true, &layout, &loan);

	if (reason == AC_REASON_NONE)
		try_all(job, &layout, &loan, &queued, &refused);
	ac_trial_tried(call->trial, call->turn, queued, refused);
	return reason == AC_REASON_NONE ? AC_REASON_PROBATION : reason;
}

/* What follows a product only the library does: it makes it once more, of the
 * casts that are there, and in its place. Else C = result + beta C. */
static enum ac_reason
write_output(const struct ac_job *job, struct ac_layout *layout,
    const struct ac_lane_loan *loan)
{
	const struct ac_gemm *g = job->g;

	if (!g->tail) {
		if (ac_recast_write(job->call.place->kernels, &layout->recast,
		    loan->stream))
			return AC_REASON_REFUSED;
		*job->status_out = CUBLAS_STATUS_SUCCESS;
		return AC_REASON_NONE;
	}
	layout->recast.output.result = NULL;
	if (job->call.candidate->tactic == AC_TACTIC_CAST)
		return ac_cast_multiply(job, layout, loan, job->status_out);
	return g->door->issue(job, g,
	    ac_library_compute(job->call.candidate->rung), false,
	    job->status_out);
}

enum ac_reason
ac_recipe_strict(struct ac_conduct *call)
{
	const struct ac_job *job = (struct ac_job *)call;
	const bool casts = call->candidate->tactic == AC_TACTIC_CAST;
	struct ac_lane_loan loan;
	struct ac_layout layout;
	enum ac_reason reason = ac_job_borrow(job, casts, true, &layout,
	    &loan);

	if (reason != AC_REASON_NONE)
		return reason;
	ac_job_bind(job, &loan, &call->turn->slot, &layout);
	reason = run_beside(job, &layout, &loan);
	if (reason == AC_REASON_NONE && !ac_conduct_is_good(call))
		reason = AC_REASON_GUARD;
	if (reason == AC_REASON_NONE)
		reason = write_output(job, &layout, &loan);
	ac_lane_return(&loan, reason == AC_REASON_NONE
	    || reason == AC_REASON_GUARD);
	return reason;
}
