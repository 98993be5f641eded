/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_executed.c -- what an execution counts for follows its
 * plan, not its address. */
#include "shim/graph/executed.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 20000, THREADS = 8, ROUNDS = 2000 };

/* In place of report/count/count.c. */
__thread struct ac_report_mine ac_report_mine;
static __thread struct ac_site_record *counted;
static __thread enum ac_reason as;

void
ac_report_count_slowly(struct ac_site_record *site)
{
	counted = site;
	as = site->reason;
}

void
ac_report_count_other(struct ac_site_record *site, enum ac_reason reason)
{
	counted = site;
	as = reason;
}

static struct ac_site_record records[THREADS];

static cudnnBackendDescriptor_t
plan_at(uintptr_t address)
{
	return (cudnnBackendDescriptor_t)(0x100000 + 64 * address);
}

static void
test_a_plan_counts_for_its_site(void **state)
{
	(void)state;
	assert_false(ac_executed_count(plan_at(1)));
	assert_false(ac_executed_count(NULL));
	ac_executed_add(plan_at(1), &records[1], AC_REASON_GUARD);
	ac_executed_add(plan_at(2), &records[2], AC_REASON_DECLINED);
	assert_true(ac_executed_count(plan_at(1)));
	assert_ptr_equal(counted, &records[1]);
	assert_int_equal(as, AC_REASON_GUARD);
	assert_true(ac_executed_count(plan_at(2)));
	assert_ptr_equal(counted, &records[2]);
	assert_int_equal(as, AC_REASON_DECLINED);
	ac_executed_drop(plan_at(1));
	ac_executed_drop(plan_at(3));
	ac_executed_drop(NULL);
	assert_false(ac_executed_count(plan_at(1)));
	/* The address is another plan's. */
	ac_executed_add(plan_at(1), &records[3], AC_REASON_GUARD);
	assert_true(ac_executed_count(plan_at(1)));
	assert_ptr_equal(counted, &records[3]);
	ac_executed_drop(plan_at(1));
	ac_executed_drop(plan_at(2));
}

static void
test_room_ends_and_comes_back(void **state)
{
	unsigned known = 0;

	(void)state;
	for (int i = 0; i < MANY; i++)
		ac_executed_add(plan_at((uintptr_t)i), &records[0],
		    AC_REASON_GUARD);
	for (int i = 0; i < MANY; i++)
		known += ac_executed_count(plan_at((uintptr_t)i));
	assert_in_range(known, 3000, 4200);
	for (int i = 0; i < MANY; i++)
		ac_executed_drop(plan_at((uintptr_t)i));
	for (int i = 0; i < MANY; i++)
		assert_false(ac_executed_count(plan_at((uintptr_t)i)));
	ac_executed_add(plan_at(5), &records[5], AC_REASON_GUARD);
	assert_true(ac_executed_count(plan_at(5)));
	ac_executed_drop(plan_at(5));
}

/* Each has plans of its own, at addresses that hash to all rows. */
static void *
come_and_go(void *number)
{
	const uintptr_t thread = (uintptr_t)number;
	uintptr_t wrong = 0;

	for (uintptr_t i = 0; i < ROUNDS; i++) {
		const cudnnBackendDescriptor_t plan = plan_at(i * THREADS
		    + thread);

		ac_executed_add(plan, &records[thread], AC_REASON_GUARD);
		wrong += !ac_executed_count(plan)
		    || counted != &records[thread];
		ac_executed_drop(plan);
		wrong += ac_executed_count(plan);
	}
	return (void *)wrong;
}

static void
test_threads(void **state)
{
	pthread_t thread[THREADS];
	void *wrong;

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, come_and_go,
		    (void *)i), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], &wrong);
		assert_null(wrong);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_plan_counts_for_its_site),
		cmocka_unit_test(test_room_ends_and_comes_back),
		cmocka_unit_test(test_threads),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
