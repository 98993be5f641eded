/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_words.c -- the verdict and the outputs of a comparison in
 * words, for text and markdown; and of a program that ends well when it runs
 * plain and says by its exit status that it is not content with the recast:
 * that, and which of its calls were recast. */
#include "cmd/compare/compare.h"
#include "report/write/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST = 14, LINE_BYTES = 1024, MOST_SITES = 5 };

static void
add_whose(struct ac_text *t, const struct ac_comparison *compare,
    size_t column)
{
	if (compare->column_count > 2)
		ac_text_addf(t, "%s: ", compare->columns[column].name);
}

typedef void (*tell_site)(const struct ac_compare_column *column,
    const struct ac_site_row *row, void *context);

/* Tell the sites that were recast, largest first; returns how many there are.
 * Without memory none is told. */
static size_t
tell_sites(const struct ac_compare_column *column, tell_site tell,
    void *context)
{
	struct ac_site_row *rows = NULL;
	size_t count = 0, recast = 0;

	if (!column->report || !ac_rows_make(column->report, AC_SORT_WORK,
	    &rows, &count))
		return 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].recast && recast++ < MOST_SITES)
			tell(column, &rows[i], context);
	free(rows);
	return recast;
}

/* Of the rung that made results for the program: a site may have left it. */
static const char *
rung_name(const struct ac_site_row *row)
{
	size_t i = 0;

	while (i + 1 < row->rung_count && !row->rungs[i]->recast)
		i++;
	return ac_rung_names[row->rungs[i]->rung];
}

static void
print_site(const struct ac_compare_column *column,
    const struct ac_site_row *row, void *context)
{
	const struct ac_site_total *site = row->rungs[0];

	(void)context;
	printf("%*s%08x %s %s %s, %s, %s of the FP32 work\n", FIRST, "",
	    site->id, AC_SAID(ac_site_add_what, site),
	    AC_SAID(ac_site_add_caller, column->report, site), rung_name(row),
	    AC_COUNT(row->recast, "recast call"), AC_SHARE(row->share, 1));
}

static void
add_site(const struct ac_compare_column *column,
    const struct ac_site_row *row, void *context)
{
	struct ac_json *w = context;

	(void)column;
	ac_json_open(w, NULL, "{");
	ac_json_id(w, "id", row->rungs[0]->id);
	ac_json_string(w, "rung", rung_name(row));
	ac_json_unsigned(w, "recast_calls", row->recast);
	ac_json_real(w, "share", row->share);
	ac_json_close(w, "}");
}

static void
add_rejected(struct ac_text *t, const struct ac_comparison *compare,
    size_t column)
{
	const struct ac_compare_column *c = &compare->columns[column];

	ac_text_addf(t, "the program rejects the %s: status %d in run %zu of "
	    "%zu, 0 in plain runs", c->totals.recast_calls ? "recast"
	    : "library", c->rejected, c->rejected_run, compare->pairs + 1);
}

void
ac_compare_print_rejected(const struct ac_comparison *compare, size_t column)
{
	const struct ac_compare_column *c = &compare->columns[column];
	size_t recast;
	struct ac_text t = AC_TEXT_OF(LINE_BYTES);

	ac_text_addf(&t, "%-*s", FIRST, "recast");
	add_whose(&t, compare, column);
	ac_text_add(&t, c->totals.recast_calls
	    ? "these sites, the largest first:"
	    : "nothing; see 'autocast doctor'");
	puts(t.data);
	recast = tell_sites(c, print_site, NULL);
	if (recast > MOST_SITES)
		printf("              and %zu more\n", recast - MOST_SITES);
}

void
ac_compare_json_rejected(struct ac_json *w,
    const struct ac_compare_column *column)
{
	size_t recast;

	ac_json_string(w, "verdict", "rejected");
	ac_json_integer(w, "exit_status", column->rejected);
	ac_json_unsigned(w, "run", column->rejected_run);
	ac_json_open(w, "recast_sites", "[");
	recast = tell_sites(column, add_site, w);
	ac_json_close(w, "]");
	ac_json_unsigned(w, "recast_site_count", recast);
}

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

	add_whose(t, compare, column);
	if (compare->columns[column].rejected) {
		add_rejected(t, compare, column);
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
	add_whose(&t, compare, column);
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
	add_whose(&t, compare, column);
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
