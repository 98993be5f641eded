/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_trial_samples.c -- what samples do to a site: demotion and
 * retry at fixed calls, late verdicts, periods, a context that is gone, strict. */
#include "tests/unit/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- Samples ------------------------------------------------------------- */

static void
test_demotion_at_fixed_call(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = turns_until(t, 63, 3e-4f);

	(void)state;
	assert_int_equal(now.candidate, 0);
	now = turns_until(t, 64, 5e-2f);
	assert_true(now.sampled);
	now = turns_until(t, 127, 3e-4f);
	assert_int_equal(now.candidate, 0);
	now = turns_until(t, 128, 3e-4f);
	assert_int_equal(now.candidate, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_ERROR);
	/* And back to the first after a thousand calls, if it is good then. */
	now = turns_until(t, 1128 / 64 * 64, 3e-4f);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	for (now = turn(t); now.kind != AC_TURN_TRY; now = turn(t))
		assert_true(now.number < 1300);
	assert_int_equal(now.number, 1152);
	try_with(t, &now, 3e-4f, 3e-4f);
	now = turns_until(t, 1215, 3e-4f);
	assert_int_equal(now.candidate, 1);
	now = turns_until(t, 1216, 3e-4f);
	assert_int_equal(now.candidate, 0);
	assert_int_equal(ac_trial_record(t, 0)->course.retries, 1);
}

/* What was good once, and is refused at the next try, is out. */
static void
test_refused_at_retry(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 1e-2f, 3e-4f);
	struct ac_turn now = turns_until(t, 900, 3e-4f);
	struct ac_slot slot;

	(void)state;
	assert_int_equal(now.candidate, 1);
	for (now = turn(t); now.kind != AC_TURN_TRY; now = turn(t))
		assert_true(now.number < 1300);
	slot = ac_trial_slot(t, 0);
	post(&slot, now.number, 3e-4f, 1e-2f);
	ac_trial_tried(t, &here, &now, 1, 2);
	now = turns_until(t, now.number + 128, 3e-4f);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(ac_trial_record(t, 1)->course.finding,
	    AC_FINDING_REFUSED);
}

/* The host is ahead of the device: the call at which a verdict is due waits for
 * it, once and for two seconds at most, since the stream may wait for this very
 * thread. From then on calls are kept until it has come. */
static void
test_late(void **state)
{
	const int64_t second = 1000000000;
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = { 0 }, sampled;

	(void)state;
	for (sampled = turn(t); !sampled.sampled; sampled = turn(t))
		;
	ac_trial_sampled(t, &sampled);
	now_ns = 0;
	while (now.number < 127)
		now = turn(t);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 0);
	assert_int_equal(now_ns, 0);
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_PROBATION);
	assert_in_range(now_ns, 2 * second, 2 * second + second / 10);
	now_ns = 0;
	while (now.number < 192) {
		now = turn(t);
		assert_int_equal(now.kind, AC_TURN_KEEP);
	}
	assert_int_equal(now_ns, 0);
	assert_int_equal(ac_trial_record(t, 0)->course.late, 1);
	/* It comes at last, and counts at the next boundary. */
	post(&sampled.slot, sampled.number, 1e-4f, 1.0f);
	while (now.number < 255) {
		now = turn(t);
		assert_int_equal(now.kind, AC_TURN_KEEP);
	}
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.late, 1);
}

/* A thread may be held up between its turn and its post: no other call gets the
 * slot meanwhile, and the next one does when the turn is over, come what may. */
static void
test_held(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;
	struct ac_turn slow = { 0 }, now = { 0 };

	(void)state;
	decision.sample_period = 1;
	t = settled(&decision, 3e-4f, 3e-4f);
	while (!slow.sampled)
		slow = turn(t);
	while (now.number < slow.number + 65) {
		now = turn(t);
		assert_ptr_not_equal(now.slot.host, slow.slot.host);
		ac_trial_turn_over(t, &now);
	}
	assert_false(now.sampled);
	ac_trial_turn_over(t, &slow);
	while (now.number < slow.number + 130) {
		now = turn(t);
		ac_trial_turn_over(t, &now);
	}
	assert_true(now.sampled);
	assert_ptr_equal(now.slot.host, slow.slot.host);
}

