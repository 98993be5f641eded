/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/saved.c -- a run out of the JSON of its report. Nothing of it is
 * believed before it is checked; what is missing, or not what it must be,
 * refuses the file. Called by the autocast program only. */
#include "report/count/process.h"
#include "report/past.h"
#include "report/read/fields.h"
#include "report/read/read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- Sites ------------------------------------------------------------- */

static char
read_letter(struct ac_fields *r, const char *name)
{
	char letter[2] = "";

	AC_FIELD_TEXT(r, name, letter);
	if (*letter && (*letter <= ' ' || *letter == 127) && !r->wrong)
		r->wrong = name;
	return *letter;
}

static void
read_key(struct ac_fields *r, struct ac_site_key *key)
{
	key->operation = ac_field_name(r, "operation", ac_operation_names,
	    AC_OP_COUNT);
	AC_FIELD_TEXT(r, "symbol", key->symbol);
	AC_FIELD_TEXT(r, "caller", key->caller);
	key->solver = ac_field_bool(r, "solver") ? 'y' : 'n';
	key->ta = read_letter(r, "ta");
	key->tb = read_letter(r, "tb");
	AC_FIELD_TEXT(r, "type", key->type);
	AC_FIELD_TEXT(r, "asked", key->asked);
	AC_FIELD_TEXT(r, "shape", key->shape);
	key->m = (int64_t)ac_field_whole(r, "m", INT64_MAX);
	key->n = (int64_t)ac_field_whole(r, "n", INT64_MAX);
	key->k = (int64_t)ac_field_whole(r, "k", INT64_MAX);
	key->batch = (int64_t)ac_field_whole(r, "batch", INT64_MAX);
}

static void
read_region(struct ac_fields *r, struct ac_site_region *region)
{
	const struct ac_node *rungs = ac_field(r, "region_rungs",
	    AC_NODE_ARRAY);

	AC_FIELD_TEXT(r, "region", region->name);
	region->is_disabled = !ac_field_bool(r, "region_enabled");
	if (!rungs)
		return;
	AC_NODE_EACH(n, rungs) {
		uint8_t rung = 0;

		while (n->kind == AC_NODE_STRING && rung < AC_RUNG_COUNT
		    && strcmp(n->text, ac_rung_names[rung]))
			rung++;
		if (n->kind != AC_NODE_STRING || rung == AC_RUNG_COUNT
		    || region->rung_count == AC_RUNG_COUNT) {
			r->wrong = "region_rungs";
			return;
		}
		region->rung[region->rung_count++] = rung;
	}
}

static void
read_course(struct ac_fields *site, struct ac_course *c)
{
	struct ac_fields r = { ac_field(site, "course", AC_NODE_OBJECT), NULL };

	if (site->wrong)
		return;
	c->finding = (enum ac_finding)ac_field_name(&r, "finding",
	    ac_finding_names, AC_FINDING_COUNT);
#define COUNT(type, id, merge, json) \
	c->id = ac_field_whole(&r, json, (type)-1);
#define WORST(id, json) c->id = ac_field_real(&r, json, (double)INFINITY);
#define TIME(id, merge, json) c->id = ac_field_real(&r, json, 1e15);
#include "report/course.def"
	site->wrong = r.wrong;
}

static void
read_kept(struct ac_fields *site, struct ac_site_total *to)
{
	struct ac_fields r = { ac_field(site, "kept_calls", AC_NODE_OBJECT),
		NULL };
	uint64_t calls = to->recast;

	for (int i = 0; r.node && i < AC_REASON_COUNT; i++)
		if (ac_node_member(r.node, ac_reason_names[i],
		    AC_NODE_NUMBER))
			calls += to->kept[i] = ac_field_whole(&r,
			    ac_reason_names[i], UINT64_MAX);
	if (calls != to->calls && !r.wrong)
		r.wrong = "calls";
	site->wrong = site->wrong ? site->wrong : r.wrong;
}

static void
read_site(struct ac_fields *r, struct ac_site_total *to)
{
	static const char *const guards[] = { [AC_GUARD_OFF] = "off",
		[AC_GUARD_ON] = "on", [AC_GUARD_STRICT] = "strict" };

	to->id = ac_field_id(r, "id");
	AC_FIELD_TEXT(r, "name", to->name);
	read_region(r, &to->region);
	read_key(r, &to->key);
	to->rung = ac_field_name(r, "rung", ac_rung_names, AC_RUNG_COUNT);
	to->tactic = ac_field_name(r, "tactic", ac_tactic_names,
	    AC_TACTIC_COUNT);
	to->reason = ac_field_name(r, "reason", ac_reason_names,
	    AC_REASON_COUNT);
	AC_FIELD_TEXT(r, "source", to->source);
	to->line = (uint32_t)ac_field_whole(r, "line", UINT32_MAX);
	to->tol = ac_field_real(r, "tol", 1e9);
	to->guard = ac_field_name(r, "guard", guards, 3);
	to->flops = ac_field_real(r, "flops_per_call", 1e300);
	to->calls = ac_field_whole(r, "calls", UINT64_MAX);
	to->recast = ac_field_whole(r, "recast_calls", UINT64_MAX);
	to->is_fp32 = !strcmp(to->key.type, "f32")
	    || !strcmp(to->key.type, "c32");
	read_kept(r, to);
	read_course(r, &to->course);
}

