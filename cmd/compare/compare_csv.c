/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_csv.c -- the runs of a comparison as comma-separated
 * values, as autocast-json(5) documents them. A table has no room for verdicts:
 * they go to stderr. */
#include "cmd/compare/compare.h"
#include "report/write/csv.h"

#include <math.h>
#include <string.h>

static void
add_run(struct ac_csv *w, const struct ac_compare_column *column, size_t pair)
{
	const char *policy = column->launch.chosen.policy;
	const struct ac_compare_run *run = &column->runs[pair];

	ac_csv_unsigned(w, pair);
	ac_csv_name(w, column->name);
	ac_csv_name(w, policy ? policy : "");
	ac_csv_integer(w, column->rejected && pair + 1 == column->rejected_run
	    ? column->rejected : 0);
	for (size_t i = 0; i < AC_COMPARE_QUANTITIES; i++) {
		double value;

		memcpy(&value, (const char *)run
		    + ac_compare_quantities[i].offset, sizeof value);
		ac_csv_number(w, value < 0 ? NAN : value);
	}
	ac_csv_end_row(w);
}

/* Why the exit status is what it is. */
static void
say_verdict(const struct ac_comparison *compare, size_t column)
{
	size_t differing = 0;
	struct ac_text t = AC_TEXT_OF(1024);

	ac_compare_add_verdict(&t, compare, column);
	for (size_t i = 0; i < compare->output_count; i++)
		differing += ac_compare_differs(&compare->outputs[i]
		    .found[column]);
	if (differing && !compare->columns[column].rejected)
		ac_text_addf(&t, "; %zu of %zu outputs differ", differing,
		    compare->output_count);
	(void)ac_say(0, "compare: %s", t.data);
}

void
ac_compare_csv(const struct ac_comparison *compare)
{
	struct ac_csv w;
	struct ac_text t = AC_TEXT_OF(256);

	ac_text_add(&t, "pair,side,policy,exit_status");
	for (size_t i = 0; i < AC_COMPARE_QUANTITIES; i++)
		ac_text_addf(&t, ",%s", ac_compare_quantities[i].name);
	ac_csv_begin(&w, t.data, ac_say_stdout, NULL);
	/* Once a policy is rejected no more runs are made by it. */
	for (size_t pair = 0; pair <= compare->pairs; pair++)
		for (size_t i = 0; i < compare->column_count; i++)
			if (compare->columns[i].runs[pair].cost.wall > 0)
				add_run(&w, &compare->columns[i], pair);
	for (size_t i = AC_RECAST; i < compare->column_count; i++)
		say_verdict(compare, i);
}
