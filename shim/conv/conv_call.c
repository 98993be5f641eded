/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_call.c -- the conductor of every convolution of the older
 * interface: may this very call be recast, whose turn is it, in which memory,
 * what is counted. */
#include "shim/conv/conv_sample.h"

#include "api/region.h"
#include "kernels/conv/conv_check.h"
#include "shim/device/handle.h"
#include "shim/device/lane.h"
#include "shim/bind/marker.h"
#include "shim/trial/pair.h"
#include "shim/trial/trial.h"

#include <stddef.h>
#include <string.h>

/* One call on its way. */
struct conv_job {
	const struct ac_conv_call *call;
	struct ac_conv_site       *site;
	const struct ac_place     *place;
	struct ac_turn            *turn;
	const struct ac_candidate *candidate;
	struct ac_trial           *trial;    /* NULL: there is none */
	struct ac_conv_data        data;
	struct ac_slot             slot;     /* for a sample; device 0: none */
};

/* ---- What only this very call can tell --------------------------------- */

/* `conv`: this very call. */
static enum ac_reason
objection(const struct ac_conv_call *call, const struct ac_conv *conv,
    struct ac_conv_site *site)
{
	const struct ac_handle *handle = ac_handle_find(call->handle);

	if (handle->provider != call->provider || !call->x || !call->w
	    || !call->y || !call->alpha || *call->alpha == 0
	    || !ac_conv_is_good(call, &site->own_bytes))
		return AC_REASON_UNSUPPORTED;
	if (ac_conv_overlaps(call, conv))
		return AC_REASON_OVERLAP;
	return ac_conv_site_admits(site, conv) ? AC_REASON_NONE
	    : AC_REASON_UNSUPPORTED;
}

/* ---- One plan ---------------------------------------------------------- */

static enum ac_reason
borrow_lane(const struct conv_job *job, uint64_t bytes, bool sampled,
    struct ac_lane_loan *loan_out)
{
	const struct ac_lane_request request = {
		.provider = job->site->provider,
		.device = job->site->query.device, .buffer_bytes = bytes,
		.marks_bytes = sampled ? AC_CONV_CHECK_DOUBLES * sizeof(double)
		    : 0,
		.limit_bytes = job->site->decision.workspace_bytes,
	};

	return ac_lane_borrow(&request, job->place, loan_out);
}

static uint64_t
round_up(uint64_t bytes)
{
	return (bytes + 255) & ~UINT64_C(255);
}

static const struct ac_conv_tensor *
output_of(const struct ac_conv *conv)
{
	return conv->steps ? &conv->step[conv->steps - 1].out
	    : ac_conv_output(conv);
}

static void
redirect_output(struct conv_job *job, void *to)
{
	const void **at = job->call->operation == AC_OP_CONV_FPROP
	    ? &job->data.y : job->call->operation == AC_OP_CONV_DGRAD
	    ? &job->data.x : &job->data.w;

	*at = to;
}

static cudnnStatus_t
run_timed(const struct conv_job *job, struct ac_conv_plan *plan,
    void *workspace)
{
	struct ac_timing *timing = job->turn->timing;
	const bool timed = timing && ac_timing_begin(timing, job->place);
	const cudnnStatus_t status = ac_conv_plan_run(plan, &job->data,
	    workspace);

	if (timed)
		ac_timing_end(timing, job->place,
		    status == CUDNN_STATUS_SUCCESS);
	return status;
}

/* As good as memory of cudaMalloc(): programs cut theirs up. */
static bool
is_workspace(const void *workspace)
{
	return workspace && !((uintptr_t)workspace & 255);
}

/* Run `plan`, beside the output if `beside`, in the program's workspace if that
 * is enough, which is not in use before the original call; the rest is in a
 * lane. */
