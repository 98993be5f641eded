/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/wait.h -- the only wait for the device that no program asks for:
 * for what calls post, or for how long they take, where the host has run ahead
 * of it. */
#ifndef AC_SHIM_WAIT_H
#define AC_SHIM_WAIT_H

#include "shim/device/scratch.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Wait until is_there(of), for two seconds, or as long as 256 calls that take
 * `seconds` each (0: unknown), but no longer: the stream may wait for something
 * that this very thread is still to do. After a wait that failed, no thread
 * waits in that context (ac_scratch_index(), ac_scratch_epoch()) until one
 * finds what it looks for there. False: it is not there. Naps of 20 us; keeps
 * errno; no cancellation point. */
bool ac_wait_until(unsigned context, uint32_t epoch,
    bool (*is_there)(void *of), void *of, double seconds);

/* Something that was posted in that context is found there for the first time:
 * threads may wait again. */
extern _Atomic uint64_t ac_wait_failed[AC_SCRATCH_CONTEXTS]
    __attribute__((visibility("hidden")));

static inline void
ac_wait_found(unsigned context)
{
	if (atomic_load_explicit(&ac_wait_failed[context],
	    memory_order_relaxed))
		ac_wait_failed[context] = 0;
}

/* The same until `word`, which only grows, is `least`. */
bool ac_wait_for(unsigned context, uint32_t epoch, const uint64_t *word,
    uint64_t least, double seconds);

/* How long a product takes: `predicted`, or on an emulated GPU what its FLOPs
 * take a CPU that is busy with other things. */
double ac_wait_seconds(double flops, double predicted);

#endif
