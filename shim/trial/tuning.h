/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/tuning.h -- whether a program still tunes. PyTorch's benchmark,
 * XLA's comparison of candidates and TunableOp run each plan or algorithm a few
 * times and go on with the best one. Recast, all of them would be equally fast
 * and equally wrong. */
#ifndef AC_SHIM_TUNING_H
#define AC_SHIM_TUNING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	AC_STEADY_CALLS = 5,    /* in a row; fits the 3 bits below */
	AC_STEADY_FEW = 3,      /* that a program may alternate among */
	AC_STEADY_LONG = 64,    /* calls, all by those few; fits 7 bits */
	AC_STEADY_NAME_BITS = 18
};

/* By which plans or algorithms a site's calls were made lately. All zero: none
 * yet. */
struct ac_steady {
	/* From the lowest bit: calls by the latest in a row, 3 bits; calls
	 * since one that was new, 7; names of the latest few, in that order. */
	_Atomic uint64_t last;
};

/* Never 0. All of a content's bits count: the highest ones of a product by an
 * odd factor depend on each. */
static inline uint64_t
ac_steady_name(uint64_t content)
{
	return content * UINT64_C(0x9E3779B97F4A7C15)
	    >> (64 - AC_STEADY_NAME_BITS) | 1;
}

/* Whether a call by `name` is steady after `last`. */
static inline bool
ac_steady_is(uint64_t last, uint64_t name)
{
	const uint64_t mask = (UINT64_C(1) << AC_STEADY_NAME_BITS) - 1;
	bool is_one = false;

	if ((last & 7) == AC_STEADY_CALLS && (last >> 10 & mask) == name)
		return true;
	for (int at = 0; at < AC_STEADY_FEW; at++)
		is_one |= (last >> (10 + at * AC_STEADY_NAME_BITS) & mask)
		    == name;
	return is_one && (last >> 3 & 127) == AC_STEADY_LONG;
}

/* What `last` becomes by a call by `name`, which goes to the front of the few;
 * if it is new, the one that was met longest ago leaves. */
static inline uint64_t
ac_steady_after(uint64_t last, uint64_t name)
{
	const uint64_t mask = (UINT64_C(1) << AC_STEADY_NAME_BITS) - 1;
	const uint64_t row = last & 7, calls = last >> 3 & 127;
	const uint64_t names = last >> 10;
	const bool is_again = (names & mask) == name;
	bool is_new = true;
	uint64_t front = name;

	for (int at = 0, to = 1; at < AC_STEADY_FEW; at++) {
		const uint64_t one = names >> at * AC_STEADY_NAME_BITS & mask;

		if (one == name)
			is_new = false;
		else if (to < AC_STEADY_FEW)
			front |= one << to++ * AC_STEADY_NAME_BITS;
	}
	return front << 10
	    | (is_new ? 0 : calls + (calls < AC_STEADY_LONG)) << 3
	    | (is_again ? row + (row < AC_STEADY_CALLS) : 1);
}

/* The next call is made by `content` (a hash of a plan, of an algorithm's 64
 * bytes). Whether the program does not tune: this call and the four before had
 * the same, or the last AC_STEADY_LONG had one of the same few. The latter are
 * layers of one shape, or buffers that are aligned in two ways. Any thread. */
static inline bool
ac_steady_meets(struct ac_steady *steady, uint64_t content)
{
	const uint64_t name = ac_steady_name(content);
	uint64_t last = atomic_load_explicit(&steady->last,
	    memory_order_relaxed), next;

	do {
		if (ac_steady_is(last, name))
			return true;
		next = ac_steady_after(last, name);
	} while (!atomic_compare_exchange_weak_explicit(&steady->last, &last,
	    next, memory_order_relaxed, memory_order_relaxed));
	return ac_steady_is(next, name);
}

#endif
