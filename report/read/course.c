/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/course.c -- how sites fared, over the processes of a run. A
 * course comes from a file that may hold anything: a value that no device
 * can have measured counts as not known, or as the worst where that is safer.
 * Pure. */
#include "report/read/read.h"

#include <math.h>

/* Longer than a run can take: no measured number. */
#define LONGEST_US 1e15

static double
error_of(float error)
{
	if (isnan(error))
		return (double)INFINITY;
	return error > 0 ? (double)error : 0;
}

static double
time_of(float us)
{
	return us > 0 && (double)us < LONGEST_US ? (double)us : 0;
}

void
ac_course_read(struct ac_course *to, const struct ac_site_course *from)
{
	const uint32_t finding = atomic_load(&from->finding);

	to->finding = finding < AC_FINDING_COUNT ? (enum ac_finding)finding
	    : AC_FINDING_NONE;
#define COUNT(type, id, merge, json) to->id = atomic_load(&from->id);
#define WORST(id, json) to->id = error_of(atomic_load(&from->id));
#define TIME(id, merge, json) to->id = time_of(atomic_load(&from->id));
#include "report/course.def"
}

/* The mean of two means; a time of 0 is not known and weighs nothing. */
static double
mean(double a, uint64_t timed_a, double b, uint64_t timed_b)
{
	const double weight_a = a > 0 ? (double)timed_a + 1 : 0;
	const double weight_b = b > 0 ? (double)timed_b + 1 : 0;

	return weight_a + weight_b > 0
	    ? (a * weight_a + b * weight_b) / (weight_a + weight_b) : 0;
}

void
ac_course_absorb(struct ac_course *into, const struct ac_course *other)
{
	into->keep_us = mean(into->keep_us, into->timed, other->keep_us,
	    other->timed);
	into->recast_us = mean(into->recast_us, into->timed, other->recast_us,
	    other->timed);
	if (into->finding == AC_FINDING_NONE)
		into->finding = other->finding;
#define SUM(a, b) ((a) + (b))
#define MOST(a, b) ((b) > (a) ? (b) : (a))
#define MEAN(a, b) (a)          /* before `timed` is added up */
#define COUNT(type, id, merge, json) into->id = merge(into->id, other->id);
#define WORST(id, json) into->id = MOST(into->id, other->id);
#define TIME(id, merge, json) into->id = merge(into->id, other->id);
#include "report/course.def"
}

double
ac_course_speed(const struct ac_course *course)
{
	return course->keep_us > 0 && course->recast_us > 0
	    ? course->keep_us / course->recast_us : 0;
}

const char *const ac_clock_names[AC_CLOCK_COUNT] = {
	[AC_CLOCK_NONE] = "none", [AC_CLOCK_DEVICE] = "device",
	[AC_CLOCK_MODELLED] = "modelled",
};

enum ac_clock
ac_report_clock_of(const struct ac_report *report)
{
	enum ac_clock clock = AC_CLOCK_NONE;
	bool timed = false;

	for (size_t i = 0; i < report->site_count; i++)
		timed |= ac_course_speed(&report->sites[i].course) > 0;
	for (size_t i = 0; timed && i < report->process_count; i++) {
		const struct ac_file_header *h = &report->processes[i];

		if (h->clock == AC_CLOCK_MODELLED ||
		    (h->clock && h->emulated))
			return AC_CLOCK_MODELLED;
		if (h->clock)
			clock = (enum ac_clock)h->clock;
	}
	return clock;
}

/* ---- What was checked --------------------------------------------------- */

void
ac_site_find_plain(struct ac_site_total *rungs, size_t count)
{
	uint64_t most = 0;
	double us = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ac_course *c = &rungs[i].course;

		if (ac_course_speed(c) > 0 && c->timed + 1 > most) {
			most = c->timed + 1;
			us = c->keep_us;
		} else if (!most && c->keep_predicted_us > us) {
			us = c->keep_predicted_us;
		}
	}
	for (size_t i = 0; i < count; i++) {
		rungs[i].plain_us = us;
		rungs[i].plain_is_timed = most > 0;
	}
}

uint64_t
ac_site_learnt(const struct ac_site_total *rungs, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (ac_site_is_learnt(&rungs[i])
		    && rungs[i].course.judged > most)
			most = rungs[i].course.judged;
	return most;
}

enum ac_unjudged
ac_site_unjudged(const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;

	if (site->guard != AC_GUARD_OFF && (c->judged || c->samples))
		return AC_UNJUDGED_NONE;
	if (site->rung == AC_RUNG_KEEP || !site->recast)
		return AC_UNJUDGED_KEPT;
	if (site->guard == AC_GUARD_OFF)
		return AC_UNJUDGED_OFF;
	if (ac_operation_is_product(site->key.operation)
	    && site->tactic == AC_TACTIC_LIBRARY)
		return AC_UNJUDGED_LIBRARY;
	return c->captured >= site->recast ? AC_UNJUDGED_GRAPHS
	    : AC_UNJUDGED_UNREAD;
}

/* A site that nothing judged has no error, one without a tolerance no
 * judgement. */
static void
add_worst(struct ac_report_totals *t, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;

	if (site->tol <= 0 || ac_site_unjudged(site) != AC_UNJUDGED_NONE
	    || (t->worst_tol > 0 && c->error / site->tol
	    <= t->worst_error / t->worst_tol))
		return;
	t->worst_error = c->error;
	t->worst_line = c->line_error;
	t->worst_tol = site->tol;
	t->worst_site = site->id;
}

/* A replay is a check, but no call: it counts for none that is unread. */
static void
add_basis(struct ac_report_totals *t, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const enum ac_unjudged why = ac_site_unjudged(site);
	const uint64_t heard = site->recast > c->unread ? site->recast
	    - c->unread : 0;

	if (ac_operation_is_product(site->key.operation))
		t->products += site->recast;
	if (why == AC_UNJUDGED_NONE)
		t->judged += c->judged < heard ? c->judged : heard;
	if (!ac_site_is_learnt(site)) {
		t->mended_lines += c->mended_lines;
		t->mended_calls += c->mended_calls;
	}
	t->samples += c->samples;
	t->unread += c->unread;
	t->unjudged[why] += site->recast;
	/* Of convolutions nothing judges replays. */
	if (why == AC_UNJUDGED_NONE && site->tactic == AC_TACTIC_LIBRARY
	    && !ac_operation_is_product(site->key.operation))
		t->unjudged[AC_UNJUDGED_GRAPHS] += c->captured;
	add_worst(t, site);
}

void
ac_course_add_totals(struct ac_report_totals *t,
    const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const double calls = (double)site->recast;

	add_basis(t, site);
	t->late += c->late;
	t->demotions += c->demotions;
	t->captured += c->captured;
	t->plans += c->plans;
	t->plan_ms += c->plan_ms;
	if (c->workspace > t->workspace)
		t->workspace = c->workspace;
	if (ac_course_speed(c) > 0) {
		t->measured_calls += site->recast;
		t->measured_keep_us += calls * c->keep_us;
		t->measured_recast_us += calls * c->recast_us;
	} else if (c->keep_predicted_us > 0 && c->recast_predicted_us > 0) {
		t->predicted_calls += site->recast;
		t->predicted_keep_us += calls * c->keep_predicted_us;
		t->predicted_recast_us += calls * c->recast_predicted_us;
	}
}
