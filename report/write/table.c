/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/table.c -- the table of sites in a text report. 100 columns at
 * most, whatever the terminal. Columns are as wide as their content; when that
 * is too much the caller gives way first, then the deciding line and others.
 * What a row cannot say stands in lines below it. Pure but for the sink. */
#include "report/write/page.h"

#include <string.h>

enum { WIDTH = 100, INDENT = AC_PAGE_INDENT, CELL = 96 };

enum column {
	COL_ID, COL_OPERATION, COL_SIZES, COL_CALLER, COL_RUNG, COL_HOW,
	COL_LINE, COL_CALLS, COL_GFLOP, COL_SHARE, COL_SPEED, COL_ERROR, COLUMNS
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
	[COL_OPERATION] = { "operation", false, 0,  NULL, ALWAYS },
	[COL_SIZES]     = { "sizes",     true,  11, NULL, ALWAYS },
	[COL_CALLER]    = { "caller",    false, 8,  NULL, ALWAYS },
	[COL_RUNG]      = { "rung",      false, 0,  NULL, ALWAYS },
	[COL_HOW]       = { "how",       false, 7,  NULL, ALWAYS },
	[COL_LINE]      = { "line",      false, 5,  NULL, ALWAYS },
	[COL_CALLS]     = { "calls",     true,  0,  "calls/s", ALWAYS },
	[COL_GFLOP]     = { "GFLOP",     true,  0,  "GFLOP/s", WHEN_WATCHED },
	[COL_SHARE]     = { "share",     true,  0,  NULL, ALWAYS },
	[COL_SPEED]     = { "speed",     true,  0,  NULL, WHEN_OVER },
	[COL_ERROR]     = { "err/tol",   true,  0,  NULL, WHEN_OVER },
};

/* Who gives way, in this order. */
static const enum column yielding[] = {
	COL_CALLER, COL_LINE, COL_HOW, COL_SIZES
};

struct layout {
	bool   shown[COLUMNS];
	size_t width[COLUMNS];
	size_t gap;             /* between columns */
};

static void
fill_cell(struct ac_text *t, const struct ac_page *p,
    const struct ac_site_total *site, enum column column)
{
	const double seconds = p->seconds > 0 ? p->seconds : 1;
	const double flops = site->flops * (double)site->calls;
	const bool kept = site->rung == AC_RUNG_KEEP;

	switch (column) {
	case COL_ID:
		ac_text_addf(t, "%08x", (unsigned)site->id);
		break;
	case COL_OPERATION:
		ac_site_add_operation(t, site);
		break;
	case COL_SIZES:
		ac_site_add_sizes(t, site);
		break;
	case COL_CALLER:
		ac_text_add_clean(t, *site->name ? site->name
		    : *site->key.caller ? site->key.caller : "-");
		break;
	case COL_RUNG:
		ac_text_add(t, ac_rung_names[site->rung]);
		break;
	case COL_HOW:
		ac_text_add(t, kept ? ac_reason_names[site->reason]
		    : ac_tactic_names[site->tactic]);
		break;
	case COL_LINE:
		ac_site_add_line(t, site);
		break;
	case COL_CALLS:
		if (p->seconds > 0)
			ac_rate_add(t, (double)site->calls / seconds);
		else
			ac_text_addf(t, "%llu",
			    (unsigned long long)site->calls);
		break;
	case COL_GFLOP:
		if (flops / seconds < 1e12)
			ac_text_add_fixed(t, flops / seconds / 1e9, 3);
		else
			ac_text_add_double(t, flops / seconds / 1e9, 4);
		break;
	case COL_SHARE:
		if (site->is_fp32)
			ac_share_add(t, flops, p->flops);
		else
			ac_text_add(t, "-");
		break;
	case COL_SPEED:
		ac_speed_add(t, ac_course_speed(&site->course));
		break;
	case COL_ERROR:
		if (site->course.samples && site->tol > 0)
			ac_ratio_add(t, site->course.error / site->tol);
		else
			ac_text_add(t, "-");
		break;
	case COLUMNS:
		break;
	}
}

static const char *
title(const struct ac_page *p, int column)
{
	return p->seconds > 0 && columns[column].rate ? columns[column].rate
	    : columns[column].title;
}

