/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial_course.c -- what a kernel posted is in the course,
 * where reports find it, and so is what runs now. */
#include "shim/device/handle.h"
#include "shim/trial/trial_state.h"
#include "tests/unit/shim/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Counts add up, the worst stays the worst, and of samples the last is
 * known. */
static void
test_posts(void **state)
{
	static const struct ac_recast_post given[] = {
		{ .number = 4, .samples = 2, .settled = 1, .error = 1e-4f,
		  .line_error = 2e-4f, .rho = 3e-5f, .tile_rho = 4e-5f,
		  .estimate = 5e-4f, .exact = 6e-7f, .judged = 4,
		  .suspects = 1 },
		{ .number = 64, .error = 9e-5f, .estimate = 4e-4f,
		  .exact = 7e-7f, .judged = UINT32_MAX, .suspects = 2 },
	};
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	const struct ac_site_course *course = &ac_trial_record(t, 0)->course;

	(void)state;
	for (size_t i = 0; i < sizeof given / sizeof *given; i++)
		(void)ac_trial_judge(t, 0, &given[i]);
	assert_int_equal(course->samples, 2);
	assert_int_equal(course->sampled_at, 4);
	assert_int_equal(course->settled, 1);
	assert_true(course->judged == 4ull + UINT32_MAX);
	assert_int_equal(course->suspects, 3);
	assert_true(course->error == 1e-4f && course->line_error == 2e-4f);
	assert_true(course->rho == 3e-5f && course->tile_rho == 4e-5f);
	assert_true(course->estimate == 5e-4f && course->exact == 7e-7f);
}

static uint64_t
chosen(struct ac_trial *t, unsigned candidate)
{
	return ac_trial_record(t, candidate)->course.chosen;
}

/* The site's only pair leaves fp16, which stays the site's choice, and runs on
 * another rung once that has proved itself: its row shows what runs. When fp16
 * is back, that. */
static void
test_row_follows_the_pair(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = calls_until(t, 200);

	(void)state;
	assert_int_equal(now.candidate, 0);
	assert_true(chosen(t, 0) > 0 && !chosen(t, 1));
	device.error[0] = 0.3f;
	do
		now = call(t);
	while ((now.kind != AC_TURN_RECAST || !now.candidate)
	    && now.number < 2000);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 1);
	assert_int_equal(t->current, 0);
	(void)calls_until(t, now.number + TRIAL_MARGIN);
	assert_true(chosen(t, 1) > chosen(t, 0));
	assert_true(chosen(t, 1) > chosen(t, TRIAL_KEEP));
	device.error[0] = 3e-4f;
	do
		now = call(t);
	while ((now.kind != AC_TURN_RECAST || now.candidate)
	    && now.number < 20000);
	(void)calls_until(t, now.number + TRIAL_MARGIN);
	assert_true(chosen(t, 0) > chosen(t, 1));
}

/* One of three pairs that take turns has left fp16: most calls of the site
 * still run on it, and so its row shows. */
static void
test_row_stays(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	while (*t->v->calls < 3000)
		(void)call_on(t, 1 + *t->v->calls % 3,
		    *t->v->calls > 200 && *t->v->calls % 3 == 1 ? BAD : GOOD);
	assert_true(t->v->pairs.any_out);
	assert_true(chosen(t, 0) > 0);
	assert_int_equal(chosen(t, 1), 0);
	assert_int_equal(chosen(t, TRIAL_KEEP), 0);
}

/* 400 calls of a program that has the device busy all the while. */
static struct ac_trial *
run_ahead(void)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, true);

	elapsed_ms = 0.05f;
	device.is_busy = true;
	while (*t->v->calls < 400) {
		const struct ac_turn now = call(t);

		if (now.timing && ac_timing_begin(now.timing, &here))
			ac_timing_end(now.timing, &here, true);
	}
	assert_false(t->timing_over);
	assert_int_equal(ac_trial_record(t, 0)->course.timed, 0);
	return t;
}

/* What the device has not passed while calls came is read where the program
 * waits for it, and only then; of the context that is current, alive, and
 * still the one it was. */
static void
test_late_times(void **state)
{
	struct ac_trial *t = run_ahead();
	struct ac_site_course *course = &ac_trial_record(t, 0)->course;

	(void)state;
	ac_handle_waited();
	assert_int_equal(course->timed, 0);
	device.is_busy = false;
	has_context = false;
	ac_handle_waited();
	assert_int_equal(course->timed, 0);
	has_context = true;
	ac_handle_waited();
	assert_true(course->timed > 0);
	assert_true(course->recast_us == 50 && course->keep_us == 50);
	assert_true(course->timings >= course->timed);

	t = run_ahead();
	device.is_busy = false;
	reset_contexts();
	ac_handle_waited();
	assert_int_equal(ac_trial_record(t, 0)->course.timed, 0);
}

/* Or by the site's own later calls. */
static void
test_times_of_later_calls(void **state)
{
	struct ac_trial *t = run_ahead();

	(void)state;
	device.is_busy = false;
	(void)calls_until(t, 600);
	assert_true(ac_trial_record(t, 0)->course.timed > 0);
	assert_true(ac_trial_record(t, 0)->course.keep_us == 50);
}

/* The device is behind: times that are not there yet are waited for, not done
 * without. */
static void
test_times_come_late(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, true);
	struct ac_turn now = call(t);

	(void)state;
	while (now.number < 400) {
		now = call(t);
		if (!now.timing || !ac_timing_begin(now.timing, &here))
			continue;
		ac_timing_end(now.timing, &here, true);
		device.is_busy = true;
	}
	assert_false(t->timing_over);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	device.is_busy = false;
	for (unsigned i = 0; i <= AC_CANDIDATES; i++) {
		elapsed_ms = i == AC_CANDIDATES ? 1 : 2;
		ac_timing_read(&t->timing[i], &here);
	}
	now = call(t);
	assert_true(t->timing_over);
	assert_int_equal(call(t).kind, AC_TURN_KEEP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_posts),
		cmocka_unit_test(test_row_follows_the_pair),
		cmocka_unit_test(test_row_stays),
		cmocka_unit_test(test_late_times),
		cmocka_unit_test(test_times_of_later_calls),
		cmocka_unit_test(test_times_come_late),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
