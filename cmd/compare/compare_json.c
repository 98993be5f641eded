/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_json.c -- a comparison as JSON, as autocast(1) documents
 * it. */
#include "cmd/compare/compare.h"
#include "report/read/read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT = 1, TEXT_BYTES = 2 * PATH_MAX };

static void
put_string(const char *text)
{
	static char clean[TEXT_BYTES];
	struct ac_text t;

	ac_text_init(&t, clean, sizeof clean);
	ac_text_add_clean(&t, text);
	putchar('"');
	for (const char *c = clean; *c; c++) {
		if (*c == '"' || *c == '\\')
			putchar('\\');
		putchar(*c);
	}
	putchar('"');
}

static void
put_name(const char *name, const char *value)
{
	printf(", \"%s\": ", name);
	put_string(value);
}

/* What is no number in JSON is null. */
static void
put_double(double value)
{
	char buffer[64];
	struct ac_text t;

	ac_text_init(&t, buffer, sizeof buffer);
	ac_text_add_double(&t, value, 9);
	fputs(isfinite(value) ? buffer : "null", stdout);
}

static void
put_count(const char *name, uint64_t count)
{
	printf(", \"%s\": %llu", name, (unsigned long long)count);
}

/* "wall_seconds": {"plain": [...], "recast": [...]} */
static void
put_values(const struct ac_comparison *compare, const char *name, size_t offset)
{
	double values[AC_COMPARE_PAIRS];

	printf(",\n \"%s\": {", name);
	for (enum ac_side side = 0; side < AC_SIDES; side++) {
		const size_t n = ac_compare_values(compare, side, offset,
		    values);

		printf("%s\"%s\": [", side ? ", " : "", ac_side_names[side]);
		for (size_t i = 0; i < n; i++) {
			fputs(i ? ", " : "", stdout);
			put_double(values[i] < 0 ? NAN : values[i]);
		}
		putchar(']');
	}
	putchar('}');
}

static void
put_judgement(const struct ac_comparison *compare, const struct ac_judgement *j)
{
	static const char *const words[] = { "none", "same", "faster",
		"slower", "too-slow" };
	const bool known = j->speed != AC_SPEED_UNKNOWN;

	printf(",\n \"verdict\": \"%s\", \"ratio\": ", words[j->speed]);
	put_double(j->ratio);
	printf(", \"low\": ");
	put_double(known ? j->low : NAN);
	printf(", \"high\": ");
	put_double(known ? j->high : NAN);
	printf(", \"risk\": ");
	put_double(known ? j->risk : NAN);
	printf(", \"limit\": ");
	put_double(compare->limit);
}

static void
put_numbers(const struct ac_numbers_result *r)
{
	put_count("numbers", r->numbers);
	put_count("unstable_numbers", r->unstable);
	put_count("differing_numbers", r->differing);
	put_count("beyond_tol", r->beyond);
	if (r->differing) {
		printf(",\n   \"worst\": {\"difference\": ");
		put_double(r->worst);
		put_count("line", r->worst_line);
		put_count("column", r->worst_column);
		put_name("plain", r->worst_plain);
		put_name("recast", r->worst_recast);
		putchar('}');
	}
	put_count("lines", r->lines);
	put_count("unstable_lines", r->unstable_lines);
	put_count("differing_lines", r->differing_lines);
	if (r->differing_lines) {
		printf(",\n   \"first\": {\"line\": %llu",
		    (unsigned long long)r->first_line);
		put_name("plain", r->first_plain);
		put_name("recast", r->first_recast);
		putchar('}');
	}
}

static void
put_output(const struct ac_compare_output *output)
{
	static const char *const words[] = { "compared", "unstable", "missing",
		"added" };
	const struct ac_numbers_result *r = &output->result;

	printf("\n  {\"name\": ");
	put_string(output->name);
	printf(", \"is\": \"%s\", \"differs\": %s", words[output->presence],
	    ac_compare_output_differs(output) ? "true" : "false");
	if (output->presence == AC_PRESENT && r->is_binary) {
		put_count("bytes", r->bytes);
		put_count("differing_bytes", r->differing_bytes);
		put_count("first_byte", r->first_byte);
		printf(", \"unstable\": %s",
		    r->unstable_bytes ? "true" : "false");
	} else if (output->presence == AC_PRESENT) {
		put_numbers(r);
	}
	putchar('}');
}

void
ac_compare_json(const struct ac_comparison *compare,
    const struct ac_judgement *judgement, int status)
{
	printf("{\"version\": %d, \"status\": %d, \"emulated\": %s, "
	    "\"pairs\": %zu,\n \"command\": [", FORMAT, status,
	    compare->launch.emulate ? "true" : "false", compare->pairs);
	for (char **word = compare->arguments; *word; word++) {
		fputs(word == compare->arguments ? "" : ", ", stdout);
		put_string(*word);
	}
	putchar(']');
	put_judgement(compare, judgement);
	put_values(compare, "wall_seconds",
	    offsetof(struct ac_compare_run, wall));
	put_values(compare, "user_seconds",
	    offsetof(struct ac_compare_run, user));
	put_values(compare, "system_seconds",
	    offsetof(struct ac_compare_run, system));
	put_values(compare, "peak_bytes",
	    offsetof(struct ac_compare_run, peak_bytes));
	put_values(compare, "peak_scratch_bytes",
	    offsetof(struct ac_compare_run, scratch_bytes));
	printf(",\n \"recast_share\": ");
	put_double(compare->flops > 0 ? compare->recast_flops / compare->flops
	    : NAN);
	printf(", \"tol\": ");
	put_double(compare->tol);
	printf(",\n \"outputs\": [");
	for (size_t i = 0; i < compare->output_count; i++) {
		fputs(i ? "," : "", stdout);
		put_output(&compare->outputs[i]);
	}
	puts("]}");
}
