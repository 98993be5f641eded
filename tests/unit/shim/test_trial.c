/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial.c -- the turns of a site's calls, by their number:
 * probation, captures, times, streams apart. */
#include "tests/unit/shim/trial_world.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- Probation ----------------------------------------------------------- */

/* The original runs three times, both candidates beside it; the fourth call is
 * recast. Nothing is waited for that is there. */
static void
test_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		now = call(t);
		assert_int_equal(now.number, i);
		assert_int_equal(now.kind, AC_TURN_TRY);
		assert_int_equal(now.tries, 3);
	}
	for (int i = 4; i < 1000; i++) {
		now = call(t);
		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_int_equal(now.candidate, 0);
	}
	assert_int_equal(naps, 0);
	assert_int_equal(t->v->judge, 0);
}

/* The fourth call waits for what the first three have shown, as long as it
 * takes up to two seconds. */
static void
test_fourth_call_waits(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);

	(void)state;
	device.is_behind = true;
	delivers_after = 100;
	for (int i = 1; i <= 3; i++)
		assert_int_equal(call(t).kind, AC_TURN_TRY);
	assert_int_equal(naps, 0);
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
	assert_int_equal(naps, 100);
}

/* What the tries wait for may be the very thread that waits: call 4 gives up
 * after two seconds, later ones only look, and so do other sites'. */
static void
test_wait_is_bounded(void **state)
{
	const int64_t second = 1000000000;
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_trial *other;

	(void)state;
	device.is_behind = true;
	(void)calls_until(t, 3);
	now_ns = 5 * second;
	assert_int_equal(call(t).reason, AC_REASON_PROBATION);
	assert_in_range(now_ns, 7 * second, 7 * second + second / 10);
	now_ns = 0;
	for (int i = 0; i < 10; i++) {
		const struct ac_turn now = call(t);

		assert_int_equal(now.kind, AC_TURN_KEEP);
		assert_int_equal(now.reason, AC_REASON_PROBATION);
	}
	deliver();
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
	assert_int_equal(now_ns, 0);

	/* That was a look that found something: another site waits again. */
	other = make(&decision, false);
	device.is_behind = true;
	(void)calls_until(other, 4);
	assert_in_range(now_ns, 2 * second, 2 * second + second / 10);
	t = make(&decision, false);
	device.is_behind = true;
	now_ns = 0;
	assert_int_equal(calls_until(t, 4).kind, AC_TURN_KEEP);
	assert_int_equal(now_ns, 0);
	deliver();
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
}

/* As long as 256 calls take, where that is more: as predicted, or on a CPU, but
 * two minutes there. */
static void
test_wait_is_as_long_as_calls(void **state)
{
	static const struct {
		bool    is_emulated;
		int64_t side;
		double  predicted, seconds;
	} rows[] = {
		{ false, 1024, 1e-4, 2 }, { false, 1024, 0.02, 5.12 },
		{ true, 0, 0.02, 2 }, { true, 64, 0.02, 2 },
		{ true, 512, 1e-5, 17.179 }, { true, 1024, 1e-5, 120 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_decision decision = decision_of(AC_GUARD_ON);
		struct ac_trial *t;

		decision.judges_profit = false;
		decision.keep_seconds = rows[i].predicted;
		is_emulated = rows[i].is_emulated;
		side = rows[i].side;
		t = make(&decision, false);
		device.is_behind = true;
		now_ns = 0;
		(void)calls_until(t, 4);
		assert_in_range(now_ns, (int64_t)(rows[i].seconds * 1e9),
		    (int64_t)(rows[i].seconds * 1e9) + 100000000);
		deliver();
		assert_int_equal(call(t).kind, AC_TURN_RECAST);
	}
	is_emulated = false;
	side = 0;
}

static pthread_barrier_t met;

static void *
hold_until_met(void *argument)
{
	struct ac_trial *t = argument;

	assert_true(ac_trial_hold(t, false));
	(void)pthread_barrier_wait(&met);
	(void)pthread_barrier_wait(&met);
	ac_trial_release(t);
	return NULL;
}

/* Who judges may be waiting for the very thread that waits for it: two seconds,
 * then nobody waits until it is done. What a program tunes never waits. */
static void
test_wait_for_judge_is_bounded(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_barrier_init(&met, NULL, 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, hold_until_met, t), 0);
	(void)pthread_barrier_wait(&met);
	tunes = true;
	assert_int_equal(call(t).reason, AC_REASON_PROBATION);
	assert_int_equal(naps, 0);
	tunes = false;
	now_ns = 1;
	assert_int_equal(call(t).reason, AC_REASON_PROBATION);
	assert_in_range(now_ns, 2000000000, 2100000000);
	now_ns = 1;
	for (int i = 0; i < 10; i++)
		assert_int_equal(call(t).kind, AC_TURN_KEEP);
	assert_int_equal(now_ns, 1);
	(void)pthread_barrier_wait(&met);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&met);
	assert_int_equal(call(t).kind, AC_TURN_TRY);
	assert_false(t->v->is_held_long);
}

