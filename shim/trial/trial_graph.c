/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_graph.c -- calls that are captured. A capture has no tries
 * and no samples, and nothing in it may wait. What it records runs for ever;
 * and if calls go another way in the next capture, that graph cannot update
 * what was made of the first one. So a call is recast there by what has been
 * posted before, and its site goes the same way in all captures that follow,
 * unless it is demoted. */
#include "shim/trial/trial_state.h"

#include "base/log.h"

enum { KEPT = 1 + TRIAL_KEEP }; /* as `captured_as` */

/* ---- What graphs have posted --------------------------------------------- */

/* It is of some call since the graph was made, by whichever candidate. */
static void
tell(struct ac_trial *t, const struct ac_recast_post *post)
{
	const uint32_t held = t->captured_as;
	const unsigned candidate = held && held != KEPT ? held - 1
	    : t->current == TRIAL_KEEP ? 0 : (unsigned)t->current;
	const enum ac_finding finding = ac_trial_judge(t, candidate, post);

	ac_log(AC_LOG_WARNING, "%s %lldx%lldx%lld: a graph that was captured "
	    "holds a recast call that is wrong by now: %s. What it replays "
	    "stays so; capture it again, or keep the call (guide: "
	    "libautocast(7), GRAPHS)", t->key.symbol, (long long)t->key.m,
	    (long long)t->key.n, (long long)t->key.k,
	    ac_finding_meanings[finding]);
	if (finding != AC_FINDING_NONE)
		ac_trial_demote(t, AC_PAIR_OTHERS, candidate, finding,
		    *t->v->calls);
}

/* A graph tells at most once what it was found wanting of: the calls that it
 * holds cannot be changed any more. */
void
ac_trial_hear_graph(struct ac_trial *t)
{
	const struct ac_trial_slots *home = t->v->home;
	const struct ac_recast_post *post;
	struct ac_recast_post copy;

	if (!home)
		return;
	post = &home->host[TRIAL_GRAPH];
	copy.number = __atomic_load_n(&post->number, __ATOMIC_ACQUIRE);
	if (!copy.number || copy.number == t->v->told_graph)
		return;
	copy = *post;
	t->v->told_graph = copy.number;
	tell(t, &copy);
}

/* ---- The turn of a captured call ----------------------------------------- */

/* What was posted is judged at once, not when it is due: a graph cannot be
 * changed later. But under reproducible=on what has arrived counts for nothing.
 * False: a verdict that is due is not known. */
static bool
listen(struct ac_trial *t, const struct ac_place *place, uint64_t number)
{
	bool all = number < t->v->due;

	if (t->decision.reproducible || !ac_trial_hold(t, false))
		return all;
	if (ac_trial_is_home(t, place)) {
		ac_trial_hear_graph(t);
		if (t->v->state == TRIAL_WAITING)
			ac_trial_end_waiting(t, place, number);
		if (t->v->state == TRIAL_SETTLED)
			all = ac_trial_apply_posted(t, number);
	}
	ac_trial_release(t);
	return all;
}

static uint32_t
casts_of(const struct ac_trial *t)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (t->decision.candidate[i].tactic == AC_TACTIC_CAST)
			bits |= 1u << i;
	return bits;
}

/* What no graph may hold. What one operand pair may not use, none may: the next
 * capture may have it at another address. And XLA captures each product alone,
 * by the hundred; there is no lane for each of them. */
static uint32_t
out_of_graphs(const struct ac_trial *t)
{
	uint32_t out = t->v->chained | (t->is_xla ? casts_of(t) : 0);

	for (unsigned i = 0; t->v->pairs.any_out && i < AC_PAIRS; i++)
		out |= atomic_load_explicit(&t->v->pairs.of[i].out,
		    memory_order_acquire);
	return out;
}

/* The candidate, or TRIAL_KEEP and the reason. */
static unsigned
choose(const struct ac_trial *t, uint32_t held, bool is_known,
    enum ac_reason *reason_out)
{
	const uint32_t out = out_of_graphs(t);
	const uint32_t usable = t->v->accurate & ~out;
	unsigned best = TRIAL_KEEP;

	*reason_out = AC_REASON_CAPTURE;
	if (held && held != KEPT && usable >> (held - 1) & 1)
		return held - 1;
	if (t->v->state != TRIAL_SETTLED || held == KEPT
	    || (!held && (!is_known || t->v->varied < TRIAL_EVIDENCE)))
		return TRIAL_KEEP;
	best = ac_trial_pick(t, out);
	if (best == TRIAL_KEEP)
		*reason_out = usable ? AC_REASON_NO_PROFIT : AC_REASON_GUARD;
	return best;
}

/* Nobody has warmed up a site that was only captured so far: such a one may
 * still be recast in a later capture. */
void
ac_trial_turn_captured(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	const bool is_known = listen(t, place, turn->number);
	const bool is_warm = turn->own > 1 + atomic_fetch_add_explicit(
	    &t->captured, 1, memory_order_relaxed);
	uint32_t held = t->captured_as;
	unsigned way;

	do
		way = choose(t, held, is_known, &turn->reason);
	while ((way != TRIAL_KEEP || is_warm) && held != 1 + way
	    && !atomic_compare_exchange_weak(&t->captured_as, &held, 1 + way));
	if (way == TRIAL_KEEP)
		return;
	turn->kind = AC_TURN_RECAST;
	turn->candidate = way;
	if (casts_of(t) >> way & 1)
		turn->posts_if_bad = ac_trial_slot_in(t, place, TRIAL_GRAPH,
		    &turn->slot);
}

bool
ac_trial_lacks_room(struct ac_trial *t, struct ac_turn *turn)
{
	const struct ac_candidate *all = t->decision.candidate;
	const uint32_t casts = casts_of(t);
	unsigned way = TRIAL_KEEP;

	if (t->decision.guard != AC_GUARD_ON)
		return false;
	if (casts >> turn->candidate & 1)
		way = ac_trial_pick(t, out_of_graphs(t) | casts);
	if (way != TRIAL_KEEP && ac_credit_is_kept(&t->decision)
	    && all[way].seconds >= t->decision.keep_seconds)
		way = TRIAL_KEEP;
	t->captured_as = 1 + way;
	if (way == TRIAL_KEEP)
		return false;
	turn->candidate = way;
	turn->posts_if_bad = false;
	return true;
}
