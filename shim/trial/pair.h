/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/pair.h -- the operand pairs that a site multiplies, by their
 * addresses, and which of its candidates each one may use. A layer has operands
 * of its own: one bad layer of a site does not cost the others. */
#ifndef AC_SHIM_PAIR_H
#define AC_SHIM_PAIR_H

#include "policy/policy.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	AC_PAIRS = 256,
	AC_PAIR_OTHERS = 255        /* all that found no room: where pairs do
	                             * not recur. What it may not use no pair
	                             * may */
};

struct ac_pair {
	_Atomic uint64_t key;       /* ac_pair_key(), its bit below; 0: free */
	_Atomic uint32_t out;       /* bits of candidates that it may not use */
	_Atomic uint32_t looked;    /* those that were sampled with it */
	_Atomic uint64_t retry_at;  /* the call from which on one of them is to
	                             * be tried again */
	/* Of the thread that judges: */
	uint32_t refuted;           /* those of them that were found wanting;
	                             * the others only need proof again */
	uint8_t  strikes[AC_CANDIDATES]; /* so often each was found wanting */
	uint64_t refuted_until;     /* a call's number */
	uint32_t proof;             /* clean samples that the others need */
};

struct ac_pairs {
	struct ac_pair   of[AC_PAIRS];
	_Atomic uint32_t met;       /* taken so far */
	_Atomic bool     any_out;
};

/* What stands for two operands; 0: nothing does (arrays of matrices). */
static inline uint64_t
ac_pair_key(const void *a, const void *b)
{
	const uint64_t mixed = ((uint64_t)(uintptr_t)a
	    * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)(uintptr_t)b)
	    * UINT64_C(0xD6E8FEB86659FD93);

	return (mixed | 127) ^ 63;
}

static inline bool
ac_pair_is(uint64_t there, uint64_t key)
{
	return (there ^ key) < 64;
}

/* Without the last one, which is for all others. */
static inline unsigned
ac_pair_slot(uint64_t key, unsigned probe)
{
	return (unsigned)((key >> 32) + probe) % AC_PAIR_OTHERS;
}

/* What follows, where it is not found at once. */
__attribute__((noinline))
unsigned ac_pair_search(struct ac_pairs *pairs, uint64_t key);

/* The place of `key` in `pairs`, taken if it is new. Any thread, no lock. */
static inline unsigned
ac_pair_take(struct ac_pairs *pairs, uint64_t key)
{
	const unsigned at = ac_pair_slot(key, 0);

	return key && ac_pair_is(atomic_load_explicit(&pairs->of[at].key,
	    memory_order_acquire), key) ? at : ac_pair_search(pairs, key);
}

/* The bit of pair number `at` in a post's `bad`: the 64th pair that is met
 * shares that of the first. By the order they come in, which is the program's,
 * not by addresses, which are another run's others. */
static inline unsigned
ac_pair_bit(const struct ac_pairs *pairs, unsigned at)
{
	return at == AC_PAIR_OTHERS ? 63 : (unsigned)(atomic_load_explicit(
	    &pairs->of[at].key, memory_order_relaxed) & 63);
}

/* Whether calls had pair number `at`, as far as is known. */
static inline bool
ac_pair_is_met(const struct ac_pairs *pairs, unsigned at)
{
	return at == AC_PAIR_OTHERS || atomic_load_explicit(
	    &pairs->of[at].key, memory_order_relaxed);
}

/* Whether `candidate` was never sampled on pair number `at`. */
static inline bool
ac_pair_is_new(const struct ac_pairs *pairs, unsigned at, unsigned candidate)
{
	return !(atomic_load_explicit(&pairs->of[at].looked,
	    memory_order_relaxed) >> candidate & 1);
}

/* Whether it is to try a candidate again at call `number`. */
static inline bool
ac_pair_is_restless(const struct ac_pairs *pairs, unsigned at, uint64_t number)
{
	return pairs->of[at].out && number >= pairs->of[at].retry_at;
}

/* The candidates that pair number `at` may not use. */
static inline uint32_t
ac_pair_out(const struct ac_pairs *pairs, unsigned at)
{
	return atomic_load_explicit(&pairs->of[at].out, memory_order_acquire)
	    | atomic_load_explicit(&pairs->of[AC_PAIR_OTHERS].out,
	    memory_order_acquire);
}

/* How many pairs may not use any candidate of `bits`. */
unsigned ac_pair_count_out(const struct ac_pairs *pairs, uint32_t bits);

#endif
