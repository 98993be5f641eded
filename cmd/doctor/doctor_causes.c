/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/doctor/doctor_causes.c -- from facts to findings: a table of causes, the
 * gravest first. The first problem's command is the one to type. Pure. */
#include "cmd/doctor/doctor.h"

#include <string.h>

/* ---- Reached, but nothing came of it ----------------------------------- */

static enum ac_doctor_mark
find_bad_policy(const struct ac_diagnosis *d)
{
	const struct ac_doctor_facts *facts = d->facts;
	const char *policy = facts->launch->chosen.policy;

	if (!facts->policy_is_bad && !facts->work.policy_is_bad)
		return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, "the policy has errors, so recasting is off");
	if (policy && !strstr(policy, "->")) {
		ac_quotef(d->fix, "%s policy check %s", facts->autocast,
		    policy);
		return AC_DOCTOR_PROBLEM;
	}
	ac_quotef(d->fix, "%s run", facts->autocast);
	ac_launch_add_options(d->fix, facts->launch);
	ac_text_add(d->fix, " -- true");
	return AC_DOCTOR_PROBLEM;
}

static enum ac_doctor_mark
find_no_call(const struct ac_diagnosis *d)
{
	if (!d->has_vendor || d->was_reached ||
	    d->has_problem)
		return AC_DOCTOR_NOTHING;
	ac_text_add(d->text, "NVIDIA libraries are loaded, but no function "
	    "that autocast knows was called");
	ac_quotef(d->fix, "%s explain --functions", d->facts->autocast);
	return AC_DOCTOR_PROBLEM;
}

static enum ac_doctor_mark
find_only_passed(const struct ac_diagnosis *d)
{
	const struct ac_doctor_work *work = &d->facts->work;

	if (work->calls || !work->passed)
		return AC_DOCTOR_NOTHING;
	ac_text_addf(d->text, "%s reached functions that are counted and "
	    "passed on; none of them is recast in this version",
	    AC_COUNT(work->passed, "call"));
	ac_quotef(d->fix, "%s report", d->facts->autocast);
	return AC_DOCTOR_PROBLEM;
}

/* ---- The table --------------------------------------------------------- */

static const struct cause {
	const char *name;
	int         status;      /* what it means when it is a problem */
	ac_cause   *find;        /* NULL: the calls that were kept, by reason */
} causes[] = {
	{ "not-runnable",    AC_DOCTOR_UNKNOWN,   ac_find_not_runnable },
	{ "rights",          AC_DOCTOR_UNREACHED, ac_find_rights },
	{ "other-machine",   AC_DOCTOR_UNREACHED, ac_find_foreign },
	{ "static-cublas",   AC_DOCTOR_UNREACHED, ac_find_static_cublas },
	{ "static-runtime",  AC_DOCTOR_UNREACHED, ac_find_static_runtime },
	{ "static-program",  AC_DOCTOR_UNREACHED, ac_find_static },
	{ "no-library",      AC_DOCTOR_UNREACHED, ac_find_no_library },
	{ "not-preloaded",   AC_DOCTOR_UNREACHED, ac_find_not_preloaded },
	{ "namespace",       AC_DOCTOR_UNREACHED, ac_find_namespace },
	{ "foreign-dlsym",   AC_DOCTOR_UNREACHED, ac_find_foreign_dlsym },
	{ "interposer",      AC_DOCTOR_UNREACHED, ac_find_interposer },
	{ "deepbind",        AC_DOCTOR_UNREACHED, ac_find_deepbind },
	{ "too-many",        AC_DOCTOR_UNREACHED, ac_find_slots },
	{ "emulator-hidden", AC_DOCTOR_UNREACHED, ac_find_emulator_hidden },
	{ "no-record",       AC_DOCTOR_UNKNOWN,   ac_find_lost_record },
	{ "refused",         AC_DOCTOR_UNREACHED, ac_find_refused },
	{ "no-driver",       AC_DOCTOR_UNREACHED, ac_find_no_driver },
	{ "nothing-loaded",  AC_DOCTOR_UNREACHED, ac_find_nothing_loaded },
	{ "no-call",         AC_DOCTOR_UNREACHED, find_no_call },
	{ "bad-policy",      AC_DOCTOR_KEPT,      find_bad_policy },
	{ "passed-through",  AC_DOCTOR_KEPT,      find_only_passed },
	{ "kept",            AC_DOCTOR_KEPT,      NULL },
	{ "ended",           AC_DOCTOR_WELL,      ac_find_failed },
};

/* Findings grow; the command comes from the first problem, else from the first
 * note that has one. */
struct chart {
	struct ac_doctor_findings *findings;
	struct ac_text fix;      /* of the cause at hand */
	bool fix_is_final;
};

static struct ac_text
text_of_next(struct chart *chart)
{
	struct ac_doctor_finding *finding =
	    &chart->findings->found[chart->findings->count];

	ac_text_init(&chart->fix, chart->fix.data, chart->fix.size);
	return AC_TEXT_IN(finding->text);
}

static void
conclude(struct chart *chart, const char *cause, int status,
    enum ac_doctor_mark mark)
{
	struct ac_doctor_findings *findings = chart->findings;
	const bool has_room = findings->count < AC_DOCTOR_FINDINGS - 1;
	const bool is_problem = mark == AC_DOCTOR_PROBLEM;

