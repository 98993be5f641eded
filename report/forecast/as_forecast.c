/* SPDX-License-Identifier: Apache-2.0 */
/* report/forecast/as_forecast.c -- what another policy would do with a run, as
 * text of 100 columns at most. Pure but for the sink. */
#include "report/forecast/forecast.h"
#include "report/write/page.h"

#include <string.h>

enum { CELL = 96 };

enum column {
	COL_ID, COL_WHAT, COL_CALLS, COL_THEN, COL_RUNG, COL_HOW, COL_LINE,
	COL_FACTOR, COL_GAIN, COLUMNS
};

static const struct ac_page_column columns[COLUMNS] = {
	[COL_ID]     = { "site",   8,  2, false, false },
	[COL_WHAT]   = { "what",   29, 1, false, false },
	[COL_CALLS]  = { "calls",  7,  1, true,  false },
	[COL_THEN]   = { "then",   4,  1, false, false },
	[COL_RUNG]   = { "rung",   4,  1, false, false },
	[COL_HOW]    = { "how",    11, 1, false, false },
	[COL_LINE]   = { "line",   10, 1, false, true },
	[COL_FACTOR] = { "factor", 7,  1, true,  false },
	[COL_GAIN]   = { "gain",   8,  1, true,  false },
};

static bool
is_kept(const struct ac_forecast *f)
{
	return f->decision.rung == AC_RUNG_KEEP;
}

static void
fill_policy(struct ac_text *t, const struct ac_forecast *f, enum column column)
{
	const struct ac_decision *d = &f->decision;

	if (!f->is_read) {
		ac_text_add(t, column == COL_HOW ? "not read" : "-");
	} else if (column == COL_RUNG) {
		ac_text_add(t, ac_rung_names[d->rung]);
	} else if (column == COL_HOW) {
		ac_text_add(t, is_kept(f) ? ac_reason_names[d->reason]
		    : ac_tactic_names[d->tactic]);
	} else {
		ac_text_add_clean(t, *d->source ? d->source : "-");
		if (d->line)
			ac_text_addf(t, ":%u", (unsigned)d->line);
	}
}

static void
fill_cell(struct ac_text *t, const struct ac_forecast *f, enum column column)
{
	const struct ac_site_total *site = f->row->rungs[0];
	const char *how;

	switch (column) {
	case COL_ID:
		ac_text_addf(t, "%08x", (unsigned)site->id);
		break;
	case COL_WHAT:
		ac_site_add_what(t, site);
		break;
	case COL_CALLS:
		ac_text_addf(t, "%llu", (unsigned long long)f->row->calls);
		break;
	case COL_THEN:
		ac_text_add(t, ac_rung_names[ac_site_row_rung(f->row,
		    &how)]);
		break;
	case COL_RUNG:
	case COL_HOW:
	case COL_LINE:
		fill_policy(t, f, column);
		break;
	case COL_FACTOR:
		ac_speed_add(t, ac_forecast_has_times(f)
		    ? f->keep_us / f->recast_us : 0);
		break;
	case COL_GAIN:
		if (ac_forecast_has_times(f) && !is_kept(f))
			ac_time_add(t, (double)f->row->calls
			    * (f->keep_us - f->recast_us));
		else
			ac_text_add(t, "-");
		break;
	case COLUMNS:
		break;
	}
}

static void
print_table(struct ac_page *p, const struct ac_forecast *forecasts,
    size_t count)
{
	if (!count)
		return;
	ac_page_end_line(p);
	ac_page_print_titles(p, columns, COLUMNS);
	for (size_t i = 0; i < count && i < p->rows; i++) {
		ac_text_pad(&p->line, AC_PAGE_INDENT);
		for (int c = 0; c < COLUMNS; c++) {
			struct ac_text cell = AC_TEXT_OF(CELL);

			fill_cell(&cell, &forecasts[i], (enum column)c);
			ac_page_add_cell(p, &columns[c], cell.data);
		}
		ac_page_end_line(p);
	}
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
