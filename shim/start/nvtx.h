/* SPDX-License-Identifier: Apache-2.0 */
/* shim/start/nvtx.h -- ranges of NVTX for a profiler's time line: a recast call
 * shows its rung and its site, and the profiler shows which kernels it made.
 * NVIDIA's header of NVTX 3 would bring 17 KB of its other functions. */
#ifndef AC_SHIM_NVTX_H
#define AC_SHIM_NVTX_H

#include "policy/op.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A profiler wants ranges: it has set NVTX_INJECTION64_PATH, and its library
 * has not refused so far. Read at each recast call. */
extern _Atomic bool ac_nvtx_wanted __attribute__((visibility("hidden")));

/* From here to pop, the calling thread's work is that of a call of site `site`
 * that runs on `rung`. The first one loads the profiler's library; false: there
 * is no range, and no pop. Any thread, holding no lock: that library may call
 * anything. */
bool ac_nvtx_push(enum ac_rung rung, uint32_t site);
void ac_nvtx_pop(void);

#endif
