/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/conduct.c -- from a call that may be recast to what became of it
 * (shim/trial/conduct.h). */
#include "shim/trial/conduct.h"

#include "shim/start/start.h"

/* The original is to be made: counted for `reason`, and timed if its turn says
 * so. */
static enum ac_outcome
keep(const struct ac_conduct *call, struct ac_site_record *record,
    enum ac_reason reason, struct ac_kept *kept_out)
{
	struct ac_timing *timing = call->turn->timing;

	ac_report_count(record, reason);
	if (!timing || !ac_timing_begin(timing, call->place))
		return AC_OUTCOME_KEPT;
	kept_out->timing = timing;
	kept_out->place = *call->place;
	return AC_OUTCOME_TIMED;
}

/* Another thread may have changed the site's candidate since the place was
 * found not to matter. */
static enum ac_reason
run(struct ac_conduct *call, const struct ac_ways *ways)
{
	const bool is_strict = call->turn->kind == AC_TURN_STRICT;

	if (!call->place && (ways->needs_place || is_strict
	    || call->candidate->tactic == AC_TACTIC_CAST))
		return AC_REASON_PROBATION;
	return is_strict ? ways->strict(call) : ways->recast(call);
}

static enum ac_outcome
recast(struct ac_conduct *call, struct ac_site_record *record,
    const struct ac_ways *ways)
{
	enum ac_reason reason;

	call->candidate = &call->decision->candidate[call->turn->candidate];
	reason = run(call, ways);
	if (reason == AC_REASON_CAPTURE && call->trial
	    && ac_trial_lacks_room(call->trial, call->turn)) {
		record = ac_trial_record(call->trial, call->turn->candidate);
		call->candidate = &call->decision->candidate[
		    call->turn->candidate];
		reason = run(call, ways);
	}
	if (reason == AC_REASON_NONE)
		ac_shim_notice(call->decision, call->candidate->rung);
	ac_report_count(record, reason);
	if (reason != AC_REASON_NONE)
		return AC_OUTCOME_KEPT;
	if (call->place && call->place->capture)
		atomic_fetch_add_explicit(&record->course.captured, 1,
		    memory_order_relaxed);
	return AC_OUTCOME_DONE;
}

/* Only calls that go another way than the site's first one have a record of
 * their own. */
static enum ac_outcome
take_turn(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	const struct ac_turn *turn = call->turn;

	if (turn->kind == AC_TURN_TRY)
		return keep(call, call->record, ways->try_all(call), kept_out);
	if (turn->kind == AC_TURN_KEEP)
		return keep(call, turn->candidate == AC_CANDIDATES
		    ? ac_trial_record(call->trial, AC_CANDIDATES)
		    : call->record, turn->reason, kept_out);
	return recast(call, ac_trial_record(call->trial, turn->candidate),
	    ways);
}

static enum ac_reason
find_place(const struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_place *place_out)
{
	ac_cu_stream stream;
	const enum ac_reason reason = ways->find_stream(call, &stream);

	return reason == AC_REASON_NONE
	    ? ac_place_on(stream, call->device, place_out) : reason;
}

static bool
needs_place(const struct ac_conduct *call, const struct ac_ways *ways)
{
	return ways->needs_place || call->decision->tactic == AC_TACTIC_CAST;
}

/* To a call without a guard. For XLA's captures of a product each there are not
 * as many lanes, and with fewer its next capture could not update the first. */
static enum ac_reason
objection(const struct ac_conduct *call, const struct ac_place *place)
{
	if (!place->capture)
		return call->is_unsteady ? AC_REASON_PROBATION : AC_REASON_NONE;
	return call->decision->tactic == AC_TACTIC_CAST
	    && ac_caller_is_xla(call->record->key.caller) ? AC_REASON_CAPTURE
	    : AC_REASON_NONE;
}

/* Without a guard; a guarded site that is not stored has nothing to remember a
 * trial by. */
static enum ac_outcome
conduct_untried(struct ac_conduct *call, const struct ac_ways *ways)
{
	/* Not written to: it has no sample. */
	static struct ac_turn turn = { .kind = AC_TURN_RECAST };
	enum ac_reason reason = AC_REASON_NONE;
	struct ac_place place;

	call->turn = &turn;
	call->place = NULL;
	if (call->decision->guard != AC_GUARD_OFF) {
		reason = AC_REASON_PROBATION;
	} else if (call->is_unsteady || needs_place(call, ways)) {
		reason = find_place(call, ways, &place);
		call->place = &place;
		if (reason == AC_REASON_NONE)
			reason = objection(call, &place);
	}
	if (reason != AC_REASON_NONE) {
		ac_report_count(call->record, reason);
		return AC_OUTCOME_KEPT;
	}
	if (call->place && ways->prepare)
		ways->prepare(call);
	return recast(call, call->record, ways);
}

/* Under reproducible=on, the trial of this stream, which meets the operands,
 * too. */
static void
join(struct ac_conduct *call)
{
	struct ac_trial *here = ac_trial_of(call->trial, call->place);

	if (here != call->trial)
		ac_trial_meet(here, call->operands, call->turn);
	call->trial = here;
}

static bool
wants_place(const struct ac_conduct *call, const struct ac_ways *ways)
{
	ac_cu_stream stream;

	if (ac_trial_wants_place(call->trial, call->turn, ways->needs_place))
		return true;
	return ac_trial_minds_captures(call->trial)
	    && !ways->find_stream(call, &stream)
	    && ac_place_is_captured(stream);
}

/* For a candidate that can do without its place, what stands in the way of that
 * only means that the call goes unsampled. */
static enum ac_outcome
conduct_tried(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	struct ac_turn turn = {
		.kind = AC_TURN_KEEP, .is_unsteady = call->is_unsteady
	};
	enum ac_reason reason = AC_REASON_NONE;
	enum ac_outcome outcome;
	struct ac_place place;

	call->turn = &turn;
	call->place = NULL;
	ac_trial_meet(call->trial, call->operands, &turn);
	if (wants_place(call, ways)) {
		reason = find_place(call, ways, &place);
		if (reason == AC_REASON_NONE)
			call->place = &place;
	}
	if (reason != AC_REASON_NONE && needs_place(call, ways)) {
		ac_report_count(call->record, reason);
		return AC_OUTCOME_KEPT;
	}
	if (call->decision->reproducible)
		join(call);
	if (ways->prepare)
		ways->prepare(call);
	ac_trial_turn(call->trial, call->place, &turn);
	if (reason != AC_REASON_NONE)
		turn.reason = reason;
	outcome = take_turn(call, ways, kept_out);
	ac_trial_turn_over(call->trial, &turn);
	return outcome;
}

enum ac_outcome
ac_conduct(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	return call->trial ? conduct_tried(call, ways, kept_out)
	    : conduct_untried(call, ways);
}

bool
ac_conduct_is_good(const struct ac_conduct *call)
{
	return ac_place_wait(call->place)
	    && ac_trial_judge_now(call->trial, call->turn);
}

void
ac_kept_end(struct ac_kept *kept)
{
	ac_timing_end(kept->timing, &kept->place, true);
}
