/* SPDX-License-Identifier: Apache-2.0 */
/* report/read/course.c -- how sites fared, over the processes of a run. A
 * course comes from a file that may hold anything: what no device can have
 * measured is taken for not known, or for the worst where that is the safe
 * side. Pure. */
#include "report/read/read.h"

#include <math.h>

/* Longer than a run can take: a number that nobody measured. */
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

	*to = (struct ac_course){
		.finding = finding < AC_FINDING_COUNT
		    ? (enum ac_finding)finding : AC_FINDING_NONE,
		.samples = atomic_load(&from->samples),
		.late = atomic_load(&from->late),
		.demotions = atomic_load(&from->demotions),
		.retries = atomic_load(&from->retries),
		.captured = atomic_load(&from->captured),
		.settled = atomic_load(&from->settled),
		.timed = atomic_load(&from->timed),
		.error = error_of(atomic_load(&from->error)),
		.line_error = error_of(atomic_load(&from->line_error)),
		.rho = error_of(atomic_load(&from->rho)),
		.tile_rho = error_of(atomic_load(&from->tile_rho)),
		.keep_us = time_of(atomic_load(&from->keep_us)),
		.recast_us = time_of(atomic_load(&from->recast_us)),
		.keep_predicted_us =
		    time_of(atomic_load(&from->keep_predicted_us)),
		.recast_predicted_us =
		    time_of(atomic_load(&from->recast_predicted_us)),
		.plans = atomic_load(&from->plans),
		.plan_ms = time_of(atomic_load(&from->plan_ms)),
		.workspace = atomic_load(&from->workspace),
		.judged = atomic_load(&from->judged),
		.sampled_at = atomic_load(&from->sampled_at),
		.suspects = atomic_load(&from->suspects),
		.estimate = error_of(atomic_load(&from->estimate)),
		.exact = error_of(atomic_load(&from->exact)),
		.tries = atomic_load(&from->tries),
		.pairs = atomic_load(&from->pairs),
		.demoted_pairs = atomic_load(&from->demoted_pairs),
		.unread = atomic_load(&from->unread),
		.oldest_unread = atomic_load(&from->oldest_unread),
	};
}

static void
raise_to(double *worst, double other)
{
	if (other > *worst)
		*worst = other;
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
	raise_to(&into->keep_predicted_us, other->keep_predicted_us);
	raise_to(&into->recast_predicted_us, other->recast_predicted_us);
	if (into->finding == AC_FINDING_NONE)
		into->finding = other->finding;
	into->samples += other->samples;
	into->late += other->late;
	into->demotions += other->demotions;
	into->retries += other->retries;
	into->captured += other->captured;
	into->settled += other->settled;
	into->timed += other->timed;
	into->plans += other->plans;
	into->plan_ms += other->plan_ms;
	if (other->workspace > into->workspace)
		into->workspace = other->workspace;
	raise_to(&into->error, other->error);
	raise_to(&into->line_error, other->line_error);
	raise_to(&into->rho, other->rho);
	raise_to(&into->tile_rho, other->tile_rho);
	raise_to(&into->estimate, other->estimate);
	raise_to(&into->exact, other->exact);
	into->judged += other->judged;
	into->suspects += other->suspects;
	into->tries += other->tries;
	into->pairs += other->pairs;
	into->demoted_pairs += other->demoted_pairs;
	into->unread += other->unread;
	if (other->oldest_unread > into->oldest_unread)
		into->oldest_unread = other->oldest_unread;
	if (other->sampled_at > into->sampled_at)
		into->sampled_at = other->sampled_at;
}

double
ac_course_speed(const struct ac_course *course)
{
	return course->keep_us > 0 && course->recast_us > 0
	    ? course->keep_us / course->recast_us : 0;
}

/* ---- What verdicts rest on --------------------------------------------- */

enum ac_unjudged
ac_site_unjudged(const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;

	if (c->judged || c->samples)
		return AC_UNJUDGED_NONE;
	if (site->rung == AC_RUNG_KEEP || !site->recast)
		return AC_UNJUDGED_KEPT;
	if (site->key.operation == AC_OP_RNN)
		return AC_UNJUDGED_NETWORK;
	if (site->guard == AC_GUARD_OFF)
		return AC_UNJUDGED_OFF;
	if (c->captured >= site->recast)
		return AC_UNJUDGED_GRAPHS;
	return site->sample_period ? AC_UNJUDGED_UNREAD : AC_UNJUDGED_UNSAMPLED;
}

uint64_t
ac_site_on_rung(const struct ac_site_total *site)
{
	return site->rung == AC_RUNG_KEEP ? 0
	    : site->recast + site->course.tries;
}

/* A site without a sample has no error, one without a tolerance no
 * judgement. */
static void
add_worst(struct ac_report_totals *t, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;

	if (site->tol <= 0)
		return;
	if (c->samples && (t->worst_tol <= 0 || c->error / site->tol
	    > t->worst_error / t->worst_tol)) {
		t->worst_error = c->error;
		t->worst_tol = site->tol;
		t->worst_site = site->id;
	}
	if (c->judged && c->estimate / site->tol > t->worst_estimate)
		t->worst_estimate = c->estimate / site->tol;
}

static void
add_basis(struct ac_report_totals *t, const struct ac_site_total *site)
{
	const struct ac_course *c = &site->course;
	const uint64_t all = ac_site_on_rung(site);
	const enum ac_unjudged why = ac_site_unjudged(site);

	t->on_rungs += all;
	t->judged += c->judged < all ? c->judged : all;
	t->suspects += c->suspects;
	t->samples += c->samples;
	t->first_samples += c->samples == 1 && c->sampled_at == 1;
	t->unread += c->unread;
	if (c->oldest_unread > t->oldest_unread)
		t->oldest_unread = c->oldest_unread;
	t->unjudged[why] += site->recast;
	/* Of the library's own conversion nothing judges replays. */
	if (why == AC_UNJUDGED_NONE && site->tactic == AC_TACTIC_LIBRARY)
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
	t->retries += c->retries;
	t->captured += c->captured;
	t->settled += c->settled;
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
