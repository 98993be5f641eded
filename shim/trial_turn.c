/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial_turn.c -- what one call of a site is to do, by its number. */
#include "shim/trial_state.h"

#include <stddef.h>

/* ---- What is due -------------------------------------------------------- */

/* The variant that call `own` of the site is to time: the accurate candidates and the
 * original in turn; -1 if it is none's. */
static int
timed_variant(const struct ac_trial *t, uint64_t own)
{
	const uint64_t since = own - t->settled_at;
	unsigned turn = (unsigned)(since % TRIAL_ROUND);

	if (t->timing_over || !t->v->accurate || own < t->settled_at
	    || since >= TRIAL_ROUNDS * TRIAL_ROUND)
		return -1;
	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (t->v->accurate >> i & 1 && turn-- == 0)
			return (int)i;
	return turn == 0 ? TRIAL_KEEP : -1;
}

static bool
is_timing_due(const struct ac_trial *t, uint64_t own)
{
	return !t->timing_over && t->settled_at
	    && own >= t->settled_at + TRIAL_TIMED;
}

static bool
is_due(const struct ac_trial *t, uint64_t number, uint64_t own)
{
	return number >= t->v->due || number >= t->v->retry_due
	    || is_timing_due(t, own);
}

static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 31) * UINT64_C(0x9E3779B97F4A7C15);
	x = (x ^ x >> 29) * UINT64_C(0xD6E8FEB86659FD93);
	return x ^ x >> 32;
}

/* After a sample at `number`: the next power of two up to 32, then about a
 * period on, a quarter of it left to chance. What is drawn adds up, so no loop of
 * the program keeps step with it. */
static uint64_t
next_sample(const struct ac_trial *t, uint64_t number)
{
	enum { FIRST = 4, LAST = 32 };
	const uint64_t width = t->v->period / 4;
	uint64_t next = FIRST;

	while (next <= number && next <= LAST)
		next *= 2;
	if (next <= LAST && next - number < t->v->period)
		return next;
	return number + t->v->period - width / 2 + (width
	    ? mix((uint64_t)t->record[0]->id << 32 ^ number) % width : 0);
}

static bool
is_afforded(const struct ac_trial *t)
{
	return ac_credit_affords(t->v->credit, &t->decision,
	    (1u << t->decision.candidate_count) - 1);
}

void
ac_trial_meet(struct ac_trial *t, uint64_t operands, struct ac_turn *turn)
{
	turn->pair = ac_pair_take(&t->v->pairs, operands, &turn->is_new_pair);
}

bool
ac_trial_wants_place(const struct ac_trial *t, const struct ac_turn *turn,
    bool to_run)
{
	const uint64_t next = t->v->calls + 1;
	const uint32_t current = t->current;
	bool casts;

	if (t->decision.reproducible)
		return true;
	if (t->v->state != TRIAL_SETTLED) /* before its turn, or during another's */
		return next >= t->v->first && !t->v->judge
		    && (t->v->state == TRIAL_WAITING
		    || is_afforded(t));
	if (!t->timing_over || t->v->pairs.any_out || is_due(t, next, t->own_calls + 1)
	    || t->decision.guard == AC_GUARD_STRICT
	    || t->chosen != t->v->version)
		return true;
	if (current == TRIAL_KEEP)
		return false;
	casts = t->decision.candidate[current].tactic == AC_TACTIC_CAST;
	return to_run || casts || next >= t->v->next_sample || turn->is_new_pair;
}

/* ---- Tries -------------------------------------------------------------- */

/* Have the candidates of `bits` run beside this call. */
static void
begin_try(struct ac_trial *t, const struct ac_place *place, uint32_t bits,
    struct ac_turn *turn)
{
	uint32_t taken = 0;

	if (!ac_trial_take_slots(t, place)) {
		turn->reason = AC_REASON_DRIVER;
		return;
	}
	t->v->home_at = turn->number;
	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!(bits >> i & 1))
			continue;
		turn->entry[i] = (uint8_t)ac_trial_open(t);
		if (turn->entry[i] != TRIAL_OPEN)
			taken |= 1u << i;
	}
	turn->tries = taken;
	if (taken)
		turn->kind = AC_TURN_TRY;
	ac_credit_charge(t->v->credit, &t->decision, taken);
}

/* What the probation has to see of this pair. What the pair may not use counts
 * against it: there may be no other pair. */
