/* SPDX-License-Identifier: Apache-2.0 */
/* report/as_json.c -- a run as JSON; autocast(1) documents every field.
 * Always valid JSON, whatever bytes the program's name or file holds: control
 * characters (C1 ones too) are escaped, malformed UTF-8 becomes U+FFFD. A new field may come
 * any time, a changed meaning raises "version". Pure but for the sink. */
#include "report/process.h"
#include "report/read.h"

#include <string.h>
#include <time.h>

enum { LOW_WATER = 512 };       /* no single item below is longer */

struct writer {
	struct ac_text  text;
	char            buffer[4096];
	ac_report_sink  sink;
	void           *context;
	unsigned        depth;
	bool            first;          /* nothing in this container yet */
};

/* ---- Items ------------------------------------------------------------- */

static void
flush(struct writer *w)
{
	w->sink(w->text.data, w->text.used, w->context);
	ac_text_init(&w->text, w->buffer, sizeof w->buffer);
}

static void
room(struct writer *w)
{
	if (w->text.size - w->text.used < LOW_WATER)
		flush(w);
}

static void
string(struct writer *w, const char *s, size_t count)
{
	const char *end = s + count;

	ac_text_add(&w->text, "\"");
	while (s < end) {
		const unsigned char c = (unsigned char)*s;
		size_t length = ac_text_sequence(s);

		room(w);
		if (length > (size_t)(end - s))
			length = 0;
		if (c == '"' || c == '\\')
			ac_text_addf(&w->text, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			ac_text_addf(&w->text, "\\u%04x", c);
		else if (c == 0xc2 && length && (unsigned char)s[1] < 0xa0)
			ac_text_addf(&w->text, "\\u00%02x", (unsigned char)s[1]);
		else if (length)
			ac_text_add_bytes(&w->text, s, length);
		else
			ac_text_add(&w->text, "\\ufffd");
		s += length ? length : 1;
	}
	ac_text_add(&w->text, "\"");
}

/* Begin the next element, with its name inside an object. */
static void
next(struct writer *w, const char *name)
{
	room(w);
	ac_text_add(&w->text, w->first ? "\n" : ",\n");
	for (unsigned i = 0; i < w->depth; i++)
		ac_text_add(&w->text, "  ");
	if (name)
		ac_text_addf(&w->text, "\"%s\": ", name);
	w->first = false;
}

static void
open_container(struct writer *w, const char *name, const char *bracket)
{
	next(w, name);
	ac_text_add(&w->text, bracket);
	w->depth++;
	w->first = true;
}

static void
close_container(struct writer *w, const char *bracket)
{
	w->depth--;
	if (!w->first) {
		w->first = true;
		next(w, NULL);
	}
	ac_text_add(&w->text, bracket);
	w->first = false;
}

static void
add_string(struct writer *w, const char *name, const char *value)
{
	next(w, name);
	string(w, value, strlen(value));
}

static void
add_integer(struct writer *w, const char *name, long long value)
{
	next(w, name);
	ac_text_addf(&w->text, "%lld", value);
}

static void
add_unsigned(struct writer *w, const char *name, uint64_t value)
{
	next(w, name);
	ac_text_addf(&w->text, "%llu", (unsigned long long)value);
}

static void
add_number(struct writer *w, const char *name, double value, int decimals)
{
	next(w, name);
	ac_text_add_fixed(&w->text, value, decimals);
}

static void
add_bool(struct writer *w, const char *name, bool value)
{
	next(w, name);
	ac_text_add(&w->text, value ? "true" : "false");
}

/* ---- Parts of the report ----------------------------------------------- */

/* finished: exit() was reached. ended: it was not (_exit, exec, a signal);
 * the numbers are complete all the same. */
static const char *
process_state(const struct ac_file_header *p)
{
	if (atomic_load(&p->finished))
		return "finished";
	return ac_process_runs(p) ? "running" : "ended";
}

static void
add_process(struct writer *w, const struct ac_file_header *p)
{
	const time_t seconds = (time_t)p->start_s;
	char start[40] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &tm);
	open_container(w, NULL, "{");
	add_integer(w, "pid", p->pid);
	add_string(w, "start", start);
	add_string(w, "program", p->program);
	add_string(w, "argv0", p->argv0);
	add_string(w, "state", process_state(p));
	add_string(w, "gpu", p->gpu);
	add_integer(w, "sm", p->sm);
	add_string(w, "library", p->library);
	add_unsigned(w, "peak_scratch_bytes",
	    atomic_load(&p->peak_scratch_bytes));
	close_container(w, "}");
}

static void
add_notes(struct writer *w, const char *notes)
{
	open_container(w, "notes", "[");
	while (*notes) {
		const size_t length = strcspn(notes, "\n");

		if (length) {
			next(w, NULL);
			string(w, notes, length);
		}
		notes += length + (notes[length] == '\n');
	}
	close_container(w, "]");
}

