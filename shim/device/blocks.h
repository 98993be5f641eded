/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/blocks.h -- device memory of a context whose driver has no pools:
 * blocks of cuMemAlloc(). A block that is given back is handed out again once
 * its last use has passed, and is held until then and after: cuMemFree() waits
 * for the device, which is allowed only where the program waits for it
 * itself. */
#ifndef AC_SHIM_BLOCKS_H
#define AC_SHIM_BLOCKS_H

#include "kernels/load/driver.h"

struct ac_blocks;

/* None yet; NULL without host memory, or if the driver lacks a call. */
struct ac_blocks *ac_blocks_make(const struct ac_driver *driver);
/* Forget them all: their context is gone. */
void ac_blocks_forget(struct ac_blocks *blocks);

/* A block that was given back, of at least `bytes`, whose last use has passed;
 * 0: there is none. In a relaxed bracket, like all that follows. */
ac_cu_address ac_blocks_reuse(struct ac_blocks *blocks, uint64_t bytes);
/* A new one of `bytes`; the driver's error, 0 if it is there. */
ac_cu_result ac_blocks_add(struct ac_blocks *blocks, uint64_t bytes,
    ac_cu_address *address_out);
/* Give one back, which is used no more behind what `frees` has to do. False: it
 * is none of these, or is lost. */
bool ac_blocks_give(struct ac_blocks *blocks, ac_cu_address address,
    ac_cu_stream frees);
/* Free those that were given back. Waits for the device. Returns their
 * bytes. */
uint64_t ac_blocks_free(struct ac_blocks *blocks);

#endif
