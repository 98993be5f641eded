/* SPDX-License-Identifier: Apache-2.0 */
/* base/lock.h -- a lock for what happens seldom and shortly.
 *
 * Unlike a mutex it survives fork(): the child of a process in which another
 * thread held it, a thread that the child does not have, just takes it. So what
 * it guards must be usable at any point of a change: publish last. Nor is it
 * held for ever by a thread that was cancelled: what comes under the lock,
 * files mostly, is no cancellation point. */
#ifndef AC_BASE_LOCK_H
#define AC_BASE_LOCK_H

#include <stdatomic.h>

/* Zero: free. */
struct ac_lock {
	_Atomic int holder; /* the holding process */
	int cancelling;     /* the holding thread's state before */
};

/* Waits until the lock is free. Keeps errno. Not recursive. */
void ac_lock_take(struct ac_lock *lock);
void ac_lock_give(struct ac_lock *lock);

/* getpid(), mostly without a system call; right in any child. Keeps errno. */
int ac_lock_process(void);

#endif
