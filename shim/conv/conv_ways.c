/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_ways.c -- the ways that the conductor of calls
 * (shim/trial/conduct.h) has to run a convolution. */
#include "shim/conv/conv_ways.h"

#include "base/mapped.h"
#include "kernels/conv/conv_check.h"
#include "shim/conv/conv_plan.h"
#include "shim/conv/descriptors.h"
#include "shim/device/lane.h"
#include "shim/trial/tuning.h"
#include "shim/trial/trial.h"

/* One convolution on its way. */
struct conv_job {
	struct ac_conduct         call;
	const struct ac_conv_run *run;
	struct ac_conv_site      *site;
	struct ac_conv_data       data;
	struct ac_trial_slot     *slot;     /* for a sample; NULL: none */
};

/* ---- One plan ---------------------------------------------------------- */

static enum ac_reason
borrow_lane(const struct conv_job *job, uint64_t bytes, bool sampled,
    struct ac_lane_loan *loan_out)
{
	const struct ac_lane_request request = {
		.provider = job->site->query.provider,
		.device = job->site->query.device, .buffer_bytes = bytes,
		.zero_bytes = sampled ? AC_CONV_CHECK_DOUBLES * sizeof(double)
		    : 0,
		.limit_bytes = job->site->decision.workspace_bytes,
	};

	return ac_lane_borrow(&request, job->call.place, loan_out);
}

static uint64_t
round_up(uint64_t bytes)
{
	return (bytes + 255) & ~UINT64_C(255);
}

/* `as_it_is`: with the workspace and the output that the program gave. What is
 * tried next to the original is not timed: the turn's timing is that one's. */
static cudnnStatus_t
run_timed(const struct conv_job *job, struct ac_conv_plan *plan,
    bool as_it_is, bool apart, void *workspace)
{
	const struct ac_turn *turn = job->call.turn;
	struct ac_timing *timing = apart && turn->kind != AC_TURN_LEARN ? NULL
	    : turn->timing;
	const bool timed = timing && ac_timing_begin(timing, job->call.place);
	const cudnnStatus_t status = ac_conv_plan_run(plan,
	    as_it_is ? job->run->pack : NULL, &job->data, workspace);

	if (timed)
		ac_timing_end(timing, job->call.place,
		    status == CUDNN_STATUS_SUCCESS);
	return status;
}

/* As good as memory of cudaMalloc(): programs cut theirs up. */
static bool
is_workspace(const void *workspace)
{
	return workspace && !((uintptr_t)workspace & 255);
}

/* Run `plan`; under `apart` its output goes into a lane. The program's
 * workspace is used if it is large enough: nothing else uses it before the
 * original call. Otherwise the workspace is in the lane, too. */
static enum ac_reason
run_plan(struct conv_job *job, struct ac_conv_plan *plan, bool apart)
{
	const uint64_t bytes = ac_conv_plan_bytes(plan);
	const bool own = job->run->bytes < bytes
	    || (bytes && !is_workspace(job->run->workspace));
	const bool sampled = job->slot != NULL;
	const struct ac_conv_tensor *output = ac_conv_last_output(
	    &job->site->query.conv);
	const uint64_t out = apart ? round_up(ac_conv_extent(output)) : 0;
	void *workspace = job->run->workspace;
	struct ac_lane_loan loan;
	enum ac_reason reason = AC_REASON_NONE;
	bool clean = true;

	if (own || apart || sampled)
		reason = borrow_lane(job, out + (own ? bytes : 0), sampled,
		    &loan);
	if (reason != AC_REASON_NONE)
		return reason;
	if (apart)
		job->data.of[output->uid - 1] = loan.buffer;
	if (own)
		workspace = loan.buffer + out;
	if (run_timed(job, plan, !own && !apart, apart, workspace))
		reason = AC_REASON_REFUSED;
	else if (sampled)
		clean = ac_conv_sample(job->site, &job->data, job->call.turn,
		    job->slot->device, job->call.place, loan.zeros);
	if (own || apart || sampled)
		ac_lane_return(&loan, clean);
	if (reason == AC_REASON_NONE && sampled && !clean && apart)
		reason = AC_REASON_OUT_OF_MEMORY;
	if (reason == AC_REASON_NONE && sampled && clean && !apart)
		ac_trial_queued(job->call.turn, 0);
	return reason;
}

static enum ac_reason
run_candidate(struct conv_job *job, bool apart)
{
	struct ac_conv_plan *plan;
	enum ac_reason reason;
	bool refused;

	plan = ac_conv_plan_borrow(job->site, job->call.candidate->rung,
	    job->run->handle, !job->call.place->capture, &refused);
	if (!plan)
		return refused ? AC_REASON_REFUSED : job->call.place->capture
		    ? AC_REASON_CAPTURE : AC_REASON_OUT_OF_MEMORY;
	reason = job->call.place->capture && !ac_conv_plan_has_run(plan)
	    ? AC_REASON_CAPTURE : run_plan(job, plan, apart);
	ac_conv_plan_return(plan);
	return reason;
}

/* ---- The ways of a convolution ------------------------------------------ */

