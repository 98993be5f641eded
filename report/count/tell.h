/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/tell.h -- what is decided about a site, in the log, for
 * AUTOCAST_LOG=info: a line for each decision, none for a call. What
 * AUTOCAST_LOG says is read once: programs may change their environment. */
#ifndef AC_REPORT_TELL_H
#define AC_REPORT_TELL_H

#include "report/report.h"

/* The policy's answer for a site that is new. */
void ac_tell_decision(const struct ac_site_record *site);

/* What the guard did; see ac_report_event(). */
void ac_tell_event(const struct ac_site_record *record,
    enum ac_event_kind kind, uint64_t call, uint32_t finding);

#endif
