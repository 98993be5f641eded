/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_turn.c -- what one call of a site is to do, by its
 * number. */
#include "shim/trial/trial.h"

#include <stddef.h>

/* ---- Tries --------------------------------------------------------------- */

/* Candidates that are to be tried at call `number`. */
static uint32_t
wanted(const struct ac_trial_home *h, uint64_t number)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < h->variants->decision->candidate_count; i++)
		if (number >= h->next_try[i])
			bits |= 1u << i;
	return bits & ~(h->out | ac_trial_accurate(h));
}

/* One for `candidate`, if there is one left. */
static bool
find_slot(struct ac_trial_home *h, struct ac_turn *turn, unsigned candidate)
{
	struct ac_trial_slot *slot = h->slot + candidate * AC_TRIAL_TRIES;

	for (unsigned i = 0; i < AC_TRIAL_TRIES; i++)
		if (ac_trial_take(&slot[i], turn->number, candidate)) {
			turn->slot[candidate] = &slot[i];
			return true;
		}
	return false;
}

/* A slot of each. */
static void
begin_try(struct ac_trial_home *h, struct ac_turn *turn)
{
	const uint32_t bits = wanted(h, turn->number);

	for (unsigned i = 0; i < AC_CANDIDATES; i++)
		if (bits >> i & 1 && !turn->slot[i] && find_slot(h, turn, i)) {
			turn->tries |= 1u << i;
			turn->kind = AC_TURN_TRY;
		}
}

/* ---- Under learn=on ------------------------------------------------------ */

bool
ac_trial_learn(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	struct ac_trial_home *h = ac_trial_home(t, place);

	if (!h)
		return false;
	ac_trial_hear(h);
	return find_slot(h, turn, turn->candidate);
}

/* Whether this call is made as the program wants it: candidates are tried next
 * to it, or it is one by which the program tunes. */
static bool
is_on_trial(struct ac_trial_home *h, struct ac_turn *turn)
{
	const uint32_t bits = wanted(h, turn->number);

	if (turn->number < AC_TRIAL_TRIES + 1 && !turn->is_unsteady)
		turn->timing = ac_variants_timed(h->variants, turn->number,
		    UINT32_MAX, &turn->candidate);
	begin_try(h, turn);
	if (turn->kind == AC_TURN_TRY || turn->is_unsteady)
		return true;
	for (unsigned i = 0; i < AC_CANDIDATES; i++)
		if (bits >> i & 1 && !ac_trial_await_tries(h, i))
			return true;
	begin_try(h, turn); /* what found zeros, or nothing that is there */
	return turn->kind == AC_TURN_TRY || wanted(h, turn->number);
}

/* ---- Afterwards ---------------------------------------------------------- */

/* What is drawn adds up, so no loop of the program keeps step with it. */
static uint64_t
sample_after(const struct ac_trial_home *h, uint64_t number)
{
	enum { EACH = 16, WIDTH = AC_TRIAL_PERIOD / 4 };

	if (number < EACH)
		return number + 1;
	return number < 2 * EACH ? 2 * EACH : number + AC_TRIAL_PERIOD
	    - WIDTH / 2 + ac_turn_mix((uint64_t)h->variants->record[0]->id << 32
	    ^ number) % WIDTH;
}

static void
begin_sample(struct ac_trial_home *h, struct ac_turn *turn)
{
	uint64_t due = h->next_sample;

	if (turn->number < due || !atomic_compare_exchange_strong(
	    &h->next_sample, &due, sample_after(h, turn->number)))
		return;
	for (unsigned i = AC_TRIAL_FIRST_SAMPLE; i < AC_TRIAL_SLOTS
	    && !turn->slot[0]; i++)
		if (ac_trial_take(&h->slot[i], turn->number, turn->candidate))
			turn->slot[0] = &h->slot[i];
}

/* The fastest accurate one, or the original, and why. */
static uint32_t
choose(struct ac_trial_home *h, struct ac_turn *turn)
{
	const uint32_t every = (1u << h->variants->decision->candidate_count)
	    - 1, accurate = ac_trial_accurate(h) & ~h->out;

	turn->candidate = ac_variants_choose(h->variants, ~accurate);
	turn->reason = accurate ? AC_REASON_NO_PROFIT
	    : (h->out & every) == every ? AC_REASON_GUARD
	    : AC_REASON_PROBATION;
	return ~accurate;
}

static void
turn_settled(struct ac_trial_home *h, const struct ac_place *place,
    struct ac_turn *turn)
{
	struct ac_variants *v = h->variants;
	uint32_t out;

	ac_variants_compare(v, turn->number, place);
	out = choose(h, turn);
	turn->timing = ac_variants_timed(v, turn->number, out,
	    &turn->candidate);
	if (turn->timing)
		turn->reason = AC_REASON_OWN;
	else
		ac_variants_show(v, turn->candidate, turn->number);
	if (turn->candidate == AC_ORIGINAL)
		return;
	turn->kind = AC_TURN_RECAST;
	begin_sample(h, turn);
}

/* A graph replays this call for ever, on operands as they come. So nothing may
 * be outstanding. */
static void
turn_captured(struct ac_trial_home *h, struct ac_turn *turn)
{
	if (wanted(h, turn->number)
	    || !ac_trial_await_samples(h, turn->number, false))
		return;
	(void)choose(h, turn);
	if (turn->candidate == AC_ORIGINAL)
		return;
	if (ac_trial_has_varied(h, turn->candidate))
		turn->kind = AC_TURN_RECAST;
	else
		turn->reason = AC_REASON_CAPTURE;
}

void
ac_trial_turn(struct ac_trial *t, const struct ac_place *place,
    struct ac_turn *turn)
{
	struct ac_trial_home *h = ac_trial_home(t, place);

	turn->kind = AC_TURN_KEEP;
	turn->candidate = AC_ORIGINAL;
	turn->reason = place->capture ? AC_REASON_CAPTURE : AC_REASON_DRIVER;
	if (!h)
		return;
	turn->home = h;
	turn->number = 1 + atomic_fetch_add_explicit(&h->calls, 1,
	    memory_order_relaxed);
	if (!h->variants->decision->reproducible)
		ac_trial_hear(h);
	if (place->capture) {
		turn_captured(h, turn);
		return;
	}
	turn->reason = AC_REASON_PROBATION;
	if (is_on_trial(h, turn))
		return;
	turn->reason = AC_REASON_UNREAD;
	if (ac_trial_await_samples(h, turn->number, true))
		turn_settled(h, place, turn);
}