static void
measure(struct layout *w, const struct ac_page *p,
    const struct ac_report *report, size_t rows)
{
	char cell[CELL];
	struct ac_text t;

	for (int c = 0; c < COLUMNS; c++) {
		w->shown[c] = columns[c].when != (p->seconds > 0 ? WHEN_OVER
		    : WHEN_WATCHED);
		w->width[c] = w->shown[c] ? strlen(title(p, c)) : 0;
		for (size_t i = 0; w->shown[c] && i < rows; i++) {
			ac_text_init(&t, cell, sizeof cell);
			fill_cell(&t, p, &report->sites[i], (enum column)c);
			if (t.used > w->width[c])
				w->width[c] = t.used;
		}
	}
}

static void
shrink(struct layout *w)
{
	size_t total = INDENT, gaps = 0;

	for (int c = 0; c < COLUMNS; c++) {
		total += w->width[c];
		gaps += w->shown[c] && c > 0;
	}
	w->gap = total + 2 * gaps <= WIDTH ? 2 : 1;
	total += gaps;
	for (size_t i = 0; i < sizeof yielding / sizeof *yielding; i++) {
		const enum column c = yielding[i];
		const size_t most = w->width[c] > columns[c].narrowest
		    ? w->width[c] - columns[c].narrowest : 0;
		size_t less = total > WIDTH ? total - WIDTH : 0;

		if (less > most)
			less = most;
		w->width[c] -= less;
		total -= less;
	}
}

/* The end of a caller or of a line tells more than its beginning. */
static void
add_cell(struct ac_page *p, const struct layout *w, enum column column,
    const char *cell)
{
	const size_t width = w->width[column], length = strlen(cell);
	const size_t begin = p->line.used;

	if (!w->shown[column])
		return;
	if (length > width) {
		ac_text_add(&p->line, "~");
		ac_text_add(&p->line, cell + length - width + 1);
	} else {
		if (columns[column].right)
			ac_text_pad(&p->line, begin + width - length);
		ac_text_add(&p->line, cell);
		ac_text_pad(&p->line, begin + width);
	}
	ac_text_pad(&p->line, p->line.used + w->gap);
}

static void
indent(struct ac_page *p, const struct layout *w)
{
	ac_text_pad(&p->line, INDENT + w->width[COL_ID] + w->gap);
}

/* Where the program opened one. */
static void
print_region(struct ac_page *p, const struct layout *w,
    const struct ac_site_total *site)
{
	if (!*site->region.name)
		return;
	indent(p, w);
	ac_text_add(&p->line, "in region ");
	ac_text_add_clean(&p->line, site->region.name);
	if (site->region.is_disabled)
		ac_text_add(&p->line, ", disabled");
	for (int i = 0; i < site->region.rung_count; i++)
		ac_text_addf(&p->line, "%s%s", i ? "," : ", rungs ",
		    ac_rung_names[site->region.rung[i]]);
	if (site->region.cache)
		ac_text_add(&p->line, ", cache");
	ac_page_end_line(p);
}

/* What m, n and k do not tell apart: a convolution, or what follows a product
 * of cublasLt and why that is never recast; and cuDNN's plans. */
static void
print_shape(struct ac_page *p, const struct layout *w,
    const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;

	if (*site->key.shape) {
		indent(p, w);
		ac_site_add_shape(&p->line, site);
		ac_page_end_line(p);
	}
	if (c->plans) {
		indent(p, w);
		ac_plans_add(&p->line, c->plans, c->plan_ms, c->workspace);
		ac_page_end_line(p);
	}
}

/* Calls that went another way than decided. */
static void
print_exceptions(struct ac_page *p, const struct layout *w,
    const struct ac_site_total *site)
{
	const char *between = ": ";

	if (site->kept[site->reason] + site->recast >= site->calls)
		return;
	indent(p, w);
	ac_text_addf(&p->line, "kept %llu of ",
	    (unsigned long long)(site->calls - site->recast));
	ac_text_add_count(&p->line, site->calls, "call");
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		if (!site->kept[i])
			continue;
		ac_text_addf(&p->line, "%s%s %llu", between, ac_reason_names[i],
		    (unsigned long long)site->kept[i]);
		between = ", ";
	}
	ac_page_end_line(p);
	if (!site->kept[AC_REASON_CAPTURE]
	    || !ac_caller_is_xla(site->key.caller))
		return;
	indent(p, w);
	ac_site_add_capture(&p->line, site);
	ac_page_end_line(p);
}

