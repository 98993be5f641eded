/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/test_lock.c -- one holder at a time, errno kept, and a child
 * that finds the lock free although a thread it does not have was holding
 * it. */
#include "base/lock.h"

#include "tests/unit/child.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 20000 };

static struct ac_lock lock;
static long counted;

static void *
count(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		ac_lock_take(&lock);
		counted++;
		ac_lock_give(&lock);
	}
	return unused;
}

static void
holds_one_at_a_time(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, NULL),
		    0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counted, (long)THREADS * ROUNDS);
}

static sem_t held, done;

static void *
hold(void *unused)
{
	ac_lock_take(&lock);
	sem_post(&held);
	sem_wait(&done);
	ac_lock_give(&lock);
	return unused;
}

static void *
take_with_errno(void *unused)
{
	errno = ENOTTY;
	ac_lock_take(&lock);
	ac_lock_give(&lock);
	return errno == ENOTTY ? unused : &lock;
}

static void
waits_and_keeps_errno(void **state)
{
	pthread_t holder, waiter;
	void *result;

	(void)state;
	sem_init(&held, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&holder, NULL, hold, NULL);
	sem_wait(&held);
	pthread_create(&waiter, NULL, take_with_errno, NULL);
	usleep(20000);          /* let it come to the longer pauses */
	sem_post(&done);
	pthread_join(holder, NULL);
	pthread_join(waiter, &result);
	assert_null(result);
}

static void
take_in_child(void)
{
	alarm(240);
	ac_lock_take(&lock);
	ac_lock_give(&lock);
	ac_lock_take(&lock);
}

static void
is_free_in_a_forked_child(void **state)
{
	pthread_t holder;

	(void)state;
	sem_init(&held, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&holder, NULL, hold, NULL);
	sem_wait(&held);
	assert_int_equal(child_run(take_in_child), 0);
	sem_post(&done);
	pthread_join(holder, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_one_at_a_time),
		cmocka_unit_test(waits_and_keeps_errno),
		cmocka_unit_test(is_free_in_a_forked_child),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
