/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_text.c -- a run as text for people: head, table, totals,
 * foot. Pure but for the sink. */
#include "report/write/page.h"

#include <string.h>

/* ---- Head -------------------------------------------------------------- */

void
ac_page_print_title(struct ac_page *p, const struct ac_report *report)
{
	const struct ac_file_header *h = &report->processes[0];

	ac_text_add_cleanf(&p->line, "autocast report: %s, %s, ", h->program,
	    AC_SAID(ac_start_add, h->start_s));
	if (report->process_count == 1)
		ac_text_addf(&p->line, "process %d, ", (int)h->pid);
	else
		ac_text_addf(&p->line, "%zu processes, ",
		    report->process_count);
	ac_page_print(p, "%s", ac_report_state(report));
}

static void
print_notes(struct ac_page *p, const char *notes)
{
	for (size_t length; *(notes += strspn(notes, "\n")); notes += length) {
		struct ac_text t = AC_TEXT_OF(512);

		length = strcspn(notes, "\n");
		ac_text_add_bytes(&t, notes, length);
		ac_page_label(p, "note");
		ac_page_print(p, "%s", t.data);
	}
}

void
ac_page_print_origin(struct ac_page *p, const struct ac_file_header *h)
{
	ac_page_label(p, "policy");
	ac_text_add_clean(&p->line, *h->policy ? h->policy : "unknown");
	if (*h->why)
		ac_text_add_cleanf(&p->line, " (%s)", h->why);
	ac_page_end_line(p);
	ac_page_label(p, "gpu");
	ac_text_add_clean(&p->line, *h->gpu ? h->gpu : "unknown");
	if (h->sm)
		ac_text_addf(&p->line, ", sm_%d", (int)h->sm);
	if (*h->library)
		ac_text_add_cleanf(&p->line, ", %s", h->library);
	ac_page_end_line(p);
}

static void
print_idle(struct ac_page *p, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	ac_page_label(p, "recast");
	ac_report_add_idle(&p->line, report, t);
	ac_page_end_line(p);
	if (!t->learnt) {
		ac_page_label(p, "");
		ac_report_add_idle_meaning(&p->line, report, t);
		ac_page_end_line(p);
	}
	ac_page_label(p, "");
	ac_report_add_idle_next(&p->line, report, t);
	ac_page_end_line(p);
}

static void
print_head(struct ac_page *p, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	const struct ac_file_header *h = &report->processes[0];

	ac_page_print_title(p, report);
	ac_page_print_origin(p, h);
	ac_page_label(p, "times");
	ac_report_add_clock(&p->line, report);
	ac_page_end_line(p);
	print_notes(p, h->notes);
	if (ac_report_is_idle(t))
		print_idle(p, report, t);
	ac_page_print_ranks(p, report);
}

/* ---- Totals and foot --------------------------------------------------- */

/* The time of a call is not the program's: kernels overlap, and so does the
 * host. It is said as what it is. */
static void
print_gain(struct ac_page *p, const char *origin, uint64_t calls,
    double keep_us, double recast_us)
{
	if (keep_us <= 0 || !calls)
		return;
	ac_page_label(p, "gain");
	ac_page_ink(p, keep_us < recast_us ? AC_INK_BAD : AC_INK_GOOD);
	ac_time_add(&p->line, keep_us - recast_us);
	ac_page_ink(p, AC_INK_PLAIN);
	ac_page_print(p, " of device time, %s x %s: %s before, %s now", origin,
	    AC_COUNT(calls, "call"), AC_TIME(keep_us), AC_TIME(recast_us));
}

/* A model's times are estimates, too. */
static void
print_gains(struct ac_page *p, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	const bool timed = ac_report_clock_of(report) != AC_CLOCK_MODELLED;

	if (timed)
		print_gain(p, "measured", t->measured_calls,
		    t->measured_keep_us, t->measured_recast_us);
	print_gain(p, "estimated", t->predicted_calls
	    + (timed ? 0 : t->measured_calls), t->predicted_keep_us
	    + (timed ? 0 : t->measured_keep_us), t->predicted_recast_us
	    + (timed ? 0 : t->measured_recast_us));
}

void
ac_page_print_verdicts(struct ac_page *p, const struct ac_report_totals *t)
{
	if (!t->recast_calls && !t->samples && !t->demotions)
		return;
	ac_page_label(p, "verdicts");
	ac_totals_add_checks(&p->line, t);
	if (t->late)
		ac_text_addf(&p->line, "; %s late", AC_COUNT(t->late,
		    "verdict"));
	ac_page_end_line(p);
	if (ac_totals_have_error(t)) {
		ac_page_label(p, "error");
		ac_totals_add_error(&p->line, t);
		ac_page_print(p, ", at site %08x", (unsigned)t->worst_site);
	}
	if (t->demotions) {
		ac_page_label(p, "demoted");
		ac_page_print(p, "%s", AC_COUNT(t->demotions, "time"));
	}
}

