/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_strict.c -- guard=strict: each call is judged before it
 * counts, so a retry needs no proof. */
#include "shim/trial/trial_state.h"

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
