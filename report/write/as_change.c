/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_change.c -- one run against another as text: totals side by
 * side, then the sites that changed, two lines each. 100 columns at most. Pure
 * but for the sink. */
#include "report/past.h"
#include "report/read/change.h"
#include "report/read/rows.h"
#include "report/write/page.h"

#include <stdlib.h>
#include <string.h>

/* The end of a path says more than its beginning. */
static const struct ac_page_column run_column = { .width = 42, .gap = 2,
	.shows_end = true };

/* In the order in which fill() tells them. */
static const char *const labels[] = {
	"program", "began", "state", "policy", "gpu", "by", "sites", "calls",
	"work", "recast", "gain", "wall", "error", "demoted",
};

static void
add_gain(struct ac_text *t, const struct ac_report_totals *totals,
    enum ac_clock clock)
{
	double gain;
	const enum ac_basis basis = ac_totals_gain(totals, clock, &gain);

	if (basis == AC_BASIS_NONE) {
		ac_text_add(t, "-");
		return;
	}
	ac_text_addf(t, basis == AC_BASIS_MEASURED ? "%s, measured"
	    : "%s, estimated", AC_TIME(gain));
}

static void
add_error(struct ac_text *t, const struct ac_report_totals *totals)
{
	if (totals->worst_tol > 0)
		ac_text_addf(t, "%s of tol, at site %08x",
		    AC_RATIO(totals->worst_error / totals->worst_tol),
		    (unsigned)totals->worst_site);
	else
		ac_text_add(t, "-");
}

static void
add_wall(struct ac_text *t, const struct ac_report_totals *totals)
{
	if (totals->wall_us <= 0)
		ac_text_add(t, "-");
	else
		ac_text_addf(t, totals->wall_is_least ? "%s at least" : "%s",
		    AC_TIME(totals->wall_us));
}

static void
add_name(struct ac_text *text, const char *name)
{
	ac_text_add_clean(text, *name ? name : "unknown");
}

static void
fill(struct ac_page_row *row, const struct ac_report *report)
{
	const struct ac_file_header *head = &report->processes[0];
	struct ac_report_totals all;

	ac_report_totals(report, &all);
	row->count = 0;
	add_name(ac_page_cell(row), head->program);
	ac_start_add(ac_page_cell(row), head->start_s);
	ac_text_add(ac_page_cell(row), ac_report_state(report));
	add_name(ac_page_cell(row), head->policy);
	add_name(ac_page_cell(row), head->gpu);
	ac_text_addf(ac_page_cell(row), all.processes == 1 ? "%llu process"
	    : "%llu processes", (unsigned long long)all.processes);
	ac_text_addf(ac_page_cell(row), "%llu", (unsigned long long)all.sites);
	ac_text_addf(ac_page_cell(row), "%llu", (unsigned long long)all.calls);
	ac_flops_add(ac_page_cell(row), all.flops);
	ac_share_add(ac_page_cell(row), all.recast_flops, all.flops);
	add_gain(ac_page_cell(row), &all, ac_report_clock_of(report));
	add_wall(ac_page_cell(row), &all);
	add_error(ac_page_cell(row), &all);
	ac_text_add_count(ac_page_cell(row), all.demotions, "time");
}

static void
print_two_runs(struct ac_page *p, const struct ac_report *then,
    const char *then_name, const struct ac_report *now, const char *now_name)
{
	struct ac_page_row rows[2];

	fill(&rows[0], then);
	fill(&rows[1], now);
	ac_page_label(p, "");
	ac_page_add_cell(p, &run_column, then_name);
	ac_page_add_cell(p, &run_column, now_name);
	ac_page_end_line(p);
	for (size_t i = 0; i < rows->count; i++) {
		ac_page_label(p, labels[i]);
		ac_page_add_cell(p, &run_column, rows[0].cell[i].data);
		ac_page_add_cell(p, &run_column, rows[1].cell[i].data);
		ac_page_end_line(p);
	}
}

/* ---- Sites -------------------------------------------------------------- */

static const struct ac_page_column columns[] = {
	{ "site",                   8,  2, false, false },
	{ "what, and who calls it", 28, 2, false, false },
	{ "",                       4,  1, false, false },
	/* These are of one of the runs. */
	{ "rung",                   4,  1, false, false },
	{ "how",                    11, 1, false, false },
	{ "calls",                  8,  1, true,  false },
	{ "a call",                 8,  1, true,  false },
	{ "gain",                   8,  1, true,  false },
	{ "err/tol",                7,  1, true,  false },
};

