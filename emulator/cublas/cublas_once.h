/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_once.h -- AUTOCAST_EMU_SUMS=once: a product that wrote
 * its C last, and would write the same again, is not computed. Runs on
 * workers. */
#ifndef AC_EMULATOR_CUBLAS_ONCE_H
#define AC_EMULATOR_CUBLAS_ONCE_H

#include "emulator/cublas/cublas_gemm.h"

/* Whether it need not be computed; if so, it counts the bytes that it would
 * have moved. Its scalars are known. Compares 256 elements of each matrix: for
 * programs whose data change as a whole or not at all. `behind` is a hash of
 * what was done to C before it was written, 0 of nothing. */
bool emu_once_has(const struct emu_gemm *gemm, uint64_t behind,
    uint64_t *bytes_out);
/* Note that it was computed. */
void emu_once_note(const struct emu_gemm *gemm, uint64_t behind,
    uint64_t bytes);

#endif