/* What never comes does not keep a site waiting for good. */
static void
test_lost_tries(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;

	(void)state;
	device.is_behind = true;
	(void)calls_until(t, 3);
	memset(posts, 0, sizeof posts);
	now = calls_until(t, 1002);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	device.is_behind = false;
	now = calls_until(t, 1003);
	assert_int_equal(now.kind, AC_TURN_TRY);
	assert_int_equal(calls_until(t, 1006).kind, AC_TURN_RECAST);
	deliver();
}

/* A candidate that fails all three times is out, the other one runs; without
 * one the site is kept. */
static void
test_ladder_at_probation(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 1e-2f, 3e-4f);
	struct ac_turn now = call(t);

	(void)state;
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_ERROR);
	assert_int_equal(ac_trial_record(t, 0)->course.demotions, 1);

	t = settled(&decision, 1e-2f, 1e-2f);
	now = call(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_GUARD);
	assert_int_equal(ac_trial_record(t, AC_CANDIDATES)->reason,
	    AC_REASON_GUARD);

	t = settled(&decision, 0.0f / 0.0f, 3e-4f);
	assert_int_equal(call(t).candidate, 1);
}

/* Samples of nothing but zeros prove nothing: after three of them the next try
 * is when as many calls have passed again, and what it finds is what counts. */
static void
test_zeros_first(void **state)
{
	static const uint64_t tried[] = { 1, 2, 3, 8, 9, 10, 22, 23, 24 };
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;
	size_t tries = 0;

	(void)state;
	device.samples = 0;
	device.error[0] = device.error[1] = 0;
	for (uint64_t i = 1; i <= 30; i++) {
		now = call(t);
		assert_int_not_equal(now.kind, AC_TURN_RECAST);
		if (now.kind == AC_TURN_TRY)
			assert_int_equal(now.number, tried[tries++]);
	}
	assert_int_equal(tries, sizeof tried / sizeof *tried);
	device.samples = 1;
	device.error[0] = device.error[1] = 0.3f;
	for (uint64_t i = 31; i <= 300; i++)
		assert_int_not_equal(call(t).kind, AC_TURN_RECAST);
	assert_int_equal(ac_trial_record(t, 0)->course.demotions, 1);
}

static void
test_nothing_queued(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;

	(void)state;
	/* No place on the device: tried again 64 calls later. */
	device.queued = 0;
	assert_int_equal(call(t).kind, AC_TURN_TRY);
	for (int i = 2; i < 65; i++)
		assert_int_equal(call(t).kind, AC_TURN_KEEP);
	device.queued = 3;
	assert_int_equal(call(t).kind, AC_TURN_TRY);
	assert_int_equal(calls_until(t, 68).kind, AC_TURN_RECAST);

	/* All refused: for good. */
	t = make(&decision, false);
	device.queued = 0;
	device.refused = 3;
	assert_int_equal(call(t).kind, AC_TURN_TRY);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(call(t).kind, AC_TURN_KEEP);
	assert_int_equal(t->v->open, 0);

	t = make(&decision, false);
	has_pages = false;
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_DRIVER);
	assert_int_equal(t->v->judge, 0);
}

/* Captured calls are no tries; a graph holds a recast call only of a site whose
 * data were seen to vary: three clean calls of different energies. */
