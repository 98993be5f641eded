/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/conduct.c -- from a call that may be recast to what became of it
 * (shim/trial/conduct.h). */
#include "shim/trial/conduct.h"

#include "shim/start/nvtx.h"
#include "shim/start/start.h"
#include "shim/trial/learn.h"

static enum ac_reason
find_place(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_place *place)
{
	ac_cu_stream stream;
	enum ac_reason reason = ways->find_stream(call, &stream);

	if (reason == AC_REASON_NONE)
		reason = ac_place_on(stream, call->device, place);
	if (reason == AC_REASON_NONE)
		call->place = place;
	return reason;
}

static enum ac_outcome
count_kept(const struct ac_conduct *call, enum ac_reason reason)
{
	ac_report_count(call->record, reason);
	return AC_OUTCOME_KEPT;
}

/* The original is to be made, and timed if its turn says so. What was left for
 * good, or is too slow, has a line of its own. */
static enum ac_outcome
keep(const struct ac_conduct *call, enum ac_reason reason,
    struct ac_kept *kept_out)
{
	struct ac_timing *timing = call->turn->timing;
	const bool is_left = reason == AC_REASON_GUARD
	    || reason == AC_REASON_NO_PROFIT;

	ac_report_count(is_left ? ac_variants_record(call->variants,
	    AC_ORIGINAL, reason) : call->record, reason);
	if (!timing || !ac_timing_begin(timing, call->place))
		return AC_OUTCOME_KEPT;
	kept_out->timing = timing;
	kept_out->place = *call->place;
	return AC_OUTCOME_TIMED;
}

/* As ways->recast(), in a range that a profiler shows. */
__attribute__((cold, noinline))
static enum ac_reason
recast_in_range(struct ac_conduct *call, const struct ac_ways *ways)
{
	const bool begun = ac_nvtx_push(call->candidate->rung,
	    call->record->id);
	const enum ac_reason reason = ways->recast(call);

	if (begun)
		ac_nvtx_pop();
	return reason;
}

static void
note_recorded(const struct ac_conduct *call)
{
	const struct ac_turn *turn = call->turn;

	if (call->place && call->place->capture && turn->is_verified
	    && turn->ledger)
		ac_ledger_recorded(turn->ledger, call->place);
}

/* Only calls that go another way than the site's first one have a record of
 * their own. Counting it sees to forked children. */
static enum ac_outcome
recast(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_site_record *record)
{
	enum ac_reason reason;

	call->candidate = &call->decision->candidate[call->turn->candidate];
	reason = atomic_load_explicit(&ac_nvtx_wanted, memory_order_relaxed)
	    ? recast_in_range(call, ways) : ways->recast(call);
	if (__builtin_expect(reason != AC_REASON_NONE, 0)) {
		ac_report_count_other(record, reason);
		if (reason != AC_REASON_CAPTURE)
			note_recorded(call); /* a part of it, perhaps */
		if (reason == AC_REASON_REFUSED && call->origin)
			ac_origin_refused(call->origin, call->variants,
			    call->turn);
		return AC_OUTCOME_KEPT;
	}
	ac_report_count(record, AC_REASON_NONE);
	if (call->place) { /* what is verified has one */
		if (call->turn->is_verified)
			ac_origin_queued(call->origin, call->place, call->turn);
		if (call->place->capture) {
			record->course.captured++;
			note_recorded(call);
		}
	}
	ac_shim_notice(call->decision, call->candidate);
	return AC_OUTCOME_DONE;
}

static enum ac_outcome
take_turn(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	const struct ac_turn *turn = call->turn;

	return turn->kind == AC_TURN_RECAST
	    ? recast(call, ways, ac_variants_record(call->variants,
	    turn->candidate, AC_REASON_NONE))
	    : keep(call, turn->kind == AC_TURN_TRY ? ways->try_all(call)
	    : turn->reason, kept_out);
}

/* For XLA's captures of a product each there are not as many lanes, and with
 * fewer its next capture could not update the first. */
static enum ac_reason
objection(const struct ac_conduct *call, bool needs_lane)
{
	if (!call->place || !call->place->capture)
		return call->is_unsteady ? AC_REASON_PROBATION : AC_REASON_NONE;
	return needs_lane && ac_caller_is_xla(call->record->key.caller)
	    ? AC_REASON_CAPTURE : AC_REASON_NONE;
}

/* ---- Under learn=on ------------------------------------------------------ */

__attribute__((cold, noinline))
static enum ac_outcome
conduct_learning(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	struct ac_turn turn = { .kind = AC_TURN_LEARN };
	struct ac_place place;

	call->turn = &turn;
	if (!ac_learn_begins(call)) {
		ac_origin_note(call->variants, NULL);
	} else if (find_place(call, ways, &place) == AC_REASON_NONE
	    && ac_learn_goes_on(call)) {
		if (ways->prepare)
			ways->prepare(call);
		ac_learn(call, ways);
	}
	return keep(call, AC_REASON_OWN, kept_out);
}

/* ---- Without a guard ----------------------------------------------------- */

static enum ac_outcome
conduct_unguarded(struct ac_conduct *call, const struct ac_ways *ways)
{
	/* Not written to: it has no sample. */
	static struct ac_turn turn = { .kind = AC_TURN_RECAST };
	enum ac_reason reason = AC_REASON_NONE;
	struct ac_place place;

	call->turn = &turn;
	if (call->is_unsteady || call->needs_place
	    || call->decision->tactic == AC_TACTIC_CAST) {
		reason = find_place(call, ways, &place);
		if (reason == AC_REASON_NONE)
			reason = objection(call, call->decision->tactic
			    == AC_TACTIC_CAST);
	}
	if (reason != AC_REASON_NONE)
		return count_kept(call, reason);
	if (call->place && ways->prepare)
		ways->prepare(call);
	return recast(call, ways, call->record);
}

