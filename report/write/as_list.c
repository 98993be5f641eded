/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_list.c -- the runs that are kept, a line each, and as JSON.
 * Pure but for the sink. */
#include "report/past.h"
#include "report/write/json.h"
#include "report/write/page.h"

#include <string.h>

enum { CELL = 32, LONGEST = 24 };

enum column {
	COL_RUN, COL_BEGAN, COL_PROGRAM, COL_BY, COL_TASK, COL_POLICY,
	COL_RECAST, COL_GAIN, COL_TIMES, COLUMNS
};

void
ac_past_summarise(struct ac_past_run *run, unsigned which,
    const struct ac_report *report)
{
	const struct ac_file_header *h;
	struct ac_report_totals t;

	memset(run, 0, sizeof *run);
	run->which = which;
	if (!report)
		return;
	h = &report->processes[0];
	ac_report_totals(report, &t);
	run->is_read = true;
	run->start_s = h->start_s;
	memcpy(run->program, h->program, sizeof run->program);
	memcpy(run->policy, h->policy, sizeof run->policy);
	memcpy(run->task, h->task, sizeof run->task);
	run->processes = report->process_count;
	for (size_t i = 0; i < report->process_count; i++)
		if (report->processes[i].ranks > run->ranks)
			run->ranks = report->processes[i].ranks;
	run->calls = t.calls;
	run->recast_share = t.flops > 0 ? t.recast_flops / t.flops : -1;
	run->basis = ac_totals_gain(&t, ac_report_clock_of(report),
	    &run->gain_us);
}

/* ---- Text -------------------------------------------------------------- */

/* The end of a path says more than its beginning. */
static void
add_name(struct ac_text *text, const char *name)
{
	const size_t length = strlen(name);

	if (length > LONGEST)
		ac_text_add(text, "<");
	ac_text_add_clean(text, length > LONGEST ? name + length - LONGEST + 1
	    : *name ? name : "-");
}

static void
fill_cell(struct ac_text *t, const struct ac_past_run *run, enum column column)
{
	if (!run->is_read && column != COL_RUN) {
		ac_text_add(t, column == COL_BEGAN ? "cannot be read" : "");
		return;
	}
	switch (column) {
	case COL_RUN:
		ac_text_addf(t, "@%u", run->which);
		break;
	case COL_BEGAN:
		ac_start_add(t, run->start_s);
		break;
	case COL_PROGRAM:
		add_name(t, run->program);
		break;
	case COL_BY:
		if (run->ranks)
			ac_text_add_count(t, (uint64_t)run->ranks, "rank");
		else
			ac_text_addf(t, "%llu%s",
			    (unsigned long long)run->processes,
			    run->processes == 1 ? " process" : " processes");
		break;
	case COL_TASK:
		add_name(t, run->task);
		break;
	case COL_POLICY:
		add_name(t, run->policy);
		break;
	case COL_RECAST:
		if (run->recast_share < 0)
			ac_text_add(t, "-");
		else
			ac_share_add(t, run->recast_share, 1);
		break;
	case COL_GAIN:
		if (run->basis == AC_BASIS_NONE)
			ac_text_add(t, "-");
		else
			ac_time_add(t, run->gain_us);
		break;
	case COL_TIMES:
		ac_text_add(t, run->basis == AC_BASIS_PREDICTED
		    || run->basis == AC_BASIS_MODELLED ? "estimated"
		    : ac_basis_names[run->basis]);
		break;
	case COLUMNS:
		break;
	}
}

/* As wide as their content; without a task there is no column of them. */
static void
measure(struct ac_page_column columns[COLUMNS],
    const struct ac_past_run *runs, size_t count)
{
	bool has_tasks = false;

	for (size_t i = 0; i < count; i++)
		has_tasks |= *runs[i].task != '\0';
	for (int c = 0; c < COLUMNS; c++) {
		columns[c].width = strlen(columns[c].title);
		for (size_t i = 0; i < count; i++) {
			struct ac_text cell = AC_TEXT_OF(CELL);

			fill_cell(&cell, &runs[i], (enum column)c);
			if (cell.used > columns[c].width)
				columns[c].width = cell.used;
		}
	}
	if (!has_tasks)
		columns[COL_TASK].width = 0;
}

/* The titles where `run` is NULL. */
static void
print_run(struct ac_page *p, const struct ac_page_column columns[COLUMNS],
    const struct ac_past_run *run)
{
	for (int c = 0; c < COLUMNS; c++) {
		struct ac_text cell = AC_TEXT_OF(CELL);

		if (run)
			fill_cell(&cell, run, (enum column)c);
		else
			ac_text_add(&cell, columns[c].title);
		ac_page_add_cell(p, &columns[c], cell.data);
	}
	ac_page_end_line(p);
}

void
ac_past_as_list(const struct ac_past_run *runs, size_t count,
    ac_report_sink sink, void *context)
{
	struct ac_page_column columns[COLUMNS] = {
		[COL_RUN]     = { .title = "run", .gap = 2 },
		[COL_BEGAN]   = { .title = "began", .gap = 2 },
		[COL_PROGRAM] = { .title = "program", .gap = 2 },
		[COL_BY]      = { .title = "by", .gap = 2 },
		[COL_TASK]    = { .title = "task", .gap = 2 },
		[COL_POLICY]  = { .title = "policy", .gap = 2 },
		[COL_RECAST]  = { .title = "recast", .gap = 2, .right = true },
		[COL_GAIN]    = { .title = "gain", .gap = 2, .right = true },
		[COL_TIMES]   = { .title = "times", .gap = 2 },
	};
	struct ac_page p = { .sink = sink, .context = context };

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	measure(columns, runs, count);
	print_run(&p, columns, NULL);
	for (size_t i = 0; i < count; i++)
		print_run(&p, columns, &runs[i]);
}

/* ---- JSON -------------------------------------------------------------- */

static void
add_run(struct ac_json *w, const struct ac_past_run *run)
{
	ac_json_open(w, NULL, "{");
	ac_json_unsigned(w, "which", run->which);
	if (run->is_read) {
		ac_json_start(w, "start", run->start_s);
		ac_json_string(w, "program", run->program);
		ac_json_unsigned(w, "processes", run->processes);
		ac_json_integer(w, "job_size", run->ranks);
		ac_json_string(w, "task", run->task);
		ac_json_string(w, "policy", run->policy);
		ac_json_unsigned(w, "calls", run->calls);
		ac_json_real(w, "recast_share", run->recast_share < 0 ? 0
		    : run->recast_share);
		ac_json_measured(w, "gain_us", run->gain_us);
		ac_json_string(w, "basis", ac_basis_names[run->basis]);
	}
	ac_json_close(w, "}");
}

void
ac_past_as_json(const struct ac_past_run *runs, size_t count,
    ac_report_sink sink, void *context)
{
	struct ac_json w;

	ac_json_begin(&w, sink, context);
	ac_json_integer(&w, "version", AC_REPORT_VERSION);
	ac_json_open(&w, "runs", "[");
	for (size_t i = 0; i < count; i++)
		add_run(&w, &runs[i]);
	ac_json_close(&w, "]");
	ac_json_end(&w);
}
