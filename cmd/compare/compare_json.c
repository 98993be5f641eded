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
    const char *name, size_t offset)
{
	double values[AC_COMPARE_PAIRS];

	ac_json_open(w, name, "{");
	for (enum ac_side side = 0; side < AC_SIDES; side++) {
		const size_t n = ac_compare_values(compare, side, offset,
		    values);

		ac_json_open(w, ac_side_names[side], "[");
		for (size_t i = 0; i < n; i++)
			ac_json_measured(w, NULL, values[i] < 0 ? NAN
			    : values[i]);
		ac_json_close(w, "]");
	}
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
		ac_json_unsigned(w, "line", r->worst_line);
		ac_json_unsigned(w, "column", r->worst_column);
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
add_output(struct ac_json *w, const struct ac_compare_output *output)
{
	static const char *const words[] = { "compared", "unstable", "missing",
		"added" };
	const struct ac_numbers_result *r = &output->result;

	ac_json_open(w, NULL, "{");
	ac_json_string(w, "name", output->name);
	ac_json_string(w, "is", words[output->presence]);
	ac_json_bool(w, "differs", ac_compare_output_differs(output));
	if (output->presence == AC_PRESENT && r->is_binary) {
		ac_json_unsigned(w, "bytes", r->bytes);
		ac_json_unsigned(w, "differing_bytes", r->differing_bytes);
		ac_json_unsigned(w, "first_byte", r->first_byte);
		ac_json_bool(w, "unstable", r->unstable_bytes);
	} else if (output->presence == AC_PRESENT) {
		add_numbers(w, r);
	}
	ac_json_close(w, "}");
}

static void
add_gpu_time(struct ac_json *w, const struct ac_comparison *compare)
{
	struct ac_compare_gpu_time time;

	ac_compare_gpu_time(compare, &time);
	ac_json_open(w, "gpu_time", "{");
	ac_json_string(w, "basis", ac_basis_names[time.basis]);
	ac_json_unsigned(w, "calls", time.calls);
	ac_json_measured(w, "plain_us", time.keep_us);
	ac_json_measured(w, "recast_us", time.recast_us);
	ac_json_close(w, "}");
}

void
ac_compare_json_head(struct ac_json *w, const struct ac_comparison *compare,
    int status)
{
	ac_json_integer(w, "version", FORMAT);
	ac_json_integer(w, "status", status);
	ac_json_bool(w, "emulated", compare->launch.emulate);
	ac_json_unsigned(w, "pairs", compare->pairs);
	ac_json_open(w, "command", "[");
	for (char **word = compare->arguments; *word; word++)
		ac_json_string(w, NULL, *word);
	ac_json_close(w, "]");
}

void
ac_compare_json(const struct ac_comparison *compare,
    const struct ac_judgement *judgement, int status)
{
	struct ac_json json, *w = &json;

	ac_json_begin(w, ac_say_stdout, NULL);
	ac_compare_json_head(w, compare, status);
	add_gpu_time(w, compare);
	add_judgement(w, compare, judgement);
	add_values(w, compare, "wall_seconds",
	    offsetof(struct ac_compare_run, cost.wall));
	ac_compare_json_remarks(w, compare);
	add_values(w, compare, "user_seconds",
	    offsetof(struct ac_compare_run, cost.user));
	add_values(w, compare, "system_seconds",
	    offsetof(struct ac_compare_run, cost.system));
	add_values(w, compare, "peak_bytes",
	    offsetof(struct ac_compare_run, cost.peak_bytes));
	add_values(w, compare, "peak_scratch_bytes",
	    offsetof(struct ac_compare_run, scratch_bytes));
	ac_json_real(w, "recast_share", compare->totals.flops > 0
	    ? compare->totals.recast_flops / compare->totals.flops : NAN);
	ac_json_real(w, "tol", compare->tol);
	ac_json_open(w, "outputs", "[");
	for (size_t i = 0; i < compare->output_count; i++)
		add_output(w, &compare->outputs[i]);
	ac_json_close(w, "]");
	ac_json_end(w);
}
