/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_course.c -- how sites fared, over several processes,
 * and whatever bytes a file has in the place of numbers. */
#include "with_report.h"

#include <math.h>

static struct ac_course
read_back(const struct ac_site_course *from)
{
	struct ac_course course;

	memset(&course, 0xff, sizeof course);
	ac_course_read(&course, from);
	return course;
}

CASE(test_read)
{
	static const struct ac_site_course from = {
		.finding = AC_FINDING_LINE, .samples = 1, .late = 2,
		.demotions = 3, .captured = 5, .timed = 7, .error = 0.5f,
		.line_error = 0.25f, .rho = 2, .keep_us = 8, .recast_us = 2,
		.keep_predicted_us = 16, .recast_predicted_us = 32,
		.plans = 9, .plan_ms = 1.5f, .workspace = 1ull << 40,
		.judged = 1ull << 33, .mended_lines = 1ull << 34,
		.mended_calls = 1ull << 35, .unread = 14
	};
	const struct ac_course to = read_back(&from);

	assert_int_equal(to.finding, AC_FINDING_LINE);
	assert_int_equal(to.samples, 1);
	assert_int_equal(to.late, 2);
	assert_int_equal(to.demotions, 3);
	assert_int_equal(to.captured, 5);
	assert_int_equal(to.timed, 7);
	assert_true(to.error == 0.5 && to.line_error == 0.25);
	assert_true(to.rho == 2);
	assert_true(to.keep_us == 8 && to.recast_us == 2);
	assert_true(to.keep_predicted_us == 16);
	assert_true(to.recast_predicted_us == 32);
	assert_int_equal(to.plans, 9);
	assert_true(to.plan_ms == 1.5 && to.workspace == 1ull << 40);
	assert_true(ac_course_speed(&to) == 4);
	assert_true(to.judged == 1ull << 33 && to.mended_lines == 1ull << 34);
	assert_true(to.mended_calls == 1ull << 35);
	assert_int_equal(to.unread, 14);
}

/* What was never good is not made good: a NaN error is the worst there is. */
CASE(test_hostile)
{
	static const float wrong[] = {
		NAN, -NAN, -1, -INFINITY, INFINITY, 3e38f, 0
	};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const struct ac_site_course from = {
			.finding = i & 1 ? UINT32_MAX : AC_FINDING_COUNT,
			.error = wrong[i],
			.rho = wrong[i], .line_error = wrong[i],
			.keep_us = wrong[i], .recast_us = wrong[i],
			.keep_predicted_us = wrong[i],
			.recast_predicted_us = wrong[i], .plan_ms = wrong[i]
		};
		const struct ac_course to = read_back(&from);

		assert_int_equal(to.finding, AC_FINDING_NONE);
		assert_true(to.error >= 0 && to.rho >= 0);
		assert_true(to.line_error >= 0);
		assert_true(!isnan(wrong[i]) || isinf(to.error));
		assert_true(!isnan(wrong[i]) || isinf(to.line_error));
		assert_true(!isnan(wrong[i]) || isinf(to.rho));
		assert_true(to.keep_us == 0 && to.recast_us == 0);
		assert_true(to.keep_predicted_us == 0);
		assert_true(to.recast_predicted_us == 0 && to.plan_ms == 0);
		assert_true(ac_course_speed(&to) == 0);
	}
}

static void
make_course(struct ac_site_record *site, uint32_t timed, float keep_us,
    float recast_us, float error)
{
	site->course.timed = timed;
	site->course.keep_us = keep_us;
	site->course.recast_us = recast_us;
	site->course.samples = error > 0;
	site->course.judged = 2 * (error > 0);
	site->course.error = error;
	site->tol = 1e-3f;
}

/* Two processes at one site: counts add up, the worst stays the worst, times
 * are means by how often they were taken. */
CASE(test_absorb)
{
	struct ac_report *report = calloc(1, sizeof *report);
	const struct ac_site_total *site;

	atomic_store(&made_header.sites, 1);
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 5, AC_REASON_NONE, 0);
	make_course(&made[0], 1, 10, 2, 4e-4f);
	made[0].course.late = 1;
	made[0].course.judged = 3;
	made[0].course.mended_lines = 4;
	made[0].course.mended_calls = 2;
	made[0].course.unread = 5;
	made[0].course.line_error = 3e-4f;
	assert_true(ac_report_add(report, &made_header, made, made_markers));
	make_course(&made[0], 5, 14, 0, 2e-4f);
	made[0].course.finding = AC_FINDING_LINE;
	made[0].course.demotions = 1;
	made[0].tol = 5e-4f;
	made[0].course.line_error = 1e-4f;
	assert_true(ac_report_add(report, &made_header, made, made_markers));
	ac_report_arrange(report);
	assert_int_equal(report->site_count, 1);
	site = &report->sites[0];
	assert_int_equal(site->course.finding, AC_FINDING_LINE);
	assert_int_equal(site->course.demotions, 1);
	assert_int_equal(site->course.late, 2);
	assert_int_equal(site->course.samples, 2);
	assert_int_equal(site->course.timed, 6);
	assert_int_equal(site->course.judged, 5);
	assert_int_equal(site->course.mended_lines, 8);
	assert_int_equal(site->course.mended_calls, 4);
	assert_int_equal(site->course.unread, 10);
	assert_true(site->course.line_error == (double)3e-4f);
	assert_true(site->course.error == (double)4e-4f);
	assert_true(site->tol == (double)5e-4f);
	/* Weights 2 and 6; one of the two did not measure the recast call. */
	assert_true(site->course.keep_us == 13);
	assert_true(site->course.recast_us == 2);
	ac_report_destroy(report);
}

CASE(test_totals)
{
	struct ac_report_totals t;
	struct ac_report *report;

	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 10, AC_REASON_GUARD, 90);
	make_course(&made[0], 3, 7, 1, 3e-4f);
	make_calls(make_site(1, AC_RUNG_BF16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 4, AC_REASON_NONE, 0);
	/* Larger, but a smaller part of what it may be. */
	make_course(&made[1], 0, 0, 0, 2e-3f);
	made[1].tol = 8e-3f;
	made[1].course.judged = 50; /* of replays; a graph never ran */
	made[1].course.unread = 1;
	made[1].course.keep_predicted_us = 3;
	made[1].course.recast_predicted_us = 2;
	/* Never timed. */
	make_calls(make_site(2, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 100, AC_REASON_NONE, 0);
	made[2].course.captured = 12;
	/* Mended, though nobody judges. */
	made[2].guard = AC_GUARD_OFF;
	made[2].course.judged = 100;
	made[2].course.error = 1;
	made[2].course.mended_lines = 2;
	made[2].course.mended_calls = 1;
	report = make_report(3);
	ac_report_totals(report, &t);
	assert_int_equal(t.samples, 2);
	assert_int_equal(t.captured, 12);
	assert_int_equal(t.products, 114);
	assert_int_equal(t.judged, 5);
	assert_int_equal(t.mended_lines, 2);
	assert_int_equal(t.mended_calls, 1);
	assert_int_equal(t.unjudged[AC_UNJUDGED_OFF], 100);
	assert_int_equal(t.worst_site, 0x10);
	assert_true(t.worst_error == (double)3e-4f);
	assert_true(t.worst_tol == (double)1e-3f);
	assert_int_equal(t.measured_calls, 10);
	assert_true(t.measured_keep_us == 70 && t.measured_recast_us == 10);
	assert_int_equal(t.predicted_calls, 4);
	assert_true(t.predicted_keep_us == 12 && t.predicted_recast_us == 8);
}

CASES_RUN(NULL, NULL)
