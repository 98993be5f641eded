/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/two_runs.c -- the totals of two runs, side by side. Pure but for
 * the sink. (Whether a process still runs is looked up in /proc.) */
#include "report/read/rows.h"
#include "report/write/page.h"

/* The end of a path says more than its beginning. */
static const struct ac_page_column column = { .width = 42, .gap = 2,
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

void
ac_page_print_two_runs(struct ac_page *p, const struct ac_report *then,
    const char *then_name, const struct ac_report *now, const char *now_name)
{
	struct ac_page_row rows[2];

	fill(&rows[0], then);
	fill(&rows[1], now);
	ac_page_label(p, "");
	ac_page_add_cell(p, &column, then_name);
	ac_page_add_cell(p, &column, now_name);
	ac_page_end_line(p);
	for (size_t i = 0; i < rows->count; i++) {
		ac_page_label(p, labels[i]);
		ac_page_add_cell(p, &column, rows[0].cell[i].data);
		ac_page_add_cell(p, &column, rows[1].cell[i].data);
		ac_page_end_line(p);
	}
}
