/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/idle.c -- why a run recast nothing, in words: the reason that
 * most of the work was kept for, or that it learned. Pure. */
#include "report/read/read.h"

/* Of FP32 work; where there is none of a known size, of calls. */
static double
kept_of(const struct ac_site_total *site, int reason, bool by_calls)
{
	return (by_calls ? 1 : site->is_fp32 ? site->flops : 0)
	    * (double)site->kept[reason];
}

/* The reason of most of it, how much that is, and the site with most of that;
 * false if nothing was kept. */
struct reason {
	int    reason;
	bool   by_calls;
	double part, whole;
	const struct ac_site_total *site;
};

static bool
find(const struct ac_report *report, const struct ac_report_totals *t,
    struct reason *out)
{
	double most = 0;

	*out = (struct reason){ .by_calls = t->flops <= 0 };
	out->whole = out->by_calls ? (double)t->calls : t->flops;
	for (int i = 0; i < AC_REASON_COUNT; i++) {
		const double part = out->by_calls ? (double)t->kept_calls[i]
		    : t->kept_flops[i];

		if (part <= out->part)
			continue;
		out->reason = i;
		out->part = part;
	}
	for (size_t i = 0; i < report->site_count; i++) {
		const double part = kept_of(&report->sites[i], out->reason,
		    out->by_calls);

		if (part <= most)
			continue;
		most = part;
		out->site = &report->sites[i];
	}
	return out->site != NULL;
}

bool
ac_report_is_idle(const struct ac_report_totals *t)
{
	return t->calls && !t->recast_calls;
}

void
ac_report_add_idle(struct ac_text *text, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	struct reason r;

	ac_text_add(text, "nothing: ");
	if (t->learnt) {
		ac_text_addf(text, "the run learned, with rungs next to %llu "
		    "of %s", (unsigned long long)t->learnt,
		    AC_COUNT(t->calls, "call"));
	} else if (find(report, t, &r)) {
		ac_text_addf(text, "%s of the %s kept for the reason %s",
		    AC_SHARE(r.part, r.whole), r.by_calls ? "calls"
		    : "FP32 work", ac_reason_names[r.reason]);
	}
}

void
ac_report_add_idle_meaning(struct ac_text *text,
    const struct ac_report *report, const struct ac_report_totals *t)
{
	struct reason r;

	if (!t->learnt && find(report, t, &r))
		ac_text_add(text, ac_reason_meanings[r.reason]);
}

void
ac_report_add_idle_next(struct ac_text *text, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	struct reason r;

	if (t->learnt)
		ac_text_add(text, "\"autocast report -v\" shows how those "
		    "fared");
	else if (find(report, t, &r))
		ac_text_addf(text, "\"autocast explain %08x\" says more",
		    (unsigned)r.site->id);
}
