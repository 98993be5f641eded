/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/rows.c -- one row per site out of the parts that a run keeps of
 * it. Pure. */
#include "report/read/rows.h"

#include <stdlib.h>
#include <string.h>

const char *const ac_sort_names[AC_SORT_COUNT] = {
	[AC_SORT_WORK] = "work", [AC_SORT_GAIN] = "gain",
	[AC_SORT_SHARE] = "share", [AC_SORT_ERROR] = "error",
	[AC_SORT_CALLS] = "calls",
};

const char *const ac_basis_names[AC_BASIS_COUNT] = {
	[AC_BASIS_NONE] = "none", [AC_BASIS_PREDICTED] = "predicted",
	[AC_BASIS_MODELLED] = "modelled", [AC_BASIS_MEASURED] = "measured",
};

enum ac_basis
ac_course_times(const struct ac_course *course, enum ac_clock clock,
    double *keep_us_out, double *recast_us_out)
{
	*keep_us_out = *recast_us_out = 0;
	if (ac_course_speed(course) > 0) {
		*keep_us_out = course->keep_us;
		*recast_us_out = course->recast_us;
		return clock == AC_CLOCK_MODELLED ? AC_BASIS_MODELLED
		    : AC_BASIS_MEASURED;
	}
	if (course->keep_predicted_us <= 0 || course->recast_predicted_us <= 0)
		return AC_BASIS_NONE;
	*keep_us_out = course->keep_predicted_us;
	*recast_us_out = course->recast_predicted_us;
	return AC_BASIS_PREDICTED;
}

enum ac_basis
ac_totals_gain(const struct ac_report_totals *t, enum ac_clock clock,
    double *gain_us_out)
{
	const bool is_measured = t->measured_calls && t->measured_keep_us > 0;
	const bool is_predicted = t->predicted_calls
	    && t->predicted_keep_us > 0;

	*gain_us_out = t->measured_keep_us - t->measured_recast_us
	    + t->predicted_keep_us - t->predicted_recast_us;
	if (is_predicted)
		return AC_BASIS_PREDICTED;
	if (!is_measured)
		return AC_BASIS_NONE;
	return clock == AC_CLOCK_MODELLED ? AC_BASIS_MODELLED
	    : AC_BASIS_MEASURED;
}

/* ---- Order ------------------------------------------------------------- */

