/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/chain.h -- products that add up in one C: C = X Y; C -= X Y'.
 * Where the sum cancels, what the first one lost is large next to the result,
 * although its own result was as accurate as it should be. So what is found at
 * the last one is held against all that wrote this C, or a part of it, since it
 * was last written whole. */
#ifndef AC_SHIM_CHAIN_H
#define AC_SHIM_CHAIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ac_origin;

enum ac_chain_kind {
	AC_CHAIN_WRITES,   /* a whole C */
	AC_CHAIN_ADDS,     /* to a C, in place */
	AC_CHAIN_READS     /* what it adds to, and writes elsewhere */
};

/* A call of `origin`, which may be recast, does this to the `bytes` from `c`
 * on. Returns the origin that wrote at `c` last, if the call adds to what it
 * wrote and may have been recast; else NULL. About 1000 Cs are known, and 2000
 * things that an origin did with one. Any thread, no lock. */
struct ac_origin *ac_chain_note(struct ac_origin *origin, const void *c,
    uint64_t bytes, enum ac_chain_kind kind);

/* Find the origins that wrote what calls of `origin` added to, and what those
 * had added to, but for `origin` itself. Returns how many. Slow. */
enum { AC_CHAIN_MOST = 32 };
__attribute__((cold)) unsigned ac_chain_writers(struct ac_origin *origin,
    struct ac_origin *writers_out[AC_CHAIN_MOST]);

#endif