static enum ac_reason
run_plan(struct conv_job *job, struct ac_conv_plan *plan, bool beside)
{
	const uint64_t bytes = ac_conv_plan_bytes(plan);
	const bool own = job->call->bytes < bytes
	    || (bytes && !is_workspace(job->call->workspace));
	const bool sampled = job->slot.device != 0;
	const uint64_t out = beside
	    ? round_up(ac_conv_extent(output_of(&job->site->query.conv))) : 0;
	void *workspace = job->call->workspace;
	struct ac_lane_loan loan;
	enum ac_reason reason = AC_REASON_NONE;
	bool clean = true;

	if (own || beside || sampled)
		reason = borrow_lane(job, out + (own ? bytes : 0), sampled,
		    &loan);
	if (reason != AC_REASON_NONE)
		return reason;
	if (beside)
		redirect_output(job, loan.buffer);
	if (own)
		workspace = loan.buffer + out;
	if (run_timed(job, plan, workspace))
		reason = AC_REASON_REFUSED;
	else if (sampled)
		clean = ac_conv_sample(job->site, &job->data, job->turn,
		    job->slot.device, job->place, loan.marks);
	if (own || beside || sampled)
		ac_lane_return(&loan, clean);
	if (reason == AC_REASON_NONE && sampled && !clean && beside)
		reason = AC_REASON_OUT_OF_MEMORY;
	if (reason == AC_REASON_NONE && sampled && clean && !beside)
		ac_trial_sampled(job->trial, job->turn);
	return reason;
}

static enum ac_reason
run_candidate(struct conv_job *job, bool beside)
{
	struct ac_conv_plan *plan;
	enum ac_reason reason;
	bool refused;

	plan = ac_conv_plan_borrow(job->site, job->candidate->rung,
	    job->call->handle, !job->place->capture, &refused);
	if (!plan)
		return refused ? AC_REASON_REFUSED : job->place->capture
		    ? AC_REASON_CAPTURE : AC_REASON_OUT_OF_MEMORY;
	reason = job->place->capture && !ac_conv_plan_has_run(plan)
	    ? AC_REASON_CAPTURE : run_plan(job, plan, beside);
	ac_conv_plan_return(plan);
	return reason;
}

/* ---- Turns ------------------------------------------------------------- */

static enum ac_reason
try_all(const struct conv_job *job)
{
	enum ac_reason worst = AC_REASON_PROBATION;
	unsigned queued = 0, refused = 0;

	for (unsigned i = 0; i < ac_trial_count(job->trial); i++) {
		struct conv_job one = *job;
		enum ac_reason reason;

		if (!(job->turn->tries >> i & 1))
			continue;
		one.candidate = ac_trial_candidate(job->trial, i);
		one.slot = ac_trial_slot(job->trial, job->turn, i);
		reason = run_candidate(&one, true);
		if (reason == AC_REASON_NONE)
			queued |= 1u << i;
		else if (reason == AC_REASON_REFUSED)
			refused |= 1u << i;
		else
			worst = reason;
	}
	ac_trial_tried(job->trial, job->turn, queued, refused);
	return queued | refused ? AC_REASON_PROBATION : worst;
}

/* Beside the output first, and there once that is found to be accurate: the
 * engines are deterministic, and an output may have gaps that a copy would
 * fill. */
static enum ac_reason
run_judged(struct conv_job *job)
{
	struct conv_job beside = *job;
	enum ac_reason reason;

	beside.slot = job->turn->slot;
	reason = run_candidate(&beside, true);
	if (reason == AC_REASON_NONE && (!ac_place_wait(job->place)
	    || !ac_trial_judge_now(job->trial, job->turn)))
		reason = AC_REASON_GUARD;
	job->slot = (struct ac_slot){ .device = 0 };
	return reason == AC_REASON_NONE ? run_candidate(job, false) : reason;
}

static enum ac_outcome
take_turn(struct conv_job *job, struct ac_kept *kept_out,
    cudnnStatus_t *status_out)
{
	struct ac_turn *turn = job->turn;
	struct ac_site_record *record = job->site->record;
	enum ac_reason reason;

	if (turn->kind == AC_TURN_KEEP)
		return ac_outcome_keep(turn, job->trial, record, job->place,
		    kept_out);
	if (turn->kind == AC_TURN_TRY)
		return ac_outcome_original(turn, try_all(job), record,
		    job->place, kept_out);
	if (job->trial)
		record = ac_trial_record(job->trial, turn->candidate);
	job->candidate = &job->site->decision.candidate[turn->candidate];
	if (turn->sampled && job->site->decision.sample_period)
		job->slot = turn->slot;
	reason = turn->kind == AC_TURN_STRICT ? run_judged(job)
	    : run_candidate(job, false);
	if (reason == AC_REASON_NONE) {
		ac_outcome_count(&job->site->decision, job->candidate->rung,
		    record, job->place);
		*status_out = CUDNN_STATUS_SUCCESS;
		return AC_OUTCOME_DONE;
	}
	ac_report_count(record, reason);
	return AC_OUTCOME_KEPT;
}

/* NULL unless a step reads it. */
static const void *
z_of(const struct ac_conv_call *call, const struct ac_conv_site *site)
{
	for (int32_t i = 0; i < site->query.conv.steps; i++)
		if (site->query.conv.step[i].other.uid == AC_CONV_Z)
			return call->z;
	return NULL;
}