/* ---- Processes --------------------------------------------------------- */

/* There may have been none. */
static void
read_scaled(struct ac_fields *process, struct ac_scaled_record *s)
{
	struct ac_fields r = { ac_node_member(process->node, "scaler",
	    AC_NODE_OBJECT), NULL };

	if (!r.node)
		return;
	s->scalers = ac_field_whole(&r, "scalers", UINT64_MAX);
	s->steps = ac_field_whole(&r, "steps", UINT64_MAX);
	s->skips = ac_field_whole(&r, "skips", UINT64_MAX);
	s->updates = ac_field_whole(&r, "updates", UINT64_MAX);
	s->overflows = ac_field_whole(&r, "overflows", UINT64_MAX);
	s->rises = ac_field_whole(&r, "growths", UINT64_MAX);
	s->falls = ac_field_whole(&r, "backoffs", UINT64_MAX);
	s->scale = ac_field_real(&r, "scale", 1e39);
	s->is_behind = ac_field_bool(&r, "is_behind");
	if (!process->wrong)
		process->wrong = r.wrong;
}

static void
read_process(struct ac_fields *r, struct ac_report *report)
{
	struct ac_file_header *h = &report->processes[report->process_count++];
	char start[40] = "";
	struct tm tm = { 0 };
	enum ac_process_end end;

	h->pid = (int32_t)ac_field_whole(r, "pid", INT32_MAX);
	AC_FIELD_TEXT(r, "start", start);
	if (!strptime(start, "%Y-%m-%dT%H:%M:%SZ", &tm) && !r->wrong)
		r->wrong = "start";
	h->start_s = (uint64_t)timegm(&tm);
	AC_FIELD_TEXT(r, "program", h->program);
	AC_FIELD_TEXT(r, "argv0", h->argv0);
	end = (enum ac_process_end)ac_field_name(r, "state",
	    ac_process_end_names, AC_END_COUNT);
	atomic_store(&h->finished, end == AC_END_FINISHED);
	/* Of another start than any process here; or nobody here knows. */
	h->process_start = UINT64_MAX;
	h->host = end >= AC_END_RUNNING ? ~ac_process_host() : 0;
	atomic_store(&h->wall_ns, (uint64_t)(1000
	    * ac_field_real(r, "wall_us", 3e14)));
	AC_FIELD_TEXT(r, "gpu", h->gpu);
	h->sm = (int32_t)ac_field_whole(r, "sm", 9999);
	AC_FIELD_TEXT(r, "library", h->library);
	h->emulated = ac_field_bool(r, "emulated");
	h->clock = ac_field_name(r, "clock", ac_clock_names, AC_CLOCK_COUNT);
	atomic_store(&h->peak_scratch_bytes, ac_field_whole(r,
	    "peak_scratch_bytes", UINT64_MAX));
	read_scaled(r, &h->scaled);
}

/* What stands once in the file is of the first process. */
static void
read_head(struct ac_fields *r, struct ac_report *report)
{
	struct ac_file_header *h = &report->processes[0];
	struct ac_fields policy = { ac_field(r, "policy", AC_NODE_OBJECT),
		NULL };
	const struct ac_node *notes = ac_field(r, "notes", AC_NODE_ARRAY);
	struct ac_text t = AC_TEXT_IN(h->notes);

	report->incomplete = ac_field_bool(r, "incomplete");
	AC_FIELD_TEXT(r, "run", h->run);
	if (r->wrong)
		return;
	AC_FIELD_TEXT(&policy, "name", h->policy);
	AC_FIELD_TEXT(&policy, "why", h->why);
	h->chosen = ac_field_bool(&policy, "chosen");
	AC_NODE_EACH(n, notes)
		if (n->kind == AC_NODE_STRING)
			ac_text_addf(&t, "%s\n", n->text);
	r->wrong = policy.wrong;
}

/* ---- All --------------------------------------------------------------- */

static size_t
count_all(const struct ac_node *array)
{
	size_t count = 0;

	AC_NODE_EACH(n, array)
		count++;
	return count;
}

static int
by_caller(const void *a, const void *b)
{
	return strcmp(((const struct ac_caller *)a)->caller,
	    ((const struct ac_caller *)b)->caller);
}