static void
test_periods(void **state)
{
	static const uint32_t periods[] = { 1, 3, 16, 48, 64, 100, 1000 };
	struct ac_decision decision = decision_of(AC_GUARD_ON);

	(void)state;
	for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
		const uint32_t period = periods[i];
		uint64_t bad = 0, left = 0;
		struct ac_trial *t;

		decision.sample_period = period;
		t = settled(&decision, 3e-4f, 3e-4f);
		while (!left) {
			const struct ac_turn now = turn(t);

			assert_int_equal(now.sampled, now.number % period == 0);
			if (now.candidate == 1)
				left = now.number;
			if (!now.sampled)
				continue;
			if (now.number >= 2000 && !bad)
				bad = now.number;
			post(&now.slot, now.number, 1e-4f,
			    bad == now.number ? 1.0f : 3e-4f);
			ac_trial_sampled(t, &now);
		}
		assert_true(left >= bad + 64);
		assert_true(left < bad + 64 + period);
	}
}

static void
test_reset(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	turns_until(t, 100, 3e-4f);
	epoch++; /* what is posted from now on comes from another context */
	memset(posts, 0, sizeof posts);
	assert_int_equal(turns_until(t, 192, 3e-4f).sampled, true);
	turns_until(t, 255, 1.0f);
	assert_int_equal(turns_until(t, 256, 3e-4f).candidate, 0);
}

/* By turns here and there: what is open here outlives the turns there. */
static void
test_two_contexts(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now = turn(t);
	unsigned samples = 0;

	(void)state;
	pages = 0;
	try_with(t, &now, 3e-4f, 3e-4f);
	ac_trial_turn(t, &there, &now);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	for (int i = 0; i < 2000; i++) {
		ac_trial_turn(t, i % 2 ? &there : &here, &now);
		assert_int_equal(now.kind, AC_TURN_RECAST);
		samples += now.sampled;
		if (now.sampled) {
			post(&now.slot, now.number, 1e-4f, 3e-4f);
			ac_trial_sampled(t, &now);
		}
	}
	assert_true(samples > 20);
	assert_true(pages <= 1);

	decision = decision_of(AC_GUARD_STRICT);
	t = make(&decision, false);
	pages = 0;
	for (int i = 0; i < 200; i++) {
		ac_trial_turn(t, i % 2 ? &there : &here, &now);
		assert_int_equal(now.kind, AC_TURN_STRICT);
	}
	assert_int_equal(pages, 2);

	/* The first context does not come back. */
	decision = decision_of(AC_GUARD_ON);
	t = make(&decision, false);
	now = turn(t);
	ac_trial_tried(t, &here, &now, 3, 0);
	for (int i = 0; i < 100 && now.kind != AC_TURN_RECAST; i++) {
		ac_trial_turn(t, &there, &now);
		if (now.kind == AC_TURN_TRY)
			try_with(t, &now, 3e-4f, 3e-4f);
	}
	assert_int_equal(now.kind, AC_TURN_RECAST);
}

/* A sample that never comes does not take its place for good. */
static void
test_lost(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = { 0 };
	unsigned samples = 0;

	(void)state;
	while (now.number < 128) {
		now = turn(t);
		if (now.sampled)
			ac_trial_sampled(t, &now);
	}
	while (now.number < 1063)
		assert_false((now = turn(t)).sampled);
	while (now.number < 1300)
		samples += (now = turn(t)).sampled;
	assert_true(samples > 0);
}

static void
test_strict(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_STRICT);
	struct ac_trial *t = make(&decision, true);
	struct ac_turn now = turn(t);

	(void)state;
	assert_int_equal(now.kind, AC_TURN_STRICT);
	post(&now.slot, now.number, 1e-4f, 3e-4f);
	assert_true(ac_trial_judge_now(t, &now));
	now = turn(t);
	post(&now.slot, now.number, 1e-4f, 1.0f);
	assert_false(ac_trial_judge_now(t, &now));
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_STRICT);
	assert_int_equal(now.candidate, 1);
	assert_false(ac_trial_judge_now(t, &now)); /* nothing was posted */
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_GUARD);
	while (now.number < 1002)
		now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_STRICT);
	assert_int_equal(now.candidate, 0);
	ac_trial_turn(t, &graph, &now);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demotion_at_fixed_call),
		cmocka_unit_test(test_refused_at_retry),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_two_contexts),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_strict),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
