/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_turn.c -- what one call of a site is to do, by its
 * number. */
#include "shim/trial/trial_state.h"

#include <stddef.h>

static bool
is_cast(const struct ac_trial *t, unsigned candidate)
{
	return t->decision.candidate[candidate].tactic == AC_TACTIC_CAST;
}

/* Whether `candidate` watches its own calls, or was sampled on this pair. */
static bool
is_known(const struct ac_trial *t, unsigned candidate,
    const struct ac_turn *turn)
{
	return is_cast(t, candidate)
	    || !ac_pair_is_new(&t->v->pairs, turn->pair, candidate);
}

/* ---- What is due -------------------------------------------------------- */

/* The variant that this call of the site is to time: the accurate candidates
 * and the original in turn; -1 if it is none's. */
static int
timed_variant(const struct ac_trial *t, const struct ac_turn *turn)
{
	const uint64_t since = turn->own - t->settled_at;
	unsigned left = (unsigned)(since % TRIAL_ROUND);

	if (!t->v->accurate || turn->own < t->settled_at
	    || since >= TRIAL_ROUNDS * TRIAL_ROUND)
		return -1;
	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (t->v->accurate >> i & 1 && left-- == 0)
			return i == t->current || is_known(t, i, turn)
			    ? (int)i : -1;
	/* The original is the slow one. */
	return left == 0 && !t->keep_timed
	    && since < TRIAL_KEPT_ROUNDS * TRIAL_ROUND
	    ? TRIAL_KEEP : -1;
}

static bool
is_timing_due(const struct ac_trial *t, uint64_t own)
{
	return !t->timing_over && t->settled_at
	    && own >= t->settled_at + TRIAL_TIMED;
}

static bool
is_verdict_due(const struct ac_trial *t, uint64_t number, uint64_t own)
{
	return number >= t->v->due || is_timing_due(t, own);
}

/* Whether `pair` has something to prove at call `number`. */
static bool
is_proof_due(const struct ac_trial *t, unsigned pair, uint64_t number)
{
	const uint32_t proving = t->v->again.pair;

	if (number < t->v->retry_due)
		return false;
	if (proving != AC_PAIRS)
		return proving == pair || proving == AC_PAIR_OTHERS
		    || number >= t->v->again.last + TRIAL_ABSENCE;
	return ac_pair_is_restless(&t->v->pairs, pair, number)
	    || ac_pair_is_restless(&t->v->pairs, AC_PAIR_OTHERS, number);
}

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ x >> 29) * UINT64_C(0xD6E8FEB86659FD93);
	return x ^ x >> 32;
}

/* After a sample of call `nth` of these sizes, call `number` of the place: with
 * the next power of two up to 32, then about a period on, a quarter of it left
 * to chance. What is drawn adds up, so no loop of the program keeps step with
 * it. */
static uint64_t
next_sample(const struct ac_trial *t, uint64_t nth, uint64_t number)
{
	enum { FIRST = 4, LAST = 32 };
	const uint64_t width = t->v->period / 4;
	uint64_t next = FIRST;

	while (next <= nth && next <= LAST)
		next *= 2;
	if (next <= LAST && next - nth < t->v->period)
		return number + next - nth;
	return number + t->v->period - width / 2 + (width
	    ? mix((uint64_t)t->record[0]->id << 32 ^ number) % width : 0);
}

/* Where a place has many sizes, each sixteenth call of one at most has a
 * sample; casts only post then what was found of each call. */
static bool
is_sample_due(const struct ac_trial *t, unsigned candidate, uint64_t nth,
    uint64_t number)
{
	return number >= t->v->next_sample
	    && (nth >= t->v->least || is_cast(t, candidate));
}

void
ac_trial_meet(struct ac_trial *t, uint64_t operands, struct ac_turn *turn)
{
	turn->pair = ac_pair_take(&t->v->pairs, operands);
	turn->pair_bit = ac_pair_bit(&t->v->pairs, turn->pair);
}

bool
ac_trial_wants_place(const struct ac_trial *t, const struct ac_turn *turn,
    bool to_run)
{
	const uint64_t next = *t->v->calls + 1;
	const uint32_t current = t->current;

	if (t->decision.reproducible)
		return true;
	if (t->own_calls < t->decision.after)
		return false;
	/* What it captures goes one way, XLA's from the first time on. */
	if (t->is_xla || t->captured_as)
		return true;
	/* Before its turn. */
	if (t->v->state != TRIAL_SETTLED)
		return next >= t->v->first
		    && (t->v->state == TRIAL_WAITING
		    || ac_trial_is_afforded(t));
	if (current != TRIAL_KEEP
	    && (to_run || turn->is_unsteady || is_cast(t, current)))
		return true;
	if (!t->timing_over || t->v->pairs.any_out || t->v->chained
	    || is_verdict_due(t, next, t->own_calls + 1)
	    || t->decision.guard == AC_GUARD_STRICT
	    || t->chosen != t->v->version)
		return true;
	return current != TRIAL_KEEP && (!is_known(t, current, turn)
	    || is_sample_due(t, current, t->v->own_calls + 1, next));
}

