/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_words.c -- the verdict and the outputs of a comparison in
 * words, for text and markdown. */
#include "cmd/compare/compare.h"

#include <math.h>
#include <stdio.h>

enum { FIRST = 14, LINE_BYTES = 1024 };

/* 2,310 */
static const char *
add_count(struct ac_text *t, uint64_t count)
{
	if (count >= 1000) {
		(void)add_count(t, count / 1000);
		ac_text_addf(t, ",%03u", (unsigned)(count % 1000));
	} else {
		ac_text_addf(t, "%u", (unsigned)count);
	}
	return t->data;
}
#define GROUPED(count) AC_SAID(add_count, (count))

static const char *
add_percent(struct ac_text *t, double part)
{
	return ac_double_add(t, 100 * fabs(part), fabs(part) < 0.1 ? 2 : 3);
}
#define PERCENT(part) AC_SAID(add_percent, (part))

/* ---- The verdict ------------------------------------------------------- */

/* "10.9 % less time (10.3 to 11.5 %)" */
static void
add_change(struct ac_text *t, const struct ac_judgement *j)
{
	const bool less = j->ratio < 1;

	ac_text_addf(t, "%s %% %s wall time (%s to %s %%)",
	    PERCENT(j->ratio - 1), less ? "less" : "more",
	    PERCENT((less ? j->high : j->low) - 1),
	    PERCENT((less ? j->low : j->high) - 1));
}

/* "no difference is proven: between 1.3 % less and 1.4 % more wall time", and
 * how many pairs it takes where these were too few. */
static void
add_unproven(struct ac_text *t, const struct ac_judgement *j, size_t pairs)
{
	ac_text_addf(t, "no difference is proven: between %s %% less and %s %% "
	    "more wall time", PERCENT(j->low - 1), PERCENT(j->high - 1));
	if (j->needed <= pairs)
		return;
	if (j->needed > AC_COMPARE_PAIRS)
		ac_text_addf(t, "; more than %d pairs", AC_COMPARE_PAIRS);
	else
		ac_text_addf(t, "; about -n %zu", j->needed);
	ac_text_addf(t, " would show one of %s %%", PERCENT(AC_COMPARE_SOUGHT));
}

void
ac_compare_add_verdict(struct ac_text *t, const struct ac_comparison *compare,
    size_t column)
{
	const struct ac_judgement *j = &compare->columns[column].judgement;

	ac_compare_add_whose(t, compare, column);
	if (compare->columns[column].rejected) {
		ac_compare_add_rejected(t, compare, column);
		return;
	}
	switch (j->speed) {
	case AC_SPEED_UNKNOWN:
		if (ac_compare_is_untimed(compare))
			ac_text_add(t, "none on the speed: the wall time is "
			    "not a GPU's");
		else
			ac_text_addf(t, "none: fewer than %d pairs prove "
			    "nothing", AC_COMPARE_FEWEST);
		break;
	case AC_SPEED_SAME:
		add_unproven(t, j, compare->pairs);
		break;
	case AC_SPEED_FASTER:
		ac_text_add(t, "recast is faster: ");
		add_change(t, j);
		break;
	default:
		ac_text_add(t, "recast is slower: ");
		add_change(t, j);
	}
	if (j->speed >= AC_SPEED_SLOWER && isfinite(compare->limit))
		ac_text_addf(t, ", %s more than %s %%",
		    j->speed == AC_SPEED_TOO_SLOW ? "and that is"
		    : "but that is not proven to be", PERCENT(compare->limit));
}

/* ---- Outputs ----------------------------------------------------------- */

static void
add_numbers(struct ac_text *t, const char *name,
    const struct ac_numbers_result *r)
{
	const uint64_t compared = r->numbers - r->unstable;

	ac_text_addf(t, "%s of %s number%s differ%s", GROUPED(r->differing),
	    GROUPED(compared), compared == 1 ? "" : "s",
	    r->differing == 1 || compared == 1 ? "s" : "");
	if (!r->differing)
		return;
	if (isfinite(r->worst))
		ac_text_addf(t, ", worst %s (relative)",
		    AC_DOUBLE(r->worst, 2));
	else
		ac_text_add(t, ", worst a number that is finite in one only");
	ac_text_add_cleanf(t, " at %s", name);
	if (r->has_words)
		ac_text_addf(t, ", byte %llu: ",
		    (unsigned long long)r->worst_byte);
	else
		ac_text_addf(t, ":%llu:%llu: ",
		    (unsigned long long)r->worst_line,
		    (unsigned long long)r->worst_column);
	ac_text_add_cleanf(t, "%s / %s", r->worst_plain, r->worst_recast);
}

