/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/chain.h -- products that add up in one C: C = X Y; C -= X Y'.
 * Where the sum cancels, what the first one lost is large next to the result,
 * although its own result was as accurate as it should be. So what is found at
 * the last one is held against all that wrote this C. */
#ifndef AC_SHIM_CHAIN_H
#define AC_SHIM_CHAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ac_origin;

/* Whose calls wrote the Cs that one origin's calls added to; all zero at
 * first. */
enum { AC_CHAIN_LINKS = 4 };
struct ac_chain {
	_Atomic(struct ac_origin *) with[AC_CHAIN_LINKS];
};

/* Of the Cs, about 1000 that were met last are known, and of each one the last
 * four that wrote it. */
__attribute__((noinline))
bool ac_chain_search(struct ac_chain *chain, struct ac_origin *origin,
    const void *c, bool adds);

/* A call of `origin` adds to what is at `c`, and writes elsewhere. Whether
 * calls that may be recast wrote that. */
bool ac_chain_read(struct ac_chain *chain, const struct ac_origin *origin,
    const void *c);

struct ac_chain_c {
	_Atomic uintptr_t c;
	_Atomic(struct ac_origin *) by[AC_CHAIN_LINKS];
};
enum { AC_CHAIN_BITS = 10 };
extern struct ac_chain_c ac_chain_cs[1 << AC_CHAIN_BITS]
    __attribute__((visibility("hidden")));

static inline struct ac_chain_c *
ac_chain_at(const void *c)
{
	return &ac_chain_cs[(uint64_t)(uintptr_t)c
	    * UINT64_C(0x9E3779B97F4A7C15) >> (64 - AC_CHAIN_BITS)];
}

/* A call of `origin`, whose own chain is `chain`, writes `c`; it adds to what
 * is there, or not. Whether calls that may be recast wrote that before. Any
 * thread, no lock. The common case first: one place that writes this C, and no
 * other. */
static inline bool
ac_chain_note(struct ac_chain *chain, struct ac_origin *origin, const void *c,
    bool adds)
{
	const struct ac_chain_c *at = ac_chain_at(c);

	if (atomic_load_explicit(&at->c, memory_order_relaxed) == (uintptr_t)c
	    && atomic_load_explicit(&at->by[0], memory_order_relaxed) == origin
	    && !atomic_load_explicit(&at->by[1], memory_order_relaxed))
		return adds;
	return ac_chain_search(chain, origin, c, adds);
}

#endif
