/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial_turn.c -- what one call of a site is to do, by its number. */
#include "shim/trial_state.h"

#include <stddef.h>

static bool
is_boundary(const struct ac_trial *t, uint64_t number)
{
	return number % t->period == 0;
}

/* The variant that call `number` is to time: the accurate candidates and the
 * original in turn; -1 if it is none's. */
static int
timed_variant(const struct ac_trial *t, uint64_t number)
{
	const uint64_t since = number - t->settled_at;
	unsigned turn = (unsigned)(since % TRIAL_ROUND);

	if (t->timing_over || !t->accurate || number
	    < t->settled_at || since >= TRIAL_ROUNDS * TRIAL_ROUND)
		return -1;
	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (t->accurate >> i & 1 && turn-- == 0)
			return (int)i;
	return turn == 0 ? TRIAL_KEEP : -1;
}

static bool
is_timing_due(const struct ac_trial *t, uint64_t number)
{
	return !t->timing_over && number >= t->settled_at + TRIAL_TIMED;
}

bool
ac_trial_wants_place(const struct ac_trial *t, bool to_run)
{
	const uint64_t next = t->calls + 1;
	const uint32_t state = t->state, current = t->current;

	if (t->decision.reproducible)
		return true;
	if (state != TRIAL_SETTLED) /* before its turn, or during another's */
		return state == TRIAL_FIRST ? next >= t->first
		    : state != TRIAL_BUSY;
	return is_boundary(t, next) || !t->timing_over
	    || (current != TRIAL_KEEP && (to_run
	    || t->decision.candidate[current].tactic == AC_TACTIC_CAST))
	    || t->decision.guard == AC_GUARD_STRICT;
}

static void
begin_try(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	if (!ac_trial_take_slots(t, place)) {
		turn->reason = AC_REASON_DRIVER;
		return;
	}
	t->tried_at = t->home_at = turn->number;
	t->tried = 0;
	turn->kind = AC_TURN_TRY;
}

static void
turn_first(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	if (turn->number < t->first || !place)
		return;
	if (place->capture) {
		turn->reason = AC_REASON_CAPTURE;
		return;
	}
	if (!ac_trial_move(t, TRIAL_FIRST, TRIAL_BUSY))
		return;
	begin_try(t, place, turn);
	if (turn->kind != AC_TURN_TRY)
		ac_trial_move(t, TRIAL_BUSY, TRIAL_FIRST);
}

static void
turn_posted(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	if (!place)
		return;
	if (place->capture) {
		turn->reason = AC_REASON_CAPTURE;
		return;
	}
	if (!ac_trial_move(t, TRIAL_POSTED, TRIAL_BUSY))
		return;
	/* The context of the first try may be gone with all it had queued; or
	 * it may be another one's turn. */
	if (!ac_trial_is_home(t, place)) {
		const bool gone = ac_trial_is_deserted(t, place, turn->number,
		    TRIAL_LAG);

		if (gone)
			ac_trial_forget_held(t);
		ac_trial_move(t, TRIAL_BUSY, gone ? TRIAL_FIRST
		    : TRIAL_POSTED);
		return;
	}
	if (!ac_trial_await_try(t, place)) {
		ac_trial_move(t, TRIAL_BUSY, TRIAL_POSTED);
		return;
	}
	t->tried_driver->cuEventDestroy(t->tried_event);
	ac_trial_settle(t, turn->number);
	t->settled_at = turn->number;
	ac_trial_move(t, TRIAL_BUSY, TRIAL_SETTLED);
}

static void
forget_context(struct ac_trial *t, const struct ac_place *place)
{
	for (unsigned i = 0; i < TRIAL_RING; i++)
		t->sample[i].number = 0;
	t->tried = 0;
	(void)ac_trial_take_slots(t, place);
}

/* Try the candidates again. False if that cannot be. */
static bool
begin_retry(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	begin_try(t, place, turn);
	if (turn->kind != AC_TURN_TRY)
		return false;
	atomic_fetch_add_explicit(&ac_trial_record(t, 0)->course.retries, 1,
	    memory_order_relaxed);
	return true;
}

/* At a boundary one thread at a time draws conclusions; another one that gets
 * here meanwhile leaves that to it. Who begins a try holds on until it has
 * ended: only ac_trial_tried() tells what was queued. */
static void
conclude(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	if (place->capture || !ac_trial_hold(t, false))
		return;
	if (!ac_trial_is_home(t, place)) {
		if (!ac_trial_is_deserted(t, place, turn->number,
		    TRIAL_LAG + 4 * t->period)) {
			ac_trial_release(t);
			return;
		}
		forget_context(t, place);
	}
	t->home_at = turn->number;
	t->is_overdue = !ac_trial_await_samples(t, turn->number);
	ac_trial_apply(t, turn->number);
	if (t->tried && turn->number >= t->tried_at + TRIAL_LAG
	    && ac_trial_all_posted(t))
		ac_trial_settle(t, turn->number);
	if (is_timing_due(t, turn->number) || t->timing_over)
		ac_trial_compare(t, place);
	if (!t->demoted_at || t->tried
	    || turn->number < t->demoted_at + TRIAL_RETRY
	    || !begin_retry(t, place, turn))
		ac_trial_release(t);
}

