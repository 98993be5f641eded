/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_table.c -- makes the table of a comparison. The cells of
 * a column that the program rejects are "-": not all of its runs were made. */
#include "cmd/compare/compare.h"
#include "report/read/read.h"

#include <stdio.h>

/* ---- Values in words --------------------------------------------------- */

/* Of one run none is known. */
static void
add_spread(struct ac_text *t, double spread, size_t n)
{
	if (n > 1)
		ac_text_addf(t, " +- %s", AC_DOUBLE(spread, 2));
}

/* A time and how far it spreads, in the unit that suits it. */
static void
add_time(struct ac_text *t, double seconds, double spread, size_t n)
{
	static const struct { double size; const char *unit; } units[] = {
		{ 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }
	};
	size_t i = 0;

	while (i < 2 && seconds < units[i].size)
		i++;
	ac_text_addf(t, "%s %s", AC_DOUBLE(seconds / units[i].size, 4),
	    units[i].unit);
	add_spread(t, spread / units[i].size, n);
}

/* "0.9123 (0.9012 to 0.9304)" */
static void
add_ratio(struct ac_text *t, const struct ac_judgement *judgement)
{
	ac_text_add_double(t, judgement->ratio, 4);
	if (judgement->speed != AC_SPEED_UNKNOWN)
		ac_text_addf(t, " (%s to %s)", AC_DOUBLE(judgement->low, 4),
		    AC_DOUBLE(judgement->high, 4));
}

/* ---- Rows -------------------------------------------------------------- */

static struct ac_compare_row *
add_row(struct ac_compare_table *table, const char *what, bool has_cells,
    const char *note)
{
	struct ac_compare_row *row = &table->rows[table->count++];

	*row = (struct ac_compare_row){ .what = what, .has_cells = has_cells };
	for (size_t i = 0; i < table->columns && has_cells; i++)
		row->cells[i][0] = '-';
	snprintf(row->note, sizeof row->note, "%s", note);
	return row;
}

/* To write a cell. */
static struct ac_text *
cell(struct ac_text *t, char text[AC_COMPARE_CELL])
{
	ac_text_init(t, text, AC_COMPARE_CELL);
	return t;
}

static bool
has_several(const struct ac_comparison *compare)
{
	return compare->column_count > 2;
}

static void
add_head(struct ac_compare_table *table, const struct ac_comparison *compare)
{
	static char what[32];
	struct ac_compare_row *row = add_row(table, what, true, "");
	struct ac_text t = AC_TEXT_IN(what);

	ac_text_addf(&t, "%zu %s%s", compare->pairs,
	    has_several(compare) ? "round" : "pair",
	    compare->pairs == 1 ? "" : "s");
	for (size_t i = 0; i < table->columns; i++)
		ac_text_add(cell(&t, row->cells[i]), compare->columns[i].name);
	if (!has_several(compare))
		ac_text_add(cell(&t, row->ratio), "recast / plain");
}

/* What recasting does to the calls on the GPU: of several policies each has
 * calls of its own. */
static void
add_gpu_time(struct ac_compare_table *table,
    const struct ac_comparison *compare)
{
	struct ac_compare_row *row = NULL;
	struct ac_compare_gpu_time time;
	struct ac_text t;

	for (size_t i = AC_RECAST; i < table->columns; i++) {
		const struct ac_compare_column *column = &compare->columns[i];

		ac_compare_gpu_time(column, &time);
		if (time.basis == AC_BASIS_NONE || column->rejected)
			continue;
		if (!row || time.basis == AC_BASIS_PREDICTED) {
			if (!row)
				row = add_row(table, "GPU time", true, "");
			ac_text_init(&t, row->note, sizeof row->note);
			ac_text_add_cleanf(&t, time.basis == AC_BASIS_MEASURED
			    ? "measured for %s" : "estimated for %s",
			    column->report->processes[0].gpu);
		}
		if (has_several(compare)) {
			ac_text_addf(cell(&t, row->cells[i]), "%s of %s",
			    AC_TIME(time.recast_us), AC_TIME(time.keep_us));
			continue;
		}
		ac_time_add(cell(&t, row->cells[AC_PLAIN]), time.keep_us);
		ac_time_add(cell(&t, row->cells[i]), time.recast_us);
		ac_factor_add(cell(&t, row->ratio), time.keep_us,
		    time.recast_us);
	}
	if (!row)
		return;
	row = add_row(table, "", false, "of the recast calls of each, without "
	    "the others");
	if (!has_several(compare))
		snprintf(row->note, sizeof row->note, "of %s, without the "
		    "others", AC_COUNT(time.calls, "recast call"));
}

/* Times, or bytes of memory. */
static void
add_values(struct ac_compare_table *table, const struct ac_comparison *compare,
    const char *what, size_t offset, bool is_time)
{
	struct ac_compare_row *row = add_row(table, what, true, "");
	double values[AC_COMPARE_PAIRS];
	struct ac_text t;

	for (size_t i = 0; i < table->columns; i++) {
		const size_t n = ac_compare_values(compare, i, offset, values);
		const double median = ac_compare_median(values, n);

		if (compare->columns[i].rejected)
			continue;
		if (is_time)
			add_time(cell(&t, row->cells[i]), median,
			    ac_compare_spread(values, n), n);
		else if (median >= 0)
			ac_bytes_add(cell(&t, row->cells[i]), (uint64_t)median);
	}
}

