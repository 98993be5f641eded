/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_pair.c -- operand pairs: found again, few enough for a
 * table, and the others where it is full. */
#include "shim/trial/pair.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t
key_of(unsigned i)
{
	return ac_pair_key((void *)(uintptr_t)(i * 512),
	    (void *)(uintptr_t)(i * 2048));
}

static void
test_keys(void **state)
{
	const char data[2] = "";

	(void)state;
	assert_int_not_equal(ac_pair_key(NULL, NULL), 0);
	assert_int_not_equal(ac_pair_key(data, data + 1),
	    ac_pair_key(data + 1, data));
	assert_int_not_equal(ac_pair_key(data, data),
	    ac_pair_key(data, data + 1));
}

static void
test_found_again(void **state)
{
	struct ac_pairs pairs;
	unsigned at[12];

	(void)state;
	memset(&pairs, 0, sizeof pairs);
	for (unsigned i = 0; i < 12; i++) {
		at[i] = ac_pair_take(&pairs, key_of(i));
		assert_true(at[i] < AC_PAIR_OTHERS);
		assert_int_equal(pairs.met, i + 1);
		for (unsigned j = 0; j < i; j++)
			assert_int_not_equal(at[i], at[j]);
	}
	for (unsigned i = 0; i < 12; i++) {
		assert_int_equal(ac_pair_take(&pairs, key_of(i)), at[i]);
		assert_true(ac_pair_is_new(&pairs, at[i], 1));
	}
	assert_int_equal(pairs.met, 12);
	pairs.of[at[3]].looked = 2;
	assert_false(ac_pair_is_new(&pairs, at[3], 1));
	assert_true(ac_pair_is_new(&pairs, at[3], 0));
	assert_true(ac_pair_is_new(&pairs, at[4], 1));
}

/* Wherever a pair has its place, 63 of them have bits of their own; the 64th
 * shares the first one's. The others have the last. */
static void
test_bits(void **state)
{
	(void)state;
	for (unsigned first = 0; first < 5000; first += 64) {
		struct ac_pairs pairs;

		memset(&pairs, 0, sizeof pairs);
		for (unsigned i = 0; i < 64; i++) {
			const unsigned at = ac_pair_take(&pairs,
			    key_of(first + i));

			assert_int_equal(ac_pair_bit(&pairs, at), i % 63);
		}
		assert_int_equal(ac_pair_bit(&pairs, AC_PAIR_OTHERS), 63);
	}
}

/* Arrays of matrices are no pair, and a table that is full has no room: both
 * are the others. */
static void
test_others(void **state)
{
	struct ac_pairs pairs;
	unsigned others = 0, at[1000];

	(void)state;
	memset(&pairs, 0, sizeof pairs);
	assert_int_equal(ac_pair_take(&pairs, 0), AC_PAIR_OTHERS);
	assert_int_equal(pairs.met, 0);
	for (unsigned i = 0; i < 1000; i++) {
		at[i] = ac_pair_take(&pairs, key_of(i));
		others += at[i] == AC_PAIR_OTHERS;
	}
	assert_int_equal(pairs.met, 1000 - others);
	/* Not one place is left over. */
	assert_int_equal(pairs.met, AC_PAIR_OTHERS);
	assert_int_equal(pairs.of[AC_PAIR_OTHERS].key, 0);
	/* A key has the same place for ever. */
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(ac_pair_take(&pairs, key_of(i)), at[i]);
}

/* What the others may not use no pair may. */
static void
test_out(void **state)
{
	struct ac_pairs pairs;

	(void)state;
	memset(&pairs, 0, sizeof pairs);
	pairs.of[3].out = 1;
	pairs.of[5].out = 3;
	assert_int_equal(ac_pair_out(&pairs, 3), 1);
	assert_int_equal(ac_pair_out(&pairs, 4), 0);
	pairs.any_out = true;
	assert_int_equal(ac_pair_count_out(&pairs, 1), 2);
	assert_int_equal(ac_pair_count_out(&pairs, 2), 1);
	assert_int_equal(ac_pair_count_out(&pairs, 3), 1);
	pairs.of[AC_PAIR_OTHERS].out = 2;
	assert_int_equal(ac_pair_out(&pairs, 3), 3);
	assert_int_equal(ac_pair_out(&pairs, 4), 2);
	assert_int_equal(ac_pair_count_out(&pairs, 2), 1);
}

static void
test_restless(void **state)
{
	struct ac_pairs pairs;

	(void)state;
	memset(&pairs, 0, sizeof pairs);
	assert_false(ac_pair_is_restless(&pairs, 7, 1000));
	pairs.of[7].out = 1;
	pairs.of[7].retry_at = 1000;
	assert_false(ac_pair_is_restless(&pairs, 7, 999));
	assert_true(ac_pair_is_restless(&pairs, 7, 1000));
}

enum { THREADS = 8, KEYS = 500 };

struct crowd {
	struct ac_pairs pairs;
	unsigned at[THREADS][KEYS];
	_Atomic unsigned next;
};

static void *
take_all(void *argument)
{
	struct crowd *crowd = argument;
	const unsigned me = atomic_fetch_add(&crowd->next, 1);

	for (unsigned i = 0; i < KEYS; i++) {
		/* Each thread begins at another key. */
		const unsigned key = (i + me * KEYS / THREADS) % KEYS;

		crowd->at[me][key] = ac_pair_take(&crowd->pairs, key_of(key));
	}
	return NULL;
}

/* Eight threads that take the same keys agree on where each one is. */
static void
test_threads(void **state)
{
	static struct crowd crowd;
	pthread_t thread[THREADS];
	unsigned taken = 0;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, take_all,
		    &crowd), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (unsigned i = 0; i < KEYS; i++) {
		const unsigned at = ac_pair_take(&crowd.pairs, key_of(i));

		taken += at < AC_PAIR_OTHERS;
		for (int j = 0; j < THREADS; j++)
			assert_int_equal(crowd.at[j][i], at);
	}
	assert_int_equal(crowd.pairs.met, taken);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_found_again),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_out),
		cmocka_unit_test(test_restless),
		cmocka_unit_test(test_threads),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