/* ---- Convolutions -------------------------------------------------------- */

static enum ac_outcome
conduct_tried(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	struct ac_turn turn = { .is_unsteady = call->is_unsteady };
	struct ac_place place;
	const enum ac_reason reason = find_place(call, ways, &place);
	enum ac_outcome outcome;

	call->turn = &turn;
	if (reason != AC_REASON_NONE)
		return count_kept(call, reason);
	ac_trial_turn(call->trial, &place, &turn);
	outcome = take_turn(call, ways, kept_out);
	ac_trial_over(&turn);
	return outcome;
}

/* ---- Products ----------------------------------------------------------- */

/* Under reproducible=on a stream's calls are numbered apart; under learn=on
 * each is the program's own. */
static enum ac_reason
find_origin(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_place *place)
{
	enum ac_reason reason;

	if (!call->decision->reproducible)
		return AC_REASON_NONE;
	if (call->decision->learns)
		return AC_REASON_OWN;
	reason = find_place(call, ways, place);
	if (reason != AC_REASON_NONE)
		return reason;
	call->origin = ac_origin_on(call->origin, call->decision,
	    place->stream_id);
	return call->origin ? AC_REASON_NONE : AC_REASON_PROBATION;
}

/* A call that a library converts, and that is not verified, does without a
 * place, unless it is captured. */
static bool
wants_place(const struct ac_conduct *call, const struct ac_ways *ways)
{
	ac_cu_stream stream;

	if (call->turn->needs_place || call->is_unsteady)
		return true;
	return call->turn->kind == AC_TURN_RECAST && (call->needs_place
	    || ways->find_stream(call, &stream) != AC_REASON_NONE
	    || ac_place_may_capture(stream));
}

/* What is not recast, for `reason` or by its turn. A call that adds to what a
 * cast wrote is neither the program's own nor on probation: none but a verified
 * one sees whether the sum cancels. */
__attribute__((noinline))
static enum ac_outcome
keep_or_follow(struct ac_conduct *call, const struct ac_ways *ways,
    enum ac_reason reason, struct ac_place *place, struct ac_kept *kept_out)
{
	struct ac_turn *turn = call->turn;
	const bool is_own = turn->kind == AC_TURN_KEEP
	    && turn->reason == AC_REASON_OWN;

	if ((is_own || reason == AC_REASON_PROBATION)
	    && ac_origin_follows(call->origin) && (call->place
	    || find_place(call, ways, place) == AC_REASON_NONE)) {
		reason = AC_REASON_NONE;
		if (is_own)
			ac_origin_again(call->origin, call->variants,
			    call->place, turn);
	}
	return reason == AC_REASON_NONE ? take_turn(call, ways, kept_out)
	    : keep(call, reason, kept_out);
}

/* Once the turn and, where it is needed, the place are known. */
static enum ac_outcome
conduct_turn(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_place *place, struct ac_kept *kept_out)
{
	struct ac_turn *turn = call->turn;
	enum ac_reason reason = AC_REASON_NONE;
	struct ac_site_record *record;

	if (ways->prepare)
		ways->prepare(call);
	if (call->place) { /* what is unsteady has one */
		ac_origin_settle(call->origin, call->variants, call->place,
		    turn);
		reason = objection(call, turn->is_verified);
	}
	if (reason != AC_REASON_NONE || turn->kind != AC_TURN_RECAST)
		return keep_or_follow(call, ways, reason, place, kept_out);
	record = call->variants->record[turn->candidate];
	return recast(call, ways, record ? record : ac_variants_record(
	    call->variants, turn->candidate, AC_REASON_NONE));
}

static enum ac_outcome
conduct_product(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	struct ac_turn turn; /* ac_origin_begin() sets the rest */
	struct ac_place place;
	enum ac_reason reason;

	turn.kind = AC_TURN_RECAST;
	turn.is_unsteady = call->is_unsteady;
	turn.pair = call->pair;
	call->turn = &turn;
	reason = find_origin(call, ways, &place);
	if (reason == AC_REASON_NONE)
		ac_origin_begin(call->origin, call->variants, &turn);
	if (reason == AC_REASON_NONE && !call->place
	    && wants_place(call, ways))
		reason = find_place(call, ways, &place);
	if (reason != AC_REASON_NONE) {
		if (call->decision->learns)
			return conduct_learning(call, ways, kept_out);
		/* An original that is not timed. */
		return count_kept(call, turn.kind == AC_TURN_KEEP ? turn.reason
		    : reason);
	}
	return conduct_turn(call, ways, &place, kept_out);
}

/* A guarded site that is not stored has nothing to remember a trial by. Under
 * learn=on a convolution needs none. */
enum ac_outcome
ac_conduct(struct ac_conduct *call, const struct ac_ways *ways,
    struct ac_kept *kept_out)
{
	if (call->origin)
		return conduct_product(call, ways, kept_out);
	if (call->decision->guard == AC_GUARD_OFF)
		return conduct_unguarded(call, ways);
	if (!call->variants)
		return count_kept(call, AC_REASON_PROBATION);
	return call->decision->learns ? conduct_learning(call, ways, kept_out)
	    : conduct_tried(call, ways, kept_out);
}

void
ac_kept_end(struct ac_kept *kept)
{
	ac_timing_end(kept->timing, &kept->place, true);
}
