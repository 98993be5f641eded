/* SPDX-License-Identifier: Apache-2.0 */
/* shim/scratch.h -- the device memory the shim uses, per CUDA context.
 *
 * Our own memory pool and our own non-blocking stream: allocations never touch
 * the legacy stream or the program's pools, and every call that might disturb
 * a stream capture of another thread sits in a relaxed-mode bracket
 * (recasting.md R7). What is held never exceeds the limit. */
#ifndef AC_SHIM_SCRATCH_H
#define AC_SHIM_SCRATCH_H

#include "kernels/driver.h"
#include "policy/op.h"

#include <stdint.h>

struct ac_scratch;

/* The scratch of the current context, made when first asked for. NULL if the
 * driver refuses or the table of contexts is full. */
struct ac_scratch *ac_scratch_get(const struct ac_driver *driver,
    uint64_t context_id, int device);

/* The limit that applies: `wanted`, or without one the smaller of 1/16 of the
 * device and what leaves 1 GiB of it free (as seen when it was first met). */
uint64_t ac_scratch_limit(const struct ac_scratch *scratch, uint64_t wanted);

/* Allocate `bytes`, usable on `stream` from now on, if all that is held stays
 * within `limit`. AC_REASON_NONE and *address_out, or _WORKSPACE or
 * _OUT_OF_MEMORY. */
enum ac_reason ac_scratch_take(struct ac_scratch *scratch, uint64_t limit,
    uint64_t bytes, ac_cu_stream stream, ac_cu_address *address_out);

/* Free `bytes` at `address` once `last_use` (NULL: never used) has passed. */
void ac_scratch_give(struct ac_scratch *scratch, ac_cu_address address,
    uint64_t bytes, ac_cu_event last_use);

/* Relaxed-mode bracket: returns the previous mode for the closing call. */
int ac_scratch_relax(const struct ac_driver *driver);
void ac_scratch_restore(const struct ac_driver *driver, int mode);

#endif
