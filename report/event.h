/* SPDX-License-Identifier: Apache-2.0 */
/* report/event.h -- what the guard did, and at which call of a site: the last
 * ones of each process. */
#ifndef AC_REPORT_EVENT_H
#define AC_REPORT_EVENT_H

#include <stdatomic.h>
#include <stdint.h>

enum ac_event_kind {
	AC_EVENT_PASSED,             /* its tries */
	AC_EVENT_CHOSEN,             /* calls go by it from here on */
	AC_EVENT_WORST,              /* an error above all before */
	AC_EVENT_DEMOTED,
	AC_EVENT_RETRIED,            /* serves again */
	AC_EVENT_KINDS
};

enum { AC_EVENTS = 256 };        /* a process keeps so many */

/* `sequence` is stored last: who looks meanwhile skips what is half there. */
struct ac_event_record {
	_Atomic uint64_t sequence;   /* from 1; 0: none */
	_Atomic uint64_t call;       /* of the place, as verdicts number them */
	_Atomic uint32_t site;       /* number of its record: of that rung */
	_Atomic uint16_t kind, finding; /* enum ac_event_kind, ac_finding */
	_Atomic float    error;      /* 0: there was none */
};

/* The guard did that at call `call` of the site, about the rung of `record`.
 * Goes into the log, too. Takes no lock. */
struct ac_site_record;
void ac_report_event(const struct ac_site_record *record,
    enum ac_event_kind kind, uint64_t call, uint32_t finding, float error);

#endif