/* Reports of earlier versions have no lines. */
static void
read_caller(struct ac_fields *r, struct ac_caller *to)
{
	memset(to, 0, sizeof *to);
	AC_FIELD_TEXT(r, "function", to->function);
	if (!ac_node_member(r->node, "caller_line", AC_NODE_NUMBER))
		return;
	AC_FIELD_TEXT(r, "caller_name", to->name);
	AC_FIELD_TEXT(r, "caller_file", to->file);
	to->line = (uint32_t)ac_field_whole(r, "caller_line", UINT32_MAX);
}

static void
read_site_and_caller(struct ac_fields *r, struct ac_report *report)
{
	struct ac_site_total *to = &report->sites[report->site_count++];
	struct ac_caller *caller = &report->callers[report->caller_count];

	read_site(r, to);
	read_caller(r, caller);
	memcpy(caller->caller, to->key.caller, sizeof caller->caller);
	report->caller_count += *caller->function || *caller->name
	    || caller->line;
}

static void
read_marker(struct ac_fields *r, struct ac_report *report)
{
	struct ac_marker *to = &report->markers[report->marker_count++];

	AC_FIELD_TEXT(r, "symbol", to->symbol);
	to->calls = ac_field_whole(r, "calls", UINT64_MAX);
}

/* Nothing more once something was wrong. */
static void
read_each(struct ac_fields *r, const struct ac_node *array,
    void (*read)(struct ac_fields *one, struct ac_report *report),
    struct ac_report *report)
{
	if (r->wrong)
		return;
	AC_NODE_EACH(n, array) {
		struct ac_fields one = { n, NULL };

		read(&one, report);
		r->wrong = r->wrong ? r->wrong : one.wrong;
	}
}

/* What is written of a run without a call. */
static bool
has_nothing(const struct ac_node *nodes)
{
	const struct ac_node *processes = ac_node_member(nodes, "processes",
	    AC_NODE_ARRAY);

	return processes && !count_all(processes)
	    && !count_all(ac_node_member(nodes, "sites", AC_NODE_ARRAY));
}

static struct ac_report *
make_report(struct ac_fields *r)
{
	const struct ac_node *processes = ac_field(r, "processes",
	    AC_NODE_ARRAY),
	    *sites = ac_field(r, "sites", AC_NODE_ARRAY),
	    *markers = ac_field(r, "markers", AC_NODE_ARRAY),
	    *events = r->wrong ? NULL
	    : ac_node_member(r->node, "events", AC_NODE_ARRAY);
	struct ac_report *report = r->wrong ? NULL : calloc(1, sizeof *report);
	size_t count;

	if (!report)
		return NULL;
	count = count_all(sites) + 1;
	report->sites = calloc(count, sizeof *report->sites);
	report->callers = calloc(count, sizeof *report->callers);
	report->markers = calloc(count_all(markers) + 1,
	    sizeof *report->markers);
	report->events = calloc(events ? count_all(events) + 1 : 1,
	    sizeof *report->events);
	count = count_all(processes);
	report->processes = calloc(count + 1, sizeof *report->processes);
	if (!report->sites || !report->callers || !report->markers
	    || !report->events || !report->processes) {
		ac_report_destroy(report);
		return NULL;
	}
	read_each(r, processes, read_process, report);
	if (!r->wrong && !count)
		r->wrong = "processes";
	if (!r->wrong)
		read_head(r, report);
	read_each(r, sites, read_site_and_caller, report);
	if (report->caller_count)
		qsort(report->callers, report->caller_count,
		    sizeof *report->callers, by_caller);
	read_each(r, markers, read_marker, report);
	if (!r->wrong && events)
		report->lost_events = ac_field_whole(r, "lost_events",
		    UINT64_MAX);
	if (events)
		read_each(r, events, ac_event_from_json, report);
	return report;
}

struct ac_report *
ac_report_from_json(char *bytes, size_t count, struct ac_text *why)
{
	struct ac_node *nodes = ac_parse(bytes, count, why);
	struct ac_fields r = { nodes, NULL };
	struct ac_report *report = NULL;

	if (!nodes)
		return NULL;
	if (!ac_node_member(nodes, "version", AC_NODE_NUMBER)
	    || !ac_node_member(nodes, "sites", AC_NODE_ARRAY))
		ac_text_add(why, "it is no report of autocast");
	else if (ac_field_whole(&r, "version", UINT32_MAX) != AC_REPORT_VERSION)
		ac_text_add(why, "another version of autocast wrote it");
	else if (ac_node_member(nodes, "ranks", AC_NODE_ARRAY))
		ac_text_add(why, "it is of a job of several ranks, which "
		    "cannot be read again yet");
	else if (has_nothing(nodes))
		ac_text_add(why, "nothing was intercepted in that run");
	else
		report = make_report(&r);
	if (report && !r.wrong) {
		ac_report_arrange(report);
	} else {
		ac_report_destroy(report);
		report = NULL;
		if (r.wrong)
			ac_text_addf(why, "its \"%s\" is missing or wrong",
			    r.wrong);
		else if (!why->used)
			ac_text_add(why, strerror(ENOMEM));
	}
	free(nodes);
	return report;
}
