/* SPDX-License-Identifier: Apache-2.0 */
/* base/lock.c -- a lock that a forked child never finds held for ever. */
#include "base/lock.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

/* Most waits are a few instructions; the driver's translation of our kernels
 * may take a second. */
static void
pause_for(unsigned round)
{
	static const struct timespec short_while = { 0, 100000 };

	if (round < 64)
		(void)sched_yield();
	else
		(void)nanosleep(&short_while, NULL);
}

void
ac_lock_take(struct ac_lock *lock)
{
	const int saved = errno, self = getpid();
	int cancelling = PTHREAD_CANCEL_ENABLE;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelling);

	for (unsigned round = 0;; round++) {
		int holder = 0;

		if (atomic_compare_exchange_strong_explicit(&lock->holder,
		    &holder, self, memory_order_acquire, memory_order_relaxed))
			break;
		/* Held by a thread of the process we were forked from. */
		if (holder != self && atomic_compare_exchange_strong_explicit(
		    &lock->holder, &holder, self, memory_order_acquire,
		    memory_order_relaxed))
			break;
		pause_for(round);
	}
	lock->cancelling = cancelling;
	errno = saved;
}

void
ac_lock_give(struct ac_lock *lock)
{
	const int cancelling = lock->cancelling;

	atomic_store_explicit(&lock->holder, 0, memory_order_release);
	(void)pthread_setcancelstate(cancelling, NULL);
}
