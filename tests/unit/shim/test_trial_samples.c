/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial_samples.c -- when calls are sampled, and when the
 * verdict applies: periods, a host that runs ahead, posts that are lost,
 * contexts that change or are gone, strict. Verdicts about pairs:
 * test_trial_pairs.c. */
#include "tests/unit/shim/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- When -------------------------------------------------------------- */

/* A sample at a call, its verdict 56 calls later; then each candidate of as
 * many bits of fraction proves itself, 128 tries in a row. */
static void
test_demotion(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = calls_until(t, 31);

	(void)state;
	assert_int_equal(now.candidate, 0);
	device.error[0] = 5e-2f;
	now = call(t);
	assert_int_equal(now.number, 32);
	assert_true(now.sampled);
	device.error[0] = 3e-4f;
	while (now.number < 32 + TRIAL_LAG - 1) {
		now = call(t);
		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_int_equal(now.candidate, 0);
	}
	for (int i = 0; i < TRIAL_PROOF; i++) {
		now = call(t);
		assert_int_equal(now.kind, AC_TURN_TRY);
		assert_int_equal(now.tries, 2);
	}
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_ERROR);
	assert_int_equal(ac_trial_record(t, 0)->course.demotions, 1);
	assert_int_equal(ac_trial_record(t, 1)->course.demotions, 0);
	/* The next call waits for what they found. */
	now = call(t);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 1);
}

/* Calls 4, 8, 16, 32, then 56 to 71 apart, and never long in step with a
 * loop. */
static void
test_schedule(void **state)
{
	static const uint64_t first[] = { 4, 8, 16, 32 };
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	uint64_t last = 0;
	unsigned samples = 0, gaps[16] = { 0 }, rest[101][100] = { { 0 } };

	(void)state;
	for (uint64_t i = 4; i <= 100000; i++) {
		const struct ac_turn now = call(t);

		assert_int_equal(now.kind, AC_TURN_RECAST);
		if (!now.sampled)
			continue;
		if (samples < 4)
			assert_int_equal(i, first[samples]);
		else {
			assert_in_range(i - last, 56, 71);
			gaps[i - last - 56]++;
		}
		last = i;
		samples++;
		for (unsigned period = 2; period <= 100; period++)
			rest[period][i % period]++;
	}
	assert_in_range(samples, 100000 / 71, 4 + 100000 / 56);
	/* About 1560 draws: each gap about 98 times, and 5 standard deviations
	 * of sqrt(98) are 49. */
	for (int i = 0; i < 16; i++)
		assert_in_range(gaps[i], 98 - 49, 98 + 49);
	/* Nor is any place of any loop left out: at 100 it is met 15.6 times,
	 * and e^-15.6 * 5000 such places is 1e-3. */
	for (unsigned period = 2; period <= 100; period++)
		for (unsigned i = 0; i < period; i++)
			assert_true(rest[period][i] > 0);
}

/* Whatever the period is: data that turn bad at a call are recast for no longer
 * than to the next sample and its verdict. */
static void
test_periods(void **state)
{
	static const uint32_t periods[] = { 1, 2, 3, 16, 48, 64, 100, 1000 };
	struct ac_decision decision = decision_of(AC_GUARD_ON);

	(void)state;
	for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
		const uint32_t period = periods[i], more = period / 8;
		uint64_t last = 3, worst = 0;
		struct ac_trial *t;

		decision.sample_period = period;
		t = settled(&decision, 3e-4f, 3e-4f);
		for (uint64_t n = 4; n < 3000; n++) {
			const bool sampled = call(t).sampled;

			if (sampled && n - last > worst)
				worst = n - last;
			if (sampled)
				last = n;
		}
		assert_in_range(worst, period - more, period + more);
		/* Bad from now on. */
		device.error[0] = 0.3f;
		while (call(t).kind == AC_TURN_RECAST)
			assert_true(*t->v->calls < 3000 + period + more
			    + TRIAL_LAG);
	}
	assert_true(TRIAL_LAG + 64 + 64 / 8 <= 128);
}

/* With each call sampled 57 verdicts are open at a time, and 64 have room: none
 * is left out, a proof included. */
static void
test_each_call_sampled(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	(void)state;
	decision.sample_period = 1;
	t = settled(&decision, 3e-4f, 3e-4f);
	for (int i = 0; i < 1000; i++)
		assert_true(call(t).sampled);
	device.error[0] = 0.3f;
	for (int i = 0; i < 2000; i++) {
		const struct ac_turn now = call(t);

		assert_true(now.sampled || now.kind != AC_TURN_RECAST);
	}
	assert_int_equal(call(t).candidate, 1);
}

/* A sample that could not be queued is taken of the next call; without samples
 * (sample=0) it is not asked for. */