/* Why the rung was left, and what was measured then. */
static void
print_finding(struct ac_page *p, const struct layout *w,
    const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const double measured[AC_FINDING_COUNT] = { [AC_FINDING_CAST] = c->rho,
		[AC_FINDING_TILE] = c->tile_rho,
		[AC_FINDING_ERROR] = c->error,
		[AC_FINDING_LINE] = c->line_error,
		[AC_FINDING_EXACT] = c->exact };

	if (c->finding == AC_FINDING_NONE)
		return;
	indent(p, w);
	ac_text_addf(&p->line, "demoted: %s", ac_finding_names[c->finding]);
	if (measured[c->finding] > 0 && site->tol > 0) {
		ac_text_add(&p->line, " ");
		ac_text_add_double(&p->line, measured[c->finding], 2);
		/* Exact is what needs no tolerance. */
		if (c->finding != AC_FINDING_EXACT) {
			ac_text_add(&p->line, ", tol ");
			ac_text_add_double(&p->line, site->tol, 2);
		}
	}
	ac_text_addf(&p->line, "; %s", ac_finding_meanings[c->finding]);
	ac_page_end_line(p);
}

/* Lines below a row, of pieces that belong together. */
struct pieces {
	struct ac_page      *page;
	const struct layout *layout;
	bool                 begun;
};

static void
add_piece(const char *piece, void *context)
{
	struct pieces *pieces = context;
	struct ac_page *p = pieces->page;

	if (pieces->begun)
		ac_text_add(&p->line, ", ");
	if (pieces->begun && p->line.used + strlen(piece) >= WIDTH) {
		ac_page_end_line(p);
		pieces->begun = false;
	}
	if (!pieces->begun)
		indent(p, pieces->layout);
	ac_text_add(&p->line, piece);
	pieces->begun = true;
}

/* What verdicts rest on, of the whole run, since a look has no calls to compare
 * them with, nor what was kept; and what else is worth a word. */
static void
print_course(struct ac_page *p, const struct layout *w,
    const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const struct { uint64_t count; const char *one, *more; } rows[] = {
		{ c->demotions > 1 ? c->demotions : 0, "", "demotions" },
		{ c->retries, "retry", "retries" },
		{ c->late, "verdict late", "verdicts late" },
		{ c->captured, "call recorded into a graph",
		    "calls recorded into graphs" },
		/* The first call of each stream has nothing to go by. */
		{ c->settled > 2 && c->settled > site->recast / 100
		    ? c->settled : 0, "", "casts done twice" },
	};
	struct pieces pieces = { p, w, false };

	if (p->seconds <= 0 && site->rung != AC_RUNG_KEEP)
		ac_site_tell_basis(site, add_piece, &pieces);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char cell[CELL];
		struct ac_text t;

		if (!rows[i].count)
			continue;
		ac_text_init(&t, cell, sizeof cell);
		ac_text_addf(&t, "%llu %s", (unsigned long long)rows[i].count,
		    rows[i].count == 1 ? rows[i].one : rows[i].more);
		add_piece(cell, &pieces);
	}
	if (pieces.begun)
		ac_page_end_line(p);
}

static void
print_row(struct ac_page *p, const struct layout *w,
    const struct ac_site_total *site)
{
	char cell[CELL];
	struct ac_text t;

	ac_text_pad(&p->line, INDENT);
	for (int c = 0; c < COLUMNS; c++) {
		ac_text_init(&t, cell, sizeof cell);
		fill_cell(&t, p, site, (enum column)c);
		add_cell(p, w, (enum column)c, cell);
	}
	ac_page_end_line(p);
	print_region(p, w, site);
	print_shape(p, w, site);
	print_exceptions(p, w, site);
	print_finding(p, w, site);
	print_course(p, w, site);
}

void
ac_page_print_table(struct ac_page *p, const struct ac_report *report)
{
	const size_t rows = report->site_count < p->rows
	    ? report->site_count : p->rows;
	struct layout w;

	if (!rows)
		return;
	measure(&w, p, report, rows);
	shrink(&w);
	ac_page_end_line(p);
	ac_text_pad(&p->line, INDENT);
	for (int c = 0; c < COLUMNS; c++)
		add_cell(p, &w, (enum column)c, title(p, c));
	ac_page_end_line(p);
	for (size_t i = 0; i < rows; i++)
		print_row(p, &w, &report->sites[i]);
	if (rows < report->site_count) {
		ac_text_addf(&p->line, "  ... and %zu smaller sites; "
		    "\"autocast report --json\" lists all",
		    report->site_count - rows);
		ac_page_end_line(p);
	}
}
