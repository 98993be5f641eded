/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/run.c -- what is said of a whole run, the same in every kind of
 * report: whether it is over, where its times come from, how long it and its
 * calls took, why it recast nothing. Looks up in /proc whether a process still
 * runs; else pure. */
#include "report/read/read.h"

#include <string.h>
#include <time.h>

static const char *
add_start(struct ac_text *text, uint64_t start_s, bool is_utc)
{
	const time_t seconds = (time_t)start_s;
	char start[40] = "";
	struct tm tm;

	if ((is_utc ? gmtime_r : localtime_r)(&seconds, &tm))
		strftime(start, sizeof start, is_utc ? "%Y-%m-%dT%H:%M:%SZ"
		    : "%Y-%m-%d %H:%M:%S", &tm);
	ac_text_add(text, start);
	return text->data;
}

const char *
ac_start_add(struct ac_text *text, uint64_t start_s)
{
	return add_start(text, start_s, false);
}

const char *
ac_start_add_utc(struct ac_text *text, uint64_t start_s)
{
	return add_start(text, start_s, true);
}

const char *
ac_report_state(const struct ac_report *report)
{
	bool exited = true, elsewhere = false;

	for (size_t i = 0; i < report->process_count; i++) {
		const enum ac_process_end end =
		    ac_process_end(&report->processes[i]);

		if (end == AC_END_RUNNING)
			return "still running";
		exited &= end == AC_END_FINISHED;
		elsewhere |= end == AC_END_ELSEWHERE;
	}
	return exited ? "finished" : elsewhere ? "no exit() on other hosts yet"
	    : "ended without exit()";
}

void
ac_report_add_clock(struct ac_text *text, const struct ac_report *report)
{
	static const char *const words[AC_CLOCK_COUNT] = {
		[AC_CLOCK_NONE] = "none: no call was timed",
		[AC_CLOCK_DEVICE] = "measured by events of the device around "
		    "single calls",
		[AC_CLOCK_MODELLED] = "estimated by the emulated GPU's model, "
		    "not measured",
	};
	const enum ac_clock clock = ac_report_clock_of(report);
	uint64_t begun = 0, recast = 0;

	for (size_t i = 0; i < report->site_count; i++) {
		begun += report->sites[i].course.timings;
		recast += report->sites[i].recast;
	}
	if (clock == AC_CLOCK_NONE && begun) {
		ac_text_addf(text, "none: of %s the device's events were not "
		    "read before it was too late", AC_COUNT(begun,
		    "timed call"));
	} else if (clock == AC_CLOCK_NONE && !recast) {
		ac_text_add(text, "none: no call was recast");
	} else {
		ac_text_add(text, words[clock]);
	}
}

void
ac_scaled_add(struct ac_text *text, const struct ac_scaled_total *s)
{
	if (s->scale > 0)
		ac_text_addf(text, "scale %s%s after %s, %llu of them with inf "
		    "or NaN (%s, %s); ", AC_DOUBLE(s->scale, 6),
		    s->is_behind ? " when last read," : "",
		    AC_COUNT(s->updates, "update"),
		    (unsigned long long)s->overflows,
		    AC_COUNT(s->rises, "growth"),
		    AC_COUNT(s->falls, "backoff"));
	ac_text_addf(text, "%s made, %llu skipped", AC_COUNT(s->steps, "step"),
	    (unsigned long long)s->skips);
	if (s->scalers > 1)
		ac_text_addf(text, ", by %llu scalers",
		    (unsigned long long)s->scalers);
}

/* What a run would have taken without the gain is what it is a part of. The
 * time of an emulated run is this machine's, its gain another one's. */
void
ac_report_add_wall(struct ac_text *text, const struct ac_report *report,
    const struct ac_report_totals *t)
{
	const double before = t->measured_keep_us + t->predicted_keep_us;
	const double gain = before - t->measured_recast_us
	    - t->predicted_recast_us;
	const double plain = t->wall_us + gain;

	ac_time_add(text, t->wall_us);
	if (t->wall_is_least)
		ac_text_add(text, " at least");
	if (t->processes > 1)
		ac_text_addf(text, ", %llu processes together",
		    (unsigned long long)t->processes);
	if (report->processes[0].emulated) {
		ac_text_add(text, " on the emulated GPU, which says nothing "
		    "of a real one");
	} else if (before > 0 && plain > 0) {
		ac_text_addf(text, "; the gain is %s of what it would have "
		    "been", AC_SHARE(gain, plain));
		if (before < plain)
			ac_text_addf(text, ", %s at most if these calls took "
			    "no time (Amdahl)",
			    AC_SPEED(plain / (plain - before)));
	}
}

/* ---- What all FP32 calls took ------------------------------------------- */

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

/* ---- Why it recast nothing ---------------------------------------------- */

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
