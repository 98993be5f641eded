/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_exact.h -- sums of products with the bits of the GPU.
 *
 * A Tensor Core adds blocks of products. Plain FP32 is one FMA after the other,
 * which is what cublasSgemm does unless it splits K. */
#ifndef AC_EMULATOR_CUBLAS_EXACT_H
#define AC_EMULATOR_CUBLAS_EXACT_H

#include "emulator/arithmetic/blocks.h"
#include "emulator/driver/emu.h"

/* `capability`: 90 is 9.0. */
struct emu_blocks emu_blocks_of(int capability, enum emu_rate arithmetic);

/* sums[j * m + i] = the sum over l < k of a[i * k + l] * b[j * k + l], all
 * elements being numbers of the format. False if the host has no memory left.
 * NaNs come out as 0x7fffffff. */
bool emu_exact_sums(struct emu_blocks blocks, int64_t m, int64_t n, int64_t k,
    const float *a, const float *b, float *sums);
/* cublas_lanes.c: the same with blocks; NaNs come out as they may. */
bool emu_lanes_sums(struct emu_blocks blocks, int64_t m, int64_t n, int64_t k,
    const float *a, const float *b, float *sums);

#endif