static void
test_not_queued(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = calls_until(t, 31);

	(void)state;
	for (int i = 0; i < 5; i++) {
		now = turn(t);
		assert_true(now.sampled);
		ac_trial_turn_over(t, &now);
	}
	assert_true(call(t).sampled);
	assert_false(call(t).sampled);
	decision.sample_period = 0;
	t = settled(&decision, 3e-4f, 3e-4f);
	now = turn(t);
	assert_true(now.sampled);
	ac_trial_turn_over(t, &now);
	assert_false(call(t).sampled);
}

/* ---- A host that runs ahead -------------------------------------------- */

/* It waits where a verdict is due, and for no more than that. */
static void
test_run_ahead(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = calls_until(t, 32);

	(void)state;
	(void)calls_until(t, 32 + TRIAL_LAG); /* its verdict, too */
	device.is_behind = true;
	device.error[0] = 0.3f;
	while (!(now = call(t)).sampled)
		;
	assert_int_equal(naps, 0);
	delivers_after = 50;
	(void)calls_until(t, now.number + TRIAL_LAG - 1);
	assert_int_equal(naps, 0);
	assert_int_not_equal(call(t).kind, AC_TURN_RECAST);
	assert_int_equal(naps, 50);
}

/* The device does not come: one wait of two seconds, originals until it has. */
static void
test_late(void **state)
{
	const int64_t second = 1000000000;
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now;

	(void)state;
	device.is_behind = true;
	now_ns = 0;
	now = calls_until(t, 4 + TRIAL_LAG - 1);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now_ns, 0);
	now = call(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_PROBATION);
	assert_in_range(now_ns, 2 * second, 2 * second + second / 10);
	now_ns = 0;
	for (int i = 0; i < 200; i++) {
		now = call(t);
		assert_int_equal(now.kind, AC_TURN_KEEP);
		assert_false(now.sampled);
	}
	assert_int_equal(now_ns, 0);
	/* Calls 4, 8, 16 and 32 were sampled. */
	assert_int_equal(ac_trial_record(t, 0)->course.late, 4);
	device.is_behind = false;
	deliver();
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
}

/* A post that never comes: after 1000 calls nobody waits for it, the site is
 * not kept for good, and its place is somebody else's. */
static void
test_lost(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	unsigned samples = 0, recast = 0;

	(void)state;
	device.is_behind = true;
	(void)calls_until(t, 4);
	memset(posts, 0, sizeof posts);
	deliver();
	memset(posts, 0, sizeof posts);
	device.is_behind = false;
	assert_int_equal(calls_until(t, 4 + TRIAL_LAG).kind, AC_TURN_KEEP);
	assert_int_equal(calls_until(t, 1003).kind, AC_TURN_KEEP);
	for (int i = 0; i < 1000; i++) {
		const struct ac_turn now = call(t);

		recast += now.kind == AC_TURN_RECAST;
		samples += now.sampled;
	}
	assert_int_equal(recast, 1000);
	assert_true(samples > 10);
	assert_int_equal(__builtin_popcountll(t->v->open), 1);
}

/* A thread may be held up between its turn and its post: no other call gets the
 * slot meanwhile, and the next one does when the turn is over, come what
 * may. */
static void
test_held(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;
	struct ac_turn slow = { 0 };

	(void)state;
	decision.sample_period = 1;
	t = settled(&decision, 3e-4f, 3e-4f);
	slow = turn(t);
	assert_true(slow.sampled);
	for (int i = 0; i < 300; i++) {
		const struct ac_turn now = call(t);

		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_true(!now.sampled || now.slot.host != slow.slot.host);
	}
	ac_trial_turn_over(t, &slow);
	for (int i = 0; i < TRIAL_OPEN; i++)
		if (call(t).slot.host == slow.slot.host)
			return;
	fail();
}

/* ---- Contexts ---------------------------------------------------------- */

/* The device was reset: what was open is gone, and what is posted from now on
 * is of another context. */
static void
test_reset(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now;

	(void)state;
	device.is_behind = true;
	(void)calls_until(t, 40);
	memset(posts, 0, sizeof posts);
	reset_contexts();
	device.is_behind = false;
	pages = 0;
	now = calls_until(t, 200);
	assert_int_equal(naps, 0);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(pages, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.late, 0);
	device.error[0] = 0.3f;
	while (call(t).kind == AC_TURN_RECAST)
		assert_true(*t->v->calls <= 200 + 128);
	deliver();
}

/* So it is during the probation: the tries are made again. */
static void
test_reset_in_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);

	(void)state;
	for (uint64_t before = 1; before <= 3; before++) {
		struct ac_trial *t = make(&decision, false);

		device.is_behind = true;
		(void)calls_until(t, before);
		memset(posts, 0, sizeof posts);
		reset_contexts();
		device.is_behind = false;
		while (call(t).kind != AC_TURN_RECAST)
			assert_true(*t->v->calls <= before + 6);
		assert_int_equal(naps, 0);
		assert_true(t->v->evidence[0].clean >= TRIAL_EVIDENCE);
		deliver();
	}
}

