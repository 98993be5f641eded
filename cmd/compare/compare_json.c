/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_json.c -- a comparison as JSON, as autocast-json(5)
 * documents it. */
#include "cmd/compare/compare.h"
#include "report/write/json.h"

#include <math.h>

enum { FORMAT = 1 };

/* What is no number in JSON is null. */
static void
add_values(struct ac_json *w, const struct ac_comparison *compare,
    const char *name, size_t column, size_t offset)
{
	double of_runs[AC_COMPARE_PAIRS];
	const size_t n = ac_compare_values(compare, column, offset, of_runs);

	ac_json_open(w, name, "[");
	for (size_t i = 0; i < n; i++)
		ac_json_measured(w, NULL, of_runs[i] < 0 ? NAN : of_runs[i]);
	ac_json_close(w, "]");
}

static void
add_both(struct ac_json *w, const struct ac_comparison *compare, size_t value)
{
	ac_json_open(w, ac_compare_quantities[value].name, "{");
	for (size_t i = 0; i < compare->column_count; i++)
		add_values(w, compare, compare->columns[i].name, i,
		    ac_compare_quantities[value].offset);
	ac_json_close(w, "}");
}

/* How the warm-up went, outliers. */
static void
add_remarks(struct ac_json *w, const struct ac_comparison *compare)
{
	ac_json_open(w, "warm_up_seconds", "{");
	for (size_t i = 0; i < compare->column_count; i++)
		ac_json_measured(w, compare->columns[i].name,
		    compare->columns[i].runs[0].cost.wall);
	ac_json_close(w, "}");
	ac_json_open(w, "outliers", "{");
	for (size_t i = 0; i < compare->column_count; i++)
		ac_json_unsigned(w, compare->columns[i].name,
		    ac_compare_far(compare, i));
	ac_json_close(w, "}");
}

static void
add_judgement(struct ac_json *w, const struct ac_comparison *compare,
    const struct ac_judgement *j)
{
	static const char *const words[] = { "none", "same", "faster",
		"slower", "too-slow" };
	const bool known = j->speed != AC_SPEED_UNKNOWN;

	ac_json_string(w, "verdict", words[j->speed]);
	ac_json_measured(w, "ratio", j->ratio);
	ac_json_measured(w, "low", known ? j->low : NAN);
	ac_json_measured(w, "high", known ? j->high : NAN);
	ac_json_real(w, "risk", known ? j->risk : NAN);
	ac_json_real(w, "limit", compare->limit);
	ac_json_measured(w, "pairs_needed", known && j->needed <=
	    AC_COMPARE_PAIRS ? (double)j->needed : NAN);
}

static void
add_numbers(struct ac_json *w, const struct ac_numbers_result *r)
{
	ac_json_unsigned(w, "numbers", r->numbers);
	ac_json_unsigned(w, "unstable_numbers", r->unstable);
	ac_json_unsigned(w, "differing_numbers", r->differing);
	ac_json_unsigned(w, "beyond_tol", r->beyond);
	if (r->differing) {
		ac_json_open(w, "worst", "{");
		ac_json_measured(w, "difference", r->worst);
		if (r->has_words) {
			ac_json_unsigned(w, "byte", r->worst_byte);
		} else {
			ac_json_unsigned(w, "line", r->worst_line);
			ac_json_unsigned(w, "column", r->worst_column);
		}
		ac_json_string(w, "plain", r->worst_plain);
		ac_json_string(w, "recast", r->worst_recast);
		ac_json_close(w, "}");
	}
	ac_json_unsigned(w, "lines", r->lines);
	ac_json_unsigned(w, "unstable_lines", r->unstable_lines);
	ac_json_unsigned(w, "differing_lines", r->differing_lines);
	if (r->differing_lines) {
		ac_json_open(w, "first", "{");
		ac_json_unsigned(w, "line", r->first_line);
		ac_json_string(w, "plain", r->first_plain);
		ac_json_string(w, "recast", r->first_recast);
		ac_json_close(w, "}");
	}
}

static void
add_output(struct ac_json *w, const char *name,
    const struct ac_compare_finding *found)
{
	static const char *const words[] = { "compared", "unstable", "missing",
		"added" };
	const struct ac_numbers_result *r = &found->result;

	if (found->presence == AC_ABSENT)
		return;
	ac_json_open(w, NULL, "{");
	ac_json_string(w, "name", name);
	ac_json_string(w, "is", words[found->presence]);
	ac_json_bool(w, "differs", ac_compare_differs(found));
	if (found->presence == AC_PRESENT && r->is_binary) {
		ac_json_unsigned(w, "bytes", r->bytes);
		ac_json_unsigned(w, "differing_bytes", r->differing_bytes);
		ac_json_unsigned(w, "first_byte", r->first_byte);
		ac_json_bool(w, "unstable", r->unstable_bytes);
	}
	if (found->presence == AC_PRESENT && (!r->is_binary || r->has_words))
		add_numbers(w, r);
	ac_json_close(w, "}");
}

