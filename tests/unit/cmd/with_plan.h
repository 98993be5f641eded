/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/with_plan.h -- what a run learnt, by hand, and its plan. */
#ifndef AC_TESTS_WITH_PLAN_H
#define AC_TESTS_WITH_PLAN_H

#include "tests/unit/with_state.h"

#include "cmd/tune/tune.h"

#include <math.h>

enum { SITES = 40, RECORDS = 4 * SITES };

static struct ac_site_record made[RECORDS];
static struct ac_marker_record no_markers[1];
static uint32_t made_count;
static struct ac_report *report;
static struct ac_tune_plan plan;

/* ---- A run by hand ------------------------------------------------------ */

/* The key of a product of so many calls; `caller` tells sites of one size. */
static struct ac_site_key
product(enum ac_operation operation, int64_t m, int64_t n, int64_t k,
    int64_t batch, unsigned caller)
{
	struct ac_site_key key;

	memset(&key, 0, sizeof key);
	key.operation = operation;
	strcpy(key.symbol, "cublasSgemm_v2");
	snprintf(key.caller, sizeof key.caller, "train+%x", caller);
	key.ta = key.tb = 'N';
	key.solver = 'n';
	strcpy(key.type, "f32");
	strcpy(key.asked, "fp32");
	key.m = m;
	key.n = n;
	key.k = k;
	key.batch = batch;
	return key;
}

/* A rung of that site: times of a call, and the worst error of its calls, which
 * were checked `judged` times. All calls are of the first one that is added. */
static struct ac_site_record *
add(const struct ac_site_key *key, enum ac_rung rung, uint64_t calls,
    float keep_us, float recast_us, float error, uint64_t judged)
{
	static const double tols[AC_RUNG_COUNT] = {
#define RUNG(id, name, error, tol, base, terms, chunk) tol,
#include "policy/words.def"
	};
	struct ac_site_record *site = &made[made_count++];

	memset(site, 0, sizeof *site);
	site->key = *key;
	site->id = ac_site_id(key, "");
	site->rung = rung;
	site->tactic = rung ? AC_TACTIC_CAST : AC_TACTIC_NONE;
	site->tol = (float)tols[rung];
	strcpy(site->source, "learn");
	atomic_store(&site->kept[AC_REASON_OWN], calls);
	atomic_store(&site->course.keep_us, keep_us);
	atomic_store(&site->course.recast_us, recast_us);
	atomic_store(&site->course.timed, 1);
	atomic_store(&site->course.samples, (uint32_t)judged);
	atomic_store(&site->course.judged, judged);
	atomic_store(&site->course.error, error);
	return site;
}

static void
end(void)
{
	ac_tune_plan_end(&plan);
	ac_report_destroy(report);
	report = NULL;
	made_count = 0;
}

/* Nothing is left of a case that failed. */
static int
begin(void **state)
{
	plan = (struct ac_tune_plan){ 0 };
	report = NULL;
	made_count = 0;
	return 0;
}

static void
make_report(void)
{
	static struct ac_file_header h;

	h = (struct ac_file_header){ .pid = 99999999, .start_s = 86400,
		.sm = 90, .clock = AC_CLOCK_DEVICE };
	strcpy(h.program, "train");
	strcpy(h.gpu, "NVIDIA H200");
	strcpy(h.library, "cublas-13.1");
	strcpy(h.run, "r");
	atomic_store(&h.sites, made_count);
	report = calloc(1, sizeof *report);
	assert_non_null(report);
	assert_true(ac_report_add(report, &h, made, no_markers));
	ac_report_arrange(report);
}

__attribute__((unused)) static void
make_plan(double tol)
{
	make_report();
	assert_true(ac_tune_plan_make(&plan, report, tol));
}

#endif
