/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_trial_sums.c -- products that add up in one C: who is
 * left when they cancel. And a context that goes while nothing is open in
 * it. */
#include "tests/unit/shim/trial_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void *
c_of(unsigned number)
{
	return (void *)(uintptr_t)(0x7f0000000000u + 4096 * (number + 1ul));
}

/* A C begins anew with a product that overwrites it. */
static void
test_who_wrote(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *first = make(&decision, false);
	struct ac_trial *last = make(&decision, false);
	struct ac_chain *chain = &last->v->chain;

	(void)state;
	assert_false(ac_chain_note(&first->v->chain, first, c_of(0), false));
	assert_true(ac_chain_note(chain, last, c_of(0), true));
	assert_ptr_equal(chain->with[0], first);
	assert_null(chain->with[1]);
	assert_true(ac_chain_note(chain, last, c_of(0), true));
	assert_null(chain->with[1]);
	assert_false(ac_chain_note(chain, last, c_of(0), false));
	assert_true(ac_chain_note(&first->v->chain, first, c_of(0), true));
	assert_ptr_equal(first->v->chain.with[0], last);
}

/* All products of a turn first, then all that are subtracted. */
static void
test_many_cs(void **state)
{
	enum { CS = 100 };
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *first = make(&decision, false);
	unsigned known = 0;

	(void)state;
	for (unsigned i = 0; i < CS; i++)
		ac_trial_writes(first, c_of(i), false);
	for (unsigned i = 0; i < CS; i++) {
		struct ac_trial *last = make(&decision, false);

		ac_trial_writes(last, c_of(i), true);
		known += last->v->chain.with[0] == first;
	}
	/* Of a thousand slots, a hundred: few meet. */
	assert_in_range(known, CS * 9 / 10, CS);
}

/* Who begins to write such a C later on is left at its first sum. */
static void
test_joins_late(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *first = make(&decision, false);
	struct ac_trial *last = make(&decision, false);
	struct ac_trial *late = make(&decision, false);
	uint32_t version;

	(void)state;
	ac_trial_writes(first, c_of(7), false);
	ac_trial_writes(last, c_of(7), true);
	assert_int_equal(first->v->chained | last->v->chained, 0);
	ac_trial_demote_chain(last, 0);
	assert_int_equal(first->v->chained, 3);
	assert_int_equal(last->v->chained, 3);
	ac_trial_writes(late, c_of(7), false);
	assert_int_equal(late->v->chained, 0);
	ac_trial_writes(last, c_of(7), true);
	assert_int_equal(late->v->chained, 3);
	version = late->v->version;
	ac_trial_writes(last, c_of(7), true);
	assert_int_equal(late->v->version, version);
}

/* Under strict a sum is enough, whatever comes of it. */
static void
test_strict_keeps_sums(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_STRICT);
	struct ac_trial *first = make(&decision, false);
	struct ac_trial *last = make(&decision, false);

	(void)state;
	for (int i = 0; i < 2; i++) {
		ac_trial_writes(first, c_of(9), false);
		ac_trial_writes(last, c_of(9), true);
	}
	assert_int_equal(first->v->chained & last->v->chained, 3);
}

/* One that adds to C and writes D is of C's chain, and does not write it: what
 * nobody recast wrote is no chain, whoever reads it. */
static void
test_reads(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	const struct ac_decision strict = decision_of(AC_GUARD_STRICT);
	struct ac_trial *first = make(&decision, false);
	struct ac_trial *last = make(&decision, false);
	struct ac_trial *careful = make(&strict, false);

	(void)state;
	for (int i = 0; i < 3; i++) {
		ac_trial_reads(careful, c_of(100));
		ac_trial_writes(careful, c_of(101), false);
	}
	assert_int_equal(careful->v->chained, 0);
	ac_trial_writes(first, c_of(102), false);
	ac_trial_reads(last, c_of(102));
	assert_ptr_equal(last->v->chain.with[0], first);
	ac_trial_writes(first, c_of(102), true);
	assert_null(first->v->chain.with[0]);
	ac_trial_demote_chain(last, 0);
	assert_int_equal(first->v->chained & last->v->chained, 3);
	ac_trial_reads(careful, c_of(102));
	assert_int_equal(careful->v->chained, 3);
}

/* Between two verdicts nothing is open: the next sample finds the new
 * context. */
static void
test_quiet_reset(void **state)
{
	const struct ac_decision decision = decision_of(AC_GUARD_ON);
	struct ac_trial *t = settled(&decision, 3e-4f, 3e-4f);

	(void)state;
	for (int i = 0; i < 1000 && t->v->open; i++)
		(void)call(t);
	while (t->v->open || *t->v->calls < 300)
		(void)call(t);
	reset_contexts();
	memset(posts, 0, sizeof posts);
	device.error[0] = 0.3f;
	for (int i = 0; i < 128; i++)
		(void)call(t);
	assert_true(ac_trial_record(t, 0)->course.demotions);
	assert_int_not_equal(call(t).kind, AC_TURN_RECAST);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_wrote),
		cmocka_unit_test(test_many_cs),
		cmocka_unit_test(test_joins_late),
		cmocka_unit_test(test_strict_keeps_sums),
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_quiet_reset),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
