/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_forecast.c -- what another policy would do with a run, as
 * text of 100 columns at most. Pure but for the sink. */
#include "report/write/forecast.h"
#include "report/read/change.h"
#include "report/write/page.h"

#include <string.h>

enum { CELL = 96 };

enum column {
	COL_ID, COL_WHAT, COL_CALLS, COL_THEN, COL_RUNG, COL_HOW, COL_LINE,
	COL_FACTOR, COL_GAIN, COLUMNS
};

static const struct {
	const char *title;
	size_t      width;
	bool        right;      /* numbers */
} columns[COLUMNS] = {
	[COL_ID]     = { "site",    8,  false },
	[COL_WHAT]   = { "what",    29, false },
	[COL_CALLS]  = { "calls",   7,  true },
	[COL_THEN]   = { "then",    4,  false },
	[COL_RUNG]   = { "rung",    4,  false },
	[COL_HOW]    = { "how",     11, false },
	[COL_LINE]   = { "line",    10, false },
	[COL_FACTOR] = { "factor",  7,  true },
	[COL_GAIN]   = { "gain",    8,  true },
};

static bool
is_kept(const struct ac_forecast *f)
{
	return f->decision.rung == AC_RUNG_KEEP;
}

static bool
has_times(const struct ac_forecast *f)
{
	return f->is_read && f->keep_us > 0 && f->recast_us > 0
	    && f->then_us > 0;
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
	enum ac_reason reason;

	switch (column) {
	case COL_ID:
		ac_text_addf(t, "%08x", (unsigned)site->id);
		break;
	case COL_WHAT:
		ac_site_add_operation(t, site);
		ac_text_add(t, " ");
		ac_site_add_sizes(t, site);
		break;
	case COL_CALLS:
		ac_text_addf(t, "%llu", (unsigned long long)f->row->calls);
		break;
	case COL_THEN:
		ac_text_add(t, ac_rung_names[ac_site_row_rung(f->row,
		    &reason)]);
		break;
	case COL_RUNG:
	case COL_HOW:
	case COL_LINE:
		fill_policy(t, f, column);
		break;
	case COL_FACTOR:
		ac_speed_add(t, has_times(f) ? f->keep_us / f->recast_us : 0);
		break;
	case COL_GAIN:
		if (has_times(f) && !is_kept(f))
			ac_time_add(t, (double)f->row->calls
			    * (f->keep_us - f->recast_us));
		else
			ac_text_add(t, "-");
		break;
	case COLUMNS:
		break;
	}
}

/* The end of a line's name says more than its beginning. */
static void
add_cell(struct ac_page *p, enum column column, const char *cell)
{
	const size_t width = columns[column].width, length = strlen(cell);
	const size_t used = length < width ? length : width;

	if (columns[column].right)
		ac_text_pad(&p->line, p->line.used + width - used);
	if (length <= width || columns[column].right) {
		ac_text_add(&p->line, cell);
	} else if (column == COL_LINE) {
		ac_text_addf(&p->line, "<%s", cell + length - width + 1);
	} else {
		ac_text_add_bytes(&p->line, cell, width - 1);
		ac_text_add(&p->line, ">");
	}
	if (!columns[column].right)
		ac_text_pad(&p->line, p->line.used + width - used);
	ac_text_add(&p->line, column < COL_WHAT ? "  " : " ");
}

static void
print_table(struct ac_page *p, const struct ac_forecast *forecasts,
    size_t count)
{
	char cell[CELL];
	struct ac_text t;

	if (!count)
		return;
	ac_page_end_line(p);
	ac_text_pad(&p->line, AC_PAGE_INDENT);
	for (int c = 0; c < COLUMNS; c++)
		add_cell(p, (enum column)c, columns[c].title);
	ac_page_end_line(p);
	for (size_t i = 0; i < count && i < p->rows; i++) {
		ac_text_pad(&p->line, AC_PAGE_INDENT);
		for (int c = 0; c < COLUMNS; c++) {
			ac_text_init(&t, cell, sizeof cell);
			fill_cell(&t, &forecasts[i], (enum column)c);
			add_cell(p, (enum column)c, cell);
		}
		ac_page_end_line(p);
	}
	if (count > p->rows) {
		ac_text_addf(&p->line, "  ... and %zu sites more, which the "
		    "sums have", count - p->rows);
		ac_page_end_line(p);
	}
}

