/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_json.c -- a run as JSON; autocast-json(5) has every field. A
 * new field may come any time, a changed meaning raises "version". Pure but for
 * the sink. */
#include "report/write/json.h"
#include "report/callers/functions.h"
#include "report/read/rows.h"

#include <stdlib.h>
#include <string.h>

static void
add_scaled(struct ac_json *w, const struct ac_scaled_record *s)
{
	if (!s->scalers)
		return;
	ac_json_open(w, "scaler", "{");
	ac_json_unsigned(w, "scalers", s->scalers);
	ac_json_unsigned(w, "steps", s->steps);
	ac_json_unsigned(w, "skips", s->skips);
	ac_json_unsigned(w, "updates", s->updates);
	ac_json_unsigned(w, "overflows", s->overflows);
	ac_json_unsigned(w, "growths", s->rises);
	ac_json_unsigned(w, "backoffs", s->falls);
	ac_json_real(w, "scale", s->scale);
	ac_json_bool(w, "is_behind", s->is_behind != 0);
	ac_json_close(w, "}");
}

static void
add_process(struct ac_json *w, const struct ac_file_header *p)
{
	bool is_least;

	ac_json_open(w, NULL, "{");
	ac_json_integer(w, "pid", p->pid);
	ac_json_start(w, "start", p->start_s);
	ac_json_string(w, "program", p->program);
	ac_json_string(w, "argv0", p->argv0);
	ac_json_word(w, "state",
	    ac_process_end_names[ac_process_end(p)]);
	ac_json_measured(w, "wall_us", ac_process_wall_us(p, &is_least));
	ac_json_string(w, "gpu", p->gpu);
	ac_json_integer(w, "sm", p->sm);
	ac_json_string(w, "library", p->library);
	ac_json_bool(w, "emulated", p->emulated != 0);
	ac_json_word(w, "clock", ac_clock_names[p->clock
	    < AC_CLOCK_COUNT ? p->clock : AC_CLOCK_NONE]);
	ac_json_unsigned(w, "peak_scratch_bytes",
	    atomic_load(&p->peak_scratch_bytes));
	add_scaled(w, &p->scaled);
	ac_json_close(w, "}");
}

static void
add_notes(struct ac_json *w, const char *notes)
{
	ac_json_open(w, "notes", "[");
	for (size_t length; *(notes += strspn(notes, "\n")); notes += length) {
		length = strcspn(notes, "\n");
		ac_json_next(w, NULL);
		ac_json_add_bytes(w, notes, length);
	}
	ac_json_close(w, "]");
}

static void
add_head(struct ac_json *w, const struct ac_report *report)
{
	const struct ac_file_header *p = &report->processes[0];

	ac_json_string(w, "program", p->program);
	ac_json_string(w, "run", p->run);
	ac_json_open(w, "policy", "{");
	ac_json_string(w, "name", p->policy);
	ac_json_string(w, "why", p->why);
	ac_json_bool(w, "chosen", p->chosen != 0);
	ac_json_close(w, "}");
	ac_json_bool(w, "emulated", p->emulated != 0);
	ac_json_word(w, "clock", ac_clock_names[ac_report_clock_of(report)]);
	add_notes(w, p->notes);
}

/* Calls of the sites whose time is known, and what they took. */
static void
add_gain(struct ac_json *w, const char *name, uint64_t calls, double keep_us,
    double recast_us)
{
	ac_json_open(w, name, "{");
	ac_json_unsigned(w, "calls", calls);
	ac_json_real(w, "keep_us", keep_us);
	ac_json_real(w, "recast_us", recast_us);
	ac_json_close(w, "}");
}

static void
add_whole(struct ac_json *w, const struct ac_report_totals *t)
{
	ac_json_open(w, "whole", "{");
	ac_json_unsigned(w, "calls", t->whole_calls);
	ac_json_unsigned(w, "known_calls", t->known_calls);
	ac_json_real(w, "before_us", t->before_us);
	ac_json_real(w, "estimated_us", t->estimated_us);
	ac_json_real(w, "now_us", t->now_us);
	ac_json_close(w, "}");
}

static void
add_course_totals(struct ac_json *w, const struct ac_report_totals *t)
{
	ac_json_unsigned(w, "samples", t->samples);
	ac_json_unsigned(w, "late", t->late);
	ac_json_unsigned(w, "demotions", t->demotions);
	ac_json_unsigned(w, "captured", t->captured);
	ac_json_unsigned(w, "plans", t->plans);
	ac_json_real(w, "plan_ms", t->plan_ms);
	ac_json_unsigned(w, "workspace_bytes", t->workspace);
	ac_json_unsigned(w, "recast_products", t->products);
	ac_json_unsigned(w, "judged", t->judged);
	ac_json_unsigned(w, "learnt_calls", t->learnt);
	ac_json_unsigned(w, "mended_lines", t->mended_lines);
	ac_json_unsigned(w, "mended_calls", t->mended_calls);
	ac_json_unsigned(w, "unread", t->unread);
	ac_json_open(w, "not_judged", "{");
	for (int i = AC_UNJUDGED_KEPT + 1; i < AC_UNJUDGED_COUNT; i++)
		if (t->unjudged[i])
			ac_json_unsigned(w, ac_unjudged_names[i],
			    t->unjudged[i]);
	ac_json_close(w, "}");
	if (t->worst_tol > 0) {
		ac_json_open(w, "worst", "{");
		ac_json_id(w, "site", t->worst_site);
		ac_json_real(w, "error", t->worst_error);
		ac_json_real(w, "line_error", t->worst_line);
		ac_json_real(w, "tol", t->worst_tol);
		ac_json_close(w, "}");
	}
	add_gain(w, "measured", t->measured_calls, t->measured_keep_us,
	    t->measured_recast_us);
	add_gain(w, "predicted", t->predicted_calls, t->predicted_keep_us,
	    t->predicted_recast_us);
	add_whole(w, t);
}

