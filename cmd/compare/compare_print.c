/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/compare_print.c -- a comparison as text for people. */
#include "cmd/compare/compare.h"
#include "report/read/read.h"

#include <math.h>
#include <stdio.h>

enum { FIRST = 14, SECOND = 36, THIRD = 58, LINE_BYTES = 1024 };

/* ---- Values in words --------------------------------------------------- */

/* A time and how far it spreads, in the unit that suits it. */
static void
add_time(struct ac_text *t, double seconds, double spread)
{
	static const struct { double size; const char *unit; } units[] = {
		{ 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }
	};
	size_t i = 0;

	while (i < 2 && seconds < units[i].size)
		i++;
	ac_text_add_double(t, seconds / units[i].size, 4);
	ac_text_addf(t, " %s +- ", units[i].unit);
	ac_text_add_double(t, spread / units[i].size, 2);
}

static void
add_bytes(struct ac_text *t, double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t i = 0;

	if (bytes < 0) {
		ac_text_add(t, "-");
		return;
	}
	for (; bytes >= 1024 && i < 4; i++)
		bytes /= 1024;
	ac_text_add_double(t, bytes, 3);
	ac_text_addf(t, " %s", units[i]);
}

/* 2,310 */
static void
add_count(struct ac_text *t, uint64_t count)
{
	if (count >= 1000) {
		add_count(t, count / 1000);
		ac_text_addf(t, ",%03u", (unsigned)(count % 1000));
	} else {
		ac_text_addf(t, "%u", (unsigned)count);
	}
}

static void
add_percent(struct ac_text *t, double part)
{
	ac_text_add_double(t, 100 * fabs(part), fabs(part) < 0.1 ? 2 : 3);
}

/* ---- Times and memory -------------------------------------------------- */

/* A line of both sides: times, or bytes of memory. */
static void
print_values(const struct ac_comparison *compare, const char *what,
    size_t offset, bool is_time, const struct ac_judgement *judgement)
{
	double values[AC_COMPARE_PAIRS];
	char line[LINE_BYTES];
	struct ac_text t;

	ac_text_init(&t, line, sizeof line);
	ac_text_add(&t, what);
	for (enum ac_side side = 0; side < AC_SIDES; side++) {
		const size_t n = ac_compare_values(compare, side, offset,
		    values);
		const double median = ac_compare_median(values, n);

		ac_text_pad(&t, side == AC_PLAIN ? FIRST : SECOND);
		if (is_time)
			add_time(&t, median, ac_compare_spread(values, n));
		else
			add_bytes(&t, median);
	}
	if (judgement) {
		ac_text_pad(&t, THIRD);
		ac_text_add_double(&t, judgement->ratio, 4);
	}
	if (judgement && judgement->speed != AC_SPEED_UNKNOWN) {
		ac_text_add(&t, " (");
		ac_text_add_double(&t, judgement->low, 4);
		ac_text_add(&t, " to ");
		ac_text_add_double(&t, judgement->high, 4);
		ac_text_add(&t, ")");
	}
	puts(line);
}

/* "10.9 % less time (10.3 to 11.5 %)" */
static void
add_change(struct ac_text *t, const struct ac_judgement *j)
{
	const bool less = j->ratio < 1;

	add_percent(t, j->ratio - 1);
	ac_text_addf(t, " %% %s wall time (", less ? "less" : "more");
	add_percent(t, (less ? j->high : j->low) - 1);
	ac_text_add(t, " to ");
	add_percent(t, (less ? j->low : j->high) - 1);
	ac_text_add(t, " %)");
}

void
ac_compare_gpu_time(const struct ac_comparison *compare,
    struct ac_compare_gpu_time *time_out)
{
	const struct ac_report_totals *t = &compare->totals;

	time_out->keep_us = t->measured_keep_us + t->predicted_keep_us;
	time_out->recast_us = t->measured_recast_us + t->predicted_recast_us;
	time_out->calls = t->measured_calls + t->predicted_calls;
	if (time_out->keep_us <= 0)
		time_out->basis = AC_BASIS_NONE;
	else if (t->predicted_keep_us > 0)
		time_out->basis = AC_BASIS_PREDICTED;
	else
		time_out->basis = ac_report_clock_of(compare->report) ==
		    AC_CLOCK_MODELLED ? AC_BASIS_MODELLED : AC_BASIS_MEASURED;
}

