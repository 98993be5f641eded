/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/variants_record.c -- the records of a site's variants; what was
 * measured goes there, also where no later call of its site reads it. */
#include "shim/trial/variants.h"

#include "base/mapped.h"
#include "shim/device/handle.h"

#include <stdlib.h>
#include <unistd.h>

/* What a site does later counts as another line of the report. */
__attribute__((cold, noinline))
static struct ac_site_record *
make_record(struct ac_variants *v, unsigned variant, enum ac_reason reason)
{
	const struct ac_site_record *first = v->record[0];
	struct ac_decision decision = *v->decision;
	struct ac_site_record *made;

	if (variant == AC_ORIGINAL) {
		decision.rung = AC_RUNG_KEEP;
		decision.tactic = AC_TACTIC_NONE;
		decision.reason = reason;
	} else {
		decision.rung = decision.candidate[variant].rung;
		decision.tactic = decision.candidate[variant].tactic;
		decision.tol = decision.candidate[variant].tol;
	}
	made = ac_report_site(&first->region, &first->key, &decision,
	    first->name, NULL);
	atomic_store_explicit(&v->record[variant], made, memory_order_release);
	return made;
}

struct ac_site_record *
ac_variants_record(struct ac_variants *v, unsigned variant,
    enum ac_reason reason)
{
	struct ac_site_record *record = atomic_load_explicit(
	    &v->record[variant], memory_order_acquire);

	ac_report_check_fork(); /* a child's course is its own */
	return record && (variant != AC_ORIGINAL || record->reason == reason)
	    ? record : make_record(v, variant, reason);
}

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

bool
ac_variants_read(struct ac_variants *v, const struct ac_place *place)
{
	bool pending = false;

	for (unsigned i = 0; i <= AC_CANDIDATES; i++)
		pending |= ac_timing_read(&v->timing[i], place);
	ac_variants_note_times(v);
	return pending;
}

/* Sites with calls that were timed. */
static _Atomic(struct ac_variants *) timed;

/* Of the current context: events of one that is gone must not be asked about,
 * nor any in a forked child. */
static void
read_all(void)
{
	struct ac_place place = { .driver = ac_driver_loaded() };
	struct ac_cu_current now;

	if (!place.driver || !place.driver->cuCtxGetId
	    || !ac_driver_current(place.driver, &now))
		return;
	place.scratch = ac_scratch_find(now.id);
	if (!place.scratch)
		return;
	place.epoch = ac_scratch_epoch(place.scratch);
	for (struct ac_variants *v = timed; v; v = v->also)
		if (v->process == getpid())
			(void)ac_variants_read(v, &place);
}

/* At exit before the driver's own handler, which is older: this one is made
 * when something is timed. Destructors come too late for a driver. */
void
ac_variants_have_read(struct ac_variants *v)
{
	static _Atomic bool is_asked;

	if (atomic_exchange(&v->is_timed, true))
		return;
	AC_MAPPED_PUSH(&timed, v, also);
	if (atomic_exchange(&is_asked, true))
		return;
	atomic_store(&ac_handle_waited[AC_WAITED_TIMES], read_all);
	(void)atexit(read_all);
}
