/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/words.c -- how sites, shares and amounts of work are spelled,
 * the same in every kind of report. Pure. */
#include "report/callers/functions.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ASKED = 15 };

/* C1 control characters come as one byte or, in UTF-8, as two. */
void
ac_text_add_clean(struct ac_text *text, const char *s)
{
	while (*s) {
		const unsigned char c = (unsigned char)*s;
		const size_t length = ac_text_sequence(s, SIZE_MAX);
		const bool steers = c < ' ' || c == 127 ||
		    (c == 0xc2 && (unsigned char)s[1] < 0xa0);

		if (length && !steers)
			ac_text_add_bytes(text, s, length);
		else
			ac_text_add(text, "?");
		s += length ? length : 1;
	}
}

void
ac_text_add_cleanf(struct ac_text *text, const char *format, ...)
{
	char line[1 << 14];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	ac_text_add_clean(text, line);
}

const char *
ac_text_add_count(struct ac_text *text, uint64_t count, const char *noun)
{
	ac_text_addf(text, "%llu %s%s", (unsigned long long)count, noun,
	    count == 1 ? "" : "s");
	return text->data;
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

const char *
ac_site_add_operation(struct ac_text *text, const struct ac_site_total *site)
{
	const char *name = ac_operation_names[site->key.operation];
	const char *single = strstr(name, ".single");

	ac_text_add_bytes(text, name,
	    single ? (size_t)(single - name) : strlen(name));
	if (!strncmp(name, "gemm", 4))
		ac_text_addf(text, ".%c%c", lower(site->key.ta),
		    lower(site->key.tb));
	return text->data;
}

bool
ac_site_has_sizes(const struct ac_site_total *site)
{
	return strcmp(site->key.shape, AC_SHAPE_UNREAD) != 0;
}

const char *
ac_site_add_sizes(struct ac_text *text, const struct ac_site_total *site)
{
	const struct ac_site_key *key = &site->key;

	if (ac_site_has_sizes(site))
		ac_text_addf(text, "%lldx%lldx%lld", (long long)key->m,
		    (long long)key->n, (long long)key->k);
	else
		ac_text_add(text, "-");
	if (ac_site_has_sizes(site) && key->batch != 1)
		ac_text_addf(text, "x%lld", (long long)key->batch);
	return text->data;
}

const char *
ac_site_add_what(struct ac_text *text, const struct ac_site_total *site)
{
	ac_site_add_operation(text, site);
	ac_text_add(text, " ");
	return ac_site_add_sizes(text, site);
}

const char *
ac_site_add_caller(struct ac_text *text, const struct ac_report *report,
    const struct ac_site_total *site)
{
	const struct ac_caller *known = ac_report_caller(report,
	    site->key.caller);
	const char *function = *known->name ? known->name : known->function;

	ac_text_add_clean(text, *site->name ? site->name : *function ? function
	    : *site->key.caller ? site->key.caller : "-");
	return text->data;
}

void
ac_site_add_file(struct ac_text *text, const struct ac_report *report,
    const struct ac_site_total *site)
{
	const struct ac_caller *known = ac_report_caller(report,
	    site->key.caller);
	const char *slash = strrchr(known->file, '/');

	if (known->line)
		ac_text_add_cleanf(text, " %s:%u", slash ? slash + 1
		    : known->file, (unsigned)known->line);
}

void
ac_site_add_shape(struct ac_text *text, const struct ac_site_total *site)
{
	const bool is_lt = site->key.operation == AC_OP_GEMM_LT;
	const char *objection = is_lt && site->reason == AC_REASON_UNSUPPORTED
	    ? ac_epilogue_objection(site->key.shape) : NULL;

	ac_text_add_cleanf(text, "%s%s", is_lt ? "epilogue " : "",
	    site->key.shape);
	if (objection)
		ac_text_addf(text, ", kept by design: %s", objection);
}

const char *
ac_site_add_line(struct ac_text *text, const struct ac_site_total *site)
{
	ac_text_add_clean(text, *site->source ? site->source : "-");
	if (site->line)
		ac_text_addf(text, ":%u", (unsigned)site->line);
	return text->data;
}

const char *
ac_share_add(struct ac_text *text, double part, double whole)
{
	const double percent = whole > 0 ? 100 * part / whole : 0;

	if (part > 0 && percent < 0.05)
		ac_text_add(text, "<0.1");
	else if (part < whole && percent > 99.9)
		ac_text_add(text, "99.9");
	else
		ac_text_add_fixed(text, percent, 1);
	ac_text_add(text, " %");
	return text->data;
}

/* In the largest unit that it fills, else in the last, which is 1. */
struct unit {
	double      size;
	const char *name;
};

static const char *
add_in(struct ac_text *text, double value, const struct unit *unit)
{
	while (unit->size > 1 && value < unit->size && -value < unit->size)
		unit++;
	ac_text_addf(text, "%s %s", AC_DOUBLE(value / unit->size, 3),
	    unit->name);
	return text->data;
}

const char *
ac_flops_add(struct ac_text *text, double flops)
{
	static const struct unit units[] = { { 1e15, "PFLOP" },
		{ 1e12, "TFLOP" }, { 1e9, "GFLOP" }, { 1e6, "MFLOP" },
		{ 1e3, "kFLOP" }, { 1, "FLOP" } };

	return add_in(text, flops, units);
}

const char *
ac_time_add(struct ac_text *text, double us)
{
	static const struct unit units[] = { { 1e6, "s" }, { 1e3, "ms" },
		{ 1, "us" } };

	return add_in(text, us, units);
}

const char *
ac_bytes_add(struct ac_text *text, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double size = (double)bytes / 1024;
	size_t i = 0;

	if (bytes < 1024)
		return ac_text_add_count(text, bytes, "byte");
	for (; size >= 1023.95 && i + 1 < sizeof units / sizeof *units; i++)
		size /= 1024;
	ac_text_addf(text, "%s %s", AC_FIXED(size, 1), units[i]);
	return text->data;
}

const char *
ac_speed_add(struct ac_text *text, double speed)
{
	if (speed <= 0)
		ac_text_add(text, "-");
	else if (speed < 1000)
		ac_text_add_fixed(text, speed, speed < 0.95 ? 2 : 1);
	else
		ac_text_add_double(text, speed, 2);
	ac_text_add(text, speed <= 0 ? "" : "x");
	return text->data;
}

const char *
ac_ratio_add(struct ac_text *text, double ratio)
{
	return ratio < 1000 ? ac_fixed_add(text, ratio, 2)
	    : ac_double_add(text, ratio, 2);
}

const char *
ac_double_add(struct ac_text *text, double value, int digits)
{
	ac_text_add_double(text, value, digits);
	return text->data;
}

const char *
ac_fixed_add(struct ac_text *text, double value, int decimals)
{
	ac_text_add_fixed(text, value, decimals);
	return text->data;
}

void
ac_event_add(struct ac_text *text, const struct ac_event *event)
{
	static const char *const words[AC_EVENT_KINDS] = {
		[AC_EVENT_PASSED] = "tries passed by ",
		[AC_EVENT_CHOSEN] = "chosen ",
		[AC_EVENT_DEMOTED] = "demoted from ",
		[AC_EVENT_RETRIED] = "serving again: ",
	};

	ac_text_addf(text, "at call %llu: ", (unsigned long long)event->call);
	if (event->kind == AC_EVENT_WORST)
		ac_text_addf(text, "error %s of %s on ",
		    AC_DOUBLE(event->error, 2), AC_DOUBLE(event->tol, 2));
	else
		ac_text_add(text, words[event->kind]);
	ac_text_add(text, ac_rung_names[event->rung]);
	if (event->kind == AC_EVENT_DEMOTED)
		ac_text_addf(text, ": %s", ac_finding_meanings[event->finding]);
}

const char *
ac_site_add_capture(struct ac_text *text, const struct ac_site_total *site)
{
	ac_text_add(text, ac_caller_is_xla(site->key.caller)
	    ? "XLA_FLAGS=--xla_gpu_enable_command_buffer= keeps XLA from "
	    "capturing"
	    : "make more steps on real data before the first capture");
	return text->data;
}

const char *
ac_rate_add(struct ac_text *text, double rate)
{
	return ac_fixed_add(text, rate, rate < 1000 ? 1 : 0);
}

const char *
ac_totals_kind(const struct ac_report_totals *totals)
{
	if (!totals->convolutions)
		return "GEMM";
	return totals->convolutions < totals->calls ? "GEMM/conv" : "conv";
}

void
ac_plans_add(struct ac_text *text, uint64_t plans, double plan_ms,
    uint64_t workspace)
{
	if (plans)
		ac_text_addf(text, "%s built in %s, %s of workspace at most",
		    AC_COUNT(plans, "plan"), AC_TIME(plan_ms * 1000),
		    AC_BYTES(workspace));
}

void
ac_totals_add_rungs(struct ac_text *text,
    const struct ac_report_totals *totals)
{
	const char *between = "";

	for (int i = 0; i < AC_RUNG_COUNT; i++) {
		if (i == AC_RUNG_KEEP || totals->flops_by_rung[i] <= 0)
			continue;
		ac_text_addf(text, "%s%s %s", between, ac_rung_names[i],
		    AC_SHARE(totals->flops_by_rung[i], totals->flops));
		between = ", ";
	}
}

void
ac_totals_add_reasons(struct ac_text *text,
    const struct ac_report_totals *totals)
{
	const char *between = "";

	for (int i = 0; i < AC_REASON_COUNT; i++) {
		if (!totals->kept_calls[i])
			continue;
		ac_text_addf(text, "%s%s %s (%s)", between, ac_reason_names[i],
		    AC_SHARE(totals->kept_flops[i], totals->flops),
		    AC_COUNT(totals->kept_calls[i], "call"));
		between = ", ";
	}
}

/* What the FP32 sites of a run had asked for, in their order. */
struct baseline {
	const char *asked[MOST_ASKED + 1];
	double      flops[MOST_ASKED + 1];
	unsigned    count;
};

/* The library has a handful of words. A file may hold any: beyond these many
 * they are one. */
static void
add_asked(struct baseline *b, const struct ac_site_total *site)
{
	const double flops = site->flops * (double)site->calls;
	unsigned i = 0;

	if (!site->is_fp32 || flops <= 0)
		return;
	while (i < b->count && i < MOST_ASKED &&
	    strcmp(b->asked[i], site->key.asked))
		i++;
	if (i == b->count) {
		b->asked[i] = i < MOST_ASKED ? site->key.asked : "others";
		b->count++;
	}
	b->flops[i] += flops;
}

void
ac_report_add_baseline(struct ac_text *text, const struct ac_report *report)
{
	struct baseline b = { .count = 0 };
	double all = 0;

	for (size_t i = 0; i < report->site_count; i++)
		add_asked(&b, &report->sites[i]);
	for (unsigned i = 0; i < b.count; i++)
		all += b.flops[i];
	for (unsigned i = 0; i < b.count; i++) {
		ac_text_add_cleanf(text, "%s%s", i ? ", " : "", b.asked[i]);
		if (b.count > 1)
			ac_text_addf(text, " %s", AC_SHARE(b.flops[i], all));
	}
}