/* What recasting does to the calls on the GPU. */
static void
print_gpu_time(const struct ac_comparison *compare)
{
	struct ac_compare_gpu_time time;
	char line[LINE_BYTES];
	struct ac_text t;

	ac_compare_gpu_time(compare, &time);
	if (time.basis == AC_BASIS_NONE)
		return;
	ac_text_init(&t, line, sizeof line);
	ac_text_add(&t, "GPU time");
	ac_text_pad(&t, FIRST);
	ac_time_add(&t, time.keep_us);
	ac_text_pad(&t, SECOND);
	ac_time_add(&t, time.recast_us);
	ac_text_pad(&t, THIRD);
	ac_text_add_double(&t, time.recast_us / time.keep_us, 4);
	ac_text_addf(&t, ", %s for ", ac_basis_names[time.basis]);
	ac_text_add_clean(&t, compare->report->processes[0].gpu);
	puts(line);
	ac_text_init(&t, line, sizeof line);
	ac_text_pad(&t, FIRST);
	ac_text_add(&t, "of ");
	ac_text_add_count(&t, time.calls, "recast call");
	ac_text_add(&t, ", without the others");
	puts(line);
}

static void
print_verdict(const struct ac_comparison *compare, const struct ac_judgement *j)
{
	char line[LINE_BYTES];
	struct ac_text t;

	ac_text_init(&t, line, sizeof line);
	ac_text_add(&t, "verdict");
	ac_text_pad(&t, FIRST);
	switch (j->speed) {
	case AC_SPEED_UNKNOWN:
		if (ac_compare_is_untimed(compare))
			ac_text_add(&t, "none on the speed: the wall time is "
			    "not a GPU's");
		else
			ac_text_add(&t, "none: fewer than 5 pairs "
			    "prove nothing");
		break;
	case AC_SPEED_SAME:
		ac_text_add(&t, "no difference is proven: between ");
		add_percent(&t, j->low - 1);
		ac_text_add(&t, " % less and ");
		add_percent(&t, j->high - 1);
		ac_text_add(&t, " % more wall time");
		break;
	case AC_SPEED_FASTER:
		ac_text_add(&t, "recast is faster: ");
		add_change(&t, j);
		break;
	default:
		ac_text_add(&t, "recast is slower: ");
		add_change(&t, j);
	}
	if (j->speed >= AC_SPEED_SLOWER && isfinite(compare->limit)) {
		ac_text_addf(&t, ", %s more than ",
		    j->speed == AC_SPEED_TOO_SLOW ? "and that is"
		    : "but that is not proven to be");
		add_percent(&t, compare->limit);
		ac_text_add(&t, " %");
	}
	puts(line);
}

static void
print_work(const struct ac_comparison *compare)
{
	char line[LINE_BYTES];
	struct ac_text t;

	ac_text_init(&t, line, sizeof line);
	ac_text_add(&t, "recast");
	ac_text_pad(&t, FIRST);
	if (compare->totals.flops > 0) {
		ac_share_add(&t, compare->totals.recast_flops,
		    compare->totals.flops);
		ac_text_add(&t, " of the FP32 work");
	} else {
		ac_text_add(&t, "nothing: no FP32 work was counted; see "
		    "'autocast doctor'");
	}
	puts(line);
}

/* ---- Outputs ----------------------------------------------------------- */

static void
add_numbers(struct ac_text *t, const char *name,
    const struct ac_numbers_result *r)
{
	const uint64_t compared = r->numbers - r->unstable;

	add_count(t, r->differing);
	ac_text_add(t, " of ");
	add_count(t, compared);
	ac_text_addf(t, " number%s differ%s", compared == 1 ? "" : "s",
	    r->differing == 1 || compared == 1 ? "s" : "");
	if (!r->differing)
		return;
	ac_text_add(t, ", worst ");
	if (isfinite(r->worst)) {
		ac_text_add_double(t, r->worst, 2);
		ac_text_add(t, " (relative)");
	} else {
		ac_text_add(t, "a number that is finite in one only");
	}
	ac_text_add(t, " at ");
	ac_text_add_clean(t, name);
	ac_text_addf(t, ":%llu:%llu: ", (unsigned long long)r->worst_line,
	    (unsigned long long)r->worst_column);
	ac_text_add_clean(t, r->worst_plain);
	ac_text_add(t, " / ");
	ac_text_add_clean(t, r->worst_recast);
}

static void
add_lines(struct ac_text *t, const char *name,
    const struct ac_numbers_result *r)
{
	add_count(t, r->differing_lines);
	ac_text_addf(t, " line%s differ%s in more than numbers, first at ",
	    r->differing_lines == 1 ? "" : "s",
	    r->differing_lines == 1 ? "s" : "");
	ac_text_add_clean(t, name);
	ac_text_addf(t, ":%llu: '", (unsigned long long)r->first_line);
	ac_text_add_clean(t, r->first_plain);
	ac_text_add(t, "' / '");
	ac_text_add_clean(t, r->first_recast);
	ac_text_add(t, "'");
}

