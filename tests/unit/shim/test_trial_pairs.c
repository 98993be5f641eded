/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial_pairs.c -- verdicts about operand pairs: what one
 * bad layer of a site costs it, and the others; how it comes back. */
#include "tests/unit/shim/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- Some of many ------------------------------------------------------ */

struct shares {
	unsigned good, recast;      /* calls of good pairs; those recast */
	unsigned bad, wrong;        /* calls of bad ones; those recast */
	unsigned latest;            /* the last of these, from `since` on */
};

/* Calls `since` to `last` of `pairs` pairs in turn, the first `bad` of which
 * are on bad data from call `turns_bad` on. */
static struct shares
run(struct ac_trial *t, unsigned pairs, unsigned bad, uint64_t turns_bad,
    uint64_t last)
{
	struct shares shares = { 0 };

	for (uint64_t i = *t->v->calls; i < last; i++) {
		const bool is_bad = i % pairs < bad && i + 1 >= turns_bad;
		const bool recast = call_on(t, 1 + i % pairs, is_bad).kind
		    == AC_TURN_RECAST;

		shares.good += !is_bad;
		shares.recast += !is_bad && recast;
		shares.bad += is_bad;
		shares.wrong += is_bad && recast;
		if (is_bad && recast)
			shares.latest = (unsigned)(i + 1 - turns_bad);
	}
	return shares;
}

/* One bad pair among others that is bad from the first call on is left,
 * whichever the others are, and costs them nothing: they are recast for 90 %
 * and more. A try whose pair is out takes no place of another's. */
static void
test_bad_from_the_first(void **state)
{
	static const unsigned pairs[] = { 2, 3, 5, 12, 32, 60 };
	const struct ac_decision decision = decision_of(AC_GUARD_ON);

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		struct ac_trial *t = make(&decision, false);
		struct shares shares;

		shares = run(t, pairs[i], 1, 1, 2000);
		assert_true(shares.recast * 10 >= shares.good * 9);
		assert_true(shares.latest <= 128 * pairs[i]);
		assert_int_equal(t->v->judge, 0);
	}
}

/* The bad pair is met in the probation itself: not one of its calls is recast,
 * nor are those of a pair that it takes turns with lost. */
static void
test_two_alternate(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct shares shares;

	(void)state;
	shares = run(t, 2, 1, 1, 12);
	assert_int_equal(shares.wrong, 0);
	shares = run(t, 2, 1, 1, 1000);
	assert_int_equal(shares.wrong, 0);
	assert_true(shares.recast * 10 >= shares.good * 9);
}

/* Where the device watches each call, a post tells of all pairs that were wrong
 * since the last one: no later than 128 calls after the data turned are they
 * recast, however many others there are. */
static void
test_blame(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);

	(void)state;
	for (unsigned pairs = 2; pairs <= 60; pairs += 7) {
		for (unsigned bad = 1; bad * 2 < pairs && bad < 5; bad++) {
			struct ac_trial *t = make(&decision, false);
			struct shares shares;

			device.watches = true;
			(void)run(t, pairs, 0, 0, 1000);
			shares = run(t, pairs, bad, 1001, 3000);
			assert_true(shares.wrong > 0);
			/* From the pair's own first call on them. */
			assert_true(shares.latest <= pairs + 128);
			assert_true(shares.recast * 10 >= shares.good * 9);
		}
	}
}

/* Where three pairs and half of those met are bad, the site is left. */
static void
test_many_bad(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct shares shares;

	(void)state;
	(void)run(t, 6, 0, 0, 200);
	shares = run(t, 6, 3, 200, 3000);
	assert_true(t->v->pairs.of[AC_PAIR_OTHERS].out & 1);
	assert_true(shares.wrong > 0);
	t = make(&decision, false);
	(void)run(t, 8, 0, 0, 200);
	(void)run(t, 8, 3, 200, 4000);
	assert_int_equal(t->v->pairs.of[AC_PAIR_OTHERS].out & 1, 0);
}

/* Addresses that do not recur fill the table. Those without a place of their
 * own share one, and what is found there holds for the site. */