	findings->found[findings->count].cause = cause;
	findings->found[findings->count].mark = mark;
	findings->count += has_room;
	if (is_problem && status > findings->status)
		findings->status = status;
	/* Half a command is worse than none. */
	if (chart->fix_is_final || !chart->fix.used || chart->fix.truncated ||
	    (!is_problem && *findings->fix))
		return;
	memcpy(findings->fix, chart->fix.data, chart->fix.used + 1);
	chart->fix_is_final = is_problem;
}

/* ---- The parts --------------------------------------------------------- */

/* The reasons that kept calls, the one of most calls first. */
static void
diagnose_kept(const struct ac_diagnosis *diagnosis, const struct cause *cause,
    struct chart *chart)
{
	const struct ac_doctor_work *work = &diagnosis->facts->work;
	bool done[AC_REASON_COUNT] = { false };

	for (;;) {
		struct ac_text text;
		int most = 0;

		for (int r = 1; r < AC_REASON_COUNT; r++)
			if (!done[r] && work->kept[r] &&
			    (!most || work->kept[r] > work->kept[most]))
				most = r;
		if (!most)
			return;
		done[most] = true;
		text = text_of_next(chart);
		ac_doctor_explain_kept(diagnosis->facts, (enum ac_reason)most,
		    &text, &chart->fix);
		if (work->recast)
			chart->fix.used = 0;
		else if (chart->findings->status < cause->status)
			chart->findings->status = cause->status;
		conclude(chart, cause->name, cause->status, work->recast ||
		    ac_doctor_is_needless(work, (enum ac_reason)most)
		    ? AC_DOCTOR_NOTE : AC_DOCTOR_PROBLEM);
	}
}

static const char *
path_of(const struct ac_doctor_facts *facts, int vendor)
{
	for (size_t i = 0; i < facts->process_count; i++)
		if (facts->processes[i].loaded[vendor])
			return facts->processes[i].loaded[vendor];
	return NULL;
}

static void
diagnose_vendor(const struct ac_diagnosis *diagnosis, int v,
    struct chart *chart)
{
	const struct ac_doctor_work *work = &diagnosis->facts->work;
	const char *path = path_of(diagnosis->facts, v);
	const uint64_t calls = work->vendor_calls[v];
	struct ac_text text;

	if (!path && !calls && !work->vendor_passed[v])
		return;
	text = text_of_next(chart);
	ac_text_add(&text, ac_vendor_names[v]);
	if (path)
		ac_text_add_cleanf(&text, " from %s", path);
	ac_text_add(&text, ": ");
	if (!calls && !work->vendor_passed[v])
		ac_text_add(&text, "no call of the program was seen");
	if (calls)
		ac_text_addf(&text, "%s, %llu recast", AC_COUNT(calls,
		    "product"), (unsigned long long)work->vendor_recast[v]);
	if (work->vendor_recast[v])
		ac_text_addf(&text, " (%s)", work->rungs);
	if (work->vendor_passed[v])
		ac_text_addf(&text, "%s%s counted and passed on", calls ? "; "
		    : "", AC_COUNT(work->vendor_passed[v], "other call"));
	conclude(chart, ac_vendor_names[v], 0, calls || work->vendor_passed[v]
	    ? AC_DOCTOR_OK : AC_DOCTOR_NOTE);
}

/* The libraries that are nowhere, in one line. */
static void
diagnose_absent(const struct ac_diagnosis *diagnosis, struct chart *chart)
{
	const struct ac_doctor_work *work = &diagnosis->facts->work;
	struct ac_text text = text_of_next(chart);

	if (!diagnosis->has_vendor && !diagnosis->was_reached)
		return;
	for (int v = 0; v < AC_VENDORS; v++)
		if (!path_of(diagnosis->facts, v) && !work->vendor_calls[v] &&
		    !work->vendor_passed[v])
			ac_text_addf(&text, "%s%s", text.used ? ", "
			    : "never loaded: ", ac_vendor_names[v]);
	if (text.used)
		conclude(chart, "absent", 0, AC_DOCTOR_NOTE);
}

void
ac_doctor_diagnose(const struct ac_doctor_facts *facts,
    struct ac_doctor_findings *findings_out)
{
	struct chart chart = { .findings = findings_out,
	    .fix = AC_TEXT_OF(AC_DOCTOR_FIX) };
	struct ac_diagnosis diagnosis = { .facts = facts,
	    .was_reached = facts->work.calls || facts->work.passed,
	    .fix = &chart.fix };
	struct ac_text fix;

	memset(findings_out, 0, sizeof *findings_out);
	for (size_t i = 0; i < facts->process_count; i++)
		diagnosis.has_vendor |=
		    ac_doctor_has_vendor(&facts->processes[i]);
	for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
		struct ac_text text = text_of_next(&chart);
		enum ac_doctor_mark mark;

		diagnosis.text = &text;
		if (!causes[i].find) {
			diagnose_kept(&diagnosis, &causes[i], &chart);
			continue;
		}
		mark = causes[i].find(&diagnosis);
		if (mark != AC_DOCTOR_NOTHING)
			conclude(&chart, causes[i].name, causes[i].status,
			    mark);
		diagnosis.has_problem |= mark == AC_DOCTOR_PROBLEM;
	}
	for (int v = 0; v < AC_VENDORS; v++)
		diagnose_vendor(&diagnosis, v, &chart);
	diagnose_absent(&diagnosis, &chart);
	if (*findings_out->fix)
		return;
	fix = AC_TEXT_IN(findings_out->fix);
	ac_quotef(&fix, "%s report", facts->autocast);
}
