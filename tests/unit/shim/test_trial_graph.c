/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial_graph.c -- calls that are captured: judged by what
 * was posted before, without a wait; and the way of a site holds from one
 * capture to the next. */
#include "tests/unit/shim/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct ac_turn
capture(struct ac_trial *t, uint64_t name)
{
	struct ac_turn now = call_at(t, &graph, name);

	graph.capture++;
	assert_false(now.sampled);
	assert_null(now.timing);
	assert_int_equal(t->v->judge, 0);
	return now;
}

static void
assert_captured(struct ac_trial *t, uint64_t name, unsigned candidate)
{
	const struct ac_turn now = capture(t, name);

	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, candidate);
	assert_int_equal(now.posts_if_bad, candidate == 0); /* the cast */
}

static void
assert_kept(struct ac_trial *t, uint64_t name, enum ac_reason reason)
{
	const struct ac_turn now = capture(t, name);

	assert_int_equal(now.kind, AC_TURN_KEEP);
	assert_int_equal(now.reason, reason);
}

/* ---- Judged by what is there --------------------------------------------- */

/* XLA's pattern: one call of each of three layers, then a capture. Nothing is
 * waited for, and no page is taken. */
static void
test_judged(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	unsigned taken;

	(void)state;
	for (uint64_t layer = 1; layer <= 3; layer++)
		assert_int_equal(call_on(t, layer, GOOD).kind, AC_TURN_TRY);
	taken = pages;
	for (int again = 0; again < 3; again++)
		for (uint64_t layer = 1; layer <= 3; layer++)
			assert_captured(t, layer + 100 * (uint64_t)again, 0);
	assert_int_equal(naps, 0);
	assert_int_equal(pages, taken);
}

/* What has not been posted is not waited for: kept, and so in each capture that
 * follows, though calls that are no part of one are recast. */
static void
test_not_posted(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);

	(void)state;
	device.is_behind = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(call(t).kind, AC_TURN_TRY);
	assert_kept(t, 1, AC_REASON_CAPTURE);
	assert_int_equal(naps, 0);
	assert_int_equal(ac_trial_record(t, 0)->course.late, 0);
	deliver();
	device.is_behind = false;
	assert_kept(t, 1, AC_REASON_CAPTURE);
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* Two calls are no evidence, nor are three with the same data; and one of three
 * that was bad leaves the place unsettled. */
static void
test_no_evidence(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);

	(void)state;
	(void)call(t);
	(void)call(t);
	assert_kept(t, 1, AC_REASON_CAPTURE);
	t = make(&decision, false);
	for (int i = 0; i < 3; i++) {
		const struct ac_turn now = turn(t);

		for (unsigned c = 0; c < 2; c++) {
			const struct ac_slot slot = ac_trial_slot(t, &now, c);

			post(&slot, now.number, 1e-5f, 1e-4f);
			posts[0][now.entry[c]].energy[0] = 7;
		}
		ac_trial_tried(t, &now, 3, 0);
	}
	assert_kept(t, 1, AC_REASON_CAPTURE);
	t = make(&decision, false);
	for (uint64_t layer = 1; layer <= 3; layer++)
		(void)call_on(t, layer, layer == 2 ? BAD : GOOD);
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* A verdict that is not due yet counts: a graph cannot be changed later. One
 * that is due and has not come keeps the call. */
