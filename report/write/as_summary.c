/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_summary.c -- the lines at the end of `autocast run`
 * (doc/rules.md R9): what it gains, the work before and now, what was kept and
 * how far off the rest is, what to type next. Pure but for the sink. */
#include "report/read/read.h"

#include <string.h>

static const char prefix[] = "autocast: ";

struct summary {
	const struct ac_report *report;
	const struct ac_report_ending *ending;
	struct ac_report_totals totals;
};

/* ---- What it gains ----------------------------------------------------- */

/* What the program can gain at most: kernels that overlap gain less, and so
 * does a host that is busy meanwhile. An emulated GPU's time is no part of the
 * time that its program took. */
static void
add_bound(struct ac_text *line, const struct ac_report *report,
    double saved_us, double wall)
{
	if (report->processes[0].emulated) {
		ac_text_add(line, "; wall time here is the CPU's");
		return;
	}
	if (wall <= 0 || saved_us <= 0)
		return;
	ac_text_addf(line, "; of %s wall time that saves %s at most",
	    AC_TIME(wall * 1e6), AC_SHARE(saved_us, saved_us + wall * 1e6));
}

/* Of all FP32 calls, those that stayed as they were, too: a user waits for
 * them all. */
static void
say_gain(struct ac_text *line, const struct summary *s)
{
	const struct ac_report_totals *t = &s->totals;

	if (!t->recast_calls || t->before_us <= 0 || t->now_us <= 0)
		return;
	ac_text_add(line, "GPU time of ");
	ac_totals_add_whole(line, s->report, t);
	if (t->before_us < t->now_us && s->ending->forced)
		ac_text_addf(line, ": %s", s->ending->forced);
	else
		add_bound(line, s->report, t->before_us - t->now_us,
		    s->ending->wall);
}

/* ---- What was done ----------------------------------------------------- */

/* Nothing of it is of FP32. */
static void
say_no_work(struct ac_text *line, const struct ac_report_totals *totals)
{
	const char *between = " (";

	if (totals->unread_sizes) {
		ac_text_addf(line, "%s, sizes not read: the policy keeps all",
		    AC_COUNT(totals->unread_sizes, "conv call"));
		return;
	}
	ac_text_addf(line, "no FP32 %s work: %s passed through",
	    ac_totals_kind(totals), AC_COUNT(totals->calls, "call"));
	for (int i = 0; i < AC_REASON_COUNT; i++)
		if (totals->kept_calls[i]) {
			ac_text_addf(line, "%s%s %llu", between,
			    ac_reason_names[i],
			    (unsigned long long)totals->kept_calls[i]);
			between = ", ";
		}
	ac_text_add(line, *between == ',' ? ")" : "");
}

/* Symbols that are only counted. What else is noted is no call. */
static void
say_passed(struct ac_text *line, const struct summary *s)
{
	const struct ac_report *report = s->report;
	const struct ac_marker *most = NULL;
	uint64_t calls = 0;

	for (size_t i = 0; i < report->marker_count; i++) {
		const struct ac_marker *marker = &report->markers[i];

		if (strncmp(marker->symbol, "cu", 2))
			continue;
		calls += marker->calls;
		if (!most || marker->calls > most->calls)
			most = marker;
	}
	if (!most || s->totals.calls)
		return;
	ac_text_add_cleanf(line, "nothing to recast: %s passed through, most "
	    "of them %s; \"autocast explain --functions\" shows what is "
	    "recast", AC_COUNT(calls, "call"), most->symbol);
}

