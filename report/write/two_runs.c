/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/two_runs.c -- the totals of two runs, side by side. Pure but for
 * the sink. (Whether a process still runs is looked up in /proc.) */
#include "report/read/rows.h"
#include "report/write/page.h"

/* The end of a path says more than its beginning. */
static const struct ac_page_column column = { .width = 42, .gap = 2,
	.shows_end = true };

struct run {
	const struct ac_report *report;
	const struct ac_file_header *head;
	struct ac_report_totals totals;
	enum ac_clock clock;
};

enum total {
	TOTAL_PROGRAM, TOTAL_BEGAN, TOTAL_STATE, TOTAL_POLICY, TOTAL_GPU,
	TOTAL_PROCESSES, TOTAL_SITES, TOTAL_CALLS, TOTAL_WORK, TOTAL_RECAST,
	TOTAL_GAIN, TOTAL_WALL, TOTAL_ERROR, TOTAL_DEMOTED, TOTALS
};

static const char *const labels[TOTALS] = {
	[TOTAL_PROGRAM] = "program", [TOTAL_BEGAN] = "began",
	[TOTAL_STATE] = "state", [TOTAL_POLICY] = "policy",
	[TOTAL_GPU] = "gpu", [TOTAL_PROCESSES] = "by",
	[TOTAL_SITES] = "sites", [TOTAL_CALLS] = "calls",
	[TOTAL_WORK] = "work", [TOTAL_RECAST] = "recast",
	[TOTAL_GAIN] = "gain", [TOTAL_WALL] = "wall",
	[TOTAL_ERROR] = "error", [TOTAL_DEMOTED] = "demoted",
};

static void
add_count(struct ac_text *text, uint64_t count)
{
	ac_text_addf(text, "%llu", (unsigned long long)count);
}

static void
add_gain(struct ac_text *t, const struct run *run)
{
	double gain;
	const enum ac_basis basis = ac_totals_gain(&run->totals, run->clock,
	    &gain);

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
fill_total(struct ac_text *t, const struct run *run, enum total total)
{
	const struct ac_report_totals *all = &run->totals;

	switch (total) {
	case TOTAL_PROGRAM:
		add_name(t, run->head->program);
		break;
	case TOTAL_BEGAN:
		ac_start_add(t, run->head->start_s);
		break;
	case TOTAL_STATE:
		ac_text_add(t, ac_report_state(run->report));
		break;
	case TOTAL_POLICY:
		add_name(t, run->head->policy);
		break;
	case TOTAL_GPU:
		add_name(t, run->head->gpu);
		break;
	case TOTAL_PROCESSES:
		ac_text_addf(t, all->processes == 1 ? "%llu process"
		    : "%llu processes", (unsigned long long)all->processes);
		break;
	case TOTAL_SITES:
		add_count(t, all->sites);
		break;
	case TOTAL_CALLS:
		add_count(t, all->calls);
		break;
	case TOTAL_WORK:
		ac_flops_add(t, all->flops);
		break;
	case TOTAL_RECAST:
		ac_share_add(t, all->recast_flops, all->flops);
		break;
	case TOTAL_GAIN:
		add_gain(t, run);
		break;
	case TOTAL_WALL:
		add_wall(t, all);
		break;
	case TOTAL_ERROR:
		add_error(t, all);
		break;
	case TOTAL_DEMOTED:
		ac_text_add_count(t, all->demotions, "time");
		break;
	case TOTALS:
		break;
	}
}

static void
open_run(struct run *run, const struct ac_report *report)
{
	run->report = report;
	run->head = &report->processes[0];
	run->clock = ac_report_clock_of(report);
	ac_report_totals(report, &run->totals);
}

static void
print_total(struct ac_page *p, const struct run *runs, enum total total)
{
	ac_page_label(p, labels[total]);
	for (int i = 0; i < 2; i++) {
		struct ac_text cell = AC_TEXT_OF(512);

		fill_total(&cell, &runs[i], total);
		ac_page_add_cell(p, &column, cell.data);
	}
	ac_page_end_line(p);
}

void
ac_page_print_two_runs(struct ac_page *p, const struct ac_report *then,
    const char *then_name, const struct ac_report *now, const char *now_name)
{
	struct run runs[2];

	open_run(&runs[0], then);
	open_run(&runs[1], now);
	ac_page_label(p, "");
	ac_page_add_cell(p, &column, then_name);
	ac_page_add_cell(p, &column, now_name);
	ac_page_end_line(p);
	for (int i = 0; i < TOTALS; i++)
		print_total(p, runs, (enum total)i);
}