/* What the site is in that run; nothing of one that has none of it. */
static void
print_side(struct ac_page *p, const char *id, const char *what, const char *run,
    const struct ac_site_row *row)
{
	const double us = row ? ac_site_row_time(row) : 0;
	struct ac_page_row cells = { .count = 0 };
	const char *how;

	ac_text_pad(&p->line, AC_PAGE_INDENT);
	ac_text_add(ac_page_cell(&cells), id);
	ac_text_add(ac_page_cell(&cells), what);
	ac_text_add(ac_page_cell(&cells), run);
	if (row) {
		ac_text_add(ac_page_cell(&cells),
		    ac_rung_names[ac_site_row_rung(row, &how)]);
		ac_text_add(ac_page_cell(&cells), how);
		ac_text_addf(ac_page_cell(&cells), "%llu",
		    (unsigned long long)row->calls);
		ac_text_addf(ac_page_cell(&cells), "%s%s", us > 0
		    && row->basis == AC_BASIS_PREDICTED ? "~" : "",
		    us > 0 ? AC_TIME(us) : "-");
		ac_page_fill_gain_and_error(&cells, row);
	}
	ac_page_add_row(p, columns, &cells);
	ac_page_print(p, "%s", row ? "" : "not in this run");
}

static void
print_site(struct ac_page *p, const struct ac_change_row *change,
    const struct ac_report *then, const struct ac_report *now)
{
	const struct ac_site_total *site = change->now ? change->now->rungs[0]
	    : change->then->rungs[0];
	struct ac_text id = AC_TEXT_OF(16), who = AC_TEXT_OF(96);

	ac_text_addf(&id, "%08x", (unsigned)site->id);
	print_side(p, id.data, AC_SAID(ac_site_add_what, site), "then",
	    change->then);
	ac_site_add_caller(&who, change->now ? now : then, site);
	if (*site->region.name)
		ac_text_add_cleanf(&who, " in %s", site->region.name);
	print_side(p, "", who.data, "now", change->now);
}

/* How many sites each kind of change has, the gravest first. */
static void
print_counts(struct ac_page *p, const struct ac_change_row *changes,
    size_t count)
{
	static const char *const words[AC_CHANGE_COUNT] = {
		[AC_CHANGE_RUNG] = "on another rung or kept for another reason",
		[AC_CHANGE_PRESENCE] = "in one run only",
		[AC_CHANGE_NUMBERS] = "with other times or errors",
		[AC_CHANGE_CALLS] = "called more or less often",
		[AC_CHANGE_NONE] = "as before",
	};
	size_t each[AC_CHANGE_COUNT] = { 0 }, common = count;

	for (size_t i = 0; i < count; i++)
		each[changes[i].change]++;
	common -= each[AC_CHANGE_PRESENCE];
	ac_page_end_line(p);
	for (int i = AC_CHANGE_COUNT; i-- > 0; )
		if (each[i])
			ac_page_print(p, "  %s %s", AC_COUNT(each[i], "site"),
			    words[i]);
	if (count && !common)
		ac_page_print(p, "No site is in both runs: a site is a "
		    "function, its sizes and its caller.");
}

static void
print_sites(struct ac_page *p, const struct ac_change_row *changes,
    size_t count, const struct ac_report *then, const struct ac_report *now)
{
	size_t changed = 0;

	print_counts(p, changes, count);
	while (changed < count && changes[changed].change != AC_CHANGE_NONE)
		changed++;
	if (!changed)
		return;
	ac_page_end_line(p);
	ac_page_print_titles(p, columns, sizeof columns / sizeof *columns);
	for (size_t i = 0; i < changed && i < p->rows; i++)
		print_site(p, &changes[i], then, now);
	if (changed > p->rows) {
		ac_page_print(p, "  ... and %zu sites more that changed",
		    changed - p->rows);
	}
	ac_page_print(p, "  a call: on the device; ~ estimated from the GPU's "
	    "rates, not timed");
}

bool
ac_report_is_older(const struct ac_report *a, const struct ac_report *b)
{
	const struct ac_file_header *left = &a->processes[0],
	    *right = &b->processes[0];

	return left->start_s < right->start_s || (left->start_s
	    == right->start_s && left->start_ns < right->start_ns);
}

bool
ac_report_as_change(const struct ac_report *then, const char *then_name,
    const struct ac_report *now, const char *now_name, ac_report_sink sink,
    void *context)
{
	struct ac_page p = { .sink = sink, .context = context,
		.rows = AC_PAGE_ROWS };
	struct ac_site_row *before = NULL, *after = NULL;
	struct ac_change_row *changes = NULL;
	size_t before_count, after_count, count;

	if (ac_rows_make(then, AC_SORT_WORK, &before, &before_count)
	    && ac_rows_make(now, AC_SORT_WORK, &after, &after_count))
		changes = ac_changes_make(before, before_count, after,
		    after_count, &count);
	if (changes) {
		ac_text_init(&p.line, p.buffer, sizeof p.buffer);
		ac_page_print(&p, "autocast report: then and now");
		print_two_runs(&p, then, then_name, now, now_name);
		print_sites(&p, changes, count, then, now);
	}
	free(changes);
	free(before);
	free(after);
	return changes != NULL;
}