static void
add_binary(struct ac_text *t, const struct ac_numbers_result *r)
{
	if (r->unstable_bytes) {
		ac_text_add(t, "binary, differs between plain runs: "
		    "not compared");
	} else if (!r->differing_bytes) {
		ac_text_add(t, "binary, the same");
	} else {
		ac_text_add(t, "binary, ");
		add_count(t, r->differing_bytes);
		ac_text_add(t, " of ");
		add_count(t, r->bytes);
		ac_text_add(t, " bytes differ, first byte ");
		add_count(t, r->first_byte);
	}
}

/* What differs between plain runs, and so tells nothing. */
static void
print_unstable(const struct ac_numbers_result *r)
{
	char line[LINE_BYTES];
	struct ac_text t;

	if (r->is_binary || (!r->unstable && !r->unstable_lines))
		return;
	ac_text_init(&t, line, sizeof line);
	ac_text_pad(&t, FIRST);
	if (r->unstable) {
		add_count(&t, r->unstable);
		ac_text_addf(&t, " number%s%s", r->unstable == 1 ? "" : "s",
		    r->unstable_lines ? " and " : "");
	}
	if (r->unstable_lines) {
		add_count(&t, r->unstable_lines);
		ac_text_addf(&t, " line%s", r->unstable_lines == 1 ? "" : "s");
	}
	ac_text_addf(&t, " differ%s between plain runs: not compared",
	    r->unstable + r->unstable_lines == 1 ? "s" : "");
	puts(line);
}

static void
print_output(const struct ac_compare_output *output)
{
	static const char *const absent[] = { [AC_UNSTABLE] = "not every plain "
	    "run wrote it: not compared", [AC_MISSING] = "plain runs wrote "
	    "it, a recast one did not", [AC_ADDED] = "only recast runs wrote "
	    "it" };
	const struct ac_numbers_result *r = &output->result;
	char line[LINE_BYTES];
	struct ac_text t;

	ac_text_init(&t, line, sizeof line);
	ac_text_add_clean(&t, output->name);
	ac_text_add(&t, " ");
	ac_text_pad(&t, FIRST);
	if (output->presence != AC_PRESENT)
		ac_text_add(&t, absent[output->presence]);
	else if (r->is_binary)
		add_binary(&t, r);
	else if (r->lines || r->differing_lines)
		add_numbers(&t, output->name, r);
	else
		ac_text_add(&t, "empty");
	puts(line);
	if (output->presence != AC_PRESENT || r->is_binary)
		return;
	if (r->differing_lines) {
		ac_text_init(&t, line, sizeof line);
		ac_text_pad(&t, FIRST);
		add_lines(&t, output->name, r);
		puts(line);
	}
	print_unstable(r);
}

void
ac_compare_print(const struct ac_comparison *compare,
    const struct ac_judgement *judgement)
{
	char head[LINE_BYTES];
	struct ac_text t;

	ac_text_init(&t, head, sizeof head);
	ac_text_addf(&t, "%zu pair%s", compare->pairs,
	    compare->pairs == 1 ? "" : "s");
	ac_text_pad(&t, FIRST);
	ac_text_add(&t, "plain");
	ac_text_pad(&t, SECOND);
	ac_text_add(&t, "recast");
	ac_text_pad(&t, THIRD);
	ac_text_add(&t, "recast / plain");
	puts(head);
	print_gpu_time(compare);
	print_values(compare, "wall time",
	    offsetof(struct ac_compare_run, cost.wall), true,
	    ac_compare_is_untimed(compare) ? NULL : judgement);
	ac_compare_print_remarks(compare);
	print_values(compare, "user CPU",
	    offsetof(struct ac_compare_run, cost.user), true, NULL);
	print_values(compare, "system CPU",
	    offsetof(struct ac_compare_run, cost.system), true, NULL);
	if (compare->launch.emulate)
		puts("              on the emulated GPU: the CPU's time, not a "
		    "GPU's");
	print_values(compare, "peak memory",
	    offsetof(struct ac_compare_run, cost.peak_bytes), false, NULL);
	print_values(compare, "GPU scratch",
	    offsetof(struct ac_compare_run, scratch_bytes), false, NULL);
	print_work(compare);
	print_verdict(compare, judgement);
	for (size_t i = 0; i < compare->output_count; i++)
		print_output(&compare->outputs[i]);
}