static void
add_outputs(struct ac_json *w, const struct ac_comparison *compare,
    size_t column)
{
	ac_json_open(w, "outputs", "[");
	for (size_t i = 0; i < compare->output_count; i++)
		add_output(w, compare->outputs[i].name,
		    &compare->outputs[i].found[column]);
	ac_json_close(w, "]");
}

static void
add_gpu_time(struct ac_json *w, const struct ac_compare_column *column)
{
	struct ac_compare_gpu_time time;

	ac_compare_gpu_time(column, &time);
	ac_json_open(w, "gpu_time", "{");
	ac_json_string(w, "basis", ac_basis_names[time.basis]);
	ac_json_unsigned(w, "calls", time.calls);
	ac_json_measured(w, "plain_us", time.keep_us);
	ac_json_measured(w, "recast_us", time.recast_us);
	ac_json_close(w, "}");
}

static void
add_share(struct ac_json *w, const struct ac_report_totals *totals)
{
	ac_json_real(w, "recast_share", totals->flops > 0
	    ? totals->recast_flops / totals->flops : NAN);
}

/* By one policy: members with one value for plain and one for recast. */
static void
add_one_policy(struct ac_json *w, const struct ac_comparison *compare)
{
	const struct ac_compare_column *recast = &compare->columns[AC_RECAST];

	if (recast->rejected) {
		ac_compare_json_rejected(w, recast);
		return;
	}
	add_gpu_time(w, recast);
	add_judgement(w, compare, &recast->judgement);
	add_both(w, compare, 0);
	add_remarks(w, compare);
	for (size_t i = 1; i < AC_COMPARE_QUANTITIES; i++)
		add_both(w, compare, i);
	add_share(w, &recast->totals);
	ac_json_real(w, "tol", compare->tol);
	add_outputs(w, compare, AC_RECAST);
}

/* All of one column; of one that is rejected, and of plain runs when all others
 * are, not all runs were made. */
static void
add_side(struct ac_json *w, const struct ac_comparison *compare, size_t number)
{
	const struct ac_compare_column *column = &compare->columns[number];

	ac_json_open(w, NULL, "{");
	ac_json_string(w, "name", column->name);
	if (number != AC_PLAIN) {
		ac_json_string(w, "policy", column->launch.chosen.policy);
		ac_json_integer(w, "status", ac_compare_status(compare,
		    number));
	}
	if (column->rejected) {
		ac_compare_json_rejected(w, column);
	} else if (!ac_compare_is_over(compare)) {
		for (size_t i = 0; i < AC_COMPARE_QUANTITIES; i++)
			add_values(w, compare, ac_compare_quantities[i].name,
			    number, ac_compare_quantities[i].offset);
		ac_json_measured(w, "warm_up_seconds",
		    column->runs[0].cost.wall);
		ac_json_unsigned(w, "outliers", ac_compare_far(compare,
		    number));
	}
	if (number != AC_PLAIN && !column->rejected) {
		add_judgement(w, compare, &column->judgement);
		add_gpu_time(w, column);
		add_share(w, &column->totals);
		add_outputs(w, compare, number);
	}
	ac_json_close(w, "}");
}

static void
add_sides(struct ac_json *w, const struct ac_comparison *compare)
{
	ac_json_real(w, "tol", compare->tol);
	ac_json_open(w, "sides", "[");
	for (size_t i = 0; i < compare->column_count; i++)
		add_side(w, compare, i);
	ac_json_close(w, "]");
}

void
ac_compare_json(const struct ac_comparison *compare, int status)
{
	struct ac_json json, *w = &json;

	ac_json_begin(w, ac_say_stdout, NULL);
	ac_json_integer(w, "version", FORMAT);
	ac_json_integer(w, "status", status);
	ac_json_bool(w, "emulated", compare->launch.emulate);
	ac_json_unsigned(w, "pairs", compare->pairs);
	ac_json_open(w, "command", "[");
	for (char **word = compare->arguments; *word; word++)
		ac_json_string(w, NULL, *word);
	ac_json_close(w, "]");
	if (compare->launch.emulate)
		ac_json_string(w, "energy_unknown", "the GPU is emulated");
	else if (*compare->energy.why)
		ac_json_string(w, "energy_unknown", compare->energy.why);
	if (compare->column_count == 2)
		add_one_policy(w, compare);
	else
		add_sides(w, compare);
	ac_json_end(w);
}