/* Executables of one graph share the buffers of its casts. */
static bool
any_cast_captured(const struct ac_report *report)
{
	bool any = false;

	for (size_t i = 0; i < report->site_count; i++)
		any |= report->sites[i].course.captured
		    && report->sites[i].tactic == AC_TACTIC_CAST;
	return any;
}

static void
print_captured(struct ac_page *p, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	ac_page_label(p, "graphs");
	ac_page_print(p, "%s recorded%s", AC_COUNT(t->captured, "call"),
	    any_cast_captured(report) ? "; two executables of one graph must "
	    "not run at once" : "");
}

static void
print_totals(struct ac_page *p, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	ac_page_end_line(p);
	ac_text_addf(&p->line, "FP32 %s work: %s in %s at %s",
	    ac_totals_kind(t), AC_FLOPS(t->flops), AC_COUNT(t->calls, "call"),
	    AC_COUNT(t->sites, "site"));
	if (t->unread_sizes)
		ac_text_addf(&p->line, ", without %llu of sizes not read",
		    (unsigned long long)t->unread_sizes);
	ac_page_end_line(p);
	ac_page_label(p, "recast");
	ac_text_addf(&p->line, "%s of the FLOPs (%s)%s",
	    AC_SHARE(t->recast_flops, t->flops), AC_COUNT(t->recast_calls,
	    "call"), t->recast_flops > 0 ? ": " : "");
	ac_totals_add_rungs(&p->line, t);
	ac_page_end_line(p);
	ac_page_label(p, "kept");
	ac_share_add(&p->line, t->flops_by_rung[AC_RUNG_KEEP], t->flops);
	if (t->calls > t->recast_calls)
		ac_text_add(&p->line, ": ");
	ac_totals_add_reasons(&p->line, t);
	ac_page_end_line(p);
	if (t->recast_calls && t->before_us > 0 && t->now_us > 0) {
		ac_page_label(p, "time");
		ac_totals_add_whole(&p->line, report, t);
		ac_page_end_line(p);
	}
	print_gains(p, report, t);
	/* Of the emulated GPU's own time nobody learns. */
	if (t->wall_us > 0 && (p->is_detailed ||
	    !report->processes[0].emulated)) {
		ac_page_label(p, "wall");
		ac_report_add_wall(&p->line, report, t);
		ac_page_end_line(p);
	}
	ac_page_print_verdicts(p, t);
	if (t->captured)
		print_captured(p, report, t);
	if (t->scaled.scalers) {
		ac_page_label(p, "scaler");
		ac_scaled_add(&p->line, &t->scaled);
		ac_page_end_line(p);
	}
	if (t->plans) {
		ac_page_label(p, "plans");
		ac_plans_add(&p->line, t->plans, t->plan_ms, t->workspace);
		ac_page_end_line(p);
	}
	ac_page_label(p, "scratch");
	ac_page_print(p, "%s of device memory at most",
	    AC_BYTES(t->peak_scratch_bytes));
}

static void
print_foot(struct ac_page *p, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	for (size_t i = 0; i < report->marker_count; i++) {
		ac_page_label(p, i ? "" : "seen");
		ac_text_add_cleanf(&p->line, "%s: %s",
		    report->markers[i].symbol,
		    AC_COUNT(report->markers[i].calls, "call"));
		/* Seeds and updates are counted here, too. */
		if (!strstr(report->markers[i].symbol, ", scaled by "))
			ac_text_add(&p->line, ", passed through");
		ac_page_end_line(p);
	}
	if (report->incomplete)
		ac_page_print(p, "Some sites are missing: their statistics "
		    "could not be stored.");
	if (t->captured)
		ac_page_print(p, "A graph replay is counted once, at capture.");
}

void
ac_report_as_table(const struct ac_report *report,
    const struct ac_report_style *style, ac_report_sink sink, void *context)
{
	struct ac_page p = { .sink = sink, .context = context,
		.rows = style->top ? style->top : AC_PAGE_ROWS,
		.sort = style->sort, .filter = style->filter,
		.is_colored = style->is_colored,
		.is_detailed = style->is_detailed };
	struct ac_report_totals totals;

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	if (!report) {
		ac_page_print(&p, "autocast report: nothing was intercepted");
		return;
	}
	ac_report_totals(report, &totals);
	p.flops = totals.flops;
	print_head(&p, report, &totals);
	ac_page_print_table(&p, report);
	print_totals(&p, report, &totals);
	print_foot(&p, report, &totals);
}
