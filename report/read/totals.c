/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/totals.c -- the sums of a run, over its sites and its processes.
 * Pure but for whether a process still runs, and how long it has. */
#include "report/count/process.h"
#include "report/read/read.h"

#include <string.h>

static void
add_whole(struct ac_report_totals *t, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const bool timed = ac_course_speed(c) > 0;
	const double keep = timed ? c->keep_us : c->keep_predicted_us;
	const double recast = timed ? c->recast_us : c->recast_predicted_us;
	const uint64_t kept = site->calls - site->recast;
	const double plain = (double)kept * site->plain_us;

	t->whole_calls += site->calls;
	if (keep > 0 && recast > 0) {
		t->known_calls += site->recast;
		t->before_us += (double)site->recast * keep;
		t->now_us += (double)site->recast * recast;
		t->estimated_us += timed ? 0 : (double)site->recast * keep;
	}
	t->known_calls += plain > 0 ? kept : 0;
	t->before_us += plain;
	t->now_us += plain;
	t->estimated_us += site->plain_is_timed ? 0 : plain;
}

void
ac_totals_add_site(struct ac_report_totals *t, const struct ac_site_total *site)
{
	const double flops = site->is_fp32 ? site->flops : 0;

	t->calls += site->calls;
	t->recast_calls += site->recast;
	if (ac_operation_is_conv(site->key.operation))
		t->convolutions += site->calls;
	if (!strcmp(site->key.shape, AC_SHAPE_UNREAD))
		t->unread_sizes += site->calls;
	t->flops += flops * (double)site->calls;
	t->recast_flops += flops * (double)site->recast;
	t->flops_by_rung[site->rung] += flops * (double)site->recast;
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		if (!site->kept[i])
			continue;
		t->kept_calls[i] += site->kept[i];
		t->kept_flops[i] += flops * (double)site->kept[i];
		t->flops_by_rung[AC_RUNG_KEEP] += flops * (double)site->kept[i];
	}
	ac_course_add_totals(t, site);
	if (site->is_fp32)
		add_whole(t, site);
}

const char *const ac_process_end_names[AC_END_COUNT] = {
	[AC_END_FINISHED] = "finished", [AC_END_ENDED] = "ended",
	[AC_END_RUNNING] = "running", [AC_END_ELSEWHERE] = "elsewhere",
};

enum ac_process_end
ac_process_end(const struct ac_file_header *process)
{
	if (atomic_load(&process->finished))
		return AC_END_FINISHED;
	if (ac_process_is_elsewhere(process))
		return AC_END_ELSEWHERE;
	return ac_process_runs(process) ? AC_END_RUNNING : AC_END_ENDED;
}

double
ac_process_wall_us(const struct ac_file_header *process, bool *is_least_out)
{
	const double longest = 3e14;    /* ten years */
	const bool runs = !atomic_load(&process->finished)
	    && ac_process_runs(process);
	const double us = (double)(runs
	    ? ac_process_age(process->process_start)
	    : atomic_load(&process->wall_ns)) / 1000;

	*is_least_out = !atomic_load(&process->finished) && !runs;
	return us < longest ? us : 0;
}

/* One whose time is not known took some. */
static void
add_wall(struct ac_report_totals *t, const struct ac_file_header *process)
{
	bool is_least = false;
	const double us = ac_process_wall_us(process, &is_least);

	t->wall_us += us;
	t->wall_is_least |= is_least || us <= 0;
}

static void
add_scaled(struct ac_scaled_total *t, const struct ac_scaled_record *from)
{
	if (!from->scalers)
		return;
	t->scalers += from->scalers;
	t->steps += from->steps;
	t->skips += from->skips;
	t->updates += from->updates;
	t->overflows += from->overflows;
	t->rises += from->rises;
	t->falls += from->falls;
	if (from->scale > 0 && from->scale < 1e39)
		t->scale = from->scale;
	t->is_behind |= from->is_behind != 0;
}

void
ac_report_totals(const struct ac_report *report,
    struct ac_report_totals *totals_out)
{
	memset(totals_out, 0, sizeof *totals_out);
	totals_out->processes = report->process_count;
	totals_out->sites = report->places;
	totals_out->learnt = report->learnt;
	for (size_t i = 0; i < report->site_count; i++)
		ac_totals_add_site(totals_out, &report->sites[i]);
	for (size_t i = 0; i < report->process_count; i++) {
		const uint64_t peak = atomic_load(
		    &report->processes[i].peak_scratch_bytes);

		if (peak > totals_out->peak_scratch_bytes)
			totals_out->peak_scratch_bytes = peak;
		add_wall(totals_out, &report->processes[i]);
		add_scaled(&totals_out->scaled, &report->processes[i].scaled);
	}
}
