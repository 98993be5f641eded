/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/shipped.h -- the PTX that ships, run by the
 * interpreter. */
#ifndef AC_TESTS_SHIPPED_H
#define AC_TESTS_SHIPPED_H

#include "emulator/ptx/ptx.h"
#include "kernels/conv/conv_body.h"
#include "kernels/recast/recast_ranges.h"
#include "kernels/recast/recast_symmetric.h"
#include "kernels/scaler/scaler_body.h"

/* Numbers of a seed that main() has set. */
uint64_t shipped_any(void);

/* ---- What a launch may touch, as the kernels' headers have it ----------- */

/* Nothing where `at` is NULL. */
void shipped_region(const void *at, size_t bytes, bool read_only,
    const char *name);
void shipped_ranges_regions(const struct ac_recast_ranges *ranges);
void shipped_symmetric_regions(const struct ac_recast_symmetric *s);
void shipped_conv_regions(const struct ac_conv_check *check);
struct verified_data;
void shipped_verified_regions(const struct verified_data *data);
void shipped_tensor_regions(const struct ac_scaler_tensor *tensors,
    uint64_t count, bool read_only);
/* All of them since the last call, as a launch wants them. */
const struct ptx_region *shipped_regions(size_t *count_out);

/* ---- Launches ---------------------------------------------------------- */

/* That kernel of the shipped texts, checked, in a random order of warps and
 * blocks, with anything in memory that nobody has set. Ends the program if the
 * kernel does not come to its end. */
void shipped_launch(const char *name, const unsigned grid[3],
    unsigned threads, void **params);

/* shipped_single.c: `turns` launches of the kernels of one thread. Returns how
 * many differ from the twins. */
unsigned shipped_single(unsigned turns);

#endif