static void
test_pairs_do_not_recur(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	uint64_t name = 1;

	(void)state;
	while (*t->v->calls < 500)
		assert_true(call_on(t, name++, GOOD).kind == AC_TURN_RECAST
		    || *t->v->calls < 4);
	while (call_on(t, name++, BAD).kind == AC_TURN_RECAST)
		assert_true(*t->v->calls <= 500 + 128);
	assert_true(t->v->pairs.of[AC_PAIR_OTHERS].out);
	assert_int_not_equal(call_on(t, 1, GOOD).kind, AC_TURN_RECAST);

	/* Arrays of matrices from the first call on. */
	t = make(&decision, false);
	while (*t->v->calls < 500)
		(void)call_on(t, 0, GOOD);
	while (call_on(t, 0, BAD).kind == AC_TURN_RECAST)
		assert_true(*t->v->calls <= 500 + 128);
}

/* ---- Nothing watches each call of a library's conversion --------------- */

/* A pair that was never sampled is when it is first recast; one that was tried
 * has been. */
static void
test_new_pairs_are_sampled(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 0.3f, 3e-4f);
	struct ac_turn now;

	(void)state;
	(void)calls_until(t, 10);
	assert_int_equal(call(t).candidate, 1);
	for (uint64_t i = 2; i < 8; i++) {
		assert_true(wants_place(t, i, false));
		now = call_at(t, &here, i);
		assert_int_equal(now.candidate, 1);
		assert_true(now.sampled);
		now = call_at(t, &here, i);
		assert_true(!now.sampled || now.number == 16);
	}
	/* Met while it could not be sampled: then the next time. */
	now = turn_of(t, &here, 9);
	ac_trial_turn_over(t, &now);
	(void)call(t);
	assert_true(call_at(t, &here, 9).sampled);
}

/* Sites of like sizes share what was found out: another size is recast at its
 * first call, sampled in the same course, and left with the first one. */
static void
test_sizes_share(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_size_class of = { .calls = &of.own_calls };
	const struct ac_trial *any = make(&decision, false);
	struct ac_trial *t = ac_trial_make(&decision, &any->key, "",
	    any->record[0], &of, false);
	struct ac_trial *other = ac_trial_make(&decision, &any->key, "",
	    any->record[0], &of, false);

	(void)state;
	for (int i = 1; i <= 3; i++)
		assert_int_equal(call_on(t, 1, GOOD).kind, AC_TURN_TRY);
	for (int i = 4; i <= 40; i++)
		assert_int_equal(call_on(i % 2 ? t : other, 1, GOOD).kind,
		    AC_TURN_RECAST);
	while (call_on(other, 1, BAD).kind == AC_TURN_RECAST)
		assert_true(*other->v->calls <= 40 + 128);
	assert_int_not_equal(call_on(t, 1, GOOD).kind, AC_TURN_RECAST);
}

/* ---- Coming back ------------------------------------------------------- */

/* Calls until one is a try; its number. */
static uint64_t
next_try(struct ac_trial *t, uint64_t name, int data, uint64_t before)
{
	struct ac_turn now;

	do {
		now = call_on(t, name, data);
		assert_true(now.number < before);
	} while (now.kind != AC_TURN_TRY);
	return now.number;
}

/* Only FP16 may be used. */
static struct ac_trial *
make_alone(void)
{
	struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t;

	decision.candidate_count = 1;
	device.queued = 1;
	t = settled(&decision, 3e-4f, 3e-4f);
	return t;
}

/* The call at which pair 1 turned out bad, on data that are from now on. */
static uint64_t
demote(struct ac_trial *t)
{
	while (call_on(t, 1, BAD).kind == AC_TURN_RECAST)
		;
	return *t->v->calls;
}

/* A thousand calls later 128 tries in a row have to be clean; one that is not
 * ends that at once, and the next is four times as many calls away. */