bool
ac_trial_minds_captures(const struct ac_trial *t)
{
	return t->v->varied < TRIAL_EVIDENCE && t->current != TRIAL_KEEP
	    && t->decision.guard == AC_GUARD_ON;
}

/* ---- Once settled ------------------------------------------------------- */

/* Let a candidate that this pair may not use prove itself, if it is time. */
static void
begin_again(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	const struct ac_trial_again *again = &t->v->again;
	const unsigned pairs[2] = { AC_PAIR_OTHERS, turn->pair };

	if (again->pair != AC_PAIRS &&
	    (again->pair != turn->pair || again->tries >= 2 * again->needed) &&
	    turn->number >= again->last + TRIAL_ABSENCE)
		ac_trial_postpone_proof(t, turn->number + TRIAL_RETRY);
	for (unsigned i = 0; i < 2 && again->pair == AC_PAIRS; i++) {
		const unsigned candidate = ac_trial_wants_again(t, pairs[i],
		    turn->number);

		if (candidate != TRIAL_KEEP)
			ac_trial_begin_proof(t, pairs[i], candidate,
			    turn->number);
	}
	if ((again->pair != AC_PAIR_OTHERS && again->pair != turn->pair)
	    || again->clean + again->open >= again->needed
	    || again->tries >= 2 * again->needed)
		return;
	ac_trial_begin_try(t, place, 1u << again->candidate, turn);
	if (turn->kind == AC_TURN_TRY) {
		t->v->again.last = turn->number;
		t->v->again.tries++;
	}
}

/* Be at home at `place`. */
static bool
move(struct ac_trial *t, const struct ac_place *place)
{
	if (ac_trial_is_deserted(t, place, 0, UINT64_MAX / 2))
		ac_trial_may_wait(t);
	return ac_trial_take_slots(t, place);
}

/* One thread judges at a time; whoever comes here meanwhile leaves that to it,
 * or waits for what is due. Who begins a try holds on until it has ended.
 * False: a verdict that is due is not known. */
static bool
conclude(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	if (!ac_trial_hold_for(t, turn))
		return turn->number < t->v->due;
	if (!ac_trial_is_home(t, place)) {
		if (!ac_trial_is_deserted(t, place, turn->number,
		    TRIAL_LAG + 4 * t->v->period)) {
			ac_trial_release(t);
			return true;
		}
		(void)move(t, place);
	}
	t->v->home_at = turn->number;
	ac_trial_hear_graph(t);
	(void)ac_trial_await(t, turn->number);
	t->v->is_overdue = !ac_trial_apply(t, turn->number);
	if (is_timing_due(t, turn->own) || t->timing_over)
		ac_trial_compare(t, place);
	if (is_proof_due(t, turn->pair, turn->number))
		begin_again(t, place, turn);
	if (turn->kind != AC_TURN_TRY)
		ac_trial_release(t);
	return true;
}

/* A site whose class passed the probation has met no context yet; or the
 * context is gone, or has been quiet, and nothing is due that would tell. */
static void
find_home(struct ac_trial *t, const struct ac_place *place, uint64_t number)
{
	if (ac_trial_is_home(t, place)
	    || !ac_trial_is_deserted(t, place, number,
	    TRIAL_LAG + 4 * t->v->period) || !ac_trial_hold(t, false))
		return;
	if (move(t, place))
		t->v->home_at = number;
	ac_trial_release(t);
}

/* Nothing watches each call of a library's conversion: what a new pair does is
 * looked at when it is met. */
static void
begin_sample(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	const bool casts = is_cast(t, turn->candidate);
	const bool is_new = !casts && !is_known(t, turn->candidate, turn);
	/* A sample is no part of what recasting takes: the next call has it. */
	const bool is_due = !turn->timing && is_sample_due(t, turn->candidate,
	    turn->nth, turn->number);
	/* What a stream's calls lost only a call of that stream can tell. */
	const bool is_silent = casts
	    && ac_history_is_silent(&t->v->histories, place, turn->candidate,
	    turn->number, t->v->period + t->v->period / 8);
	uint64_t next = t->v->next_sample;

	if (t->decision.guard != AC_GUARD_ON)
		return;
	find_home(t, place, turn->number);
	if (!is_due && !is_new && !is_silent)
		return;
	turn->entry[0] = (uint8_t)ac_trial_open(t);
	if (turn->entry[0] == TRIAL_OPEN)
		return;
	if (!ac_trial_slot_in(t, place, turn->entry[0], &turn->slot)
	    || (is_due && !atomic_compare_exchange_strong(
	    &t->v->next_sample, &next, next_sample(t, turn->nth,
	    turn->number)) && !is_new && !is_silent)) {
		ac_trial_close(t, turn->entry[0]);
		return;
	}
	turn->posts_only = turn->nth < t->v->least || !(is_due || is_new);
	if (casts)
		ac_history_posts(&t->v->histories, place, turn->candidate,
		    turn->number);
	if (is_due && !turn->posts_only && turn->nth > TRIAL_PERIOD)
		t->v->least = turn->nth + t->v->period / 4;
	turn->sampled = true;
}

