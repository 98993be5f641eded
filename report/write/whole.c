/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/whole.c -- what all FP32 calls of a run took and would have
 * taken, the same in every kind of report. Pure. */
#include "report/write/json.h"
#include "report/read/read.h"

#include <string.h>

const char *
ac_report_add_gpu(struct ac_text *text, const struct ac_report *report)
{
	static const char mark[] = " (emulated)";
	const char *gpu = report->processes[0].gpu;
	const char *end = strstr(gpu, mark);
	struct ac_text t = AC_TEXT_OF(sizeof report->processes[0].gpu);

	ac_text_add_bytes(&t, gpu, end ? (size_t)(end - gpu) : strlen(gpu));
	ac_text_add_clean(text, *t.data ? t.data : "an unknown GPU");
	return text->data;
}

const char *
ac_factor_add(struct ac_text *text, double before, double after)
{
	const double factor = before >= after ? before / after
	    : after / before;

	if (factor < 1.005)
		ac_text_add(text, "no faster");
	else
		ac_text_addf(text, "%sx %s", AC_FIXED(factor,
		    factor < 1.095 ? 2 : 1), before >= after ? "faster"
		    : "slower");
	return text->data;
}

/* What an emulated GPU says is a model, whatever it says. */
void
ac_totals_add_basis_of_times(struct ac_text *text,
    const struct ac_report *report, const struct ac_report_totals *t)
{
	if (t->estimated_us >= t->before_us ||
	    ac_report_clock_of(report) == AC_CLOCK_MODELLED) {
		ac_text_addf(text, "estimated for %s",
		    AC_SAID(ac_report_add_gpu, report));
		return;
	}
	ac_text_add(text, "measured");
	if (t->estimated_us > 0)
		ac_text_addf(text, ", %s of it estimated",
		    AC_SHARE(t->estimated_us, t->before_us));
}

void
ac_totals_add_whole(struct ac_text *text, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	if (t->known_calls < t->whole_calls)
		ac_text_addf(text, "%llu of ",
		    (unsigned long long)t->known_calls);
	ac_text_addf(text, "%s %s %s -> %s: %s (", t->whole_calls == 1 ? "the"
	    : "all", AC_COUNT(t->whole_calls, "FP32 call"),
	    AC_TIME(t->before_us), AC_TIME(t->now_us),
	    AC_SAID(ac_factor_add, t->before_us, t->now_us));
	ac_totals_add_basis_of_times(text, report, t);
	ac_text_add(text, ")");
}

void
ac_json_whole(struct ac_json *w, const struct ac_report_totals *t)
{
	ac_json_open(w, "whole", "{");
	ac_json_unsigned(w, "calls", t->whole_calls);
	ac_json_unsigned(w, "known_calls", t->known_calls);
	ac_json_real(w, "before_us", t->before_us);
	ac_json_real(w, "estimated_us", t->estimated_us);
	ac_json_real(w, "now_us", t->now_us);
	ac_json_close(w, "}");
}