static void
test_strikes(void **state)
{
	struct ac_trial *t = make_alone();
	uint64_t left = demote(t), wait = TRIAL_RETRY;

	(void)state;
	for (int strike = 1; strike <= 7; strike++) {
		const uint64_t begun = next_try(t, 1, BAD, left + wait + 2);

		assert_int_equal(begun, left + wait);
		/* Its verdict, and those tries that were on the way. */
		for (int i = 1; i < TRIAL_LAG; i++)
			assert_int_equal(call_on(t, 1, BAD).kind, AC_TURN_TRY);
		assert_int_equal(call_on(t, 1, BAD).kind, AC_TURN_KEEP);
		left = *t->v->calls;
		if (strike <= 5)
			wait *= 4;
		assert_int_equal(t->v->pairs.of[ac_pair_take(&t->v->pairs,
		    ac_pair_key((void *)(1ul << 20), (void *)(1ul << 24)))]
		    .strikes[0], 1 + strike);
		assert_int_equal(ac_trial_record(t, 0)->course.retries,
		    strike);
		if (strike == 4)
			break;           /* the next is 256,000 calls away */
	}
}

/* What one rung was found wanting for lets another one's first failure wait no
 * longer. */
static void
test_strikes_of_each(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);
	uint64_t left;

	(void)state;
	(void)demote(t);
	while (call_on(t, 1, BAD).kind == AC_TURN_TRY)
		;
	left = *t->v->calls;
	assert_int_equal(t->v->pairs.of[ac_pair_take(&t->v->pairs,
	    ac_pair_key((void *)(1ul << 20), (void *)(1ul << 24)))].refuted, 3);
	assert_int_equal(next_try(t, 1, BAD, left + TRIAL_RETRY + 2),
	    left + TRIAL_RETRY);
}

static void
test_comes_back(void **state)
{
	struct ac_trial *t = make_alone();
	const uint64_t left = demote(t);

	(void)state;
	assert_int_equal(next_try(t, 1, GOOD, left + TRIAL_RETRY + 1),
	    left + TRIAL_RETRY);
	for (int i = 1; i < TRIAL_PROOF; i++)
		assert_int_equal(call_on(t, 1, GOOD).kind, AC_TURN_TRY);
	/* The next call waits for what they found. */
	assert_int_equal(call_on(t, 1, GOOD).kind, AC_TURN_RECAST);
	assert_false(t->v->pairs.any_out);
	assert_true(t->v->retry_due == UINT64_MAX);
	/* That call was sampled. */
	assert_int_equal(__builtin_popcountll(t->v->open), 1);
}

/* The 128th try counts as much as the first. */
static void
test_proof_fails_late(void **state)
{
	struct ac_trial *t = make_alone();
	const uint64_t left = demote(t);

	(void)state;
	(void)next_try(t, 1, GOOD, left + TRIAL_RETRY + 1);
	for (int i = 2; i < TRIAL_PROOF; i++)
		(void)call_on(t, 1, GOOD);
	assert_int_equal(call_on(t, 1, BAD).kind, AC_TURN_TRY);
	for (int i = 0; i < 3000; i++)
		assert_int_equal(call_on(t, 1, GOOD).kind, AC_TURN_KEEP);
}

/* What a failed proof leaves on the way is no verdict about the next one, which
 * is another pair's. */
static void
test_leftovers(void **state)
{
	struct ac_trial *t = make_alone();
	uint64_t left;

	(void)state;
	(void)call_on(t, 2, GOOD);
	while (call_on(t, 1, BAD).kind == AC_TURN_RECAST
	    || call_on(t, 2, BAD).kind == AC_TURN_RECAST)
		assert_true(*t->v->calls < 400);
	left = *t->v->calls;
	/* Pair 1 is bad still, and pair 2 is well again. */
	while (*t->v->calls < left + 2 * TRIAL_RETRY) {
		(void)call_on(t, 1, BAD);
		(void)call_on(t, 2, GOOD);
	}
	assert_int_equal(call_on(t, 2, GOOD).kind, AC_TURN_RECAST);
	assert_int_equal(call_on(t, 1, BAD).kind, AC_TURN_KEEP);
}

/* A pair that does not come back keeps no other one from its proof. */
static void
test_pair_goes(void **state)
{
	struct ac_trial *t = make_alone();
	uint64_t left;

	(void)state;
	(void)call_on(t, 2, GOOD);
	while (call_on(t, 1, BAD).kind == AC_TURN_RECAST
	    || call_on(t, 2, BAD).kind == AC_TURN_RECAST)
		assert_true(*t->v->calls < 400);
	left = *t->v->calls;
	(void)next_try(t, 1, GOOD, left + TRIAL_RETRY + 2);
	while (call_on(t, 2, GOOD).kind != AC_TURN_RECAST)
		assert_true(*t->v->calls < left + TRIAL_RETRY + TRIAL_ABSENCE
		    + TRIAL_PROOF + TRIAL_LAG + 4);
}

