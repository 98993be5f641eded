/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/scratch.h -- the device memory the shim uses, per CUDA context.
 *
 * Our own memory pool and our own non-blocking streams, one for allocations,
 * which never waits, and one for frees, which waits for last uses: two streams
 * of the program must not come to depend on each other through our memory.
 * Allocations never touch the legacy stream or the program's pools, and every
 * call that might disturb a stream capture of another thread sits in a
 * relaxed-mode bracket (doc/rules.md R7). What is held never exceeds the
 * limit. A driver that refuses pools has its memory by shim/device/blocks.h. */
#ifndef AC_SHIM_SCRATCH_H
#define AC_SHIM_SCRATCH_H

#include "kernels/load/driver.h"
#include "policy/op.h"

#include <stdbool.h>
#include <stdint.h>

struct ac_scratch;

enum { AC_SCRATCH_CONTEXTS = 32 };

/* The scratch of the current context, whose id is `context_id`, made when
 * first asked for. NULL if the driver refuses or the table of contexts is
 * full. A context that was reset has a new id at its old address: the entry
 * is used again, what it held went with the old one. */
struct ac_scratch *ac_scratch_get(const struct ac_driver *driver,
    ac_cu_context context, uint64_t context_id, int device);

/* The same if it exists already, else NULL. */
struct ac_scratch *ac_scratch_find(uint64_t context_id);

/* Which entry it is, below AC_SCRATCH_CONTEXTS, and how often the entry was
 * used again: what was made in another epoch no longer exists. */
unsigned ac_scratch_index(const struct ac_scratch *scratch);
uint32_t ac_scratch_epoch(const struct ac_scratch *scratch);

/* The limit that applies, here and below: `wanted`, or without one the smaller
 * of 1/16 of the device and what leaves 1 GiB of it free (as seen when it was
 * first met). */
uint64_t ac_scratch_limit(const struct ac_scratch *scratch, uint64_t wanted);

/* Whether there is room for `bytes` more, as far as can be told. */
bool ac_scratch_has_room(const struct ac_scratch *scratch, uint64_t limit,
    uint64_t bytes);

/* Allocate `bytes`, zeroed if so wished, usable on `stream` from now on, if all
 * that is held stays within `limit`. AC_REASON_NONE and *address_out, or
 * _WORKSPACE, _OUT_OF_MEMORY or _DRIVER. Zeroed on our own stream: one of the
 * program's may be held up, and others must not wait for it. */
enum ac_reason ac_scratch_take(struct ac_scratch *scratch, uint64_t limit,
    uint64_t bytes, bool zeroed, ac_cu_stream stream,
    ac_cu_address *address_out);

/* Let `stream` come after all that was taken so far. With `captures` it cannot
 * wait: true if everything is there already. */
bool ac_scratch_order(struct ac_scratch *scratch, ac_cu_stream stream,
    bool captures);

/* Free `bytes` at `address` once `last_use` (NULL: never used) has passed. They
 * leave the account now, when that is queued. */
void ac_scratch_give(struct ac_scratch *scratch, ac_cu_address address,
    uint64_t bytes, ac_cu_event last_use);

/* Where the program itself waits for the device, and only there: hold nothing
 * that is not in use. Free what a driver without pools could not free before
 * (shim/device/blocks.h); the pool does so until the next take. */
void ac_scratch_trim(struct ac_scratch *scratch);

/* Relaxed-mode bracket: the previous mode is for the closing call. False: what
 * was to be done within must not be done, since a capture of this thread or of
 * another would be invalidated. */
__attribute__((warn_unused_result))
bool ac_scratch_relax(const struct ac_driver *driver, int *mode_out);
void ac_scratch_restore(const struct ac_driver *driver, int mode);

/* Whether `event` is known to have passed. In a global capture of another
 * thread even asking disturbs. */
static inline bool
ac_scratch_has_passed(const struct ac_driver *driver, ac_cu_event event)
{
	bool done;
	int mode;

	if (!ac_scratch_relax(driver, &mode))
		return false;
	done = !driver->cuEventQuery(event);
	ac_scratch_restore(driver, mode);
	return done;
}

#endif
