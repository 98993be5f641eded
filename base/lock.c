/* SPDX-License-Identifier: Apache-2.0 */
/* base/lock.c -- a lock that a forked child never finds held for ever, and what
 * tells a forked child. */
#include "base/lock.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- Which process ----------------------------------------------------- */

/* A raw clone() runs no handler, but the kernel empties a page in whatever
 * child has a copy of it (Linux 4.14; before, it is asked each time). */
enum { PAGE_BYTES = 4096, WIPE_ON_FORK = 18 }; /* MADV_WIPEONFORK */

/* More of an alignment would cost the loader calls. */
static union {
	_Atomic int pid;
	char        page[PAGE_BYTES];
} wiped __attribute__((aligned(PAGE_BYTES)));

int
ac_lock_process(void)
{
	static atomic_bool refused;
	int pid = atomic_load_explicit(&wiped.pid, memory_order_relaxed), saved;

	if (pid)
		return pid;
	pid = getpid();
	if (atomic_load_explicit(&refused, memory_order_relaxed))
		return pid;
	saved = errno;
	if (getauxval(AT_PAGESZ) == PAGE_BYTES &&
	    !madvise(&wiped, sizeof wiped, WIPE_ON_FORK))
		atomic_store_explicit(&wiped.pid, pid, memory_order_relaxed);
	else
		atomic_store_explicit(&refused, true, memory_order_relaxed);
	errno = saved;
	return pid;
}

/* ---- The lock ---------------------------------------------------------- */

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
	const int saved = errno, self = ac_lock_process();
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
