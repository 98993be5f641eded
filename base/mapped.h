/* SPDX-License-Identifier: Apache-2.0 */
/* base/mapped.h -- memory that is never given back, away from the program's
 * heap: a wrapped call may run while the program's allocator holds its lock. */
#ifndef AC_BASE_MAPPED_H
#define AC_BASE_MAPPED_H

#include <stdatomic.h>
#include <stddef.h>

/* `bytes` zeroed bytes, 64-byte aligned (one record, one cache line), or NULL
 * when the system has no memory. Takes a lock: not for the hot path. */
void *ac_mapped_take(size_t bytes);

/* Put `one`, complete but for `next`, at the head of a list that only grows.
 * Any thread; others may read the list. */
#define AC_MAPPED_PUSH(list, one, next) \
	for ((one)->next = atomic_load(list); \
	    !atomic_compare_exchange_weak(list, &(one)->next, one);) \
		continue

#endif