/* Which way this call goes; true: as `turn` says by now. */
static bool
is_kept(struct ac_trial *t, const struct ac_place *place, bool is_overdue,
    struct ac_turn *turn)
{
	const bool any_out = t->v->pairs.any_out;
	const uint32_t out = t->v->chained | (any_out
	    ? ac_pair_out(&t->v->pairs, turn->pair) : 0);
	uint32_t current;
	const int variant = !t->timing_over && place && !is_overdue
	    && ac_trial_is_home(t, place) ? timed_variant(t, turn) : -1;

	if (t->chosen != t->v->version)
		ac_trial_choose(t);
	current = atomic_load_explicit(&t->current, memory_order_acquire);
	if (variant >= 0 && !(out >> variant & 1)) {
		turn->timing = ac_trial_time(t, (unsigned)variant);
		if (variant == TRIAL_KEEP)
			return true;            /* kept: probation */
		current = (uint32_t)variant;
	} else {
		if (current != TRIAL_KEEP && out >> current & 1) {
			current = ac_trial_pick(t, out);
			if (current == TRIAL_KEEP)
				t->kept_as = t->v->accurate & ~out
				    ? AC_REASON_NO_PROFIT : AC_REASON_GUARD;
		}
		if (any_out || t->shown != current)
			ac_trial_show(t, current);
	}
	turn->candidate = current;
	if (current == TRIAL_KEEP) {
		turn->reason = (enum ac_reason)t->kept_as;
		return true;
	}
	return is_overdue;                      /* kept: probation */
}

static void
turn_settled(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	/* What a program captures it has chosen. */
	const bool is_native = turn->is_unsteady && !(place && place->capture);
	uint64_t never = 0;
	bool is_overdue = false;

	/* One size of many may not come often enough to be worth timing; and
	 * the device may have run out of work by the verdicts, so that the
	 * host's launches would be timed. What a program tries out is not
	 * timed. */
	if (!t->settled_at && !is_native)
		(void)atomic_compare_exchange_strong(&t->settled_at, &never,
		    turn->own + TRIAL_ROUND);
	if (place && t->decision.guard == AC_GUARD_ON
	    && (is_verdict_due(t, turn->number, turn->own)
	    || is_proof_due(t, turn->pair, turn->number)))
		is_overdue = !conclude(t, place, turn);
	is_overdue |= t->v->is_overdue;
	if (turn->kind == AC_TURN_TRY || is_native)
		return;
	if (t->decision.guard == AC_GUARD_STRICT)
		ac_trial_retry_strict(t, turn);
	if (is_kept(t, place, is_overdue, turn)
	    || (t->decision.guard == AC_GUARD_STRICT
	    && turn->own <= t->decision.after + TRIAL_EVIDENCE))
		return;                         /* kept: probation */
	turn->kind = AC_TURN_RECAST;
	if (t->decision.guard == AC_GUARD_STRICT)
		ac_trial_turn_strict(t, place, turn);
	else if (place)
		begin_sample(t, place, turn);
	if (turn->sampled && !turn->timing && t->may_time && t->timing_over
	    && turn->kind == AC_TURN_RECAST)
		turn->timing = ac_trial_time(t, turn->candidate);
}

void
ac_trial_turn(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	turn->kind = AC_TURN_KEEP;
	turn->reason = AC_REASON_PROBATION;
	turn->number = 1 + atomic_fetch_add_explicit(t->v->calls, 1,
	    memory_order_relaxed);
	turn->nth = t->v->calls == &t->v->own_calls ? turn->number
	    : 1 + atomic_fetch_add_explicit(&t->v->own_calls, 1,
	    memory_order_relaxed);
	turn->own = 1 + atomic_fetch_add_explicit(&t->own_calls, 1,
	    memory_order_relaxed);
	if (t->v->state != TRIAL_SETTLED && ac_credit_is_kept(&t->decision))
		ac_credit_count(t->v->credit, &t->decision);
	if (turn->own <= t->decision.after)
		return;
	if (place && place->capture && t->decision.guard == AC_GUARD_ON) {
		ac_trial_turn_captured(t, place, turn);
		return;
	}
	if (place && atomic_load_explicit(&t->v->state, memory_order_acquire)
	    != TRIAL_SETTLED)
		ac_trial_turn_probation(t, place, turn);
	if (turn->kind == AC_TURN_KEEP && atomic_load_explicit(&t->v->state,
	    memory_order_acquire) == TRIAL_SETTLED)
		turn_settled(t, place, turn);
}
