/* SPDX-License-Identifier: Apache-2.0 */
/* report/as_text.c -- a run as text for people: head, table, totals, foot.
 * 100 columns at most, whatever the terminal. Columns are as wide as their
 * content; when that is too much the caller gives way first, then the line.
 * Pure but for the sink. */
#include "report/read.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 100, INDENT = 2, ROWS = 100, CELL = 96 };

enum column {
	COL_ID, COL_OPERATION, COL_SIZES, COL_CALLER, COL_RUNG, COL_HOW,
	COL_LINE, COL_CALLS, COL_GFLOP, COL_SHARE, COLUMNS
};

static const struct {
	const char *title;
	bool        right;      /* numbers */
	size_t      narrowest;  /* may shrink to this; 0: not at all */
} columns[COLUMNS] = {
	[COL_ID]        = { "site",      false, 0 },
	[COL_OPERATION] = { "operation", false, 0 },
	[COL_SIZES]     = { "sizes",     true,  0 },
	[COL_CALLER]    = { "caller",    false, 12 },
	[COL_RUNG]      = { "rung",      false, 0 },
	[COL_HOW]       = { "how",       false, 0 },
	[COL_LINE]      = { "line",      false, 8 },
	[COL_CALLS]     = { "calls",     true,  0 },
	[COL_GFLOP]     = { "GFLOP",     true,  0 },
	[COL_SHARE]     = { "share",     true,  0 },
};

struct page {
	struct ac_text  line;
	char            buffer[4096];
	ac_report_sink  sink;
	void           *context;
	size_t          width[COLUMNS];
	double          flops;  /* of the whole run */
};

static void
end_line(struct page *p)
{
	while (p->line.used && p->line.data[p->line.used - 1] == ' ')
		p->line.used--;
	ac_text_add(&p->line, "\n");
	p->sink(p->line.data, p->line.used, p->context);
	ac_text_init(&p->line, p->buffer, sizeof p->buffer);
}

/* ---- Head -------------------------------------------------------------- */

static void
label(struct page *p, const char *name)
{
	ac_text_addf(&p->line, "  %s", name);
	ac_text_pad(&p->line, 11);
}

static const char *
run_state(const struct ac_report *report)
{
	bool exited = true;

	for (size_t i = 0; i < report->process_count; i++) {
		const struct ac_file_header *h = &report->processes[i];

		if (atomic_load(&h->finished))
			continue;
		exited = false;
		if (!kill(h->pid, 0) || errno != ESRCH)
			return "still running";
	}
	return exited ? "finished" : "ended without exit()";
}

static void
print_title(struct page *p, const struct ac_report *report)
{
	const struct ac_file_header *h = &report->processes[0];
	const time_t seconds = (time_t)h->start_s;
	char start[40] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		strftime(start, sizeof start, "%Y-%m-%d %H:%M:%S", &tm);
	ac_text_add(&p->line, "autocast report: ");
	ac_text_add_clean(&p->line, h->program);
	ac_text_addf(&p->line, ", %s, ", start);
	if (report->process_count == 1)
		ac_text_addf(&p->line, "process %d, ", (int)h->pid);
	else
		ac_text_addf(&p->line, "%zu processes, ",
		    report->process_count);
	ac_text_add(&p->line, run_state(report));
	end_line(p);
}

static void
print_notes(struct page *p, const char *notes)
{
	while (*notes) {
		const size_t length = strcspn(notes, "\n");
		char one[512];
		struct ac_text t;

		ac_text_init(&t, one, sizeof one);
		ac_text_add_bytes(&t, notes, length);
		if (length) {
			label(p, "note");
			ac_text_add_clean(&p->line, one);
			end_line(p);
		}
		notes += length + (notes[length] == '\n');
	}
}

static void
print_head(struct page *p, const struct ac_report *report)
{
	const struct ac_file_header *h = &report->processes[0];

	print_title(p, report);
	label(p, "policy");
	ac_text_add_clean(&p->line, *h->policy ? h->policy : "unknown");
	if (*h->why) {
		ac_text_add(&p->line, " (");
		ac_text_add_clean(&p->line, h->why);
		ac_text_add(&p->line, ")");
	}
	end_line(p);
	label(p, "gpu");
	ac_text_add_clean(&p->line, *h->gpu ? h->gpu : "unknown");
	if (h->sm)
		ac_text_addf(&p->line, " (sm_%d)", (int)h->sm);
	if (*h->library)
		ac_text_add(&p->line, ", ");
	ac_text_add_clean(&p->line, h->library);
	end_line(p);
	label(p, "times");
	ac_text_add(&p->line, h->emulated
	    ? "none: on the emulated GPU they could only be predicted, not measured"
	    : "none: this version measures no times");
	end_line(p);
	print_notes(p, h->notes);
}

/* ---- Table ------------------------------------------------------------- */

static void
fill_cell(struct ac_text *t, const struct page *p, const struct ac_site *site,
    enum column column)
{
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
		ac_text_addf(t, "%llu", (unsigned long long)site->calls);
		break;
	case COL_GFLOP:
		ac_text_add_fixed(t, flops / 1e9, flops < 1e12 ? 3 : 0);
		break;
	case COL_SHARE:
		if (site->is_fp32)
			ac_share_add(t, flops, p->flops);
		else
			ac_text_add(t, "-");
		break;
	case COLUMNS:
		break;
	}
}