static void
add_lines(struct ac_text *t, const char *name,
    const struct ac_numbers_result *r)
{
	ac_text_add_cleanf(t, "%s line%s differ%s in more than numbers, first "
	    "at %s:%llu: '%s' / '%s'", GROUPED(r->differing_lines),
	    r->differing_lines == 1 ? "" : "s",
	    r->differing_lines == 1 ? "s" : "", name,
	    (unsigned long long)r->first_line, r->first_plain,
	    r->first_recast);
}

static void
add_binary(struct ac_text *t, const struct ac_numbers_result *r)
{
	if (r->unstable_bytes)
		ac_text_add(t, "binary, differs between plain runs: "
		    "not compared");
	else if (!r->differing_bytes)
		ac_text_add(t, "binary, the same");
	else
		ac_text_addf(t, "binary, %s of %s bytes differ, first byte %s",
		    GROUPED(r->differing_bytes), GROUPED(r->bytes),
		    GROUPED(r->first_byte));
}

/* An array of words, and what is behind them. */
static void
add_words(struct ac_text *t, const char *name,
    const struct ac_numbers_result *r)
{
	add_numbers(t, name, r);
	if (r->unstable_bytes)
		ac_text_add(t, "; its end differs between plain runs: not "
		    "compared");
	else if (r->differing_bytes)
		ac_text_addf(t, "; it differs from byte %llu to its end",
		    (unsigned long long)r->first_byte);
}

/* What differs between plain runs, and so tells nothing. */
static void
print_unstable(const struct ac_numbers_result *r)
{
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	if ((r->is_binary && !r->has_words) ||
	    (!r->unstable && !r->unstable_lines))
		return;
	ac_text_pad(&t, FIRST);
	if (r->unstable)
		ac_text_addf(&t, "%s number%s%s", GROUPED(r->unstable),
		    r->unstable == 1 ? "" : "s", r->unstable_lines ? " and "
		    : "");
	if (r->unstable_lines)
		ac_text_addf(&t, "%s line%s", GROUPED(r->unstable_lines),
		    r->unstable_lines == 1 ? "" : "s");
	ac_text_addf(&t, " differ%s between plain runs: not compared",
	    r->unstable + r->unstable_lines == 1 ? "s" : "");
	puts(t.data);
}

/* One output by one policy; `name` stands before the first. */
static void
print_finding(const struct ac_comparison *compare,
    const struct ac_compare_output *output, size_t column, const char *name)
{
	static const char *const absent[] = { [AC_UNSTABLE] = "not every plain "
	    "run wrote it: not compared", [AC_MISSING] = "plain runs wrote "
	    "it, a recast one did not", [AC_ADDED] = "only recast runs wrote "
	    "it" };
	const struct ac_compare_finding *found = &output->found[column];
	const struct ac_numbers_result *r = &found->result;
	char line[LINE_BYTES];
	struct ac_text t = AC_TEXT_IN(line);

	ac_text_add_cleanf(&t, "%s ", name);
	ac_text_pad(&t, FIRST);
	ac_compare_add_whose(&t, compare, column);
	if (found->presence != AC_PRESENT)
		ac_text_add(&t, absent[found->presence]);
	else if (r->has_words)
		add_words(&t, output->name, r);
	else if (r->is_binary)
		add_binary(&t, r);
	else if (r->lines || r->differing_lines)
		add_numbers(&t, output->name, r);
	else
		ac_text_add(&t, "empty");
	puts(line);
	if (found->presence != AC_PRESENT || r->is_binary ||
	    !r->differing_lines)
		return;
	ac_text_init(&t, line, sizeof line);
	ac_text_pad(&t, FIRST);
	ac_compare_add_whose(&t, compare, column);
	add_lines(&t, output->name, r);
	puts(line);
}

void
ac_compare_print_outputs(const struct ac_comparison *compare)
{
	for (size_t i = 0; i < compare->output_count; i++) {
		const struct ac_compare_output *output = &compare->outputs[i];
		const struct ac_compare_finding *last = NULL;

		for (size_t k = AC_RECAST; k < compare->column_count; k++) {
			if (compare->columns[k].rejected ||
			    output->found[k].presence == AC_ABSENT)
				continue;
			print_finding(compare, output, k, last ? ""
			    : output->name);
			last = &output->found[k];
		}
		if (last && last->presence == AC_PRESENT)
			print_unstable(&last->result);
	}
}
