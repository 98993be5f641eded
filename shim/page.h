/* SPDX-License-Identifier: Apache-2.0 */
/* shim/page.h -- host memory that kernels write and we read without asking
 * CUDA: cudaDeviceReset() must not take it away (recasting.md R7). */
#ifndef AC_SHIM_PAGE_H
#define AC_SHIM_PAGE_H

#include "shim/place.h"

#include <stddef.h>

/* Take `bytes` (64-byte aligned, zeroed, at most AC_PAGE_BYTES) that the
 * context at `place` can write to by *device_out. Never given back. False if
 * the driver does not map host memory, or during a capture. Thread-safe. */
enum { AC_PAGE_BYTES = 64 << 10 };
bool ac_page_take(const struct ac_place *place, size_t bytes,
    void **host_out, ac_cu_address *device_out);

#endif
