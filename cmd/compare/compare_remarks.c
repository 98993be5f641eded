/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_remarks.c -- what a reader should know of the wall times
 * before trusting their medians: how the warm-up went, and outliers. */
#include "cmd/compare/compare.h"
#include "report/read/read.h"
#include "report/write/json.h"

#include <stdio.h>

enum { FIRST = 14, SECOND = 36, LINE_BYTES = 256 };

static const size_t wall = offsetof(struct ac_compare_run, cost.wall);

static size_t
count_outliers(const struct ac_comparison *compare, enum ac_side side)
{
	double values[AC_COMPARE_PAIRS];
	const size_t n = ac_compare_values(compare, side, wall, values);

	return ac_compare_outliers(values, n);
}

/* A line of both sides. */
static void
print_line(const char *what, const char *plain, const char *recast)
{
	char line[LINE_BYTES];
	struct ac_text t;

	ac_text_init(&t, line, sizeof line);
	ac_text_add(&t, what);
	ac_text_pad(&t, FIRST);
	ac_text_add(&t, plain);
	ac_text_pad(&t, SECOND);
	ac_text_add(&t, recast);
	puts(line);
}

void
ac_compare_print_remarks(const struct ac_comparison *compare)
{
	const size_t plain = count_outliers(compare, AC_PLAIN);
	const size_t recast = count_outliers(compare, AC_RECAST);
	char words[AC_SIDES][64];
	struct ac_text t;

	for (enum ac_side side = 0; side < AC_SIDES; side++) {
		ac_text_init(&t, words[side], sizeof *words);
		ac_time_add(&t, 1e6 * compare->runs[side][0].cost.wall);
	}
	ac_text_add(&t, ", not counted");
	print_line("warm-up", words[AC_PLAIN], words[AC_RECAST]);
	if (!plain && !recast)
		return;
	for (enum ac_side side = 0; side < AC_SIDES; side++) {
		ac_text_init(&t, words[side], sizeof *words);
		ac_text_addf(&t, "%zu of %zu", side ? recast : plain,
		    compare->pairs);
	}
	ac_text_add(&t, ", beyond three spreads");
	print_line("outliers", words[AC_PLAIN], words[AC_RECAST]);
}

void
ac_compare_json_remarks(struct ac_json *w, const struct ac_comparison *compare)
{
	ac_json_open(w, "warm_up_seconds", "{");
	for (enum ac_side side = 0; side < AC_SIDES; side++)
		ac_json_measured(w, ac_side_names[side],
		    compare->runs[side][0].cost.wall);
	ac_json_close(w, "}");
	ac_json_open(w, "outliers", "{");
	for (enum ac_side side = 0; side < AC_SIDES; side++)
		ac_json_unsigned(w, ac_side_names[side],
		    count_outliers(compare, side));
	ac_json_close(w, "}");
}
