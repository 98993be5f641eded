/* SPDX-License-Identifier: Apache-2.0 */
/* report/forecast/as_forecast.c -- what another policy would do with a run, as
 * text of 100 columns at most. Pure but for the sink. */
#include "report/forecast/forecast.h"
#include "report/write/page.h"

#include <string.h>

static const struct ac_page_column columns[] = {
	{ "site",   8,  2, false, false },
	{ "what",   29, 1, false, false },
	{ "calls",  7,  1, true,  false },
	{ "then",   4,  1, false, false },
	{ "rung",   4,  1, false, false },
	{ "how",    11, 1, false, false },
	{ "line",   10, 1, false, true },
	{ "factor", 7,  1, true,  false },
	{ "gain",   8,  1, true,  false },
};

static bool
is_kept(const struct ac_forecast *f)
{
	return f->decision.rung == AC_RUNG_KEEP;
}

/* Three cells. */
static void
fill_policy(struct ac_page_row *row, const struct ac_forecast *f)
{
	const struct ac_decision *d = &f->decision;
	struct ac_text *line;

	ac_text_add(ac_page_cell(row), f->is_read ? ac_rung_names[d->rung]
	    : "-");
	ac_text_add(ac_page_cell(row), !f->is_read ? "not read" : is_kept(f)
	    ? ac_reason_names[d->reason] : ac_tactic_names[d->tactic]);
	line = ac_page_cell(row);
	ac_text_add_clean(line, f->is_read && *d->source ? d->source : "-");
	if (f->is_read && d->line)
		ac_text_addf(line, ":%u", (unsigned)d->line);
}

static void
print_row(struct ac_page *p, const struct ac_forecast *f)
{
	const struct ac_site_total *site = f->row->rungs[0];
	const bool has_times = ac_forecast_has_times(f);
	struct ac_page_row row = { .count = 0 };
	const char *how;

	ac_text_pad(&p->line, AC_PAGE_INDENT);
	ac_text_addf(ac_page_cell(&row), "%08x", (unsigned)site->id);
	ac_site_add_what(ac_page_cell(&row), site);
	ac_text_addf(ac_page_cell(&row), "%llu",
	    (unsigned long long)f->row->calls);
	ac_text_add(ac_page_cell(&row),
	    ac_rung_names[ac_site_row_rung(f->row, &how)]);
	fill_policy(&row, f);
	ac_speed_add(ac_page_cell(&row), has_times ? f->keep_us / f->recast_us
	    : 0);
	ac_text_add(ac_page_cell(&row), has_times && !is_kept(f)
	    ? AC_TIME((double)f->row->calls * (f->keep_us - f->recast_us))
	    : "-");
	ac_page_add_row(p, columns, &row);
	ac_page_end_line(p);
}

static void
print_table(struct ac_page *p, const struct ac_forecast *forecasts,
    size_t count)
{
	if (!count)
		return;
	ac_page_end_line(p);
	ac_page_print_titles(p, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < count && i < p->rows; i++)
		print_row(p, &forecasts[i]);
	if (count > p->rows) {
		ac_page_print(p, "  ... and %zu sites more, which the sums "
		    "have", count - p->rows);
	}
}

/* ---- Sums -------------------------------------------------------------- */

static void
print_sum(struct ac_page *p, const char *label, double us, double keep_us,
    const char *what)
{
	ac_page_label(p, label);
	ac_page_print(p, "%s, %s%s", AC_TIME(us), AC_SPEED(keep_us / us), what);
}

static void
print_sums(struct ac_page *p, const struct ac_forecast_sum *sum)
{
	ac_page_end_line(p);
	ac_page_print(p, "Estimated device time of %s", AC_COUNT(sum->calls,
	    "call"));
	if (sum->keep_us > 0) {
		print_sum(p, "plain", sum->keep_us, sum->keep_us,
		    ": as the program makes them");
		print_sum(p, "then", sum->then_us, sum->keep_us,
		    " if all run on the rungs of the run");
		print_sum(p, "policy", sum->recast_us, sum->keep_us,
		    " if all run on those of this policy");
	}
	if (sum->unknown_sites) {
		ac_page_label(p, "without");
		ac_page_print(p, "%s at %s of which no time is known",
		    AC_COUNT(sum->unknown_calls, "call"),
		    AC_COUNT(sum->unknown_sites, "site"));
	}
}

/* ---- The page ---------------------------------------------------------- */

void
ac_forecast_print_run(struct ac_page *p, const struct ac_forecast_view *view)
{
	const struct ac_file_header *h = &view->report->processes[0];

	ac_text_add(&p->line, "autocast report: estimated for ");
	if (view->policy_count == 1)
		ac_text_add(&p->line, "another policy");
	else
		ac_text_addf(&p->line, "%zu policies", view->policy_count);
	ac_page_end_line(p);
	ac_page_label(p, "run");
	ac_page_print(p, "%s, %s, under %s", h->program, AC_SAID(ac_start_add,
	    h->start_s), *h->policy ? h->policy : "unknown");
	if (view->policy_count == 1) {
		ac_page_label(p, "policy");
		ac_page_print(p, "%s (%s)", view->policies->origin.name,
		    view->policies->origin.why);
	}
	ac_page_label(p, "rates");
	ac_page_print(p, "%s", view->rates ? view->rates : "none: nothing is "
	    "known of this GPU");
}

void
ac_forecast_as_text(const struct ac_forecast_view *view, ac_report_sink sink,
    void *context)
{
	struct ac_page p = { .sink = sink, .context = context,
		.rows = AC_PAGE_ROWS };

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	ac_forecast_print_run(&p, view);
	print_table(&p, view->forecasts, view->count);
	print_sums(&p, &view->policies->sum);
	ac_page_print(&p, "Nothing was run: guards, trials and graph captures "
	    "may keep calls, and errors are not estimated.");
}
