/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_times.c -- what events measured of a site's variants, and
 * what follows. */
#include "shim/trial/trial_state.h"

static void
note_times(struct ac_trial *t)
{
	const struct ac_timing *keep = &t->timing[TRIAL_KEEP];

	for (unsigned i = 0; i < t->decision.candidate_count; i++) {
		struct ac_site_course *course;

		if (!t->timing[i].count)
			continue;
		course = &ac_trial_record(t, i)->course;
		atomic_store_explicit(&course->recast_us,
		    t->timing[i].least_us, memory_order_relaxed);
		atomic_store_explicit(&course->timed, t->timing[i].count,
		    memory_order_relaxed);
		if (keep->count)
			atomic_store_explicit(&course->keep_us, keep->least_us,
			    memory_order_relaxed);
	}
}

void
ac_trial_note_timing(struct ac_trial *t, unsigned candidate)
{
	atomic_fetch_add_explicit(&ac_trial_record(t,
	    candidate)->course.timings, 1, memory_order_relaxed);
}

/* Without a time for the original and what it is compared with, what was
 * predicted stays. */
static bool
has_times(const struct ac_trial *t)
{
	bool any = false;

	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		any |= t->timing[i].count > 0;
	return t->timing[TRIAL_KEEP].count && (t->current == TRIAL_KEEP ? any
	    : t->timing[t->current].count > 0);
}

/* A candidate without a time, since no pair of the site was known to suit it,
 * is not taken for faster than one that has one. */
static void
take_times(struct ac_trial *t)
{
	const double slower = 1.1;
	double best = 1e9;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++) {
		if (!t->timing[i].count)
			continue;
		t->cost[i] = (double)t->timing[i].least_us / 1e6;
		if (i != TRIAL_KEEP && t->cost[i] < best)
			best = t->cost[i];
	}
	for (unsigned i = 0; i < t->decision.candidate_count; i++)
		if (!t->timing[i].count && t->cost[i] < slower * best)
			t->cost[i] = slower * best;
}

void
ac_trial_compare(struct ac_trial *t, const struct ac_place *place)
{
	const unsigned before = t->current;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		ac_timing_read(&t->timing[i], place);
	note_times(t);
	if (t->timing_over)
		return;
	t->timing_over = true;
	if (t->decision.judges_profit && has_times(t)) {
		take_times(t);
		ac_trial_choose(t);
	}
	if (t->current == TRIAL_KEEP && before != TRIAL_KEEP)
		atomic_store_explicit(
		    &ac_trial_record(t, before)->course.finding,
		    AC_FINDING_SLOW, memory_order_relaxed);
	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		if (i != t->current)
			ac_timing_drop(&t->timing[i], place);
}