static enum ac_reason
find_place(const struct ac_conv_call *call, const struct ac_conv_site *site,
    struct ac_place *place_out)
{
	__typeof__(&cudnnGetStream) get_stream =
	    PROVIDER(call->provider, cudnnGetStream);
	cudaStream_t stream;

	if (!get_stream || get_stream(call->handle, &stream))
		return AC_REASON_UNSUPPORTED;
	return ac_place_on(stream, site->query.device, place_out);
}

/* Between the look whether a place is wanted and its turn, another thread may
 * have changed what the turn is. */
static bool
lacks_place(const struct conv_job *job)
{
	return !job->place && job->turn->kind != AC_TURN_KEEP;
}

static uint64_t
operands_of(const struct ac_conv_call *call)
{
	switch (call->operation) {
	case AC_OP_CONV_DGRAD: return ac_pair_key(call->w, call->y);
	case AC_OP_CONV_WGRAD: return ac_pair_key(call->x, call->y);
	default:               return ac_pair_key(call->x, call->w);
	}
}

static enum ac_outcome
conduct(const struct ac_conv_call *call, struct ac_conv_site *site,
    struct ac_kept *kept_out, cudnnStatus_t *status_out)
{
	struct ac_turn turn = { .kind = AC_TURN_RECAST };
	struct conv_job job = { .call = call, .site = site, .turn = &turn,
		.data = { call->x, call->w, call->y, z_of(call, site),
		    call->bias } };
	enum ac_reason reason = AC_REASON_NONE;
	enum ac_outcome outcome = AC_OUTCOME_KEPT;
	struct ac_place place;
	bool wanted = true;

	if (site->trial) {
		ac_trial_meet(site->trial, operands_of(call), &turn);
		wanted = ac_trial_wants_place(site->trial, &turn, true);
	}
	if (!site->trial && site->decision.guard != AC_GUARD_OFF)
		reason = AC_REASON_PROBATION;
	else if (wanted)
		reason = find_place(call, site, &place);
	if (reason != AC_REASON_NONE) {
		ac_report_count(site->record, reason);
		return AC_OUTCOME_KEPT;
	}
	job.place = wanted ? &place : NULL;
	if (site->trial) {
		job.trial = ac_trial_of(site->trial, job.place);
		if (job.trial != site->trial)
			ac_trial_meet(job.trial, operands_of(call), &turn);
		ac_trial_turn(job.trial, job.place, &turn);
	}
	if (lacks_place(&job))
		ac_report_count(site->record, AC_REASON_PROBATION);
	else
		outcome = take_turn(&job, kept_out, status_out);
	if (site->trial)
		ac_trial_turn_over(job.trial, &turn);
	return outcome;
}

/* ---- The doors --------------------------------------------------------- */

bool
ac_conv_query_of(const struct ac_conv_call *call, struct ac_conv_query *query)
{
	cudnnMathType_t math = CUDNN_DEFAULT_MATH;

	memset(query, 0, offsetof(struct ac_conv_query, conv));
	if (!call->provider || !call->handle
	    || !ac_conv_of_call(call, &query->conv, &math))
		return false;
	query->caller = (uint64_t)(uintptr_t)call->caller;
	query->entry = call->entry;
	query->device = ac_handle_find(call->handle)->device;
	query->math = (int32_t)math;
	query->algo = call->algo;
	query->region = ac_region_here();
	query->provider = (uint64_t)(uintptr_t)call->provider;
	return true;
}

enum ac_outcome
ac_conv_recast(const struct ac_conv_call *call, struct ac_kept *kept_out,
    cudnnStatus_t *status_out)
{
	struct ac_conv_query query;
	struct ac_conv_site *site = ac_conv_query_of(call, &query)
	    ? ac_conv_site_of(&query) : NULL;
	enum ac_reason reason;

	/* Of no kind that a site describes, or of one site too many. */
	if (!site) {
		ac_marker_count(call->entry);
		return AC_OUTCOME_KEPT;
	}
	if (site->decision.rung == AC_RUNG_KEEP) {
		ac_report_count_decided(site->record);
		return AC_OUTCOME_KEPT;
	}
	reason = objection(call, &query.conv, site);
	if (reason == AC_REASON_NONE)
		return conduct(call, site, kept_out, status_out);
	ac_report_count(site->record, reason);
	return AC_OUTCOME_KEPT;
}
