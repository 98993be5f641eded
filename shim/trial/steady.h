/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/steady.h -- whether a program still tunes. PyTorch's benchmark,
 * XLA's comparison of candidates and TunableOp run each plan or algorithm a few
 * times and go on with the best one. Recast, all of them would be equally fast
 * and equally wrong. */
#ifndef AC_SHIM_STEADY_H
#define AC_SHIM_STEADY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { AC_STEADY_CALLS = 5 };       /* fits the 3 bits below */

/* By which plan or algorithm a site's calls were made lately. All zero: none
 * yet. */
struct ac_steady {
	_Atomic uint64_t last;      /* what it was; below, calls in a row */
};

/* The next call is made by `content` (a hash of a plan, of an algorithm's 64
 * bytes). Whether it and the four before had the same: the program does not
 * tune. Any thread. */
static inline bool
ac_steady_meets(struct ac_steady *steady, uint64_t content)
{
	/* Odd: all of a content's bits count, also without the lowest 3. */
	const uint64_t name = content * UINT64_C(0x9E3779B97F4A7C15)
	    & ~UINT64_C(7);
	uint64_t last = atomic_load_explicit(&steady->last,
	    memory_order_relaxed), next;

	do {
		if (last == (name | AC_STEADY_CALLS))
			return true;
		next = (last & ~UINT64_C(7)) == name ? last + 1 : name | 1;
	} while (!atomic_compare_exchange_weak_explicit(&steady->last, &last,
	    next, memory_order_relaxed, memory_order_relaxed));
	return next == (name | AC_STEADY_CALLS);
}

#endif
