/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/test_lock.c -- one holder at a time, errno kept, and a child
 * that finds the lock free although a thread it does not have was holding
 * it. */
#include "base/lock.h"

#include "tests/unit/cases.h"
#include "tests/unit/child.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

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

CASE(holds_one_at_a_time)
{
	pthread_t threads[THREADS];

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

CASE(waits_and_keeps_errno)
{
	pthread_t holder, waiter;
	void *result;

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

CASE(is_free_in_a_forked_child)
{
	pthread_t holder;

	sem_init(&held, 0, 0);
	sem_init(&done, 0, 0);
	pthread_create(&holder, NULL, hold, NULL);
	sem_wait(&held);
	assert_int_equal(child_run(take_in_child), 0);
	sem_post(&done);
	pthread_join(holder, NULL);
}

CASES_RUN(NULL, NULL)
