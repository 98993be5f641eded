/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_try.c -- candidates beside the original call: the probation,
 * which is a number of such tries; and guard=strict, under which each call is
 * judged before it counts, so that a retry needs no proof. */
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
		turn->timing = ac_trial_time(t, TRIAL_KEEP);
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
void
ac_trial_end_waiting(struct ac_trial *t, const struct ac_place *place,
    uint64_t number)
{
	if (place->capture && !ac_trial_has_come(t, number))
		return;
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

	if (!ac_trial_hold_for(t, turn))
		return;
	if (t->v->state == TRIAL_WAITING)
		ac_trial_end_waiting(t, place, turn->number);
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

/* ---- guard=strict -------------------------------------------------------- */

void
ac_trial_retry_strict(struct ac_trial *t, const struct ac_turn *turn)
{
	struct ac_pair *pair = &t->v->pairs.of[turn->pair];
	struct ac_pair *others = &t->v->pairs.of[AC_PAIR_OTHERS];

	const bool is_due = ac_pair_is_restless(&t->v->pairs, turn->pair,
	    turn->number) || ac_pair_is_restless(&t->v->pairs, AC_PAIR_OTHERS,
	    turn->number);

	if (!is_due || !ac_trial_hold(t, false))
		return;
	if (pair->out && turn->number >= pair->retry_at)
		pair->out = pair->refuted = 0;
	if (others->out && turn->number >= others->retry_at)
		others->out = others->refuted = 0;
	ac_trial_set_retry(t);
	atomic_fetch_add_explicit(&ac_trial_record(t, 0)->course.retries, 1,
	    memory_order_relaxed);
	ac_trial_choose(t);
	ac_trial_release(t);
}

void
ac_trial_turn_strict(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	turn->kind = AC_TURN_KEEP;
	turn->reason = AC_REASON_CAPTURE;
	if (!place || place->capture)
		return;
	turn->reason = AC_REASON_DRIVER;
	(void)ac_trial_hold(t, true);
	turn->entry[0] = TRIAL_OPEN;
	if (ac_trial_take_slots(t, place))
		turn->entry[0] = (uint8_t)ac_trial_open(t);
	if (turn->entry[0] != TRIAL_OPEN) {
		turn->kind = AC_TURN_STRICT;
		turn->sampled = true;
		turn->slot = ac_trial_slot_at(t, turn->entry[0]);
	}
	ac_trial_release(t);
}

bool
ac_trial_judge_now(struct ac_trial *t, const struct ac_turn *turn)
{
	struct ac_recast_post post;
	enum ac_finding finding = AC_FINDING_REFUSED;

	if (__atomic_load_n(&turn->slot.host->number, __ATOMIC_ACQUIRE)
	    == turn->number) {
		post = *turn->slot.host;
		finding = ac_trial_judge(t, turn->candidate, &post);
		/* Nothing repairs a product beside C. */
		if (finding == AC_FINDING_NONE
		    && post.verdict & AC_VERDICT_NONFINITE)
			return false;
	}
	if (finding == AC_FINDING_NONE)
		return true;
	(void)ac_trial_hold(t, true);
	ac_trial_demote(t, turn->pair, turn->candidate, finding, turn->number);
	ac_trial_release(t);
	return false;
}
