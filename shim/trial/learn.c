/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/learn.c -- which calls are measured, and how. */
#include "shim/trial/learn.h"

#include "shim/device/handle.h"

/* What measuring one call is predicted to take, in originals. */
static double
measuring(const struct ac_decision *decision)
{
	double seconds = 0;

	for (unsigned i = 0; i < decision->candidate_count; i++)
		seconds += decision->candidate[i].seconds;
	return decision->keep_seconds > 0 ? seconds / decision->keep_seconds
	    : decision->candidate_count;
}

/* The first three calls; then one of each 16, drawn so that no loop of the
 * program keeps step with it, as long as measuring takes no more than a
 * sixteenth of what the program's own calls have taken. */
static bool
is_learnt_from(const struct ac_conduct *call, uint64_t number)
{
	enum { FIRST = 3, PERIOD = 16, SHARE = 16 };

	return number <= FIRST || (number % PERIOD
	    == ac_turn_mix(number / PERIOD) % PERIOD
	    && (double)number >= SHARE * measuring(call->decision)
	    * (double)(call->variants->learnt + 1));
}

/* Without an original's time there is nothing to compare a candidate's with.
 * The first call is not timed: CUDA loads kernels in it. */
static struct ac_timing *
timing_of(const struct ac_conduct *call, unsigned variant)
{
	return ac_operation_is_timed(call->record->key.operation)
	    && atomic_load_explicit(&call->variants->learnt,
	    memory_order_relaxed) > 1
	    ? ac_variants_timing(call->variants, variant) : NULL;
}

/* Where a product's candidate is measured. */
static bool
find_ledger(const struct ac_conduct *call)
{
	struct ac_variants *v = call->variants;
	struct ac_ledger *ledger = ac_ledger_find(&v->ledgers, v, call->place,
	    call->turn->candidate, false, call->decision->workspace_bytes);

	call->turn->ledger = ledger;
	return ledger && ledger->host;
}

static void
hear_all(void)
{
	ac_origin_note(NULL, NULL);
}

/* What one of them lacks, the others may have. What was found is heard as soon
 * as it may be, by the next calls of its site, measured or not: a program may
 * leave by _exit(), without a word to us. */
void
ac_learn(struct ac_conduct *call, const struct ac_ways *ways)
{
	struct ac_variants *v = call->variants;
	struct ac_turn *turn = call->turn;

	ac_origin_note(v, call->place);
	atomic_store(&ac_handle_waited[AC_WAITED_FINDINGS], hear_all);
	for (unsigned i = 0; i < call->decision->candidate_count; i++) {
		call->candidate = &call->decision->candidate[i];
		turn->candidate = i;
		if (call->origin && !find_ledger(call))
			continue;
		turn->timing = timing_of(call, i);
		if (ways->learn(call) == AC_REASON_NONE && call->origin)
			turn->ledger->queued++;
	}
	ac_variants_note_times(v);
	turn->timing = timing_of(call, AC_ORIGINAL);
}

bool
ac_learn_begins(const struct ac_conduct *call)
{
	struct ac_variants *v = call->variants;

	if (call->is_unsteady)
		return false;
	call->turn->number = 1 + atomic_fetch_add_explicit(&v->calls, 1,
	    memory_order_relaxed);
	return is_learnt_from(call, call->turn->number);
}

bool
ac_learn_goes_on(const struct ac_conduct *call)
{
	struct ac_variants *v = call->variants;

	if (call->place->capture)
		atomic_fetch_sub_explicit(&v->calls, 1, memory_order_relaxed);
	else
		atomic_fetch_add_explicit(&v->learnt, 1, memory_order_relaxed);
	return !call->place->capture;
}