static void
test_early_verdict(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	device.error[0] = device.error[1] = 0.3f;
	assert_true(call(t).sampled);                  /* call 4 */
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
	assert_kept(t, 1, AC_REASON_GUARD);
	assert_int_not_equal(call(t).kind, AC_TURN_RECAST);
	t = settled(&decision, 3e-4f, 3e-4f);
	device.is_behind = true;
	assert_true(call(t).sampled);
	t->v->is_hasty = true;
	for (int i = 0; i < TRIAL_LAG; i++)
		(void)turn(t);
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* Under reproducible=on what happens to have arrived counts for nothing. */
static void
test_reproducible(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	(void)state;
	decision.reproducible = true;
	t = make(&decision, false);
	for (int i = 0; i < 3; i++)
		(void)call(t);
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* ---- The way holds ------------------------------------------------------- */

/* Though the original turns out to be faster, and another thread judges. */
static void
test_holds(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	assert_captured(t, 1, 0);
	t->cost[TRIAL_KEEP] = 1e-9;
	t->cost[1] = 1e-8;
	ac_trial_choose(t);
	assert_int_equal(call(t).kind, AC_TURN_KEEP);
	assert_captured(t, 2, 0);
	t->v->judge = UINT64_MAX;
	assert_int_equal(call_at(t, &graph, 3).kind, AC_TURN_RECAST);
	t->v->judge = 0;
	/* The other way round. */
	t = settled(&decision, 3e-4f, 3e-4f);
	t->cost[TRIAL_KEEP] = 1e-9;
	ac_trial_choose(t);
	assert_kept(t, 1, AC_REASON_NO_PROFIT);
	t->cost[TRIAL_KEEP] = 1;
	ac_trial_choose(t);
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* A library's conversion looks for captures until the data were seen to
 * vary. */
static void
test_minds(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	(void)state;
	decision.candidate[0] = decision.candidate[1];
	decision.candidate_count = 1;
	t = settled(&decision, 3e-4f, 0);
	(void)call(t);
	assert_int_equal(t->v->varied, TRIAL_EVIDENCE);
	assert_false(ac_trial_minds_captures(t));
	t->v->varied = TRIAL_EVIDENCE - 1;
	assert_true(ac_trial_minds_captures(t));
	t->current = TRIAL_KEEP;
	assert_false(ac_trial_minds_captures(t));
}

/* Nor by a pair that is known, and for which nothing is due: a library's
 * conversion needs no place then, unless calls are captured. */
static void
test_holds_known(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	(void)state;
	decision.candidate[0] = decision.candidate[1];
	decision.candidate_count = 1;
	t = make(&decision, false);
	(void)call(t);
	assert_kept(t, 1, AC_REASON_CAPTURE);
	for (int i = 0; i < 5; i++)
		(void)call(t);
	assert_int_equal(call(t).kind, AC_TURN_RECAST);
	assert_true(wants_place(t, 1, false));
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* What one layer may not use, no captured call may: another capture may have it
 * at another address. What is proved again stays out. */
static void
test_bad_layer(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);

	(void)state;
	for (uint64_t layer = 1; layer <= 12; layer++)
		(void)call_on(t, layer, layer == 3 ? BAD : GOOD);
	assert_int_equal(t->v->state, TRIAL_SETTLED);
	assert_int_equal(call_on(t, 1, GOOD).kind, AC_TURN_RECAST);
	assert_kept(t, 3, AC_REASON_GUARD);
	assert_kept(t, 1, AC_REASON_CAPTURE);
	assert_kept(t, 103, AC_REASON_CAPTURE);
	for (unsigned i = 0; i < AC_PAIRS; i++)
		t->v->pairs.of[i].out = 0;
	t->v->pairs.any_out = false;
	assert_int_equal(call_on(t, 3, GOOD).kind, AC_TURN_RECAST);
	assert_kept(t, 3, AC_REASON_CAPTURE);
}

/* A demotion ends it: the next candidate, which holds in its turn. */
static void
test_demoted(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	assert_captured(t, 1, 0);
	t->v->pairs.of[9].out = 1;
	t->v->pairs.any_out = true;
	assert_captured(t, 1, 1);
	t->v->pairs.of[9].out = 0;
	assert_captured(t, 1, 1);
	t->v->chained = 2;
	assert_captured(t, 1, 0);
	t->v->chained = 3;
	assert_kept(t, 1, AC_REASON_GUARD);
	t->v->chained = 0;
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* What a graph posted is told, and held against what graphs hold. */
static void
test_told(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	assert_captured(t, 1, 0);
	t->current = 1; /* another one is chosen outside of graphs */
	post(&(struct ac_slot){ &posts[0][TRIAL_GRAPH], (ac_cu_address)
	    (uintptr_t)&posts[0][TRIAL_GRAPH] }, 77, 1e-5f, 0.3f);
	assert_kept(t, 1, AC_REASON_GUARD);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_ERROR);
	assert_int_equal(ac_trial_record(t, 1)->course.finding,
	    AC_FINDING_NONE);
}

/* ---- Room ---------------------------------------------------------------- */

/* Without a lane for the cast the library converts, from then on; without that,
 * or if it would be slower, calls are kept. */
static void
test_room(void **state)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	struct ac_turn now = capture(t, 1);

	(void)state;
	assert_true(ac_trial_lacks_room(t, &now));
	assert_int_equal(now.candidate, 1);
	assert_false(now.posts_if_bad);
	assert_captured(t, 1, 1);
	now = capture(t, 1);
	assert_false(ac_trial_lacks_room(t, &now)); /* a plan that never ran */
	assert_kept(t, 1, AC_REASON_CAPTURE);
	t = settled(&decision, 3e-4f, 0.3f);
	now = capture(t, 1);
	assert_int_equal(now.candidate, 0);
	assert_false(ac_trial_lacks_room(t, &now));
	assert_kept(t, 1, AC_REASON_CAPTURE);
	decision.keep_seconds = 1.5e-5;
	t = make(&decision, false);
	while (t->v->state != TRIAL_SETTLED)
		(void)call(t);
	now = capture(t, 1);
	assert_int_equal(now.candidate, 0);
	assert_false(ac_trial_lacks_room(t, &now));
	assert_kept(t, 1, AC_REASON_CAPTURE);
}

/* XLA captures each product alone: no casts. And it can never change its mind,
 * so its place is looked for from the first call on. */
static void
test_xla(void **state)
{
	static const char *const callers[] = {
		"xla_cuda_plugin.so+1a2b", "libjaxlib.so+1", "my_pjrt.so+2"
	};
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	(void)state;
	for (int i = 0; i < 3; i++) {
		caller = callers[i];
		t = make(&decision, false);
		for (int j = 0; j < 3; j++)
			(void)call(t);
		assert_captured(t, 1, 1);
		assert_int_equal(call(t).candidate, 0);
		assert_captured(t, 1, 1);
	}
	decision.keep_seconds = 1e-9; /* no try is paid for */
	t = make(&decision, false);
	assert_true(wants_place(t, 1, false));
	caller = "train+1a2b";
	t = make(&decision, false);
	assert_false(wants_place(t, 1, false));
	caller = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_judged),
		cmocka_unit_test(test_not_posted),
		cmocka_unit_test(test_no_evidence),
		cmocka_unit_test(test_early_verdict),
		cmocka_unit_test(test_reproducible),
		cmocka_unit_test(test_holds),
		cmocka_unit_test(test_minds),
		cmocka_unit_test(test_holds_known),
		cmocka_unit_test(test_bad_layer),
		cmocka_unit_test(test_demoted),
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_xla),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