static uint32_t
wanted_of(struct ac_trial *t, unsigned pair)
{
	const uint32_t out = ac_pair_out(&t->v->pairs, pair);
	uint32_t bits = 0;

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		if (!ac_trial_is_undecided(t, i))
			continue;
		if (out >> i & 1)
			t->v->evidence[i].bad++;
		else
			bits |= 1u << i;
	}
	return bits;
}

/* Conclude from the tries, if all have posted. The context of the tries may be
 * gone with all it had queued; or it may be another one's turn. */
static void
end_waiting(struct ac_trial *t, const struct ac_place *place, uint64_t number)
{
	if (!ac_trial_is_home(t, place)) {
		if (ac_trial_is_deserted(t, place, number, TRIAL_PERIOD))
			(void)ac_trial_take_slots(t, place);
		return;
	}
	if (!ac_trial_await(t, number))
		return;
	t->v->was_empty = true;
	ac_trial_apply(t, number);
	ac_trial_settle(t, number);
}

static void
turn_probation(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	uint32_t bits;

	if (place->capture) {
		turn->reason = AC_REASON_CAPTURE;
		return;
	}
	if (!ac_trial_hold(t, false))
		return;
	if (t->v->state == TRIAL_WAITING)
		end_waiting(t, place, turn->number);
	if (t->v->state == TRIAL_PROBATION && turn->number >= t->v->first) {
		bits = is_afforded(t) ? wanted_of(t, turn->pair) : 0;
		if (bits)
			begin_try(t, place, bits, turn);
		else if (is_afforded(t))
			ac_trial_settle(t, turn->number);
	}
	if (turn->kind != AC_TURN_TRY)
		ac_trial_release(t);
}

/* ---- Once settled ------------------------------------------------------- */

/* Let a candidate that this pair may not use prove itself, if it is time. */
static void
begin_again(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	struct ac_trial_again *again = &t->v->again;
	const unsigned pairs[2] = { AC_PAIR_OTHERS, turn->pair };

	for (unsigned i = 0; i < 2 && !again->is_on; i++) {
		const unsigned candidate = ac_trial_wants_again(t, pairs[i],
		    turn->number);

		if (candidate == TRIAL_KEEP)
			continue;
		*again = (struct ac_trial_again){
			.is_on = true, .pair = pairs[i], .candidate = candidate,
		};
		t->v->retry_due = 0;
		atomic_fetch_add_explicit(&ac_trial_record(t,
		    candidate)->course.retries, 1, memory_order_relaxed);
	}
	if (!again->is_on || (again->pair != AC_PAIR_OTHERS
	    && again->pair != turn->pair)
	    || again->clean + again->open >= TRIAL_PROOF)
		return;
	begin_try(t, place, 1u << again->candidate, turn);
	if (turn->kind == AC_TURN_TRY)
		again->last = turn->number;
}

/* One thread judges at a time; whoever comes here meanwhile leaves that to it.
 * Who begins a try holds on until it has ended. */
static void
conclude(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	if (place->capture || !ac_trial_hold(t, false))
		return;
	if (!ac_trial_is_home(t, place)) {
		if (!ac_trial_is_deserted(t, place, turn->number,
		    TRIAL_LAG + 4 * t->v->period)) {
			ac_trial_release(t);
			return;
		}
		(void)ac_trial_take_slots(t, place);
	}
	t->v->home_at = turn->number;
	ac_trial_hear_graph(t);
	t->v->is_overdue = !ac_trial_await(t, turn->number);
	ac_trial_apply(t, turn->number);
	if (is_timing_due(t, turn->own) || t->timing_over)
		ac_trial_compare(t, place);
	if (turn->number >= t->v->retry_due)
		begin_again(t, place, turn);
	if (turn->kind != AC_TURN_TRY)
		ac_trial_release(t);
}

static bool
is_cast(const struct ac_trial *t, unsigned candidate)
{
	return t->decision.candidate[candidate].tactic == AC_TACTIC_CAST;
}

/* What a graph holds runs for ever, and posts when it was found wanting. */
static void
watch_graph(struct ac_trial *t, struct ac_turn *turn)
{
	turn->posts_if_bad = true;
	turn->slot = ac_trial_slot_at(t, TRIAL_GRAPH);
}

/* Nothing watches each call of a library's conversion: what a new pair does is
 * looked at when it is met. */