static void
add_totals(struct ac_json *w, const struct ac_report *report)
{
	struct ac_report_totals t;

	ac_report_totals(report, &t);
	ac_json_open(w, "totals", "{");
	ac_json_unsigned(w, "sites", t.sites);
	ac_json_unsigned(w, "calls", t.calls);
	ac_json_unsigned(w, "recast_calls", t.recast_calls);
	ac_json_unsigned(w, "conv_calls", t.convolutions);
	ac_json_number(w, "flops", t.flops, 0);
	ac_json_number(w, "recast_flops", t.recast_flops, 0);
	ac_json_number(w, "recast_share",
	    t.flops > 0 ? t.recast_flops / t.flops : 0, 6);
	ac_json_unsigned(w, "peak_scratch_bytes", t.peak_scratch_bytes);
	ac_json_measured(w, "wall_us", t.wall_us);
	ac_json_bool(w, "wall_is_least", t.wall_is_least);
	ac_json_open(w, "flops_by_rung", "{");
	for (int i = 0; i < AC_RUNG_COUNT; i++)
		if (t.flops_by_rung[i] > 0)
			ac_json_number(w, ac_rung_names[i], t.flops_by_rung[i],
			    0);
	ac_json_close(w, "}");
	ac_json_open(w, "kept", "{");
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		if (!t.kept_calls[i])
			continue;
		ac_json_open(w, ac_reason_names[i], "{");
		ac_json_unsigned(w, "calls", t.kept_calls[i]);
		ac_json_number(w, "flops", t.kept_flops[i], 0);
		ac_json_close(w, "}");
	}
	ac_json_close(w, "}");
	add_course_totals(w, &t);
	ac_json_close(w, "}");
}

static void
add_key(struct ac_json *w, const struct ac_report *report,
    const struct ac_site_key *key)
{
	const struct ac_caller *known = ac_report_caller(report, key->caller);
	const char ta[2] = { key->ta, '\0' }, tb[2] = { key->tb, '\0' };

	ac_json_word(w, "operation", ac_operation_names[key->operation]);
	ac_json_string(w, "symbol", key->symbol);
	ac_json_string(w, "caller", key->caller);
	ac_json_string(w, "function", known->function);
	ac_json_string(w, "caller_name", known->name);
	ac_json_string(w, "caller_file", known->file);
	ac_json_unsigned(w, "caller_line", known->line);
	ac_json_bool(w, "solver", key->solver == 'y');
	ac_json_string(w, "ta", ta);
	ac_json_string(w, "tb", tb);
	ac_json_string(w, "type", key->type);
	ac_json_string(w, "asked", key->asked);
	ac_json_string(w, "shape", key->shape);
	ac_json_integer(w, "m", key->m);
	ac_json_integer(w, "n", key->n);
	ac_json_integer(w, "k", key->k);
	ac_json_integer(w, "batch", key->batch);
}

static void
add_course(struct ac_json *w, const struct ac_course *c)
{
	ac_json_open(w, "course", "{");
	ac_json_word(w, "finding", ac_finding_names[c->finding]);
#define COUNT(type, id, merge, json) ac_json_unsigned(w, json, c->id);
#define WORST(id, json) ac_json_real(w, json, c->id);
#define TIME(id, merge, json) ac_json_measured(w, json, c->id);
#include "report/course.def"
	ac_json_close(w, "}");
}

static void
add_region(struct ac_json *w, const struct ac_site_region *region)
{
	ac_json_string(w, "region", region->name);
	ac_json_bool(w, "region_enabled", !region->is_disabled);
	ac_json_open(w, "region_rungs", "[");
	for (int i = 0; i < region->rung_count; i++)
		ac_json_word(w, NULL, ac_rung_names[region->rung[i]]);
	ac_json_close(w, "]");
}

