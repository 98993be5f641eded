/* SPDX-License-Identifier: Apache-2.0 */
/* report/past.h -- the runs that are kept, several at a time: as a list, and
 * one against another. For the autocast program. */
#ifndef AC_REPORT_PAST_H
#define AC_REPORT_PAST_H

#include "report/report.h"

/* The runs in the user's state directory, looked up once. NULL and one line in
 * `why` if there can be none; ac_past_close() ends it. */
struct ac_past;
struct ac_past *ac_past_open(struct ac_text *why);
void ac_past_close(struct ac_past *past);
/* Remove the oldest of many runs, but no files of the one with this token,
 * which may be NULL. ac_past_open() does that. */
void ac_past_prune(const char *run);
unsigned ac_past_runs(const struct ac_past *past);

/* The `which`-th last of them, as by ac_report_load(). */
struct ac_report *ac_past_load(const struct ac_past *past, unsigned which,
    struct ac_text *why);

/* The run whose report these `count` bytes and a NUL are, as
 * ac_report_as_json() wrote them; they are overwritten. NULL and one line in
 * `why` if they are anything else. */
struct ac_report *ac_report_from_json(char *bytes, size_t count,
    struct ac_text *why);

/* A run in a list: what is left of it when its report is gone. */
struct ac_past_run {
	unsigned which;              /* @1 is the last */
	bool     is_read;            /* else nothing else is known */
	uint64_t start_s;
	char     program[64], policy[256];
	char     task[32];           /* of an array of jobs; "": of none */
	uint64_t processes;
	int      ranks;              /* of a job; 0: it was none */
	uint64_t calls;
	double   recast_share;       /* of the FP32 work; < 0: there was none */
	double   gain_us;            /* of device time; a loss: < 0 */
	enum ac_basis basis;         /* of the gain */
};
/* `report` may be NULL. */
void ac_past_summarise(struct ac_past_run *run_out, unsigned which,
    const struct ac_report *report);

/* A line for each run, or an object. */
void ac_past_as_list(const struct ac_past_run *runs, size_t count,
    ac_report_sink sink, void *context);
void ac_past_as_json(const struct ac_past_run *runs, size_t count,
    ac_report_sink sink, void *context);

/* One run against another that began later: totals side by side, then the sites
 * that changed, what differs most first. The names are "@2", "@1". False
 * without memory; then nothing is written. */
bool ac_report_as_change(const struct ac_report *then, const char *then_name,
    const struct ac_report *now, const char *now_name, ac_report_sink sink,
    void *context);
/* Whether `a` began before `b`. */
bool ac_report_is_older(const struct ac_report *a, const struct ac_report *b);

#endif
