/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/change.h -- one run against another, site by site. */
#ifndef AC_REPORT_CHANGE_H
#define AC_REPORT_CHANGE_H

#include "report/read/rows.h"

/* What changed at a site, the least first. */
enum ac_change {
	AC_CHANGE_NONE,
	AC_CHANGE_CALLS,             /* how many, or how many were recast */
	AC_CHANGE_NUMBERS,           /* the time of a call, or its error */
	AC_CHANGE_PRESENCE,          /* it is in one of the runs only */
	AC_CHANGE_RUNG,              /* or the reason why it is kept */
	AC_CHANGE_COUNT
};

struct ac_change_row {
	const struct ac_site_row *then, *now;   /* NULL: not in that run */
	enum ac_change change;
	double work;                 /* FLOPs, in the run that has more */
};

/* From so much on times and errors have changed: times of one call as a part of
 * the longer one, errors as a part of tol. Two runs of one program on one GPU
 * are apart by less. */
#define AC_CHANGE_LEAST 0.1

/* How long one call takes there as most go, 0: not known. */
double ac_site_row_time(const struct ac_site_row *row);

/* Rows of two runs, sorted here, as pairs: those that changed most first, then
 * those with most work; malloc'ed. NULL without memory. */
struct ac_change_row *ac_changes_make(struct ac_site_row *then,
    size_t then_count, struct ac_site_row *now, size_t now_count,
    size_t *count_out);

#endif