static void
test_capture(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;

	(void)state;
	now = call_at(t, &graph, 1);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_CAPTURE);
	(void)calls_until(t, 4);
	for (int i = 0; i < 200; i++) {
		now = call_at(t, &graph, 1);
		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_false(now.sampled);
		assert_true(now.posts_if_bad);
		assert_ptr_equal(now.slot.host, &posts[0][TRIAL_GRAPH]);
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
		assert_false(wants_place(t, 1, true));
		assert_int_equal(call(t).reason, AC_REASON_PROBATION);
	}
	assert_true(wants_place(t, 1, false));
	now = turn(t);
	assert_int_equal(now.kind, AC_TURN_TRY);
	assert_true(wants_place(t, 1, true)); /* waits for that */

	decision.after = 0;
	decision.is_doubtful = true;
	t = make(&decision, false);
	for (int i = 1; i < 64; i++)
		assert_int_equal(call(t).kind, AC_TURN_KEEP);
	for (int i = 64; i < 67; i++)
		assert_int_equal(call(t).kind, AC_TURN_TRY);
	now = call(t);            /* without times, the doubt remains */
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_NO_PROFIT);
	t = make(&decision, true);
	(void)calls_until(t, 66);
	while (!(now = call(t)).timing || now.kind == AC_TURN_KEEP)
		assert_int_equal(now.kind, AC_TURN_KEEP);
}

/* Under guard=off there is no trial, but for the calls that are left alone at
 * first. */
static void
test_guard_off(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_OFF);
	struct ac_trial *t;

	(void)state;
	assert_false(ac_trial_is_wanted(&decision));
	decision.after = 3;
	assert_true(ac_trial_is_wanted(&decision));
	t = make(&decision, false);
	for (int i = 1; i <= 3; i++)
		assert_int_equal(call(t).kind, AC_TURN_KEEP);
	for (int i = 0; i < 200; i++) {
		const struct ac_turn now = call(t);

		assert_int_equal(now.kind, AC_TURN_RECAST);
		assert_false(now.sampled);
	}
}

/* ---- Times --------------------------------------------------------------- */

/* Run the rounds: FP16 takes `fp16` ms and so on; returns what stays. */
static struct ac_turn
timed(const struct ac_decision *decision, float fp16, float tf32, float keep,
    struct ac_trial **t_out)
{
	const float times[] = { fp16, tf32, 0, 0, keep };
	struct ac_trial *t = make(decision, true);
	struct ac_turn now = call(t);
	unsigned seen[AC_CANDIDATES + 1] = { 0 };

	/* The first call may have loaded its kernel. */
	assert_int_equal(now.kind, AC_TURN_TRY);
	assert_null(now.timing);
	for (now = call(t); now.number < 200; now = call(t)) {
		if (!now.timing)
			continue;
		const size_t which = (size_t)(now.timing - t->timing);

		if (now.kind != AC_TURN_RECAST)
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
		/* Later: a sample's. */
		seen[which] += !t->settled_at
		    || now.number < t->settled_at + TRIAL_TIMED;
	}
	assert_int_equal(seen[0], 4);
	assert_int_equal(seen[1], 4);
	assert_int_equal(seen[AC_CANDIDATES], 2);
	*t_out = t;
	return now;
}

static void
test_times(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_turn now;
	struct ac_trial *t;

	(void)state;
	now = timed(&decision, 2, 1, 10, &t);
	assert_int_equal(now.candidate, 1);
	assert_true(ac_trial_record(t, 1)->course.recast_us == 1000);
	assert_true(ac_trial_record(t, 1)->course.keep_us == 10000);

	now = timed(&decision, 2, 3, 1, &t);
	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, AC_REASON_NO_PROFIT);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_SLOW);

	/* Two per cent are no difference; profit=off does not judge. */
	assert_int_equal(timed(&decision, 1, 0.99f, 10, &t).candidate, 0);
	decision.judges_profit = false;
	assert_int_equal(timed(&decision, 3, 2, 1, &t).candidate, 0);
}

