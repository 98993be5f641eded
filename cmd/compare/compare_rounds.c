/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_rounds.c -- all runs of a comparison, column by column in
 * turn, and what follows from their times. */
#include "cmd/compare/compare.h"

#include <math.h>
#include <string.h>

static const size_t wall = offsetof(struct ac_compare_run, cost.wall);

const struct ac_compare_quantity ac_compare_quantities[] = {
	{ "wall_seconds", offsetof(struct ac_compare_run, cost.wall) },
	{ "user_seconds", offsetof(struct ac_compare_run, cost.user) },
	{ "system_seconds", offsetof(struct ac_compare_run, cost.system) },
	{ "peak_bytes", offsetof(struct ac_compare_run, cost.peak_bytes) },
	{ "peak_scratch_bytes", offsetof(struct ac_compare_run,
	    scratch_bytes) },
	{ "energy_joules", offsetof(struct ac_compare_run, joules) },
};

bool
ac_compare_is_over(const struct ac_comparison *compare)
{
	for (size_t i = AC_RECAST; i < compare->column_count; i++)
		if (!compare->columns[i].rejected)
			return false;
	return true;
}

static int
check_patterns(const struct ac_comparison *compare)
{
	for (size_t i = 0; i < compare->pattern_count; i++)
		if (!compare->patterns[i].found)
			return ac_say(AC_COMPARE_RUN_FAILED, "compare: no "
			    "run wrote a file like --files '%s'",
			    compare->patterns[i].glob);
	return 0;
}

int
ac_compare_rounds(struct ac_comparison *compare)
{
	const size_t columns = compare->column_count;
	const size_t runs = columns * (compare->pairs + 1);
	int status = 0;

	for (size_t done = 0; done < runs && !status &&
	    !ac_compare_is_over(compare) && !ac_child_caught(); done++) {
		const size_t pair = done / columns;
		const size_t column = ac_compare_turn(columns, pair,
		    done % columns);

		if (compare->columns[column].rejected)
			continue;
		ac_compare_draw(compare, done);
		status = ac_compare_run_one(compare, column, pair);
	}
	return status || ac_compare_is_over(compare) || ac_child_caught()
	    ? status : check_patterns(compare);
}

/* ---- Times ------------------------------------------------------------- */

size_t
ac_compare_values(const struct ac_comparison *compare, size_t column,
    size_t offset, double values_out[AC_COMPARE_PAIRS])
{
	for (size_t i = 0; i < compare->pairs; i++)
		memcpy(&values_out[i], (const char *)
		    &compare->columns[column].runs[i + 1] + offset,
		    sizeof *values_out);
	return compare->pairs;
}

size_t
ac_compare_far(const struct ac_comparison *compare, size_t column)
{
	double values[AC_COMPARE_PAIRS];
	const size_t n = ac_compare_values(compare, column, wall, values);

	return ac_compare_outliers(values, n);
}

bool
ac_compare_has_energy(const struct ac_comparison *compare, size_t column)
{
	for (size_t i = 1; i <= compare->pairs; i++)
		if (compare->columns[column].runs[i].joules < 0)
			return false;
	return !compare->columns[column].rejected;
}

bool
ac_compare_is_untimed(const struct ac_comparison *compare)
{
	return compare->launch.emulate && isinf(compare->limit);
}

void
ac_compare_judge_all(struct ac_comparison *compare)
{
	double plain[AC_COMPARE_PAIRS], recast[AC_COMPARE_PAIRS];

	for (size_t i = AC_RECAST; i < compare->column_count; i++) {
		struct ac_compare_column *column = &compare->columns[i];

		if (column->rejected)
			continue;
		(void)ac_compare_values(compare, AC_PLAIN, wall, plain);
		(void)ac_compare_values(compare, i, wall, recast);
		ac_compare_judge(plain, recast, compare->pairs, compare->limit,
		    &column->judgement);
		if (ac_compare_is_untimed(compare))
			column->judgement.speed = AC_SPEED_UNKNOWN;
	}
}

int
ac_compare_status(const struct ac_comparison *compare, size_t column)
{
	const struct ac_compare_column *c = &compare->columns[column];

	if (c->rejected || c->judgement.speed == AC_SPEED_TOO_SLOW)
		return AC_COMPARE_DIFFERS;
	for (size_t i = 0; i < compare->output_count; i++)
		if (ac_compare_differs(&compare->outputs[i].found[column]))
			return AC_COMPARE_DIFFERS;
	return AC_COMPARE_SAME;
}

void
ac_compare_gpu_time(const struct ac_compare_column *column,
    struct ac_compare_gpu_time *time_out)
{
	const struct ac_report_totals *t = &column->totals;

	time_out->keep_us = t->measured_keep_us + t->predicted_keep_us;
	time_out->recast_us = t->measured_recast_us + t->predicted_recast_us;
	time_out->calls = t->measured_calls + t->predicted_calls;
	if (time_out->keep_us <= 0)
		time_out->basis = AC_BASIS_NONE;
	else if (t->predicted_keep_us > 0)
		time_out->basis = AC_BASIS_PREDICTED;
	else
		time_out->basis = ac_report_clock_of(column->report) ==
		    AC_CLOCK_MODELLED ? AC_BASIS_MODELLED : AC_BASIS_MEASURED;
}
