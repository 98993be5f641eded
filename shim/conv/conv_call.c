/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_call.c -- whether this very convolution of the older interface
 * may be recast, and the ways that its conductor (shim/trial/conduct.h) has to
 * do that. */
#include "shim/conv/conv_call.h"

#include "api/region.h"
#include "kernels/conv/conv_check.h"
#include "shim/conv/conv_sample.h"
#include "shim/device/handle.h"
#include "shim/device/lane.h"
#include "shim/bind/marker.h"
#include "shim/trial/pair.h"
#include "shim/trial/trial.h"

#include <stddef.h>
#include <string.h>

/* One convolution on its way. */
struct conv_job {
	struct ac_conduct             call;
	const struct ac_conv_call *conv;
	struct ac_conv_site       *site;
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

	return ac_lane_borrow(&request, job->call.place, loan_out);
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
	const void **at = job->conv->operation == AC_OP_CONV_FPROP
	    ? &job->data.y : job->conv->operation == AC_OP_CONV_DGRAD
	    ? &job->data.x : &job->data.w;

	*at = to;
}

static cudnnStatus_t
run_timed(const struct conv_job *job, struct ac_conv_plan *plan,
    void *workspace)
{
	struct ac_timing *timing = job->call.turn->timing;
	const bool timed = timing && ac_timing_begin(timing, job->call.place);
	const cudnnStatus_t status = ac_conv_plan_run(plan, &job->data,
	    workspace);

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

/* Run `plan`; under `beside` its output goes into a lane. The program's
 * workspace is used if it is large enough: nothing else uses it before the
 * original call. Otherwise the workspace is in the lane, too. */
static enum ac_reason
run_plan(struct conv_job *job, struct ac_conv_plan *plan, bool beside)
{
	const uint64_t bytes = ac_conv_plan_bytes(plan);
	const bool own = job->conv->bytes < bytes
	    || (bytes && !is_workspace(job->conv->workspace));
	const bool sampled = job->slot.device != 0;
	const uint64_t out = beside
	    ? round_up(ac_conv_extent(output_of(&job->site->query.conv))) : 0;
	void *workspace = job->conv->workspace;
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
		clean = ac_conv_sample(job->site, &job->data, job->call.turn,
		    job->slot.device, job->call.place, loan.marks);
	if (own || beside || sampled)
		ac_lane_return(&loan, clean);
	if (reason == AC_REASON_NONE && sampled && !clean && beside)
		reason = AC_REASON_OUT_OF_MEMORY;
	if (reason == AC_REASON_NONE && sampled && clean && !beside)
		ac_trial_sampled(job->call.trial, job->call.turn);
	return reason;
}

static enum ac_reason
run_candidate(struct conv_job *job, bool beside)
{
	struct ac_conv_plan *plan;
	enum ac_reason reason;
	bool refused;

	plan = ac_conv_plan_borrow(job->site, job->call.candidate->rung,
	    job->conv->handle, !job->call.place->capture, &refused);
	if (!plan)
		return refused ? AC_REASON_REFUSED : job->call.place->capture
		    ? AC_REASON_CAPTURE : AC_REASON_OUT_OF_MEMORY;
	reason = job->call.place->capture && !ac_conv_plan_has_run(plan)
	    ? AC_REASON_CAPTURE : run_plan(job, plan, beside);
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

	for (unsigned i = 0; i < ac_trial_count(call->trial); i++) {
		struct conv_job one = *job;
		enum ac_reason reason;

		if (!(call->turn->tries >> i & 1))
			continue;
		one.call.candidate = ac_trial_candidate(call->trial, i);
		one.slot = ac_trial_slot(call->trial, call->turn, i);
		reason = run_candidate(&one, true);
		if (reason == AC_REASON_NONE)
			queued |= 1u << i;
		else if (reason == AC_REASON_REFUSED)
			refused |= 1u << i;
		else
			worst = reason;
	}
	ac_trial_tried(call->trial, call->turn, queued, refused);
	return queued | refused ? AC_REASON_PROBATION : worst;
}

/* Into a lane first, and into the output once the former is found to be
 * accurate. The engines are deterministic; a copy would fill the gaps that an
 * output may have. */
static enum ac_reason
strict(struct ac_conduct *call)
{
	struct conv_job *job = (struct conv_job *)call;
	struct conv_job beside = *job;
	enum ac_reason reason;

	beside.slot = call->turn->slot;
	reason = run_candidate(&beside, true);
	if (reason == AC_REASON_NONE && !ac_conduct_is_good(call))
		reason = AC_REASON_GUARD;
	return reason == AC_REASON_NONE ? run_candidate(job, false) : reason;
}

static enum ac_reason
recast(struct ac_conduct *call)
{
	struct conv_job *job = (struct conv_job *)call;

	if (call->turn->sampled && call->decision->sample_period)
		job->slot = call->turn->slot;
	return run_candidate(job, false);
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
find_stream(const struct ac_conduct *call, ac_cu_stream *stream_out)
{
	const struct conv_job *job = (const struct conv_job *)call;
	__typeof__(&cudnnGetStream) get_stream =
	    PROVIDER(job->site->provider, cudnnGetStream);

	return get_stream && !get_stream(job->conv->handle, stream_out)
	    ? AC_REASON_NONE : AC_REASON_UNSUPPORTED;
}

static uint64_t
operands_of(const struct ac_conv_call *conv)
{
	switch (conv->operation) {
	case AC_OP_CONV_DGRAD: return ac_pair_key(conv->w, conv->y);
	case AC_OP_CONV_WGRAD: return ac_pair_key(conv->x, conv->y);
	default:               return ac_pair_key(conv->x, conv->w);
	}
}

static enum ac_outcome
conduct(const struct ac_conv_call *conv, struct ac_conv_site *site,
    struct ac_kept *kept_out, cudnnStatus_t *status_out)
{
	static const struct ac_ways ways = {
		.needs_place = true, .find_stream = find_stream,
		.recast = recast, .strict = strict, .try_all = try_all
	};
	struct conv_job job = {
		.call = {
			.decision = &site->decision, .record = site->record,
			.trial = site->trial, .operands = operands_of(conv),
			.device = site->query.device
		},
		.conv = conv, .site = site, .data = {
			conv->x, conv->w, conv->y, z_of(conv, site), conv->bias
		}
	};
	const enum ac_outcome outcome = ac_conduct(&job.call, &ways, kept_out);

	if (outcome == AC_OUTCOME_DONE)
		*status_out = CUDNN_STATUS_SUCCESS;
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