static void
begin_sample(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	const unsigned at = (unsigned)(turn->number / t->period
	    % (t->lag + 1));
	struct ac_trial_sample *sample = &t->sample[at];
	uint64_t nobody = 0;

	if (t->decision.guard != AC_GUARD_ON || place->capture
	    || sample->number || !ac_trial_is_home(t, place))
		return;
	/* A thread that was held up may have an earlier call there, which has
	 * not come to ac_trial_sampled() yet; or has by now. */
	if (!atomic_compare_exchange_strong(&sample->held_by, &nobody,
	    turn->number))
		return;
	if (sample->number) {
		sample->held_by = 0;
		return;
	}
	turn->sampled = true;
	turn->slot = ac_trial_slot_at(t, AC_CANDIDATES + at);
}

/* Every candidate gets another chance: it is judged before it counts. */
static void
retry_strict(struct ac_trial *t, uint64_t number)
{
	if (!t->demoted_at || number < t->demoted_at + TRIAL_RETRY
	    || !ac_trial_hold(t, false))
		return;
	t->demoted_at = 0;
	t->accurate = (1u << t->decision.candidate_count) - 1;
	atomic_fetch_add_explicit(&ac_trial_record(t, 0)->course.retries, 1,
	    memory_order_relaxed);
	ac_trial_choose(t);
	ac_trial_release(t);
}

static void
turn_strict(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	turn->kind = AC_TURN_KEEP;
	turn->reason = AC_REASON_CAPTURE;
	if (!place || place->capture)
		return;
	turn->reason = AC_REASON_DRIVER;
	(void)ac_trial_hold(t, true);
	if (ac_trial_take_slots(t, place)) {
		turn->kind = AC_TURN_STRICT;
		turn->sampled = true;
		turn->slot = ac_trial_slot_at(t, AC_CANDIDATES
		    + (unsigned)(turn->number % TRIAL_RING));
	}
	ac_trial_release(t);
}

static void
turn_settled(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	const bool boundary = is_boundary(t, turn->number);
	uint32_t current;
	int variant;

	if (place && t->decision.guard == AC_GUARD_ON
	    && (boundary || is_timing_due(t, turn->number)))
		conclude(t, place, turn);
	if (turn->kind == AC_TURN_TRY)
		return;
	if (t->decision.guard == AC_GUARD_STRICT)
		retry_strict(t, turn->number);
	/* What a graph holds runs for ever: it is not for timing. */
	variant = place && !place->capture && !t->is_overdue
	    && ac_trial_is_home(t, place)
	    ? timed_variant(t, turn->number) : -1;
	current = atomic_load_explicit(&t->current, memory_order_acquire);
	if (variant >= 0) {
		turn->timing = &t->timing[variant];
		if (variant == TRIAL_KEEP)
			return;                 /* kept: probation */
		current = (uint32_t)variant;
	}
	if (current == TRIAL_KEEP) {
		turn->candidate = TRIAL_KEEP;
		turn->reason = (enum ac_reason)t->kept_as;
		return;
	}
	if (t->is_overdue)
		return;                         /* kept: probation */
	turn->kind = AC_TURN_RECAST;
	turn->candidate = current;
	if (t->decision.guard == AC_GUARD_STRICT)
		turn_strict(t, place, turn);
	else if (boundary && place)
		begin_sample(t, place, turn);
	if (turn->sampled && !turn->timing && t->may_time && t->timing_over
	    && turn->kind == AC_TURN_RECAST)
		turn->timing = &t->timing[current];
}

void
ac_trial_turn(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn_out)
{
	*turn_out = (struct ac_turn){
		.kind = AC_TURN_KEEP, .reason = AC_REASON_PROBATION,
		.number = 1 + atomic_fetch_add_explicit(&t->calls, 1,
		    memory_order_relaxed),
	};
	switch (atomic_load_explicit(&t->state, memory_order_acquire)) {
	case TRIAL_FIRST:
		turn_first(t, place, turn_out);
		break;
	case TRIAL_POSTED:
		turn_posted(t, place, turn_out);
		break;
	default:
		break;
	}
	if (turn_out->kind == AC_TURN_KEEP && turn_out->number >= t->first
	    && atomic_load_explicit(&t->state, memory_order_acquire)
	    == TRIAL_SETTLED)
		turn_settled(t, place, turn_out);
}
