/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/as_summary.c -- the three lines at the end of `autocast run`
 * (doc/rules.md R9). Pure but for the sink. */
#include "report/read/read.h"

static void
end_line(struct ac_text *line, ac_report_sink sink, void *context)
{
	ac_text_add(line, "\n");
	sink(line->data, line->used, context);
	line->used = 0;
	ac_text_add(line, "autocast: ");
}

static void
say_work(struct ac_text *line, const struct ac_report *report,
    const struct ac_report_totals *totals)
{
	if (totals->flops <= 0 && totals->unread_sizes) {
		ac_text_add_count(line, totals->unread_sizes, "conv call");
		ac_text_add(line, ", sizes not read: the policy keeps all");
		return;
	}
	if (totals->flops <= 0) {
		ac_text_addf(line, "no FP32 %s work; ", ac_totals_kind(totals));
		ac_text_add_count(line, totals->calls, "other matrix call");
		ac_text_add(line, " passed through");
		return;
	}
	ac_text_addf(line, "FP32 %s work ", ac_totals_kind(totals));
	ac_flops_add(line, totals->flops);
	if (totals->unread_sizes)
		ac_text_addf(line, ", without %llu of sizes not read",
		    (unsigned long long)totals->unread_sizes);
	ac_text_add(line, ": before as ");
	ac_report_add_baseline(line, report);
	ac_text_add(line, ", now ");
	if (totals->recast_flops > 0)
		ac_totals_add_rungs(line, totals);
	else
		ac_text_add(line, "the same");
	ac_text_add(line, " (policy ");
	ac_text_add_clean(line, report->processes[0].policy);
	ac_text_add(line, report->processes[0].emulated
	    ? ", emulated GPU)" : ")");
}

static void
say_kept(struct ac_text *line, const struct ac_report_totals *totals)
{
	if (totals->calls > totals->recast_calls) {
		ac_text_add(line, "kept ");
		ac_share_add(line, totals->flops_by_rung[AC_RUNG_KEEP],
		    totals->flops);
		ac_text_add(line, ": ");
		ac_totals_add_reasons(line, totals);
	} else {
		ac_text_add(line, "kept nothing");
	}
	if (totals->recast_calls || totals->samples) {
		ac_text_add(line, "; ");
		ac_totals_add_basis(line, totals);
		if (ac_totals_have_error(totals))
			ac_text_add(line, "; ");
		ac_totals_add_error(line, totals);
	}
	if (totals->demotions) {
		ac_text_add(line, ", ");
		ac_text_add_count(line, totals->demotions, "demotion");
	}
}

static void
say_next(struct ac_text *line, const struct ac_report_totals *totals,
    const char *unkept)
{
	if (unkept)
		ac_text_addf(line,
		    "nothing is kept for \"autocast report\": %s", unkept);
	else if (totals->demotions)
		ac_text_add(line, "\"autocast report\" shows every site and "
		    "why rungs were left, \"autocast run --ranges\" which "
		    "would fit; AUTOCAST_POLICY=off recasts nothing");
	else
		ac_text_add(line, "\"autocast report\" shows every site, "
		    "\"autocast explain ID\" why; AUTOCAST_POLICY=off recasts "
		    "nothing");
}

void
ac_report_as_summary(const struct ac_report *report, const char *unkept,
    ac_report_sink sink, void *context)
{
	struct ac_report_totals totals;
	char buffer[2048];
	struct ac_text line;

	if (!report)
		return;
	ac_report_totals(report, &totals);
	if (!totals.calls)
		return;
	ac_text_init(&line, buffer, sizeof buffer);
	ac_text_add(&line, "autocast: ");
	say_work(&line, report, &totals);
	end_line(&line, sink, context);
	say_kept(&line, &totals);
	end_line(&line, sink, context);
	say_next(&line, &totals, unkept);
	end_line(&line, sink, context);
}