/* The ratios: behind the wall times, or below them. */
static void
add_ratios(struct ac_compare_table *table, const struct ac_comparison *compare)
{
	struct ac_compare_row *row = &table->rows[table->count - 1];
	struct ac_text t;

	if (ac_compare_is_untimed(compare))
		return;
	if (has_several(compare))
		row = add_row(table, "/ plain", true, "");
	for (size_t i = AC_RECAST; i < table->columns; i++)
		if (!compare->columns[i].rejected)
			add_ratio(cell(&t, has_several(compare) ? row->cells[i]
			    : row->ratio), &compare->columns[i].judgement);
}

/* What a reader should know of the wall times before trusting their
 * medians. */
static void
add_remarks(struct ac_compare_table *table, const struct ac_comparison *compare)
{
	struct ac_compare_row *row = add_row(table, "warm-up", true,
	    "not counted");
	size_t outliers = 0;
	struct ac_text t;

	for (size_t i = 0; i < table->columns; i++) {
		if (compare->columns[i].rejected)
			continue;
		ac_time_add(cell(&t, row->cells[i]),
		    1e6 * compare->columns[i].runs[0].cost.wall);
		outliers += ac_compare_far(compare, i);
	}
	if (!outliers)
		return;
	row = add_row(table, "outliers", true, "beyond three spreads");
	for (size_t i = 0; i < table->columns; i++)
		if (!compare->columns[i].rejected)
			ac_text_addf(cell(&t, row->cells[i]), "%zu of %zu",
			    ac_compare_far(compare, i), compare->pairs);
}

static const size_t joules = offsetof(struct ac_compare_run, joules);

static void
add_energy_ratio(struct ac_compare_row *row,
    const struct ac_comparison *compare)
{
	double plain[AC_COMPARE_PAIRS], recast[AC_COMPARE_PAIRS];
	const size_t n = ac_compare_values(compare, AC_PLAIN, joules, plain);
	struct ac_judgement judgement;
	struct ac_text t;

	(void)ac_compare_values(compare, AC_RECAST, joules, recast);
	for (size_t i = 0; i < n; i++) /* 0: less than the counter sees */
		if (plain[i] <= 0 || recast[i] <= 0)
			return;
	ac_compare_judge(plain, recast, n, 0, &judgement);
	add_ratio(cell(&t, row->ratio), &judgement);
}

/* What the GPUs drew; without a row where nothing counts that. */
static void
add_energy(struct ac_compare_table *table, const struct ac_comparison *compare)
{
	double values[AC_COMPARE_PAIRS];
	struct ac_compare_row *row = NULL;
	struct ac_text t;

	for (size_t i = 0; i < table->columns; i++) {
		const size_t n = ac_compare_values(compare, i, joules, values);

		if (!ac_compare_has_energy(compare, i))
			continue;
		if (!row)
			row = add_row(table, "GPU energy", true, "");
		ac_text_addf(cell(&t, row->cells[i]), "%s J",
		    AC_DOUBLE(ac_compare_median(values, n), 4));
		add_spread(&t, ac_compare_spread(values, n), n);
	}
	if (row && !has_several(compare) &&
	    ac_compare_has_energy(compare, AC_PLAIN) &&
	    ac_compare_has_energy(compare, AC_RECAST))
		add_energy_ratio(row, compare);
}

static void
add_work(struct ac_compare_table *table, const struct ac_comparison *compare)
{
	struct ac_compare_row *row;
	bool any = false;
	struct ac_text t;

	for (size_t i = AC_RECAST; i < table->columns; i++)
		any |= compare->columns[i].totals.flops > 0;
	if (!any || !has_several(compare)) {
		const struct ac_report_totals *totals =
		    &compare->columns[AC_RECAST].totals;

		row = add_row(table, "recast", false, "nothing: no FP32 work "
		    "was counted; see 'autocast doctor'");
		if (any)
			snprintf(row->note, sizeof row->note, "%s of the FP32 "
			    "work", AC_SHARE(totals->recast_flops,
			    totals->flops));
		return;
	}
	row = add_row(table, "recast", true, "of the FP32 work");
	for (size_t i = AC_RECAST; i < table->columns; i++)
		if (compare->columns[i].totals.flops > 0)
			ac_share_add(cell(&t, row->cells[i]),
			    compare->columns[i].totals.recast_flops,
			    compare->columns[i].totals.flops);
}

void
ac_compare_table(const struct ac_comparison *compare,
    struct ac_compare_table *table_out)
{
	table_out->columns = compare->column_count;
	table_out->count = 0;
	if (ac_compare_is_over(compare))
		return;
	add_head(table_out, compare);
	add_gpu_time(table_out, compare);
	add_values(table_out, compare, "wall time",
	    offsetof(struct ac_compare_run, cost.wall), true);
	add_ratios(table_out, compare);
	add_remarks(table_out, compare);
	add_values(table_out, compare, "user CPU",
	    offsetof(struct ac_compare_run, cost.user), true);
	add_values(table_out, compare, "system CPU",
	    offsetof(struct ac_compare_run, cost.system), true);
	if (compare->launch.emulate)
		add_row(table_out, "", false, "on the emulated GPU: the CPU's "
		    "time, not a GPU's");
	add_values(table_out, compare, "peak memory",
	    offsetof(struct ac_compare_run, cost.peak_bytes), false);
	add_values(table_out, compare, "GPU scratch",
	    offsetof(struct ac_compare_run, scratch_bytes), false);
	add_energy(table_out, compare);
	add_work(table_out, compare);
}
