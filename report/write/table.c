/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/table.c -- the table of sites in a text report. 100 columns at
 * most, whatever the terminal. Columns are as wide as their content; when that
 * is too much the deciding line goes below the row, then the caller gives way,
 * and others.
 * What a row cannot say stands in lines below it. Pure but for the sink. */
#include "report/write/page.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, INDENT = AC_PAGE_INDENT };

enum column {
	COL_ID, COL_OPERATION, COL_SIZES, COL_CALLER, COL_RUNG, COL_HOW,
	COL_LINE, COL_CALLS, COL_GFLOP, COL_SHARE, COL_SPEED, COL_GAIN,
	COL_ERROR, COLUMNS
};

/* Of a run that is over, or of one that is watched. */
enum occasion { ALWAYS, WHEN_OVER, WHEN_WATCHED };

static const struct {
	const char *title;
	bool        right;      /* numbers */
	size_t      narrowest;  /* may shrink to this; 0: not at all */
	const char *rate;       /* title instead, of what is per second */
	enum occasion when;
} columns[COLUMNS] = {
	[COL_ID]        = { "site",      false, 0,  NULL, ALWAYS },
	[COL_OPERATION] = { "operation", false, 9,  NULL, ALWAYS },
	[COL_SIZES]     = { "sizes",     true,  11, NULL, ALWAYS },
	[COL_CALLER]    = { "caller",    false, 8,  NULL, ALWAYS },
	[COL_RUNG]      = { "rung",      false, 0,  NULL, ALWAYS },
	[COL_HOW]       = { "how",       false, 7,  NULL, ALWAYS },
	[COL_LINE]      = { "line",      false, 5,  NULL, ALWAYS },
	[COL_CALLS]     = { "calls",     true,  0,  "calls/s", ALWAYS },
	[COL_GFLOP]     = { "GFLOP",     true,  0,  "GFLOP/s", WHEN_WATCHED },
	[COL_SHARE]     = { "share",     true,  0,  NULL, ALWAYS },
	[COL_SPEED]     = { "speed",     true,  0,  NULL, WHEN_OVER },
	[COL_GAIN]      = { "gain",      true,  0,  NULL, WHEN_OVER },
	[COL_ERROR]     = { "err/tol",   true,  0,  NULL, WHEN_OVER },
};

/* Who gives way, in this order. */
static const enum column yielding[] = {
	COL_CALLER, COL_LINE, COL_HOW, COL_SIZES, COL_OPERATION
};

struct layout {
	struct ac_page_column column[COLUMNS];
};

/* In the order of the columns. */
static void
fill_cells(struct ac_page_row *cells, const struct ac_page *p,
    const struct ac_site_row *row)
{
	const double seconds = p->seconds > 0 ? p->seconds : 1;
	const struct ac_site_total *site = row->rungs[0];
	const double flops = site->flops * (double)row->calls;
	const char *how;
	struct ac_text *t;

	cells->count = 0;
	ac_text_addf(ac_page_cell(cells), "%08x", (unsigned)site->id);
	ac_site_add_operation(ac_page_cell(cells), site);
	ac_site_add_sizes(ac_page_cell(cells), site);
	t = ac_page_cell(cells);
	ac_site_add_caller(t, p->report, site);
	if (!p->tells_file)
		ac_site_add_file(t, p->report, site);
	ac_text_add(ac_page_cell(cells),
	    ac_rung_names[ac_site_row_rung(row, &how)]);
	ac_text_add(ac_page_cell(cells), how);
	ac_site_add_line(ac_page_cell(cells), site);
	t = ac_page_cell(cells);
	if (p->seconds > 0)
		ac_rate_add(t, (double)row->calls / seconds);
	else
		ac_text_addf(t, "%llu", (unsigned long long)row->calls);
	ac_text_add(ac_page_cell(cells), flops / seconds < 1e12
	    ? AC_FIXED(flops / seconds / 1e9, 3)
	    : AC_DOUBLE(flops / seconds / 1e9, 4));
	ac_text_add(ac_page_cell(cells), site->is_fp32
	    ? AC_SHARE(flops, p->flops) : "-");
	ac_text_addf(ac_page_cell(cells), "%s%s", row->speed > 0
	    && row->basis == AC_BASIS_PREDICTED ? "~" : "",
	    AC_SPEED(row->speed));
	ac_page_fill_gain_and_error(cells, row);
}

