/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_tell.c -- what `tune` says of what it found, and where it found
 * nothing. On stderr: the policy may go to the standard output. */
#include "cmd/tune/tune.h"
#include "cmd/gpu/gpu.h"
#include "report/write/json.h"

enum { COMMAND_BYTES = 8192 };

/* Ends with the command to type next. Without a driver nothing could be
 * seen. */
int
ac_tune_say_unseen(struct ac_tune *t)
{
	const bool is_here = t->launch.emulate || ac_gpu_has_driver();
	struct ac_text text = AC_TEXT_OF(COMMAND_BYTES);

	t->launch.emulate |= !is_here && ac_where_emulator();
	if (!is_here && t->launch.emulate)
		ac_tune_add_command(&text, t);
	else
		ac_launch_add_command(&text, "doctor", &t->launch,
		    t->arguments);
	return ac_say(AC_TUNE_RUN_FAILED, "tune: the program made no product "
	    "that could be seen%s; type: %s", is_here ? "" : ", and there is "
	    "no NVIDIA driver here", text.data);
}

int
ac_tune_say_nothing(const struct ac_tune *t)
{
	const struct ac_tune_site *site = t->plan.sites;

	if (!t->plan.count)
		return ac_say(AC_TUNE_NOTHING, "tune: nothing to tune: the "
		    "program made no product");
	return ac_say(AC_TUNE_NOTHING, "tune: nothing to tune: no rung is both "
	    "faster and accurate enough anywhere; the largest site is %s, %s "
	    "of the work", AC_SAID(ac_site_add_what, site->row->rungs[0]),
	    AC_SHARE(site->row->share, 1));
}

/* What was measured. */
static const char *
measured(const struct ac_tune_plan *plan)
{
	static const char *const names[] = { "products", "products",
		"convolutions", "products and convolutions" };
	unsigned seen = 0;

	for (size_t i = 0; i < plan->count; i++)
		if (plan->sites[i].keep_us > 0)
			seen |= ac_operation_is_conv(
			    plan->rows[i].rungs[0]->key.operation) ? 2 : 1;
	return names[seen];
}

/* What the program's own answer was. */
static void
add_answer(struct ac_text *text, const struct ac_tune *t)
{
	if (t->check) {
		ac_text_add(text, "; the check passes");
	} else if (!(t->within > 0)) {
		ac_text_add(text, "; what the program makes of it was not "
		    "asked: --check or --within does");
	} else {
		ac_text_addf(text, "; no number of the output moved by more "
		    "than %s %%", AC_DOUBLE(100 * t->within, 4));
		if (t->compared.left_out)
			ac_text_addf(text, "; %llu of %llu differ between two "
			    "plain runs, and are left out",
			    (unsigned long long)t->compared.left_out,
			    (unsigned long long)(t->compared.left_out
			    + t->compared.count));
	}
}

void
ac_tune_summarise(const struct ac_tune *t, const unsigned char *levels,
    enum ac_tune_end end)
{
	double before;
	const double after = ac_tune_time(&t->plan, levels, &before);
	const struct ac_tune_served served = ac_tune_served_by(t, levels);
	size_t kept = 0, safe = 0;
	struct ac_text text = AC_TEXT_OF(512);

	for (size_t i = 0; i < t->plan.unit_count; i++) {
		kept += levels[i] == AC_TUNE_KEPT;
		safe += levels[i] == AC_TUNE_SAFE;
	}
	ac_text_addf(&text, "%u runs: %zu of %s recast", t->runs,
	    served.is_known ? served.recast : t->plan.unit_count - kept,
	    AC_COUNT(t->plan.count, "site"));
	if (safe)
		ac_text_addf(&text, ", %zu of them at the most accurate rung",
		    safe);
	if (served.kept)
		ac_text_addf(&text, ", %zu more with a rung that no call ran "
		    "on (%s%s)", served.kept, ac_reason_names[served.reason],
		    served.reason == AC_REASON_OWN
		    ? "; -e 'set own=0' recasts first calls, too" : "");
	if (served.gone)
		ac_text_addf(&text, ", %zu not in that run, as sizes differ "
		    "from run to run", served.gone);
	ac_text_addf(&text, "; %s %s", measured(&t->plan), AC_TIME(before));
	if (!served.is_known || served.recast) {
		ac_text_addf(&text, " -> %s: %s%s", AC_TIME(after),
		    AC_SAID(ac_factor_add, before, after), served.is_short
		    ? " in a longer run" : "");
	} else {
		ac_text_add(&text, " as before");
	}
	ac_text_add(&text, end == AC_TUNE_SPENT
	    ? "; no runs were left to recast more" : "");
	add_answer(&text, t);
	(void)ac_say(0, "tune: %s", text.data);
}

void
ac_tune_write_json(const struct ac_tune *t, const unsigned char *levels,
    int *fd)
{
	double before;
	const double after = ac_tune_time(&t->plan, levels, &before);
	struct ac_json w;

	ac_json_begin(&w, ac_say_bytes, fd);
	ac_json_integer(&w, "version", AC_REPORT_VERSION);
	ac_json_unsigned(&w, "runs", t->runs);
	ac_json_measured(&w, "before_us", before);
	ac_json_measured(&w, "after_us", after);
	ac_json_open(&w, "sites", "[");
	for (size_t i = 0; i < t->plan.unit_count; i++) {
		const struct ac_tune_site *site = t->plan.units[i];
		const int way = ac_tune_way_of(site,
		    (enum ac_tune_level)levels[i]);

		ac_json_open(&w, NULL, "{");
		ac_json_id(&w, "id", site->row->rungs[0]->id);
		ac_json_string(&w, "rung", way == AC_TUNE_KEEP ? "keep"
		    : ac_rung_names[site->way[way].at->rung]);
		ac_json_number(&w, "share", site->row->share, 6);
		ac_json_real(&w, "error", way == AC_TUNE_KEEP ? 0
		    : site->way[way].at->course.error);
		ac_json_measured(&w, "keep_us", site->keep_us);
		ac_json_measured(&w, "recast_us", way == AC_TUNE_KEEP
		    ? site->keep_us : site->way[way].us);
		ac_json_close(&w, "}");
	}
	ac_json_close(&w, "]");
	ac_json_end(&w);
}
