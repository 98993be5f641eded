/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_live.c -- a running process as text: rates since its start
 * and between two looks, and the sites that work most. Pure but for the
 * sink. */
#include "report/write/page.h"

#include <stdlib.h>

/* ---- What happened between two looks ----------------------------------- */

/* Counters only grow, unless the file is tampered with. */
static uint64_t
grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* `now` less `before`, as a run of its own; NULL without memory. */
static struct ac_report *
difference(const struct ac_report *before, const struct ac_report *now)
{
	struct ac_report *between = calloc(1, sizeof *between);
	size_t b = 0, kept = 0;
	struct ac_site_total *old, *new;

	if (!between)
		return NULL;
	old = ac_report_copy_sites(before);
	new = between->sites = ac_report_copy_sites(now);
	if (!old || !new) {
		free(old);
		ac_report_destroy(between);
		return NULL;
	}
	qsort(old, before->site_count, sizeof *old, ac_site_compare);
	qsort(new, now->site_count, sizeof *new, ac_site_compare);
	for (size_t i = 0; i < now->site_count; i++) {
		struct ac_site_total site = new[i];

		while (b < before->site_count &&
		    ac_site_compare(&old[b], &site) < 0)
			b++;
		if (b < before->site_count &&
		    !ac_site_compare(&old[b], &site)) {
			site.calls = grown(site.calls, old[b].calls);
			site.recast = grown(site.recast, old[b].recast);
			for (int r = 0; r < AC_REASON_COUNT; r++)
				site.kept[r] = grown(site.kept[r],
				    old[b].kept[r]);
		}
		if (site.calls)
			new[kept++] = site;
	}
	free(old);
	between->site_count = kept;
	ac_report_arrange(between);
	return between;
}

/* ---- Text -------------------------------------------------------------- */

static void
add_rates(struct ac_page *p, const struct ac_report *report, double seconds)
{
	struct ac_report_totals t;

	ac_report_totals(report, &t);
	p->flops = t.flops;
	p->seconds = seconds;
	if (!t.calls) {
		ac_page_print(p, "nothing");
		return;
	}
	ac_page_print(p, "%s, %s/s, %s/s; recast %s of the calls, %s of the "
	    "FLOPs", AC_COUNT(t.calls, "call"), AC_SAID(ac_rate_add,
	    (double)t.calls / seconds), AC_FLOPS(t.flops / seconds),
	    AC_SHARE((double)t.recast_calls, (double)t.calls),
	    AC_SHARE(t.recast_flops, t.flops));
}

/* Since the start: a rung that was left makes no calls any more. */
static void
add_verdicts(struct ac_page *p, const struct ac_report *report)
{
	struct ac_report_totals t;

	ac_report_totals(report, &t);
	ac_page_print_verdicts(p, &t);
}

static double
at_least_a_moment(double seconds)
{
	return seconds > 1e-3 ? seconds : 1e-3;
}

void
ac_report_as_live(const struct ac_report *before, const struct ac_report *now,
    const struct ac_report_view *view, ac_report_sink sink, void *context)
{
	struct ac_page p = { .sink = sink, .context = context,
		.rows = view->rows };
	const struct ac_file_header *h = &now->processes[0];
	const double age = at_least_a_moment(view->clock - (double)h->start_s
	    - (double)h->start_ns / 1e9);
	const double seconds = at_least_a_moment(view->seconds);
	struct ac_report *between = before ? difference(before, now) : NULL;

	ac_text_init(&p.line, p.buffer, sizeof p.buffer);
	ac_page_print(&p, "autocast report --live: %s, process %d, counting "
	    "for %s s", h->program, (int)h->pid, AC_FIXED(age, 0));
	ac_page_print_origin(&p, h);
	ac_page_label(&p, "start");
	add_rates(&p, now, age);
	add_verdicts(&p, now);
	if (between) {
		ac_page_label(&p, "last");
		ac_text_addf(&p.line, "%s s: ", AC_FIXED(seconds, 1));
		add_rates(&p, between, seconds);
	}
	ac_page_print_table(&p, between ? between : now);
	ac_report_destroy(between);
}
