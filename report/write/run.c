/* SPDX-License-Identifier: Apache-2.0 */
/* report/write/run.c -- what is said of a whole run, the same in every kind of
 * report: whether it is over, where its times come from, how long it took.
 * Looks up in /proc whether a process still runs; else pure. */
#include "report/read/read.h"

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
