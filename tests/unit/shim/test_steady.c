/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_steady.c -- programs that tune have native outputs while
 * they do, and what they try out is neither timed nor sampled. */
#include "shim/trial/steady.h"
#include "tests/unit/shim/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- Which calls are steady ---------------------------------------------- */

/* The fifth of equal calls in a row, and all that follow; another content
 * begins from the start, and so does the old one after it. Contents may be 0,
 * small numbers, or differ in their lowest or highest bit. */
static void
test_fifth(void **state)
{
	static const uint64_t contents[] = {
		0, 1, 2, UINT64_C(1) << 63, UINT64_MAX, 0
	};
	struct ac_steady steady = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
		for (int call = 1; call <= 100; call++)
			assert_int_equal(ac_steady_meets(&steady, contents[i]),
			    call >= AC_STEADY_CALLS);
}

/* PyTorch's benchmark runs each plan twice, others three times; four are none
 * too many, nor is a fifth that is not in a row. */
static void
test_tuning(void **state)
{
	struct ac_steady steady = { 0 };

	(void)state;
	for (int runs = 1; runs <= 4; runs++)
		for (uint64_t content = 0; content < 8; content++)
			for (int i = 0; i < runs; i++)
				assert_false(ac_steady_meets(&steady,
				    content));
	for (int i = 0; i < 4; i++)
		assert_false(ac_steady_meets(&steady, 9));
	assert_false(ac_steady_meets(&steady, 10));
	assert_false(ac_steady_meets(&steady, 9));
}

/* Two and three in turn, evenly or not; one that comes rarely. */
static void
test_alternating(void **state)
{
	static const char *const rounds[] = {
		"ab", "abc", "aab", "aaaab", "aaaabbbb", "abac", "aaaaaaaab",
		"ababababababababc"
	};

	(void)state;
	for (size_t r = 0; r < sizeof rounds / sizeof *rounds; r++) {
		const int period = (int)strlen(rounds[r]);
		struct ac_steady steady = { 0 };
		int late = 0;

		for (int i = 0; i < 1000; i++)
			if (!ac_steady_meets(&steady,
			    (uint64_t)rounds[r][i % period]))
				late = i + 1;
		assert_true(late > AC_STEADY_CALLS);
		/* A run of five is noted no further. */
		assert_true(late < 2 * (AC_STEADY_LONG + period));
	}
}

/* More than a few in turn are tuning, however long; so is whatever is new to a
 * site whose calls alternate, until it stayed. */
static void
test_not_alternating(void **state)
{
	struct ac_steady steady = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_false(ac_steady_meets(&steady, (uint64_t)i
		    % (AC_STEADY_FEW + 1)));
	for (int i = 0; i <= AC_STEADY_LONG + 1; i++)
		assert_int_equal(ac_steady_meets(&steady, 10 + (uint64_t)i % 2),
		    i > AC_STEADY_LONG);
	for (uint64_t content = 20; content < 28; content++)
		for (int i = 0; i < 4; i++)
			assert_false(ac_steady_meets(&steady, content));
	for (int i = 1; i <= AC_STEADY_CALLS; i++)
		assert_int_equal(ac_steady_meets(&steady, 10),
		    i == AC_STEADY_CALLS);
	/* A second comparison of what the first one saw. */
	for (int i = 0; i < 4; i++)
		assert_false(ac_steady_meets(&steady, 27));
}

/* ---- What their turns are ------------------------------------------------ */

static void
assert_native(struct ac_trial *t, const struct ac_turn *now)
{
	assert_int_equal(now->kind, AC_TURN_KEEP);
	assert_int_equal(now->reason, AC_REASON_PROBATION);
	assert_int_equal(now->candidate, 0);
	assert_false(now->sampled);
	assert_null(now->timing);
	assert_int_equal(t->v->judge, 0);
}

/* The tries of a probation are made; once it has passed, calls are kept until
 * the program tunes no more, and then recast at once. Nothing of them is left
 * open. */
static void
test_kept(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now;

	(void)state;
	tunes = true;
	for (int i = 1; i <= 3; i++)
		assert_int_equal(call(t).kind, AC_TURN_TRY);
	for (int i = 4; i < 200; i++) {
		now = call(t);
		assert_native(t, &now);
	}
	assert_int_equal(t->v->state, TRIAL_SETTLED);
	assert_int_equal(t->v->open, 0);
	tunes = false;
	now = call(t);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_true(now.sampled);
	tunes = true;
	now = call(t);
	assert_native(t, &now);
}

/* A captured call is recast. Where the call runs has to be known for that, of a
 * library's conversion, too, which needs no place otherwise. */
static void
test_captured(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;
	struct ac_turn now;

	(void)state;
	decision.candidate[0] = decision.candidate[1];
	decision.candidate_count = 1;
	t = settled(&decision, 3e-4f, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(call(t).kind, AC_TURN_RECAST);
	assert_false(wants_place(t, 1, false));
	tunes = true;
	assert_true(wants_place(t, 1, false));
	assert_int_equal(call_at(t, &graph, 1).kind, AC_TURN_RECAST);
	now = call(t);
	assert_native(t, &now);
	/* Not known where. */
	now = turn_of(t, NULL, 1);
	assert_native(t, &now);
}

/* Without a guard there may be a trial, too: after=. Under strict, what a
 * program tries out has nothing to be judged. */
static void
test_guards(void **state)
{
	struct ac_decision off = decision_of(AC_GUARD_OFF);
	const struct ac_decision strict = decision_of(AC_GUARD_STRICT);
	struct ac_trial *t;
	struct ac_turn now;

	(void)state;
	off.after = 2;
	t = make(&off, false);
	tunes = true;
	for (int i = 0; i < 5; i++) {
		now = call(t);
		assert_native(t, &now);
	}
	tunes = false;
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
	t = make(&strict, false);
	tunes = true;
	for (int i = 0; i < 5; i++) {
		now = call(t);
		assert_native(t, &now);
	}
	assert_int_equal(call_at(t, &graph, 1).reason, AC_REASON_CAPTURE);
	tunes = false;
	assert_int_equal(call(t).kind, AC_TURN_STRICT);
}

/* The original is not timed by what the program tries out, and the candidates'
 * times begin after that: four of each, as of a program that does not tune. */
static void
test_timing(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, true);
	unsigned timed[AC_CANDIDATES + 1] = { 0 };

	(void)state;
	elapsed_ms = 1;
	tunes = true;
	for (int i = 0; i < 100; i++)
		assert_null(call(t).timing);
	assert_false(t->keep_timed);
	tunes = false;
	for (int i = 0; i < TRIAL_TIMED; i++) {
		const struct ac_turn now = call(t);

		if (now.timing)
			timed[now.timing - t->timing]++;
	}
	assert_int_equal(timed[0], TRIAL_ROUNDS);
	assert_int_equal(timed[TRIAL_KEEP], TRIAL_KEPT_ROUNDS);
}

/* They count for what tries may cost. */
static void
test_credit(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	(void)state;
	decision.keep_seconds = 1e-4;
	t = make(&decision, false);
	tunes = true;
	(void)call(t);
	(void)call(t);
	assert_int_equal(t->v->own_credit.spent, 200000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fifth),
		cmocka_unit_test(test_tuning),
		cmocka_unit_test(test_alternating),
		cmocka_unit_test(test_not_alternating),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_captured),
		cmocka_unit_test(test_guards),
		cmocka_unit_test(test_timing),
		cmocka_unit_test(test_credit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