static const char *
title(const struct ac_page *p, int column)
{
	return p->seconds > 0 && columns[column].rate ? columns[column].rate
	    : columns[column].title;
}

static void
measure(struct layout *w, const struct ac_page *p,
    const struct ac_site_row *rows, size_t count)
{
	const enum occasion never = p->seconds > 0 ? WHEN_OVER : WHEN_WATCHED;
	struct ac_page_row cells;

	for (int c = 0; c < COLUMNS; c++)
		w->column[c] = (struct ac_page_column){ .title = title(p, c),
			.right = columns[c].right, .shows_end = true,
			.width = columns[c].when == never ? 0
			    : strlen(title(p, c)) };
	for (size_t i = 0; i < count; i++) {
		fill_cells(&cells, p, &rows[i]);
		ac_page_widen(w->column, &cells);
	}
}

/* Of all columns with no gaps between them; *gaps_out: so many gaps. */
static size_t
add_up(const struct layout *w, size_t *gaps_out)
{
	size_t total = INDENT;

	*gaps_out = 0;
	for (int c = 0; c < COLUMNS; c++) {
		total += w->column[c].width;
		*gaps_out += w->column[c].width && c > 0;
	}
	return total;
}

/* Files and lines of callers only where no column gives way for them. */
static void
measure_all(struct layout *w, struct ac_page *p,
    const struct ac_site_row *rows, size_t count)
{
	size_t gaps;

	p->tells_file = false;
	measure(w, p, rows, count);
	p->tells_file = add_up(w, &gaps) + gaps > WIDTH;
	if (p->tells_file)
		measure(w, p, rows, count);
}

static void
shrink(struct layout *w, bool may_hide)
{
	size_t gaps, total = add_up(w, &gaps);
	const size_t gap = total + 2 * gaps <= WIDTH ? 2 : 1;

	for (int c = 0; c < COLUMNS; c++)
		w->column[c].gap = gap;
	total += gaps;
	if (total > WIDTH && may_hide) {
		total -= w->column[COL_LINE].width + 1;
		w->column[COL_LINE].width = 0;
	}
	for (size_t i = 0; i < sizeof yielding / sizeof *yielding; i++) {
		const enum column c = yielding[i];
		const size_t width = w->column[c].width;
		const size_t most = width > columns[c].narrowest
		    ? width - columns[c].narrowest : 0;
		size_t less = total > WIDTH ? total - WIDTH : 0;

		if (less > most)
			less = most;
		w->column[c].width -= less;
		total -= less;
	}
}

static enum ac_ink
ink_of(const struct ac_site_row *row, int column)
{
	if (column == COL_ERROR)
		return row->error > 1 ? AC_INK_BAD : AC_INK_PLAIN;
	if (column == COL_SPEED && row->speed > 0 && row->recast)
		return row->speed < 1 ? AC_INK_BAD : AC_INK_GOOD;
	if (column == COL_GAIN && row->before_us > 0)
		return row->gain_us < 0 ? AC_INK_BAD : AC_INK_GOOD;
	return (column == COL_RUNG || column == COL_HOW) && !row->recast
	    ? AC_INK_FAINT : AC_INK_PLAIN;
}

static void
print_row(struct ac_page *p, const struct layout *w,
    const struct ac_site_row *row)
{
	struct ac_page_row cells;

	ac_text_pad(&p->line, INDENT);
	fill_cells(&cells, p, row);
	for (int c = 0; c < COLUMNS; c++)
		ac_page_add_inked_cell(p, &w->column[c], cells.cell[c].data,
		    ink_of(row, c));
	ac_page_end_line(p);
	if (p->is_detailed || p->seconds > 0)
		ac_page_print_site_lines(p, row);
}