/* By turns here and there: what is open here outlives the turns there. */
static void
test_two_contexts(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;
	unsigned samples = 0;

	(void)state;
	(void)calls_until(t, 3);
	assert_int_equal(call_at(t, &there, 1).kind, AC_TURN_KEEP);
	for (int i = 0; i < 2000; i++) {
		now = call_at(t, i % 2 ? &there : &here, 1);
		assert_int_equal(now.kind, AC_TURN_RECAST);
		samples += now.sampled;
	}
	assert_true(samples > 20);
	assert_int_equal(pages, 1);

	decision = decision_of(AC_GUARD_STRICT);
	t = make(&decision, false);
	(void)calls_until(t, 3);
	for (int i = 0; i < 200; i++)
		assert_int_equal(call_at(t, i % 2 ? &there : &here, 1).kind,
		    AC_TURN_STRICT);
	assert_int_equal(pages, 2);

	/* The first context does not come back. */
	decision = decision_of(AC_GUARD_ON);
	t = make(&decision, false);
	device.is_behind = true;
	(void)calls_until(t, 3);
	device.is_behind = false;
	for (int i = 0; i < 100 && now.kind != AC_TURN_RECAST; i++)
		now = call_at(t, &there, 1);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	deliver();
}

/* A thread was held up between its turn here and its post, and the site has
 * moved there meanwhile: what it posts is no verdict of a call there, and
 * nobody waits for it. */
static void
test_moved_meanwhile(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn slow = turn(t), now;

	(void)state;
	assert_true(slow.sampled);
	(void)calls_until(t, 32);
	for (int i = 0; i < 1000; i++)
		(void)call_at(t, &there, 1);
	assert_true(ac_trial_is_home(t, &there));
	ac_trial_sampled(t, &slow);
	naps = 0;
	for (int i = 0; i < 200; i++) {
		now = call_at(t, &there, 1);
		assert_int_equal(now.kind, AC_TURN_RECAST);
	}
	assert_int_equal(naps, 0);
	assert_int_equal(ac_trial_record(t, 0)->course.late, 0);
}

/* A fifth context gets the slots of one that is not at home. */
static void
test_many_contexts(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_STRICT);
	struct ac_trial *t = make(&decision, false);
	struct ac_place at = here;

	(void)state;
	(void)calls_until(t, 3);
	for (uintptr_t i = 1; i <= 40; i++) {
		const struct ac_trial_slots *before = t->v->home;

		at.scratch = (struct ac_scratch *)(8 * i);
		assert_int_equal(call_at(t, &at, 1).kind, AC_TURN_STRICT);
		assert_ptr_not_equal(t->v->home, before);
	}
}

/* ---- Strict ------------------------------------------------------------ */

/* Three calls are the original's, then each one is judged before it counts.
 * What fails is left for a thousand calls, and nothing else is. */
static void
test_strict(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_STRICT);
	struct ac_trial *t = make(&decision, true);
	struct ac_turn now;

	(void)state;
	for (int i = 1; i <= 3; i++)
		assert_int_equal(call(t).kind, AC_TURN_KEEP);
	assert_int_equal(call(t).kind, AC_TURN_STRICT);
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_STRICT);
	post(&now.slot, now.number, 1e-4f, 1.0f);
	assert_false(ac_trial_judge_now(t, &now));
	ac_trial_turn_over(t, &now);
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_STRICT);
	assert_int_equal(now.candidate, 1);
	assert_false(ac_trial_judge_now(t, &now)); /* nothing was posted */
	ac_trial_turn_over(t, &now);
	now = call(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_GUARD);
	/* Another pair may use both all the while. */
	assert_int_equal(call_at(t, &here, 2).candidate, 0);
	/* Demoted at calls 5 and 6, each for the first time. */
	assert_int_equal(calls_until(t, 6 + TRIAL_RETRY - 1).kind,
	    AC_TURN_KEEP);
	now = call(t);
	assert_int_equal(now.kind, AC_TURN_STRICT);
	assert_int_equal(now.candidate, 0);
	(void)calls_until(t, 5000);
	assert_int_equal(ac_trial_record(t, 0)->course.retries, 1);
	now = call_at(t, &graph, 1);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
	assert_int_equal(t->v->open, 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_demotion),
		cmocka_unit_test(test_schedule),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_each_call_sampled),
		cmocka_unit_test(test_not_queued),
		cmocka_unit_test(test_run_ahead),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_reset_in_probation),
		cmocka_unit_test(test_two_contexts),
		cmocka_unit_test(test_moved_meanwhile),
		cmocka_unit_test(test_many_contexts),
		cmocka_unit_test(test_strict),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
