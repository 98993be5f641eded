/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_list.c -- the runs that are kept, a line each, and as JSON.
 * Pure but for the sink. */
#include "report/past.h"
#include "report/write/json.h"
#include "report/write/page.h"

#include <string.h>

enum { LONGEST = 24 };

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
fill_row(struct ac_page_row *row, const struct ac_past_run *run)
{
	row->count = 0;
	ac_text_addf(ac_page_cell(row), "@%u", run->which);
	if (!run->is_read) {
		ac_text_add(ac_page_cell(row), "cannot be read");
		return;
	}
	ac_start_add(ac_page_cell(row), run->start_s);
	add_name(ac_page_cell(row), run->program);
	if (run->ranks)
		ac_text_add_count(ac_page_cell(row), (uint64_t)run->ranks,
		    "rank");
	else
		ac_text_addf(ac_page_cell(row), run->processes == 1
		    ? "%llu process" : "%llu processes",
		    (unsigned long long)run->processes);
	add_name(ac_page_cell(row), run->task);
	add_name(ac_page_cell(row), run->policy);
	ac_text_add(ac_page_cell(row), run->recast_share < 0 ? "-"
	    : AC_SHARE(run->recast_share, 1));
	ac_text_add(ac_page_cell(row), run->basis == AC_BASIS_NONE ? "-"
	    : AC_TIME(run->gain_us));
	ac_text_add(ac_page_cell(row), run->basis == AC_BASIS_PREDICTED
	    || run->basis == AC_BASIS_MODELLED ? "estimated"
	    : ac_basis_names[run->basis]);
}

/* Columns are as wide as their content. */
void
ac_past_as_list(const struct ac_past_run *runs, size_t count,
    ac_report_sink sink, void *context)
{
	enum { TASK = 4, COLUMNS = 9 };
	struct ac_page_column columns[COLUMNS] = {
		{ "run", 3, 2, false, false },
		{ "began", 5, 2, false, false },
		{ "program", 7, 2, false, false },
		{ "by", 2, 2, false, false },
		{ "task", 0, 2, false, false },
		{ "policy", 6, 2, false, false },
		{ "recast", 6, 2, true, false },
		{ "gain", 4, 2, true, false },
		{ "times", 5, 2, false, false },
	};
	struct ac_page p = { .sink = sink, .context = context };
	struct ac_page_row row;

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	for (size_t i = 0; i < count; i++)
		if (*runs[i].task)
			columns[TASK].width = strlen(columns[TASK].title);
	for (size_t i = 0; i < count; i++) {
		fill_row(&row, &runs[i]);
		ac_page_widen(columns, &row);
	}
	for (int c = 0; c < COLUMNS; c++)
		ac_page_add_cell(&p, &columns[c], columns[c].title);
	ac_page_end_line(&p);
	for (size_t i = 0; i < count; i++) {
		fill_row(&row, &runs[i]);
		ac_page_add_row(&p, columns, &row);
		ac_page_end_line(&p);
	}
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
