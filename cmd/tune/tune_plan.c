/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_plan.c -- which rung each site is to have, by what was measured
 * of it. Pure. */
#include "cmd/tune/tune.h"
#include "policy/guard.h"

#include <stdlib.h>
#include <string.h>

static const double margin = 0.8;    /* of tol, that a measured error may be */
static const double least_gain = 1.02;
static const double unmeasured = 3e-4; /* the error of FP16 and TF32 */
enum { ENOUGH = 3 };                 /* measured calls, if there are as many */

/* What a policy refuses by its tol=, and which rungs have one of their own. */
static const struct {
	double   error;
	unsigned terms;
} rungs[AC_RUNG_COUNT] = {
#define RUNG(id, name, error, tol, base, terms, chunk) { error, terms },
#include "policy/words.def"
};

/* The error that a call on that rung may have under `tol`; 0: not even one. */
static double
allowed_of(const struct ac_site_total *at, double tol)
{
	if (!(tol > 0) || (rungs[at->rung].terms > 1 && at->tol < tol))
		return at->tol;
	return rungs[at->rung].error > tol ? 0 : tol;
}

/* What a cast cannot hold is recomputed: a line in a hundred at most. Of a
 * convolution it is found. */
static bool
is_held(const struct ac_site_total *at)
{
	const struct ac_course *c = &at->course;

	return !c->mended_calls && (double)c->mended_lines * 100
	    <= (double)c->judged * (double)(at->key.m + at->key.n)
	    && c->finding == AC_FINDING_NONE;
}

/* To a convolution the guard will put its own limits in each run: as much is
 * to spare. */
static bool
is_accurate(const struct ac_site_total *at, double allowed)
{
	const struct ac_course *c = &at->course;
	const struct ac_guard_facts facts = { .error = c->error / margin,
		.line_error = c->line_error / margin };

	return ac_operation_is_conv(at->key.operation)
	    ? ac_guard_judge(&facts, allowed) == AC_FINDING_NONE
	    : c->error / allowed <= margin;
}

static bool
is_measured(const struct ac_site_total *at, uint64_t calls)
{
	return at->rung != AC_RUNG_KEEP && at->course.judged
	    >= (calls < ENOUGH ? calls : ENOUGH);
}

/* The ways of a site that are accurate enough and gain. */
static void
add_ways(struct ac_tune_site *site, double tol)
{
	const struct ac_site_row *row = site->row;

	for (size_t i = 0; i < row->rung_count
	    && site->way_count < AC_TUNE_WAYS; i++) {
		const struct ac_site_total *at = row->rungs[i];
		const double allowed = allowed_of(at, tol);
		struct ac_tune_way *way = &site->way[site->way_count];
		double keep_us;

		if (!is_measured(at, row->calls) || !is_held(at)
		    || !(allowed > 0)
		    || ac_course_times(&at->course, row->clock, &keep_us,
		    &way->us) == AC_BASIS_NONE)
			continue;
		way->at = at;
		if (keep_us > 0)
			site->keep_us = keep_us;
		if (is_accurate(at, allowed) && way->us > 0
		    && way->us * least_gain <= keep_us)
			site->way_count++;
	}
}

/* By what it was measured to take, and by how far it was off. */
static void
choose(struct ac_tune_site *site)
{
	site->chosen = site->safe = AC_TUNE_KEEP;
	for (int i = 0; i < site->way_count; i++) {
		const struct ac_tune_way *way = site->way;

		if (site->chosen < 0 || way[i].us < way[site->chosen].us)
			site->chosen = i;
		if (site->safe < 0 || way[i].at->course.error
		    < way[site->safe].at->course.error)
			site->safe = i;
	}
	site->is_unit = site->chosen >= 0;
	if (site->is_unit)
		site->harm = site->way[site->chosen].at->course.error
		    * site->row->share;
}

/* A convolution that was not measured is left to the profile that comes
 * last. */
static bool
is_left(const struct ac_tune_site *site)
{
	const struct ac_site_row *row = site->row;

	for (size_t i = 0; i < row->rung_count; i++)
		if (is_measured(row->rungs[i], row->calls))
			return false;
	return ac_operation_is_conv(row->rungs[0]->key.operation)
	    && row->share > 0;
}

static int
by_harm(const void *a, const void *b)
{
	const struct ac_tune_site *one = *(struct ac_tune_site *const *)a;
	const struct ac_tune_site *other = *(struct ac_tune_site *const *)b;

	if (one->harm != other->harm)
		return one->harm < other->harm ? 1 : -1;
	return one < other ? -1 : 1;
}

static bool
begin(struct ac_tune_plan *plan, const struct ac_report *report)
{
	*plan = (struct ac_tune_plan){ 0 };
	if (!ac_rows_make(report, AC_SORT_WORK, &plan->rows, &plan->count))
		return false;
	plan->sites = calloc(plan->count + 1, sizeof *plan->sites);
	plan->units = calloc(plan->count + 1, sizeof *plan->units);
	for (size_t i = 0; plan->sites && i < plan->count; i++)
		plan->sites[i].row = &plan->rows[i];
	return plan->sites && plan->units;
}

static void
rank(struct ac_tune_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		if (plan->sites[i].is_unit)
			plan->units[plan->unit_count++] = &plan->sites[i];
	qsort(plan->units, plan->unit_count, sizeof *plan->units, by_harm);
}

bool
ac_tune_plan_make(struct ac_tune_plan *plan, const struct ac_report *report,
    double tol)
{
	if (!begin(plan, report))
		return false;
	for (size_t i = 0; i < plan->count; i++) {
		struct ac_tune_site *site = &plan->sites[i];

		add_ways(site, tol);
		choose(site);
		if (!is_left(site))
			continue;
		site->is_unit = site->is_left = true;
		site->harm = unmeasured * site->row->share;
	}
	rank(plan);
	return true;
}

bool
ac_tune_plan_recast(struct ac_tune_plan *plan, const struct ac_report *report)
{
	if (!begin(plan, report))
		return false;
	for (size_t i = 0; i < plan->count; i++) {
		struct ac_tune_site *site = &plan->sites[i];

		site->chosen = site->safe = AC_TUNE_KEEP;
		site->is_unit = site->row->recast > 0;
		site->harm = (site->row->error > 0 ? site->row->error : 0.5)
		    * site->row->share;
	}
	rank(plan);
	return true;
}

void
ac_tune_plan_end(struct ac_tune_plan *plan)
{
	free(plan->units);
	free(plan->sites);
	free(plan->rows);
	*plan = (struct ac_tune_plan){ 0 };
}

int
ac_tune_way_of(const struct ac_tune_site *site, enum ac_tune_level level)
{
	return level == AC_TUNE_KEPT ? AC_TUNE_KEEP
	    : level == AC_TUNE_SAFE ? site->safe : site->chosen;
}

double
ac_tune_time(const struct ac_tune_plan *plan, const unsigned char *levels,
    double *before_out)
{
	double after = 0;

	*before_out = 0;
	for (size_t i = 0; i < plan->count; i++)
		*before_out += (double)plan->sites[i].row->calls
		    * plan->sites[i].keep_us;
	after = *before_out;
	for (size_t i = 0; i < plan->unit_count; i++) {
		const struct ac_tune_site *site = plan->units[i];
		const int way = ac_tune_way_of(site,
		    (enum ac_tune_level)levels[i]);

		if (way != AC_TUNE_KEEP)
			after += (double)site->row->calls
			    * (site->way[way].us - site->keep_us);
	}
	return after;
}
