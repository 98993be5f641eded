/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_trial.c -- the turns of a site's calls, by their number:
 * probation, captures, times, streams apart. */
#include "tests/unit/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- Probation ----------------------------------------------------------- */

static void
test_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now = turn(t);

	(void)state;
	assert_int_equal(now.number, 1);
	waits = 0;
	try_with(t, &now, 3e-4f, 3e-4f);
	assert_int_equal(waits, 0);
	now = turn(t);
	assert_int_equal(waits, 1);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 0);
	now = turns_until(t, 1000, 3e-4f);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(waits, 1);
}

/* What the samples of call 1 wait for may be the very thread that waits: call 2
 * gives up after two seconds, later ones only look, and so do other sites'. */
static void
test_wait_is_bounded(void **state)
{
	const int64_t second = 1000000000;
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false), *other;
	struct ac_turn now = turn(t);

	(void)state;
	try_with(t, &now, 3e-4f, 3e-4f);
	event_passed = false;
	now_ns = 5 * second;
	assert_int_equal(turn(t).reason, AC_REASON_PROBATION);
	assert_in_range(now_ns, 7 * second, 7 * second + second / 10);
	for (int i = 0; i < 10; i++) {
		const int64_t before = now_ns;

		waits = 0;
		assert_int_equal(turn(t).reason, AC_REASON_PROBATION);
		assert_in_range(waits, 1, 2);
		assert_int_equal(now_ns, before);
	}
	other = make(&decision, false);
	now = turn(other);
	try_with(other, &now, 3e-4f, 3e-4f);
	event_passed = false;
	now_ns = 0;
	assert_int_equal(turn(other).kind, AC_TURN_KEEP);
	assert_int_equal(now_ns, 0);
	event_passed = true;
	assert_int_equal(turn(t).kind, AC_TURN_RECAST);
	assert_int_equal(turn(other).kind, AC_TURN_RECAST);
}

static void
test_ladder_at_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 1e-2f, 3e-4f);
	struct ac_turn now = turn(t);

	(void)state;
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_CAST);
	assert_int_equal(ac_trial_record(t, 0)->course.demotions, 1);

	t = settled(&decision, 1e-2f, 1e-2f);
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_GUARD);
	assert_int_equal(ac_trial_record(t, AC_CANDIDATES)->reason,
	    AC_REASON_GUARD);

	t = settled(&decision, 0.0f / 0.0f, 3e-4f);
	assert_int_equal(turn(t).candidate, 1);
}

static void
test_nothing_posted(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now = turn(t);

	(void)state;
	ac_trial_tried(t, &here, &now, 3, 0);
	assert_int_equal(turn(t).kind, AC_TURN_KEEP);

	/* No place on the device: tried again 64 calls later. */
	t = make(&decision, false);
	now = turn(t);
	ac_trial_tried(t, &here, &now, 0, 0);
	for (int i = 2; i < 65; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);
	assert_int_equal(turn(t).kind, AC_TURN_TRY);

	/* All refused: for good. */
	t = make(&decision, false);
	now = turn(t);
	ac_trial_tried(t, &here, &now, 0, 3);
	for (int i = 0; i < 200; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);

	t = make(&decision, false);
	has_pages = false;
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_DRIVER);
}

static void
test_capture(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;

	(void)state;
	ac_trial_turn(t, &graph, &now);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	waits = 0;
	ac_trial_turn(t, &graph, &now);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
	assert_int_equal(waits, 0);
	assert_int_equal(turn(t).kind, AC_TURN_RECAST);
	for (int i = 0; i < 200; i++) {
		ac_trial_turn(t, &graph, &now);
		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_false(now.sampled);
	}
}