static void
print_heading(struct ac_page *p, const struct layout *w)
{
	ac_page_end_line(p);
	ac_text_pad(&p->line, INDENT);
	for (int c = 0; c < COLUMNS; c++)
		ac_page_add_inked_cell(p, &w->column[c], w->column[c].title,
		    AC_INK_BOLD);
	ac_page_end_line(p);
}

static void
print_legend(struct ac_page *p, const struct ac_site_row *rows, size_t shown)
{
	bool any = false;

	for (size_t i = 0; i < shown; i++)
		any |= rows[i].basis == AC_BASIS_PREDICTED;
	if (!any || p->seconds > 0)
		return;
	ac_page_ink(p, AC_INK_FAINT);
	ac_text_addf(&p->line, "  ~ estimated from the rates of %s, not timed",
	    AC_SAID(ac_report_add_gpu, p->report));
	ac_page_ink(p, AC_INK_PLAIN);
	ac_page_end_line(p);
}

/* Whether the text stands in the cells of the row, or in what lines below it
 * would tell. Case does not count. */
static bool
is_wanted(const struct ac_page *p, const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	struct ac_text t = AC_TEXT_OF(COLUMNS * AC_PAGE_CELL + 512);
	struct ac_page_row cells;

	if (!p->filter)
		return true;
	fill_cells(&cells, p, row);
	for (int c = 0; c < COLUMNS; c++)
		ac_text_addf(&t, "%s ", cells.cell[c].data);
	ac_text_addf(&t, "%s %s %s %s", site->region.name, site->key.shape,
	    site->key.caller, site->key.symbol);
	return strcasestr(t.data, p->filter) != NULL;
}

static size_t
filter_rows(const struct ac_page *p, struct ac_site_row *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (is_wanted(p, &rows[i]))
			rows[kept++] = rows[i];
	return kept;
}

static void
print_rest(struct ac_page *p, size_t more)
{
	if (more) {
		ac_page_print(p, "  ... and %s%s", AC_COUNT(more, "more site"),
		    p->seconds > 0 ? "; 'autocast report' shows more"
		    : "; --top N shows so many, --csv or --json all");
	}
	if (p->is_detailed || p->seconds > 0)
		return;
	ac_page_ink(p, AC_INK_FAINT);
	ac_text_add(&p->line, "  -v shows more of each site, \"autocast "
	    "explain ID\" all of one");
	ac_page_ink(p, AC_INK_PLAIN);
	ac_page_end_line(p);
}

static void
print_rows(struct ac_page *p, const struct ac_site_row *rows, size_t count)
{
	const size_t shown = count < p->rows ? count : p->rows;
	struct layout w;

	if (!shown)
		return;
	measure_all(&w, p, rows, shown);
	shrink(&w, p->seconds <= 0);
	p->tells_line = !w.column[COL_LINE].width;
	p->indent = INDENT + w.column[COL_ID].width
	    + w.column[COL_ID].gap;
	print_heading(p, &w);
	for (size_t i = 0; i < shown; i++)
		print_row(p, &w, &rows[i]);
	print_legend(p, rows, shown);
	print_rest(p, count - shown);
}

void
ac_page_print_table(struct ac_page *p, const struct ac_report *report)
{
	struct ac_site_row *rows;
	size_t count;

	p->report = report;
	if (!ac_rows_make(report, p->sort, &rows, &count)) {
		ac_page_print(p, "  no memory for the table of sites");
		return;
	}
	count = filter_rows(p, rows, count);
	if (!count && p->filter) {
		ac_page_end_line(p);
		ac_page_print(p, "  no site has '%s' in its line", p->filter);
	}
	print_rows(p, rows, count);
	free(rows);
}
