/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/events.c -- what the guard did, out of the files of a run or the
 * JSON of its report, which may hold anything. Pure. */
#include "report/read/fields.h"
#include "report/read/read.h"

#include <stdlib.h>

const char *const ac_event_names[AC_EVENT_KINDS] = {
	[AC_EVENT_PASSED] = "passed", [AC_EVENT_CHOSEN] = "chosen",
	[AC_EVENT_WORST] = "worst", [AC_EVENT_DEMOTED] = "demoted",
	[AC_EVENT_RETRIED] = "retried",
};

/* Of event number `nth`; false: it is not there, or half there. */
static bool
read_event(const struct ac_file_header *header,
    const struct ac_site_record *records, uint64_t nth,
    struct ac_event *event_out)
{
	const struct ac_event_record *from = &header->event[nth % AC_EVENTS];
	const struct ac_site_record *record;
	const float error = from->error;

	if (from->sequence != nth + 1 || from->site >= header->sites
	    || from->kind >= AC_EVENT_KINDS
	    || from->finding >= AC_FINDING_COUNT)
		return false;
	record = &records[from->site];
	*event_out = (struct ac_event){ .site = record->id,
		.rung = record->rung, .tactic = record->tactic,
		.call = from->call, .kind = (enum ac_event_kind)from->kind,
		.finding = (enum ac_finding)from->finding,
		.error = error >= 0 && error < 1e30f ? (double)error : 1e30,
		.tol = record->tol > 0 && record->tol < 1e9f
		    ? (double)record->tol : 0 };
	return true;
}

bool
ac_report_add_events(struct ac_report *report,
    const struct ac_file_header *header, const struct ac_site_record *records)
{
	const uint64_t all = header->events;
	const uint64_t first = all > AC_EVENTS ? all - AC_EVENTS : 0;

	if (!AC_GROW(report->events, report->event_count
	    + (size_t)(all - first) + 1))
		return false;
	for (uint64_t nth = first; nth < all; nth++) {
		struct ac_event *to = &report->events[report->event_count];

		if (!read_event(header, records, nth, to)) {
			report->lost_events++;
			continue;
		}
		to->process = (uint32_t)report->process_count - 1;
		report->event_count++;
	}
	report->lost_events += first;
	return true;
}

void
ac_event_from_json(struct ac_fields *r, struct ac_report *report)
{
	struct ac_event *to = &report->events[report->event_count++];

	to->site = ac_field_id(r, "site");
	to->call = ac_field_whole(r, "call", UINT64_MAX);
	to->kind = (enum ac_event_kind)ac_field_name(r, "kind", ac_event_names,
	    AC_EVENT_KINDS);
	to->rung = ac_field_name(r, "rung", ac_rung_names, AC_RUNG_COUNT);
	to->tactic = ac_field_name(r, "tactic", ac_tactic_names,
	    AC_TACTIC_COUNT);
	to->finding = (enum ac_finding)ac_field_name(r, "finding",
	    ac_finding_names, AC_FINDING_COUNT);
	to->error = ac_field_real(r, "error", 1e31);
	to->tol = ac_field_real(r, "tol", 1e9);
}
