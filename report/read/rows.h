/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/rows.h -- a run as rows, one per site, in the order asked for.
 *
 * A run keeps one struct ac_site_total per site and decision, so that a site
 * that tried a rung, or left one, has several. Readers want one row: a place
 * that calls one function with one set of sizes. */
#ifndef AC_REPORT_ROWS_H
#define AC_REPORT_ROWS_H

#include "report/read/read.h"

struct ac_site_row {
	/* Its parts, one per rung and decision: rungs[0] is what runs now, or
	 * ran last; the others were only tried, or were left, the last one
	 * first. All have the same key, id, region name and work per call.
	 * Borrowed from the report. */
	const struct ac_site_total *const *rungs;
	size_t   rung_count;         /* one at least */

	/* Of all its rungs. Over all rows each of these adds up to what
	 * ac_report_totals() says, exactly where it is whole numbers. */
	uint64_t calls, recast;
	double   flops;              /* of all calls, if they are FP32 */
	double   share;              /* flops, of all FP32 work; 0..1 */

	/* Of its recast calls only, the others take what they took: what they
	 * would have taken as the program made them, and what they take, each
	 * call at its own rung's time. Both 0 where no such time is known. */
	double   before_us, after_us;
	double   gain_us;            /* before_us - after_us; a loss: < 0 */

	/* Of one call, of rungs[0], or where that is keep or has no times of
	 * the rung with most calls: how long it takes as the program made it,
	 * and on that rung. A site that recast nothing has them, too, where a
	 * rung was predicted or tried. */
	enum ac_basis basis;
	double   keep_us, recast_us; /* 0: not known */
	double   speed;              /* keep_us / recast_us; 0: not known */

	/* Of the rungs whose results the program got, else of rungs[0]: the
	 * worst sampled error, as a part of its tol; < 0: nothing was
	 * sampled. */
	double   error;

	enum ac_clock clock;         /* of the run */
	double   rank;               /* what the rows are sorted by */
};

/* The rows of `report` in that order, malloc'ed in one piece: free() ends them,
 * and the report must live as long. False without memory. A report without a
 * site has no rows. */
bool ac_rows_make(const struct ac_report *report, enum ac_sort sort,
    struct ac_site_row **rows_out, size_t *count_out);

/* Whether nothing of it was recast though a rung was to run: it is shown as
 * kept for *reason_out then, for which most of its calls were. */
bool ac_site_row_is_kept(const struct ac_site_row *row,
    enum ac_reason *reason_out);
/* What it runs on, and in a word how: the tactic, or why it is kept. */
enum ac_rung ac_site_row_rung(const struct ac_site_row *row,
    const char **how_out);

/* The gain of a whole run, and what the weakest part of it rests on. */
enum ac_basis ac_totals_gain(const struct ac_report_totals *totals,
    enum ac_clock clock, double *gain_us_out);

/* What the times of `course` rest on, and of one call both of them, 0 where
 * there are none. `clock` is ac_report_clock_of() its run. */
enum ac_basis ac_course_times(const struct ac_course *course,
    enum ac_clock clock, double *keep_us_out, double *recast_us_out);

#endif