static void
test_after_and_doubt(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;
	struct ac_turn now;

	(void)state;
	decision.after = 10;
	t = make(&decision, false);
	for (int i = 1; i <= 10; i++) {
		assert_false(ac_trial_wants_place(t, true));
		assert_int_equal(turn(t).reason, AC_REASON_PROBATION);
	}
	assert_true(ac_trial_wants_place(t, false));
	assert_int_equal(turn(t).kind, AC_TURN_TRY);
	assert_false(ac_trial_wants_place(t, true)); /* it is another's turn */

	decision.after = 0;
	decision.is_doubtful = true;
	t = make(&decision, false);
	for (int i = 1; i < 64; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = turn(t);            /* without times, the doubt remains */
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_NO_PROFIT);
	t = make(&decision, true);
	while ((now = turn(t)).kind != AC_TURN_TRY)
		;
	try_with(t, &now, 3e-4f, 3e-4f);
	while (!(now = turn(t)).timing || now.kind == AC_TURN_KEEP)
		assert_int_equal(now.kind, AC_TURN_KEEP);

	decision = decision_of(AC_GUARD_OFF);
	assert_null(make(&decision, false));
	decision.after = 3;
	t = make(&decision, false);
	for (int i = 1; i <= 3; i++)
		assert_int_equal(turn(t).kind, AC_TURN_KEEP);
	for (int i = 0; i < 200; i++) {
		now = turn(t);

		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_false(now.sampled);
	}
}

/* ---- Times --------------------------------------------------------------- */

/* Run the rounds: FP16 takes `fp16` ms and so on; returns what stays. */
static struct ac_turn
timed(struct ac_trial *t, float fp16, float tf32, float keep)
{
	const float times[] = { fp16, tf32, 0, 0, keep };
	struct ac_turn now;
	unsigned seen[AC_CANDIDATES + 1] = { 0 };

	for (now = turn(t); now.number < 150; now = turn(t)) {
		if (!now.timing)
			continue;
		const size_t which = (size_t)(now.timing - t->timing);

		if (now.kind == AC_TURN_KEEP)
			assert_int_equal(which, AC_CANDIDATES);
		else
			assert_int_equal(which, now.candidate);
		/* A product that is refused is fast. */
		elapsed_ms = 0.1f;
		assert_true(ac_timing_begin(now.timing, &here));
		ac_timing_end(now.timing, &here, false);
		ac_timing_read(now.timing, &here);
		elapsed_ms = times[which];
		assert_true(ac_timing_begin(now.timing, &here));
		ac_timing_end(now.timing, &here, true);
		ac_timing_read(now.timing, &here);
		seen[which] += now.number < 100; /* later: a sample's */
	}
	assert_int_equal(seen[0], 4);
	assert_int_equal(seen[1], 4);
	assert_int_equal(seen[AC_CANDIDATES], 4);
	return now;
}

static void
test_times(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_turn now;
	struct ac_trial *t = make(&decision, true);

	(void)state;
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = timed(t, 2, 1, 10);
	assert_int_equal(now.candidate, 1);
	assert_true(ac_trial_record(t, 1)->course.recast_us == 1000);
	assert_true(ac_trial_record(t, 1)->course.keep_us == 10000);

	t = make(&decision, true);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = timed(t, 2, 3, 1);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_NO_PROFIT);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_SLOW);

	/* Two per cent are no difference; profit=off does not judge. */
	t = make(&decision, true);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	assert_int_equal(timed(t, 1, 0.99f, 10).candidate, 0);
	decision.judges_profit = false;
	t = make(&decision, true);
	now = turn(t);
	try_with(t, &now, 3e-4f, 3e-4f);
	assert_int_equal(timed(t, 3, 2, 1).candidate, 0);
}

static void
test_streams_apart(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_place other = here;
	struct ac_trial *t, *apart;

	(void)state;
	other.stream_id = 4;
	t = make(&decision, false);
	assert_ptr_equal(ac_trial_of(t, &other), t);
	decision.reproducible = true;
	t = make(&decision, true);
	apart = ac_trial_of(t, &other);
	assert_ptr_not_equal(apart, ac_trial_of(t, &here));
	assert_ptr_equal(apart, ac_trial_of(t, &other));
	turn(apart);
	assert_int_equal(turn(ac_trial_of(t, &here)).number, 1);
	assert_true(ac_trial_wants_place(t, false));
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probation),
		cmocka_unit_test(test_wait_is_bounded),
		cmocka_unit_test(test_ladder_at_probation),
		cmocka_unit_test(test_nothing_posted),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_after_and_doubt),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_streams_apart),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
