/* SPDX-License-Identifier: Apache-2.0 */
/* report/words.c -- how sites, shares and amounts of work are spelled, the
 * same in every kind of report. Pure. */
#include "report/read.h"

#include <string.h>

void
ac_text_add_clean(struct ac_text *text, const char *s)
{
	for (; *s; s++) {
		const unsigned char c = (unsigned char)*s;

		ac_text_add_bytes(text, c < ' ' || c == 127 ? "?" : s, 1);
	}
}

void
ac_text_add_count(struct ac_text *text, uint64_t count, const char *noun)
{
	ac_text_addf(text, "%llu %s%s", (unsigned long long)count, noun,
	    count == 1 ? "" : "s");
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

void
ac_site_add_operation(struct ac_text *text, const struct ac_site *site)
{
	const char *name = ac_operation_names[site->key.operation];
	const char *single = strstr(name, ".single");

	ac_text_add_bytes(text, name,
	    single ? (size_t)(single - name) : strlen(name));
	ac_text_addf(text, ".%c%c", lower(site->key.ta), lower(site->key.tb));
}

void
ac_site_add_sizes(struct ac_text *text, const struct ac_site *site)
{
	const struct ac_site_key *key = &site->key;

	ac_text_addf(text, "%lldx%lldx%lld", (long long)key->m,
	    (long long)key->n, (long long)key->k);
	if (key->batch != 1)
		ac_text_addf(text, "x%lld", (long long)key->batch);
}

void
ac_site_add_line(struct ac_text *text, const struct ac_site *site)
{
	if (!*site->source)
		ac_text_add(text, "-");
	ac_text_add_clean(text, site->source);
	if (site->line)
		ac_text_addf(text, ":%u", (unsigned)site->line);
}

void
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
}

void
ac_flops_add(struct ac_text *text, double flops)
{
	static const struct { double size; const char *unit; } units[] = {
		{ 1e15, "PFLOP" }, { 1e12, "TFLOP" }, { 1e9, "GFLOP" },
		{ 1e6, "MFLOP" }, { 1e3, "kFLOP" }, { 1, "FLOP" }
	};
	size_t i = 0;

	while (i + 1 < sizeof units / sizeof *units && flops < units[i].size)
		i++;
	ac_text_add_double(text, flops / units[i].size, 3);
	ac_text_addf(text, " %s", units[i].unit);
}

void
ac_totals_add_rungs(struct ac_text *text,
    const struct ac_report_totals *totals)
{
	const char *between = "";

	for (int i = 0; i < AC_RUNG_COUNT; i++) {
		if (i == AC_RUNG_KEEP || totals->flops_by_rung[i] <= 0)
			continue;
		ac_text_addf(text, "%s%s ", between, ac_rung_names[i]);
		ac_share_add(text, totals->flops_by_rung[i], totals->flops);
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
		ac_text_addf(text, "%s%s ", between, ac_reason_names[i]);
		ac_share_add(text, totals->kept_flops[i], totals->flops);
		ac_text_add(text, " (");
		ac_text_add_count(text, totals->kept_calls[i], "call");
		ac_text_add(text, ")");
		between = ", ";
	}
}

/* FLOPs of the sites from `first` on whose program asked for the same. */
static double
asked_flops(const struct ac_report *report, size_t first, bool *seen_out)
{
	const char *asked = report->sites[first].key.asked;
	double flops = 0;

	*seen_out = false;
	for (size_t i = 0; i < report->site_count; i++) {
		const struct ac_site *site = &report->sites[i];

		if (!site->is_fp32 || strcmp(site->key.asked, asked))
			continue;
		*seen_out |= i < first;
		flops += site->flops * (double)site->calls;
	}
	return flops;
}

void
ac_report_add_baseline(struct ac_text *text, const struct ac_report *report)
{
	struct ac_report_totals totals;
	const char *between = "";
	bool seen;

	ac_report_totals(report, &totals);
	for (size_t i = 0; i < report->site_count; i++) {
		double flops;

		if (!report->sites[i].is_fp32)
			continue;
		flops = asked_flops(report, i, &seen);
		if (seen || flops <= 0)
			continue;
		ac_text_add(text, between);
		ac_text_add_clean(text, report->sites[i].key.asked);
		if (flops < totals.flops) {
			ac_text_add(text, " ");
			ac_share_add(text, flops, totals.flops);
		}
		between = ", ";
	}
}