static void
begin_sample(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	const bool is_new = turn->is_new_pair && !is_cast(t, turn->candidate);
	uint64_t next = t->v->next_sample;

	if (t->decision.guard != AC_GUARD_ON || !ac_trial_is_home(t, place))
		return;
	if (place->capture) {
		if (is_cast(t, turn->candidate))
			watch_graph(t, turn);
		return;
	}
	if (turn->number < next && !is_new)
		return;
	turn->entry[0] = (uint8_t)ac_trial_open(t);
	if (turn->entry[0] == TRIAL_OPEN)
		return;
	if (turn->number >= next && !atomic_compare_exchange_strong(
	    &t->v->next_sample, &next, next_sample(t, turn->number)) && !is_new) {
		ac_trial_close(t, turn->entry[0]);
		return;
	}
	turn->sampled = true;
	turn->slot = ac_trial_slot_at(t, turn->entry[0]);
}

/* Which way this call goes; true: as `turn` says by now. */
static bool
is_kept(struct ac_trial *t, const struct ac_place *place, struct ac_turn *turn)
{
	const uint32_t out = t->v->pairs.any_out
	    ? ac_pair_out(&t->v->pairs, turn->pair) | t->v->chained : 0;
	uint32_t current;
	/* What a graph holds runs for ever: it is not for timing. */
	const int variant = place && !place->capture && !t->v->is_overdue
	    && ac_trial_is_home(t, place)
	    ? timed_variant(t, turn->own) : -1;

	if (t->chosen != t->v->version)
		ac_trial_choose(t);
	current = atomic_load_explicit(&t->current, memory_order_acquire);
	if (variant >= 0 && !(out >> variant & 1)) {
		turn->timing = &t->timing[variant];
		if (variant == TRIAL_KEEP)
			return true;            /* kept: probation */
		current = (uint32_t)variant;
	} else if (current != TRIAL_KEEP && out >> current & 1) {
		current = ac_trial_pick(t, out);
		if (current == TRIAL_KEEP)
			t->kept_as = t->v->accurate & ~out ? AC_REASON_NO_PROFIT
			    : AC_REASON_GUARD;
	}
	turn->candidate = current;
	if (current == TRIAL_KEEP) {
		turn->reason = (enum ac_reason)t->kept_as;
		return true;
	}
	if (place && place->capture && t->v->varied < TRIAL_EVIDENCE
	    && t->decision.guard == AC_GUARD_ON) {
		turn->reason = AC_REASON_CAPTURE;
		return true;
	}
	return t->v->is_overdue;                   /* kept: probation */
}

static void
turn_settled(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	uint64_t never = 0;

	/* One size of many may not come often enough to be worth timing. */
	if (!t->settled_at)
		(void)atomic_compare_exchange_strong(&t->settled_at, &never,
		    turn->own + (t->v->of == t ? 0 : TRIAL_ROUND));
	if (place && t->decision.guard == AC_GUARD_ON
	    && is_due(t, turn->number, turn->own))
		conclude(t, place, turn);
	if (turn->kind == AC_TURN_TRY)
		return;
	if (t->decision.guard == AC_GUARD_STRICT)
		ac_trial_retry_strict(t, turn);
	if (is_kept(t, place, turn) || (t->decision.guard == AC_GUARD_STRICT
	    && turn->own <= t->decision.after + TRIAL_EVIDENCE))
		return;                         /* kept: probation */
	turn->kind = AC_TURN_RECAST;
	if (t->decision.guard == AC_GUARD_STRICT)
		ac_trial_turn_strict(t, place, turn);
	else if (place)
		begin_sample(t, place, turn);
	if (turn->sampled && !turn->timing && t->may_time && t->timing_over
	    && turn->kind == AC_TURN_RECAST)
		turn->timing = &t->timing[turn->candidate];
}

void
ac_trial_turn(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	turn->kind = AC_TURN_KEEP;
	turn->reason = AC_REASON_PROBATION;
	turn->number = 1 + atomic_fetch_add_explicit(&t->v->calls, 1,
	    memory_order_relaxed);
	turn->own = 1 + atomic_fetch_add_explicit(&t->own_calls, 1,
	    memory_order_relaxed);
	if (t->v->state != TRIAL_SETTLED && ac_credit_is_kept(&t->decision))
		ac_credit_count(t->v->credit, &t->decision);
	if (turn->own <= t->decision.after)
		return;
	if (place && atomic_load_explicit(&t->v->state, memory_order_acquire)
	    != TRIAL_SETTLED)
		turn_probation(t, place, turn);
	if (turn->kind == AC_TURN_KEEP && atomic_load_explicit(&t->v->state,
	    memory_order_acquire) == TRIAL_SETTLED)
		turn_settled(t, place, turn);
}