static enum ac_reason
try_all(struct ac_conduct *call)
{
	const struct conv_job *job = (struct conv_job *)call;
	enum ac_reason worst = AC_REASON_PROBATION;
	unsigned queued = 0, refused = 0;

	for (unsigned i = 0; i < call->decision->candidate_count; i++) {
		struct conv_job one = *job;
		enum ac_reason reason;

		if (!(call->turn->tries >> i & 1))
			continue;
		one.call.candidate = &call->decision->candidate[i];
		one.slot = call->turn->slot[i];
		reason = run_candidate(&one, true);
		if (reason == AC_REASON_NONE)
			queued |= 1u << i;
		else if (reason == AC_REASON_REFUSED)
			refused |= 1u << i;
		else
			worst = reason;
	}
	ac_trial_tried(call->turn, queued, refused);
	return queued | refused ? AC_REASON_PROBATION : worst;
}

static enum ac_reason
learn(struct ac_conduct *call)
{
	struct conv_job job = *(struct conv_job *)call;
	struct ac_turn *turn = call->turn;
	enum ac_reason reason;

	if (!ac_trial_learn(&job.site->trial, call->place, turn))
		return AC_REASON_PROBATION;
	job.slot = turn->slot[turn->candidate];
	reason = run_candidate(&job, true);
	if (reason == AC_REASON_NONE)
		ac_trial_queued(turn, turn->candidate);
	else
		ac_trial_over(turn);
	return reason;
}

static enum ac_reason
recast(struct ac_conduct *call)
{
	struct conv_job *job = (struct conv_job *)call;

	job->slot = call->turn->slot[0];
	return run_candidate(job, false);
}

static enum ac_reason
find_stream(const struct ac_conduct *call, ac_cu_stream *stream_out)
{
	const struct conv_job *job = (const struct conv_job *)call;
	__typeof__(&cudnnGetStream) get_stream =
	    PROVIDER(job->site->query.provider, cudnnGetStream);

	return get_stream && !get_stream(job->run->handle, stream_out)
	    ? AC_REASON_NONE : AC_REASON_UNSUPPORTED;
}

static bool
is_capturing(const struct ac_conduct *call)
{
	struct ac_place place;
	ac_cu_stream stream;

	return find_stream(call, &stream) == AC_REASON_NONE
	    && ac_place_on(stream, call->device, &place) == AC_REASON_NONE
	    && place.capture;
}

/* Threads tune each for itself, with handles of their own: what one of them
 * does says nothing of another. Never freed; the next handle at that address
 * begins with none. */
struct ac_conv_steady {
	struct ac_conv_steady *next, *next_of_all; /* newest first */
	cudnnHandle_t          handle;
	struct ac_steady       steady;
};
static _Atomic(struct ac_conv_steady *) all;

static struct ac_steady *
steady_of(struct ac_conv_site *site, cudnnHandle_t handle)
{
	struct ac_conv_steady *one = atomic_load_explicit(&site->steady,
	    memory_order_acquire);

	while (one && one->handle != handle)
		one = one->next;
	if (one)
		return &one->steady;
	one = ac_mapped_take(sizeof *one);
	if (!one)
		return NULL;
	one->handle = handle;
	AC_MAPPED_PUSH(&site->steady, one, next);
	AC_MAPPED_PUSH(&all, one, next_of_all);
	return &one->steady;
}

void
ac_conv_is_new(cudnnHandle_t handle)
{
	struct ac_conv_steady *one = atomic_load_explicit(&all,
	    memory_order_acquire);

	for (; one; one = one->next_of_all)
		if (one->handle == handle)
			atomic_store_explicit(&one->steady.last, 0,
			    memory_order_relaxed);
}

/* Whether nothing may come between the program's own calls, which it may be
 * timing. The first of all is what such programs warm up by. */
static bool
is_being_timed(struct conv_job *job)
{
	struct ac_steady *steady = steady_of(job->site, job->run->handle);
	const bool is_first = steady && !atomic_load_explicit(&steady->last,
	    memory_order_relaxed);

	job->call.is_unsteady = !steady
	    || !ac_steady_meets(steady, job->run->content);
	return job->call.is_unsteady && !is_first && !is_capturing(&job->call);
}

static enum ac_reason
objection(struct conv_job *job, const struct ac_conv *conv)
{
	if (ac_conv_overlaps(&job->data, conv))
		return AC_REASON_OVERLAP;
	if (!ac_conv_site_admits(job->site, conv))
		return AC_REASON_UNSUPPORTED;
	return job->run->content && is_being_timed(job)
	    && !job->site->decision.learns ? AC_REASON_PROBATION
	    : AC_REASON_NONE;
}

enum ac_outcome
ac_conv_conduct(const struct ac_conv_run *run, const struct ac_conv *conv,
    struct ac_conv_site *site, struct ac_kept *kept_out)
{
	static const struct ac_ways ways = {
		.find_stream = find_stream, .recast = recast,
		.try_all = try_all, .learn = learn
	};
	struct conv_job job = {
		.call = {
			.decision = &site->decision, .record = site->record,
			.variants = site->trial.variants,
			.trial = &site->trial, .device = site->query.device,
			.needs_place = true
		},
		.run = run, .site = site, .data = run->data
	};
	const enum ac_reason reason = objection(&job, conv);

	if (reason == AC_REASON_NONE)
		return ac_conduct(&job.call, &ways, kept_out);
	ac_report_count(site->record, reason);
	return AC_OUTCOME_KEPT;
}