static void
say_work(struct ac_text *line, const struct summary *s)
{
	const struct ac_report_totals *totals = &s->totals;
	const struct ac_file_header *head = &s->report->processes[0];

	if (!totals->calls)
		return;
	if (totals->flops <= 0) {
		say_no_work(line, totals);
		return;
	}
	ac_text_addf(line, "FP32 %s work %s", ac_totals_kind(totals),
	    AC_FLOPS(totals->flops));
	if (totals->unread_sizes)
		ac_text_addf(line, ", without %llu of sizes not read",
		    (unsigned long long)totals->unread_sizes);
	ac_text_add(line, ": before as ");
	ac_report_add_baseline(line, s->report);
	ac_text_add(line, ", now ");
	if (totals->recast_flops > 0)
		ac_totals_add_rungs(line, totals);
	else
		ac_text_add(line, "the same");
	ac_text_add_cleanf(line, " (policy %s%s)", head->policy,
	    head->emulated ? ", emulated GPU" : "");
}

/* Where the work is of no known size the line before has the reasons. */
static void
say_idle(struct ac_text *line, const struct summary *s)
{
	const struct ac_report_totals *totals = &s->totals;

	if (!ac_report_is_idle(totals) || totals->flops <= 0)
		return;
	ac_text_add(line, "recast ");
	ac_report_add_idle(line, s->report, totals);
	if (!totals->learnt)
		ac_text_add(line, ": ");
	ac_report_add_idle_meaning(line, s->report, totals);
	if (s->ending->unkept)
		return;
	ac_text_add(line, "; ");
	ac_report_add_idle_next(line, s->report, totals);
}

static void
say_scaled(struct ac_text *line, const struct summary *s)
{
	if (!s->totals.scaled.scalers)
		return;
	ac_text_add(line, "gradients: ");
	ac_scaled_add(line, &s->totals.scaled);
}

static void
say_kept(struct ac_text *line, const struct summary *s)
{
	const struct ac_report_totals *totals = &s->totals;

	if (totals->flops <= 0)
		return;
	if (totals->calls > totals->recast_calls) {
		ac_text_addf(line, "kept %s: ", AC_SHARE(
		    totals->flops_by_rung[AC_RUNG_KEEP], totals->flops));
		ac_totals_add_reasons(line, totals);
	} else {
		ac_text_add(line, "kept nothing");
	}
	if (totals->recast_calls || totals->samples) {
		ac_text_add(line, "; ");
		ac_totals_add_checks(line, totals);
		if (ac_totals_have_error(totals))
			ac_text_add(line, "; ");
		ac_totals_add_error(line, totals);
	}
	if (totals->demotions)
		ac_text_addf(line, ", %s", AC_COUNT(totals->demotions,
		    "demotion"));
}

static void
say_next(struct ac_text *line, const struct summary *s)
{
	const struct ac_report_totals *totals = &s->totals;
	const char *unkept = s->ending->unkept;

	if (!totals->calls)
		return;
	if (unkept)
		ac_text_addf(line,
		    "nothing is kept for \"autocast report\": %s", unkept);
	else if (totals->demotions)
		ac_text_add(line, "\"autocast report\" shows every site and "
		    "why rungs were left, \"autocast run --ranges\" which "
		    "would fit");
	else
		ac_text_add(line, "\"autocast report\" shows every site, "
		    "\"autocast explain ID\" why");
	if (!unkept && totals->recast_calls)
		ac_text_add(line, "; AUTOCAST_POLICY=off recasts nothing");
}

bool
ac_report_as_summary(const struct ac_report *report,
    const struct ac_report_ending *ending, ac_report_sink sink, void *context)
{
	static void (*const says[])(struct ac_text *line,
	    const struct summary *s) = { say_passed, say_gain, say_work,
		say_idle, say_kept, say_scaled, say_next };
	struct summary s = { .report = report, .ending = ending };
	bool any = false;

	if (!report)
		return false;
	ac_report_totals(report, &s.totals);
	for (size_t i = 0; i < sizeof says / sizeof *says; i++) {
		struct ac_text line = AC_TEXT_OF(2048);

		ac_text_add(&line, prefix);
		says[i](&line, &s);
		if (line.used == strlen(prefix))
			continue;
		ac_text_add(&line, "\n");
		sink(line.data, line.used, context);
		any = true;
	}
	return any;
}