static void
add_head(struct writer *w, const struct ac_report *report)
{
	const struct ac_file_header *p = &report->processes[0];

	add_string(w, "program", p->program);
	add_string(w, "run", p->run);
	open_container(w, "policy", "{");
	add_string(w, "name", p->policy);
	add_string(w, "why", p->why);
	add_bool(w, "chosen", p->chosen != 0);
	close_container(w, "}");
	add_bool(w, "emulated", p->emulated != 0);
	add_notes(w, p->notes);
}

static void
add_totals(struct writer *w, const struct ac_report *report)
{
	struct ac_report_totals t;

	ac_report_totals(report, &t);
	open_container(w, "totals", "{");
	add_unsigned(w, "calls", t.calls);
	add_unsigned(w, "recast_calls", t.recast_calls);
	add_number(w, "flops", t.flops, 0);
	add_number(w, "recast_flops", t.recast_flops, 0);
	add_number(w, "recast_share",
	    t.flops > 0 ? t.recast_flops / t.flops : 0, 6);
	add_unsigned(w, "peak_scratch_bytes", t.peak_scratch_bytes);
	open_container(w, "flops_by_rung", "{");
	for (int i = 0; i < AC_RUNG_COUNT; i++)
		if (t.flops_by_rung[i] > 0)
			add_number(w, ac_rung_names[i], t.flops_by_rung[i], 0);
	close_container(w, "}");
	open_container(w, "kept", "{");
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		if (!t.kept_calls[i])
			continue;
		open_container(w, ac_reason_names[i], "{");
		add_unsigned(w, "calls", t.kept_calls[i]);
		add_number(w, "flops", t.kept_flops[i], 0);
		close_container(w, "}");
	}
	close_container(w, "}");
	close_container(w, "}");
}

static void
add_key(struct writer *w, const struct ac_site_key *key)
{
	const char ta[2] = { key->ta, '\0' }, tb[2] = { key->tb, '\0' };

	add_string(w, "operation", ac_operation_names[key->operation]);
	add_string(w, "symbol", key->symbol);
	add_string(w, "caller", key->caller);
	add_bool(w, "solver", key->solver == 'y');
	add_string(w, "ta", ta);
	add_string(w, "tb", tb);
	add_string(w, "type", key->type);
	add_string(w, "asked", key->asked);
	add_integer(w, "m", key->m);
	add_integer(w, "n", key->n);
	add_integer(w, "k", key->k);
	add_integer(w, "batch", key->batch);
}

static void
add_site(struct writer *w, const struct ac_site *site)
{
	char id[9];
	struct ac_text t;

	ac_text_init(&t, id, sizeof id);
	ac_text_addf(&t, "%08x", (unsigned)site->id);
	open_container(w, NULL, "{");
	add_string(w, "id", id);
	add_string(w, "name", site->name);
	add_key(w, &site->key);
	add_string(w, "rung", ac_rung_names[site->rung]);
	add_string(w, "tactic", ac_tactic_names[site->tactic]);
	add_string(w, "reason", ac_reason_names[site->reason]);
	add_string(w, "source", site->source);
	add_unsigned(w, "line", site->line);
	add_number(w, "flops_per_call", site->flops, 0);
	add_unsigned(w, "calls", site->calls);
	add_unsigned(w, "recast_calls", site->recast);
	open_container(w, "kept_calls", "{");
	for (int i = 0; i < AC_REASON_COUNT; i++)
		if (site->kept[i])
			add_unsigned(w, ac_reason_names[i], site->kept[i]);
	close_container(w, "}");
	close_container(w, "}");
}

void
ac_report_as_json(const struct ac_report *report, ac_report_sink sink,
    void *context)
{
	static const struct ac_report nothing;
	struct writer w = { .sink = sink, .context = context, .first = true };

	if (!report)
		report = &nothing;
	ac_text_init(&w.text, w.buffer, sizeof w.buffer);
	ac_text_add(&w.text, "{");
	w.depth = 1;
	add_integer(&w, "version", AC_REPORT_VERSION);
	if (report->process_count)
		add_head(&w, report);
	add_bool(&w, "incomplete", report->incomplete);
	add_totals(&w, report);
	open_container(&w, "processes", "[");
	for (size_t i = 0; i < report->process_count; i++)
		add_process(&w, &report->processes[i]);
	close_container(&w, "]");
	open_container(&w, "sites", "[");
	for (size_t i = 0; i < report->site_count; i++)
		add_site(&w, &report->sites[i]);
	close_container(&w, "]");
	open_container(&w, "markers", "[");
	for (size_t i = 0; i < report->marker_count; i++) {
		open_container(&w, NULL, "{");
		add_string(&w, "symbol", report->markers[i].symbol);
		add_unsigned(&w, "calls", report->markers[i].calls);
		close_container(&w, "}");
	}
	close_container(&w, "]");
	close_container(&w, "}");
	ac_text_add(&w.text, "\n");
	flush(&w);
}
