/* SPDX-License-Identifier: Apache-2.0 */
/* shim/chain.h -- products that add up in one C: C = X Y; C -= X Y'. Where the sum
 * cancels, what the first one lost is large next to the result, although its own
 * result was as accurate as it should be. So what is found at the last one is
 * held against all that wrote this C. */
#ifndef AC_SHIM_CHAIN_H
#define AC_SHIM_CHAIN_H

#include <stdatomic.h>
#include <stdbool.h>

struct ac_trial;

/* Whose calls wrote the Cs that one trial's calls added to; all zero at first. */
enum { AC_CHAIN_LINKS = 4 };
struct ac_chain {
	_Atomic(struct ac_trial *) with[AC_CHAIN_LINKS];
};

/* A call of `trial`, whose own chain is `chain`, writes `c`; it adds to what is
 * there, or not. Whether calls that may be recast wrote that before. Any thread,
 * no lock: of the Cs, the 64 that were met last are known, and of each one the
 * last four that wrote it. */
bool ac_chain_note(struct ac_chain *chain, struct ac_trial *trial,
    const void *c, bool adds);

#endif
