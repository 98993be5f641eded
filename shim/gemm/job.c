/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/job.c -- what every recipe does for its call: scalars, a lane, the
 * site's memory, the sample. */
#include "shim/gemm/recipe.h"

static struct ac_cast_scalar
scalar(const void *pointer, cublasPointerMode_t mode)
{
	if (mode == CUBLAS_POINTER_MODE_DEVICE)
		return (struct ac_cast_scalar){ .device = pointer };
	return (struct ac_cast_scalar){ .value = *(const float *)pointer };
}

/* With alpha 0 the product is not wanted: reading A and B could only harm. */
void
ac_job_read(struct ac_job *job)
{
	const struct ac_gemm *g = job->g;
	cublasPointerMode_t mode;

	job->alpha = (struct ac_cast_scalar){ .device = g->alpha };
	job->beta = (struct ac_cast_scalar){ .device = g->beta };
	job->unfit = AC_REASON_REFUSED;
	if (!g->door->pointer_mode(g, job->site->binding.provider, &mode))
		return;
	job->alpha = scalar(g->alpha, mode);
	job->beta = scalar(g->beta, mode);
	job->unfit = !job->alpha.device && job->alpha.value == 0
	    ? AC_REASON_NO_PROFIT : AC_REASON_NONE;
}

/* Mostly a cast in C's place, as before. */
static bool
lay_out(const struct ac_job *job, bool casts, bool result,
    struct ac_layout *layout_out)
{
	if (!job->known || !casts || result)
		return ac_layout_make(job->g, casts, result, layout_out);
	ac_layout_again(job->known, job->g, layout_out);
	return true;
}

enum ac_reason
ac_job_borrow(const struct ac_job *job, bool casts, bool result,
    struct ac_layout *layout, struct ac_lane_loan *loan_out)
{
	const bool wants_handle = casts && job->g->door->has_handles;
	struct ac_lane_request request = {
		.provider = job->owner,
		.program = job->g->handle,
		.device = job->call.device, .wants_handle = wants_handle,
		.limit_bytes = job->site->decision.workspace_bytes,
	};

	if (!lay_out(job, casts, result, layout))
		return AC_REASON_WORKSPACE;
	if (job->unfit != AC_REASON_NONE)
		return job->unfit;
	layout->recast.alpha = job->alpha;
	layout->recast.beta = job->beta;
	if (!job->beta.device && job->beta.value == 0)
		ac_layout_forget_c(layout);
	request.marks_bytes = layout->marks_bytes;
	request.buffer_bytes = layout->buffer_bytes;
	if (wants_handle && PROVIDER(request.provider, cublasGetMathMode)(
	    job->g->handle, &request.math_mode))
		return AC_REASON_REFUSED;
	return ac_lane_borrow(&request, job->call.place, loan_out);
}

static struct ac_recast_history *
history_of(const struct ac_job *job, const struct ac_lane_loan *loan)
{
	const struct ac_turn *turn = job->call.turn;
	struct ac_recast_history *history = NULL;

	if (job->site->state && turn->kind != AC_TURN_TRY)
		history = ac_history_find(job->call.trial
		    ? ac_trial_histories(job->call.trial)
		    : &job->site->state->histories, job->call.place,
		    turn->candidate, job->site->decision.workspace_bytes);
	return history ? history : ac_lane_spare(loan);
}

void
ac_job_bind(const struct ac_job *job, const struct ac_lane_loan *loan,
    const struct ac_slot *slot, struct ac_layout *layout)
{
	ac_layout_bind(layout, loan);
	layout->recast.history = history_of(job, loan);
	ac_job_sample(job, slot, layout);
}

void
ac_job_sample(const struct ac_job *job, const struct ac_slot *slot,
    struct ac_layout *layout)
{
	struct ac_recast *r = &layout->recast;
	const struct ac_turn *turn = job->call.turn;
	const bool guarded = job->site->decision.guard != AC_GUARD_OFF;

	r->tol = guarded ? (float)job->call.candidate->tol : 0;
	r->pair = turn->pair_bit;
	r->epoch = job->call.trial ? ac_trial_epoch(job->call.trial) : 0;
	if (!guarded)
		r->bands[0] = r->bands[1] = NULL;
	r->number = turn->number;
	r->seed = (uint64_t)job->site->record->id << 32 ^ turn->number;
	r->sampled = slot && !turn->posts_if_bad && !turn->posts_only
	    && (job->site->decision.sample_period
	    || turn->kind != AC_TURN_RECAST);
	r->judge = guarded && job->site->decision.exact ? AC_JUDGE_EXACT : 0;
	r->post = slot ? (struct ac_recast_post *)(uintptr_t)slot->device
	    : NULL;
	if (turn->posts_if_bad)
		r->judge |= AC_JUDGE_POST_IF_BAD;
}
