/* SPDX-License-Identifier: Apache-2.0 */
/* api/thread.h -- what one thread has of its own: the regions it opened and
 * the text of its last error. One pointer of thread-local storage leads there;
 * blocks of threads that ended are used again. */
#ifndef AC_API_THREAD_H
#define AC_API_THREAD_H

#include <stdint.h>

enum { AC_ERROR_BYTES = 256, AC_REGIONS_DEEP = 64 };

struct ac_thread {
	uint16_t depth;         /* regions open */
	uint16_t open[AC_REGIONS_DEEP]; /* their numbers (api/region.h) */
	char     error[AC_ERROR_BYTES];
	struct ac_thread *next; /* of those that are free */
};

/* The calling thread's block; until it has one, a block of zeros that is
 * everybody's. Never NULL. */
extern __thread const struct ac_thread *ac_thread_seen
    __attribute__((visibility("hidden")));

/* The calling thread's own block, made if need be; NULL if there is no memory.
 * Not while the thread ends. */
struct ac_thread *ac_thread_get(void);

#endif
