/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/trial_times.c -- what events measured of a site's variants, and
 * what follows. */
#include "shim/trial/trial_state.h"

#include "shim/device/handle.h"

#include <stdlib.h>
#include <unistd.h>

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

/* ---- What nobody has come to read --------------------------------------- */

/* Sites with calls that were timed since somebody looked. */
static _Atomic(struct ac_trial *) timed;

static void
enlist(struct ac_trial *t)
{
	if (atomic_exchange(&t->is_timed, true))
		return;
	t->also = atomic_load(&timed);
	while (!atomic_compare_exchange_weak(&timed, &t->also, t))
		;
}

/* Whether anything is left to be read. */
static bool
look(struct ac_trial *t, const struct ac_place *place)
{
	bool pending = false;

	if (!ac_trial_hold(t, false))
		return true;
	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		pending |= ac_timing_look(&t->timing[i], place);
	note_times(t);
	ac_trial_release(t);
	return pending;
}

/* Of the current context: events of one that is gone must not be asked about,
 * nor any in a forked child. */
static void
look_at_all(void)
{
	struct ac_place place = { .driver = ac_driver_loaded() };
	struct ac_cu_current now;
	struct ac_trial *t, *next;

	if (!atomic_load(&timed) || !place.driver || !place.driver->cuCtxGetId
	    || !ac_driver_current(place.driver, &now))
		return;
	place.scratch = ac_scratch_find(now.id);
	if (!place.scratch)
		return;
	place.epoch = ac_scratch_epoch(place.scratch);
	for (t = atomic_exchange(&timed, NULL); t; t = next) {
		next = t->also;
		t->is_timed = false;
		if (t->v->process == getpid() && look(t, &place))
			enlist(t);
	}
}

/* At exit before the driver's own handler, which is older: this one is made
 * when something is timed. Destructors come too late for a driver. */
static void
have_it_read(struct ac_trial *t)
{
	static _Atomic bool is_asked;

	enlist(t);
	if (atomic_exchange(&is_asked, true))
		return;
	atomic_store(&ac_handle_waited, look_at_all);
	(void)atexit(look_at_all);
}

struct ac_timing *
ac_trial_time(struct ac_trial *t, unsigned variant)
{
	if (variant != TRIAL_KEEP)
		atomic_fetch_add_explicit(&ac_trial_record(t,
		    variant)->course.timings, 1, memory_order_relaxed);
	have_it_read(t);
	return &t->timing[variant];
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

static bool
is_awaited(struct ac_trial *t)
{
	bool any = false;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		any |= t->timing[i].pending;
	return any;
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

/* What runs goes on being timed. */
static void
drop(struct ac_trial *t, const struct ac_place *place)
{
	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		if (i != t->current)
			ac_timing_drop(&t->timing[i], place);
}

void
ac_trial_compare(struct ac_trial *t, const struct ac_place *place)
{
	const unsigned before = t->current;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		ac_timing_read(&t->timing[i], place);
	note_times(t);
	if (t->timing_over) {
		drop(t, place);
		return;
	}
	/* The host may be far ahead of the device. */
	if (!has_times(t) && is_awaited(t))
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
	drop(t, place);
}