static void
add_site(struct ac_json *w, const struct ac_report *report,
    const struct ac_site_total *site)
{
	static const char *const guards[] = { [AC_GUARD_OFF] = "off",
		[AC_GUARD_ON] = "on", [AC_GUARD_STRICT] = "strict" };

	ac_json_open(w, NULL, "{");
	ac_json_id(w, "id", site->id);
	ac_json_string(w, "name", site->name);
	add_region(w, &site->region);
	add_key(w, report, &site->key);
	ac_json_word(w, "rung", ac_rung_names[site->rung]);
	ac_json_word(w, "tactic", ac_tactic_names[site->tactic]);
	ac_json_word(w, "reason", ac_reason_names[site->reason]);
	ac_json_string(w, "source", site->source);
	ac_json_unsigned(w, "line", site->line);
	ac_json_real(w, "tol", site->tol);
	ac_json_word(w, "guard", guards[site->guard]);
	ac_json_number(w, "flops_per_call", site->flops, 0);
	ac_json_unsigned(w, "calls", site->calls);
	ac_json_unsigned(w, "recast_calls", site->recast);
	ac_json_open(w, "kept_calls", "{");
	for (int i = 0; i < AC_REASON_COUNT; i++)
		if (site->kept[i])
			ac_json_unsigned(w, ac_reason_names[i], site->kept[i]);
	ac_json_close(w, "}");
	add_course(w, &site->course);
	ac_json_word(w, "not_judged",
	    ac_unjudged_names[ac_site_unjudged(site)]);
	ac_json_ranges(w, report, site);
	ac_json_close(w, "}");
}

static void
add_row(struct ac_json *w, const struct ac_site_row *row)
{
	const struct ac_site_total *site = row->rungs[0];
	const char *how;

	ac_json_open(w, NULL, "{");
	ac_json_id(w, "id", site->id);
	ac_json_string(w, "region", site->region.name);
	ac_json_word(w, "rung", ac_rung_names[ac_site_row_rung(row, &how)]);
	ac_json_unsigned(w, "rungs", row->rung_count);
	ac_json_unsigned(w, "calls", row->calls);
	ac_json_unsigned(w, "recast_calls", row->recast);
	ac_json_number(w, "flops", row->flops, 0);
	ac_json_measured(w, "share", row->share);
	ac_json_word(w, "basis", ac_basis_names[row->basis]);
	ac_json_measured(w, "before_us", row->before_us);
	ac_json_measured(w, "after_us", row->after_us);
	ac_json_measured(w, "gain_us", row->gain_us);
	ac_json_measured(w, "keep_us", row->keep_us);
	ac_json_measured(w, "recast_us", row->recast_us);
	ac_json_real(w, "speed", row->speed);
	if (row->error >= 0)
		ac_json_real(w, "error_of_tol", row->error);
	ac_json_close(w, "}");
}

static void
add_events(struct ac_json *w, const struct ac_report *report)
{
	ac_json_unsigned(w, "lost_events", report->lost_events);
	ac_json_open(w, "events", "[");
	for (size_t i = 0; i < report->event_count; i++) {
		const struct ac_event *event = &report->events[i];

		ac_json_open(w, NULL, "{");
		ac_json_id(w, "site", event->site);
		ac_json_unsigned(w, "call", event->call);
		ac_json_word(w, "kind", ac_event_names[event->kind]);
		ac_json_word(w, "rung", ac_rung_names[event->rung]);
		ac_json_word(w, "tactic", ac_tactic_names[event->tactic]);
		ac_json_word(w, "finding", ac_finding_names[event->finding]);
		ac_json_real(w, "error", event->error);
		ac_json_real(w, "tol", event->tol);
		ac_json_close(w, "}");
	}
	ac_json_close(w, "]");
}

/* Without memory there are none. */
static void
add_rows(struct ac_json *w, const struct ac_report *report)
{
	struct ac_site_row *rows;
	size_t count;

	if (!ac_rows_make(report, AC_SORT_WORK, &rows, &count))
		return;
	ac_json_open(w, "rows", "[");
	for (size_t i = 0; i < count; i++)
		add_row(w, &rows[i]);
	ac_json_close(w, "]");
	free(rows);
}

void
ac_report_as_json(const struct ac_report *report, ac_report_sink sink,
    void *context)
{
	static const struct ac_report nothing;
	struct ac_json w;

	if (!report)
		report = &nothing;
	ac_json_begin(&w, sink, context);
	ac_json_integer(&w, "version", AC_REPORT_VERSION);
	if (report->process_count)
		add_head(&w, report);
	ac_json_bool(&w, "incomplete", report->incomplete);
	add_totals(&w, report);
	ac_json_ranks(&w, report);
	ac_json_open(&w, "processes", "[");
	for (size_t i = 0; i < report->process_count; i++)
		add_process(&w, &report->processes[i]);
	ac_json_close(&w, "]");
	ac_json_open(&w, "sites", "[");
	for (size_t i = 0; i < report->site_count; i++)
		add_site(&w, report, &report->sites[i]);
	ac_json_close(&w, "]");
	add_rows(&w, report);
	add_events(&w, report);
	ac_json_open(&w, "markers", "[");
	for (size_t i = 0; i < report->marker_count; i++) {
		ac_json_open(&w, NULL, "{");
		ac_json_string(&w, "symbol", report->markers[i].symbol);
		ac_json_unsigned(&w, "calls", report->markers[i].calls);
		ac_json_close(&w, "}");
	}
	ac_json_close(&w, "]");
	ac_json_end(&w);
}