static int
descending(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* What was chosen last comes first; without a choice, what runs most. */
static int
by_site(const void *left, const void *right)
{
	const struct ac_site_total *a = *(const struct ac_site_total *const *)
	    left, *b = *(const struct ac_site_total *const *)right;
	int order = ac_site_identity(a, b);

	if (!order)
		order = descending((double)a->course.chosen,
		    (double)b->course.chosen);
	if (!order)
		order = descending((double)a->recast, (double)b->recast);
	if (!order)
		order = descending((double)a->calls, (double)b->calls);
	return order ? order : ac_site_compare(a, b);
}

static double
work_of(const struct ac_site_row *row)
{
	return row->rungs[0]->flops * (double)row->calls;
}

static double
rank_of(const struct ac_site_row *row, enum ac_sort sort)
{
	const double ranks[AC_SORT_COUNT] = {
		[AC_SORT_WORK] = work_of(row), [AC_SORT_GAIN] = row->gain_us,
		[AC_SORT_SHARE] = row->flops, [AC_SORT_ERROR] = row->error,
		[AC_SORT_CALLS] = (double)row->calls,
	};

	return ranks[sort];
}

static int
by_rank(const void *left, const void *right)
{
	const struct ac_site_row *a = left, *b = right;
	int order = descending(a->rank, b->rank);

	if (!order)
		order = descending(work_of(a), work_of(b));
	if (!order)
		order = descending((double)a->calls, (double)b->calls);
	if (!order)
		order = ac_site_by_key(a->rungs[0], b->rungs[0]);
	return order ? order : ac_site_identity(a->rungs[0], b->rungs[0]);
}

/* ---- Rows -------------------------------------------------------------- */

static double
error_of(const struct ac_site_total *rung)
{
	return rung->tol > 0 && ac_site_unjudged(rung) == AC_UNJUDGED_NONE
	    ? rung->course.error / rung->tol : -1;
}

static double
fp32_work(const struct ac_site_total *rung)
{
	return rung->is_fp32 ? rung->flops * (double)rung->calls : 0;
}

static void
add_rung(struct ac_site_row *row, const struct ac_site_total *rung,
    enum ac_clock clock)
{
	const double recast = (double)rung->recast;
	double keep_us, recast_us;
	const enum ac_basis basis = ac_course_times(&rung->course, clock,
	    &keep_us, &recast_us);
	const double error = error_of(rung);

	row->calls += rung->calls;
	row->recast += rung->recast;
	row->flops += fp32_work(rung);
	row->before_us += recast * keep_us;
	row->after_us += recast * recast_us;
	if (row->basis == AC_BASIS_NONE && basis != AC_BASIS_NONE) {
		row->basis = basis;
		row->keep_us = keep_us;
		row->recast_us = recast_us;
		row->speed = keep_us / recast_us;
	}
	if (rung->recast && error > row->error)
		row->error = error;
}

static void
fill_row(struct ac_site_row *row, const struct ac_site_total *const *rungs,
    size_t count, double fp32_flops, enum ac_clock clock)
{
	memset(row, 0, sizeof *row);
	row->rungs = rungs;
	row->rung_count = count;
	row->error = -1;
	row->clock = clock;
	for (size_t i = 0; i < count; i++)
		add_rung(row, rungs[i], clock);
	if (!row->recast)
		row->error = error_of(rungs[0]);
	row->share = fp32_flops > 0 ? row->flops / fp32_flops : 0;
	row->gain_us = row->before_us - row->after_us;
}

bool
ac_site_row_is_kept(const struct ac_site_row *row, enum ac_reason *reason_out)
{
	uint64_t most = 0;

	if (row->recast || row->rungs[0]->rung == AC_RUNG_KEEP)
		return false;
	*reason_out = AC_REASON_NONE;
	for (size_t i = 0; i < row->rung_count; i++)
		for (int r = 0; r < AC_REASON_COUNT; r++)
			if (row->rungs[i]->kept[r] > most) {
				most = row->rungs[i]->kept[r];
				*reason_out = (enum ac_reason)r;
			}
	return most > 0;
}

enum ac_rung
ac_site_row_rung(const struct ac_site_row *row, const char **how_out)
{
	const struct ac_site_total *site = row->rungs[0];
	enum ac_reason reason = (enum ac_reason)site->reason;
	const bool is_kept = site->rung == AC_RUNG_KEEP
	    || ac_site_row_is_kept(row, &reason);

	*how_out = is_kept ? ac_reason_names[reason]
	    : ac_tactic_names[site->tactic];
	return is_kept ? AC_RUNG_KEEP : (enum ac_rung)site->rung;
}

bool
ac_rows_make(const struct ac_report *report, enum ac_sort sort,
    struct ac_site_row **rows_out, size_t *count_out)
{
	const size_t parts = report->site_count;
	const enum ac_clock clock = ac_report_clock_of(report);
	const struct ac_site_total **rungs;
	struct ac_site_row *rows = malloc(1 + parts
	    * (sizeof *rows + sizeof *rungs));
	double fp32_flops = 0;
	size_t count = 0;

	if (!rows)
		return false;
	rungs = (const struct ac_site_total **)(rows + parts);
	for (size_t i = 0; i < parts; i++) {
		rungs[i] = &report->sites[i];
		fp32_flops += fp32_work(rungs[i]);
	}
	if (report->places < parts)
		qsort(rungs, parts, sizeof *rungs, by_site);
	for (size_t i = 0, end; i < parts; i = end) {
		for (end = i + 1; end < parts &&
		    !ac_site_identity(rungs[i], rungs[end]); )
			end++;
		fill_row(&rows[count], rungs + i, end - i, fp32_flops, clock);
		rows[count].rank = rank_of(&rows[count], sort);
		count++;
	}
	qsort(rows, count, sizeof *rows, by_rank);
	*rows_out = rows;
	*count_out = count;
	return true;
}
