/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_list.c -- the runs that are kept, a line each, and as JSON.
 * Pure but for the sink. */
#include "report/past.h"
#include "report/read/rows.h"
#include "report/write/json.h"

#include <string.h>

enum { COLUMNS = 9, TASK = 4, CELL = 32, LONGEST = 24 };

void
ac_past_summarise(struct ac_past_run *run, unsigned which,
    const struct ac_report *report)
{
	const struct ac_file_header *h;
	struct ac_report_totals t;

	memset(run, 0, sizeof *run);
	run->which = which;
	run->basis = ac_basis_names[AC_BASIS_NONE];
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
	run->basis = ac_basis_names[ac_totals_gain(&t,
	    ac_report_clock_of(report), &run->gain_us)];
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
fill_cell(struct ac_text *t, const struct ac_past_run *run, int column)
{
	switch (column) {
	case 0:
		ac_text_addf(t, "@%u", run->which);
		break;
	case 1:
		ac_start_add(t, run->start_s);
		break;
	case 2:
		add_name(t, run->program);
		break;
	case 3:
		if (run->ranks)
			ac_text_add_count(t, (uint64_t)run->ranks, "rank");
		else
			ac_text_addf(t, "%llu%s",
			    (unsigned long long)run->processes,
			    run->processes == 1 ? " process" : " processes");
		break;
	case TASK:
		add_name(t, run->task);
		break;
	case 5:
		add_name(t, run->policy);
		break;
	case 6:
		if (run->recast_share < 0)
			ac_text_add(t, "-");
		else
			ac_share_add(t, run->recast_share, 1);
		break;
	case 7:
		if (!strcmp(run->basis, ac_basis_names[AC_BASIS_NONE]))
			ac_text_add(t, "-");
		else
			ac_time_add(t, run->gain_us);
		break;
	default:
		ac_text_add(t, strcmp(run->basis,
		    ac_basis_names[AC_BASIS_PREDICTED]) && strcmp(run->basis,
		    ac_basis_names[AC_BASIS_MODELLED]) ? run->basis
		    : "estimated");
	}
}

static const struct {
	const char *title;
	bool        right;      /* numbers */
} columns[COLUMNS] = {
	{ "run", false }, { "began", false }, { "program", false },
	{ "by", false }, { "task", false }, { "policy", false },
	{ "recast", true }, { "gain", true }, { "times", false },
};

static void
add_cell(struct ac_text *line, const char *cell, size_t width, bool right)
{
	const size_t length = strlen(cell);

	if (right)
		ac_text_pad(line, line->used + width - length);
	ac_text_add(line, cell);
	if (!right)
		ac_text_pad(line, line->used + width - length);
	ac_text_add(line, "  ");
}

static void
end_line(struct ac_text *line, ac_report_sink sink, void *context)
{
	while (line->used && line->data[line->used - 1] == ' ')
		line->used--;
	ac_text_add(line, "\n");
	sink(line->data, line->used, context);
}

static void
print_run(const struct ac_past_run *run, const size_t *width,
    ac_report_sink sink, void *context)
{
	char buffer[512], cell[CELL];
	struct ac_text line, t;

	ac_text_init(&line, buffer, sizeof buffer);
	for (int c = 0; c < COLUMNS; c++) {
		ac_text_init(&t, cell, sizeof cell);
		if (!run)
			ac_text_add(&t, columns[c].title);
		else if (!c || run->is_read)
			fill_cell(&t, run, c);
		else if (c == 1)
			ac_text_add(&t, "cannot be read");
		if (width[c])
			add_cell(&line, cell, width[c], columns[c].right);
	}
	end_line(&line, sink, context);
}

void
ac_past_as_list(const struct ac_past_run *runs, size_t count,
    ac_report_sink sink, void *context)
{
	size_t width[COLUMNS];
	bool has_tasks = false;
	char cell[CELL];
	struct ac_text t;

	for (size_t i = 0; i < count; i++)
		has_tasks |= *runs[i].task != '\0';
	for (int c = 0; c < COLUMNS; c++) {
		width[c] = 0;
		if (c == TASK && !has_tasks)
			continue;
		width[c] = strlen(columns[c].title);
		for (size_t i = 0; i < count; i++) {
			ac_text_init(&t, cell, sizeof cell);
			if (runs[i].is_read || !c)
				fill_cell(&t, &runs[i], c);
			if (t.used > width[c])
				width[c] = t.used;
		}
		if (c == 1 && width[c] < strlen("cannot be read"))
			width[c] = strlen("cannot be read");
	}
	print_run(NULL, width, sink, context);
	for (size_t i = 0; i < count; i++)
		print_run(&runs[i], width, sink, context);
}

/* ---- JSON -------------------------------------------------------------- */

static void
add_run(struct ac_json *w, const struct ac_past_run *run)
{
	char start[40];
	struct ac_text t;

	ac_json_open(w, NULL, "{");
	ac_json_unsigned(w, "which", run->which);
	if (run->is_read) {
		ac_text_init(&t, start, sizeof start);
		ac_start_add_utc(&t, run->start_s);
		ac_json_string(w, "start", start);
		ac_json_string(w, "program", run->program);
		ac_json_unsigned(w, "processes", run->processes);
		ac_json_integer(w, "job_size", run->ranks);
		ac_json_string(w, "task", run->task);
		ac_json_string(w, "policy", run->policy);
		ac_json_unsigned(w, "calls", run->calls);
		ac_json_real(w, "recast_share", run->recast_share < 0 ? 0
		    : run->recast_share);
		ac_json_measured(w, "gain_us", run->gain_us);
		ac_json_string(w, "basis", run->basis);
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
