/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/variants_late.c -- what was measured goes to the records, also
 * where no later call of its site comes to read it. */
#include "shim/trial/variants.h"

#include "shim/device/handle.h"

#include <stdlib.h>
#include <unistd.h>

void
ac_variants_note_times(struct ac_variants *v)
{
	const struct ac_timing *keep = &v->timing[AC_ORIGINAL];

	for (unsigned i = 0; i < v->decision->candidate_count; i++) {
		struct ac_site_course *course;

		if (!v->timing[i].count)
			continue;
		course = &ac_variants_record(v, i, AC_REASON_NONE)->course;
		course->recast_us = v->timing[i].least_us;
		course->timed = v->timing[i].count;
		if (keep->count)
			course->keep_us = keep->least_us;
	}
}

/* Sites with calls that were timed since somebody looked. */
static _Atomic(struct ac_variants *) timed;

static void
enlist(struct ac_variants *v)
{
	if (atomic_exchange(&v->is_timed, true))
		return;
	v->also = atomic_load(&timed);
	while (!atomic_compare_exchange_weak(&timed, &v->also, v))
		;
}

/* Whether anything is left to be read. */
static bool
look(struct ac_variants *v, const struct ac_place *place)
{
	bool pending = false;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		pending |= ac_timing_look(&v->timing[i], place);
	ac_variants_note_times(v);
	return pending;
}

/* Of the current context: events of one that is gone must not be asked about,
 * nor any in a forked child. */
static void
look_at_all(void)
{
	struct ac_place place = { .driver = ac_driver_loaded() };
	struct ac_cu_current now;
	struct ac_variants *v, *next;

	if (!atomic_load(&timed) || !place.driver || !place.driver->cuCtxGetId
	    || !ac_driver_current(place.driver, &now))
		return;
	place.scratch = ac_scratch_find(now.id);
	if (!place.scratch)
		return;
	place.epoch = ac_scratch_epoch(place.scratch);
	for (v = atomic_exchange(&timed, NULL); v; v = next) {
		next = v->also;
		v->is_timed = false;
		if (v->process == getpid() && look(v, &place))
			enlist(v);
	}
}

/* At exit before the driver's own handler, which is older: this one is made
 * when something is timed. Destructors come too late for a driver. */
void
ac_variants_have_read(struct ac_variants *v)
{
	static _Atomic bool is_asked;

	enlist(v);
	if (atomic_exchange(&is_asked, true))
		return;
	atomic_store(&ac_handle_waited, look_at_all);
	(void)atexit(look_at_all);
}