/* How often 200 calls on pair `name` time each variant; nothing has failed. */
static void
count_timed(struct ac_trial *t, uint64_t name, unsigned seen[AC_CANDIDATES + 1])
{
	memset(seen, 0, (AC_CANDIDATES + 1) * sizeof *seen);
	for (int i = 0; i < TRIAL_ROUND + TRIAL_TIMED - 1; i++) {
		const struct ac_turn now = call_on(t, name, GOOD);

		assert_int_not_equal(now.kind, AC_TURN_TRY);
		if (!now.timing)
			continue;
		seen[now.timing - t->timing]++;
		elapsed_ms = now.kind == AC_TURN_KEEP ? 10 : 1;
		assert_true(ac_timing_begin(now.timing, &here));
		ac_timing_end(now.timing, &here, true);
		ac_timing_read(now.timing, &here);
	}
}

/* What another site of the class has proved needs no tries here, so calls are
 * spent on the original's time; a rung that nothing watches is timed on
 * operands only that it was sampled on. Without a time it is no faster than
 * what has one. */
static void
test_times_of_a_class(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_size_class of = { .calls = &of.own_calls };
	unsigned seen[AC_CANDIDATES + 1];
	struct ac_trial *first = make(&decision, true), *t;

	(void)state;
	decision.judges_profit = true;
	decision.candidate[0].seconds = 0.9e-6;
	decision.candidate[1].seconds = 1e-6;
	t = ac_trial_make(&decision, &first->key, "", first->record[0], &of,
	    true);
	for (int i = 0; i < 10; i++)
		call_on(t, 1, GOOD);
	assert_int_equal(t->v->state, TRIAL_SETTLED);
	for (uint64_t name = 1; name <= 2; name++) {
		t = ac_trial_make(&decision, &first->key, "", first->record[0],
		    &of, true);
		count_timed(t, name, seen);
		assert_int_equal(seen[0], TRIAL_ROUNDS);
		assert_int_equal(seen[1], name == 1 ? TRIAL_ROUNDS : 0);
		assert_int_equal(seen[AC_CANDIDATES], TRIAL_KEPT_ROUNDS);
		while (!t->timing_over)
			call_on(t, name, GOOD);
		assert_int_equal(t->current, 0);
	}
}

/* ---- Reproducible -------------------------------------------------------- */

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
	assert_true(wants_place(t, 1, false));
}

/* What 500 calls on data that turn bad and good again do, as a string. */
static void
course_of(const struct ac_trial *site, bool is_behind, unsigned catches_up,
    char kinds[501])
{
	struct ac_trial *t = ac_trial_make(&site->decision, &site->key, "",
	    site->record[0], NULL, false);

	memset(posts, 0, sizeof posts);
	device.is_behind = is_behind;
	for (int i = 0; i < 500; i++) {
		struct ac_turn now;

		if (is_behind && catches_up)
			delivers_after = 1 + (unsigned)i % catches_up;
		now = call_on(t, 1 + (uint64_t)i % 3, i > 200 && i < 400
		    && i % 3 == 1);
		kinds[i] = now.kind == AC_TURN_TRY ? 't' : now.kind
		    == AC_TURN_RECAST ? (char)('0' + now.candidate) : 'k';
	}
	kinds[500] = '\0';
	deliver();
}

/* The course depends on the calls alone, however far the device is behind. */
static void
test_reproducible(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	const struct ac_trial *site;
	char at_once[501], behind[501];

	(void)state;
	decision.reproducible = true;
	site = make(&decision, false);
	course_of(site, false, 0, at_once);
	course_of(site, true, 7, behind);
	assert_string_equal(at_once, behind);
	assert_non_null(strchr(at_once, '0'));
	assert_non_null(strchr(at_once + 200, 't'));
	assert_true(naps > 0);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probation),
		cmocka_unit_test(test_fourth_call_waits),
		cmocka_unit_test(test_wait_is_bounded),
		cmocka_unit_test(test_wait_for_judge_is_bounded),
		cmocka_unit_test(test_lost_tries),
		cmocka_unit_test(test_ladder_at_probation),
		cmocka_unit_test(test_zeros_first),
		cmocka_unit_test(test_nothing_queued),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_after_and_doubt),
		cmocka_unit_test(test_guard_off),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_times_of_a_class),
		cmocka_unit_test(test_streams_apart),
		cmocka_unit_test(test_reproducible),
		cmocka_unit_test(test_wait_is_as_long_as_calls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