/* ---- Sums -------------------------------------------------------------- */

struct sums {
	double   keep_us, recast_us, then_us;
	uint64_t calls, unknown_calls, unknown_sites;
};

static void
add_up(struct sums *sums, const struct ac_forecast *f)
{
	const double calls = (double)f->row->calls;

	if (!has_times(f)) {
		sums->unknown_calls += f->row->calls;
		sums->unknown_sites++;
		return;
	}
	sums->calls += f->row->calls;
	sums->keep_us += calls * f->keep_us;
	sums->recast_us += calls * f->recast_us;
	sums->then_us += calls * f->then_us;
}

static void
print_sum(struct ac_page *p, const char *label, double us, double keep_us,
    const char *what)
{
	ac_page_label(p, label);
	ac_time_add(&p->line, us);
	ac_text_add(&p->line, ", ");
	ac_speed_add(&p->line, keep_us / us);
	ac_text_addf(&p->line, "%s", what);
	ac_page_end_line(p);
}

static void
print_sums(struct ac_page *p, const struct ac_forecast *forecasts,
    size_t count)
{
	struct sums sums = { 0 };

	for (size_t i = 0; i < count; i++)
		add_up(&sums, &forecasts[i]);
	ac_page_end_line(p);
	ac_text_add(&p->line, "Estimated device time of ");
	ac_text_add_count(&p->line, sums.calls, "call");
	ac_page_end_line(p);
	if (sums.keep_us > 0) {
		print_sum(p, "plain", sums.keep_us, sums.keep_us,
		    ": as the program makes them");
		print_sum(p, "then", sums.then_us, sums.keep_us,
		    " if all run on the rungs of the run");
		print_sum(p, "policy", sums.recast_us, sums.keep_us,
		    " if all run on those of this policy");
	}
	if (sums.unknown_sites) {
		ac_page_label(p, "without");
		ac_text_add_count(&p->line, sums.unknown_calls, "call");
		ac_text_add(&p->line, " at ");
		ac_text_add_count(&p->line, sums.unknown_sites, "site");
		ac_text_add(&p->line, " of which no time is known");
		ac_page_end_line(p);
	}
	ac_text_add(&p->line, "Nothing was run: guards, trials and graph "
	    "captures may keep calls, and errors are not estimated.");
	ac_page_end_line(p);
}

void
ac_report_as_forecast(const struct ac_report *report,
    const struct ac_policy_origin *origin, const char *rates,
    const struct ac_forecast *forecasts, size_t count, ac_report_sink sink,
    void *context)
{
	const struct ac_file_header *h = &report->processes[0];
	struct ac_page p = { .sink = sink, .context = context,
		.rows = AC_PAGE_ROWS };

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	ac_text_add(&p.line, "autocast report: estimated for another policy");
	ac_page_end_line(&p);
	ac_page_label(&p, "run");
	ac_text_add_clean(&p.line, h->program);
	ac_text_add(&p.line, ", ");
	ac_start_add(&p.line, h->start_s);
	ac_text_add(&p.line, ", under ");
	ac_text_add_clean(&p.line, *h->policy ? h->policy : "unknown");
	ac_page_end_line(&p);
	ac_page_label(&p, "policy");
	ac_text_add_clean(&p.line, origin->name);
	ac_text_add(&p.line, " (");
	ac_text_add_clean(&p.line, origin->why);
	ac_text_add(&p.line, ")");
	ac_page_end_line(&p);
	ac_page_label(&p, "rates");
	ac_text_add_clean(&p.line, rates);
	ac_page_end_line(&p);
	print_table(&p, forecasts, count);
	print_sums(&p, forecasts, count);
}
