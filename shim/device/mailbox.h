/* SPDX-License-Identifier: Apache-2.0 */
/* shim/device/mailbox.h -- host memory that kernels write and we read without
 * asking CUDA: cudaDeviceReset() must not take it away (doc/rules.md R7), or
 * nobody may look at it afterwards. */
#ifndef AC_SHIM_MAILBOX_H
#define AC_SHIM_MAILBOX_H

#include "shim/device/place.h"

#include <stddef.h>

/* Take `bytes` (64-byte aligned, zeroed, at most AC_MAILBOX_BYTES) that the
 * context at `place` can write to by *device_out. Never given back. False if
 * the driver does not map host memory; during a capture nothing more is mapped.
 * Thread-safe.
 * Where it maps none of ours (virtual GPUs, sandboxes), it is memory of the
 * driver's, which goes with the context: read it only during a call at a place
 * of that scratch and epoch. With `outlives` there is none then. */
enum { AC_MAILBOX_BYTES = 64 << 10 };
bool ac_mailbox_take(const struct ac_place *place, size_t bytes, bool outlives,
    void **host_out, ac_cu_address *device_out);

#endif