static void
measure(struct page *p, const struct ac_report *report, size_t rows)
{
	char cell[CELL];
	struct ac_text t;

	for (int c = 0; c < COLUMNS; c++) {
		p->width[c] = strlen(columns[c].title);
		for (size_t i = 0; i < rows; i++) {
			ac_text_init(&t, cell, sizeof cell);
			fill_cell(&t, p, &report->sites[i], (enum column)c);
			if (t.used > p->width[c])
				p->width[c] = t.used;
		}
	}
}

static void
shrink(struct page *p)
{
	size_t total = INDENT + COLUMNS - 1;

	for (int c = 0; c < COLUMNS; c++)
		total += p->width[c];
	for (int c = 0; c < COLUMNS; c++) {
		const size_t most = p->width[c] > columns[c].narrowest
		    ? p->width[c] - columns[c].narrowest : 0;
		size_t less = total > WIDTH ? total - WIDTH : 0;

		if (!columns[c].narrowest)
			continue;
		if (less > most)
			less = most;
		p->width[c] -= less;
		total -= less;
	}
}

/* The end of a caller or of a line tells more than its beginning. */
static void
add_cell(struct page *p, enum column column, const char *cell)
{
	const size_t width = p->width[column], length = strlen(cell);
	const size_t begin = p->line.used;

	if (length > width) {
		ac_text_add(&p->line, "~");
		ac_text_add(&p->line, cell + length - width + 1);
	} else {
		if (columns[column].right)
			ac_text_pad(&p->line, begin + width - length);
		ac_text_add(&p->line, cell);
		ac_text_pad(&p->line, begin + width);
	}
	ac_text_add(&p->line, " ");
}

/* What the row cannot say: calls that went another way than decided. */
static void
print_exceptions(struct page *p, const struct ac_site *site)
{
	const char *between = ": ";

	if (site->kept[site->reason] + site->recast >= site->calls)
		return;
	ac_text_pad(&p->line, INDENT + p->width[COL_ID] + 1);
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
	end_line(p);
}

static void
print_row(struct page *p, const struct ac_site *site)
{
	char cell[CELL];
	struct ac_text t;

	ac_text_pad(&p->line, INDENT);
	for (int c = 0; c < COLUMNS; c++) {
		ac_text_init(&t, cell, sizeof cell);
		fill_cell(&t, p, site, (enum column)c);
		add_cell(p, (enum column)c, cell);
	}
	end_line(p);
	print_exceptions(p, site);
}

static void
print_table(struct page *p, const struct ac_report *report)
{
	const size_t rows = report->site_count < ROWS
	    ? report->site_count : ROWS;

	if (!rows)
		return;
	measure(p, report, rows);
	shrink(p);
	end_line(p);
	ac_text_pad(&p->line, INDENT);
	for (int c = 0; c < COLUMNS; c++)
		add_cell(p, (enum column)c, columns[c].title);
	end_line(p);
	for (size_t i = 0; i < rows; i++)
		print_row(p, &report->sites[i]);
	if (rows < report->site_count) {
		ac_text_addf(&p->line, "  ... and %zu smaller sites; "
		    "\"autocast report --json\" lists all",
		    report->site_count - rows);
		end_line(p);
	}
}

/* ---- Totals and foot --------------------------------------------------- */

static void
print_totals(struct page *p, const struct ac_report_totals *t)
{
	end_line(p);
	ac_text_add(&p->line, "FP32 GEMM work: ");
	ac_flops_add(&p->line, t->flops);
	ac_text_add(&p->line, " in ");
	ac_text_add_count(&p->line, t->calls, "call");
	ac_text_add(&p->line, " at ");
	ac_text_add_count(&p->line, t->sites, "site");
	end_line(p);
	label(p, "recast");
	ac_share_add(&p->line, t->recast_flops, t->flops);
	ac_text_add(&p->line, " of the FLOPs (");
	ac_text_add_count(&p->line, t->recast_calls, "call");
	ac_text_add(&p->line, ")");
	if (t->recast_flops > 0)
		ac_text_add(&p->line, ": ");
	ac_totals_add_rungs(&p->line, t);
	end_line(p);
	label(p, "kept");
	ac_share_add(&p->line, t->flops_by_rung[AC_RUNG_KEEP], t->flops);
	if (t->calls > t->recast_calls)
		ac_text_add(&p->line, ": ");
	ac_totals_add_reasons(&p->line, t);
	end_line(p);
	label(p, "scratch");
	ac_text_addf(&p->line, "%llu bytes of device memory at most",
	    (unsigned long long)t->peak_scratch_bytes);
	end_line(p);
}

static void
print_foot(struct page *p, const struct ac_report *report)
{
	for (size_t i = 0; i < report->marker_count; i++) {
		label(p, i ? "" : "seen");
		ac_text_add_clean(&p->line, report->markers[i].symbol);
		ac_text_add(&p->line, ": ");
		ac_text_add_count(&p->line, report->markers[i].calls, "call");
		ac_text_add(&p->line, ", passed through");
		end_line(p);
	}
	if (report->incomplete) {
		ac_text_add(&p->line, "Some sites are missing: "
		    "their statistics could not be stored.");
		end_line(p);
	}
	ac_text_add(&p->line,
	    "A graph replay is counted once, at capture.");
	end_line(p);
}

void
ac_report_as_text(const struct ac_report *report, ac_report_sink sink,
    void *context)
{
	struct page p = { .sink = sink, .context = context };
	struct ac_report_totals totals;

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	if (!report) {
		ac_text_add(&p.line, "autocast report: nothing was intercepted");
		end_line(&p);
		return;
	}
	ac_report_totals(report, &totals);
	p.flops = totals.flops;
	print_head(&p, report);
	print_table(&p, report);
	print_totals(&p, &totals);
	print_foot(&p, report);
}