/* Zeros prove nothing, and are not tried for ever. */
static void
test_proof_on_zeros(void **state)
{
	struct ac_trial *t = make_alone();
	const uint64_t left = demote(t);
	unsigned tries = 0;

	(void)state;
	device.samples = 0;
	for (int i = 0; i < 10000; i++) {
		const struct ac_turn now = call_on(t, 1, GOOD);

		assert_int_not_equal(now.kind, AC_TURN_RECAST);
		tries += now.kind == AC_TURN_TRY;
	}
	assert_true(tries >= TRIAL_PROOF && tries <= 10000 / 4);
	assert_true(*t->v->calls > left);
}

/* A try that cannot be queued is none, and is not begun at each call; what is
 * refused then is out for good. */
static void
test_proof_without_memory(void **state)
{
	struct ac_trial *t = make_alone();
	const uint64_t left = demote(t);

	(void)state;
	device.queued = 0;
	(void)calls_until(t, left + TRIAL_RETRY + 1000);
	assert_in_range(ac_trial_record(t, 0)->course.retries, 2, 20);
	device.queued = 1;
	while (call_on(t, 1, GOOD).kind != AC_TURN_RECAST)
		assert_true(*t->v->calls < left + 3 * TRIAL_RETRY);

	t = make_alone();
	(void)demote(t);
	device.queued = 0;
	device.refused = 1;
	for (int i = 0; i < 20000; i++)
		assert_int_not_equal(call_on(t, 1, GOOD).kind, AC_TURN_RECAST);
	assert_int_equal(ac_trial_record(t, 0)->course.retries, 1);
	assert_int_equal(ac_trial_record(t, 0)->course.finding,
	    AC_FINDING_REFUSED);
	assert_true(t->v->retry_due == UINT64_MAX);
}

/* The proof of a context that is gone begins anew: none of its tries is
 * missed. */
static void
test_reset_in_proof(void **state)
{
	struct ac_trial *t = make_alone();
	const uint64_t left = demote(t);

	(void)state;
	(void)next_try(t, 1, GOOD, left + TRIAL_RETRY + 1);
	for (int i = 0; i < 30; i++)
		(void)call_on(t, 1, GOOD);
	reset_contexts();
	while (call_on(t, 1, GOOD).kind != AC_TURN_RECAST)
		assert_true(*t->v->calls <
		    left + TRIAL_RETRY + 4 * TRIAL_PROOF);
}

/* What one layer lost by range another of the same post may have lost by
 * rounding: the next rung has three clean samples on the pair first. */
static void
test_range_is_no_pass(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = make(&decision, false);
	struct ac_turn now = { .number = 0 };
	unsigned tries = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		now = call_on(t, 1, GOOD);
	assert_int_equal(now.kind, AC_TURN_RECAST);
	assert_int_equal(now.candidate, 0);
	assert_true(ac_trial_hold(t, false));
	ac_trial_demote(t, now.pair, 0, AC_FINDING_TILE, now.number);
	ac_trial_release(t);
	while ((now = call_on(t, 1, GOOD)).kind != AC_TURN_RECAST)
		tries += now.kind == AC_TURN_TRY;
	assert_int_equal(now.candidate, 1);
	assert_int_equal(tries, TRIAL_EVIDENCE);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_from_the_first),
		cmocka_unit_test(test_two_alternate),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_many_bad),
		cmocka_unit_test(test_pairs_do_not_recur),
		cmocka_unit_test(test_new_pairs_are_sampled),
		cmocka_unit_test(test_range_is_no_pass),
		cmocka_unit_test(test_sizes_share),
		cmocka_unit_test(test_strikes),
		cmocka_unit_test(test_strikes_of_each),
		cmocka_unit_test(test_comes_back),
		cmocka_unit_test(test_proof_fails_late),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_pair_goes),
		cmocka_unit_test(test_proof_on_zeros),
		cmocka_unit_test(test_proof_without_memory),
		cmocka_unit_test(test_reset_in_proof),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
