/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/calibrate/calibrate.h -- a GPU that is measured. */
#ifndef AC_CMD_CALIBRATE_H
#define AC_CMD_CALIBRATE_H

#include "cmd/gpu/gpu.h"
#include "policy/profit/calibration.h"

/* Measure what the GPU has, each rate as the median of its samples, and tell
 * `measured` about it at once. Takes seconds. False: gpu->why says why. */
bool ac_calibrate_measure(struct ac_gpu *gpu,
    struct ac_calibration *calibration, void (*measured)(enum ac_rate which,
    const struct ac_measured_rate *rate));

/* Fill with random numbers between 1/128 and 2, of either sign, of one of
 * these types. */
enum { TYPE_F32 = 0, TYPE_F16 = 2, TYPE_BF16 = 14 }; /* cudaDataType */
void ac_calibrate_operand(unsigned char *block, size_t bytes, int type);

#endif
