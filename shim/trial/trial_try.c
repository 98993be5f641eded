/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_try.c -- candidates beside the original call: the probation,
 * which is a number of such tries. */
#include "shim/trial/trial_state.h"

bool
ac_trial_is_afforded(const struct ac_trial *t)
{
	return ac_credit_affords(t->v->credit, &t->decision,
	    (1u << t->decision.candidate_count) - 1);
}

/* Have the candidates of `bits` run beside this call. */
void
ac_trial_begin_try(struct ac_trial *t, const struct ac_place *place,
    uint32_t bits, struct ac_turn *turn)
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
		if (turn->entry[i] == TRIAL_OPEN)
			continue;
		taken |= 1u << i;
		t->v->trying |= UINT64_C(1) << turn->entry[i];
	}
	turn->tries = taken;
	if (taken)
		turn->kind = AC_TURN_TRY;
	/* The first call of a size may have loaded its kernel, and what a
	 * program tries out is not what it will run. */
	if (taken && turn->own > 1 && !t->timing_over && !turn->is_unsteady) {
		turn->timing = &t->timing[TRIAL_KEEP];
		t->keep_timed = true;
	}
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

static bool
is_any_undecided(const struct ac_trial *t)
{
	bool any = false;

	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		any |= ac_trial_is_undecided(t, i);
	return any;
}

/* This pair has nothing more to show. What others have tried is judged
 * first. */
static void
end_probation(struct ac_trial *t, uint64_t number)
{
	if (t->v->open)
		t->v->state = TRIAL_WAITING;
	else
		ac_trial_settle(t, number);
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
	/* What has not come after so long never will. */
	if (!ac_trial_await(t, number) && number < t->v->home_at + TRIAL_LOST)
		return;
	t->v->weighed = t->v->empty = 0;
	(void)ac_trial_apply(t, number);
	ac_trial_settle(t, number);
}

void
ac_trial_turn_probation(struct ac_trial *t, const struct ac_place *place,
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
		bits = ac_trial_is_afforded(t) ? wanted_of(t, turn->pair) : 0;
		if (bits)
			ac_trial_begin_try(t, place, bits, turn);
		else if (ac_trial_is_afforded(t) && !is_any_undecided(t))
			end_probation(t, turn->number);
	}
	if (turn->kind != AC_TURN_TRY)
		ac_trial_release(t);
}
