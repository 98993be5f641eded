/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/cublas_once.h -- AUTOCAST_EMU_SUMS=once: a product that was
 * the last to write its C, and would write it again, is not computed. Runs on
 * workers. */
#ifndef AC_EMULATOR_CUBLAS_ONCE_H
#define AC_EMULATOR_CUBLAS_ONCE_H

#include "emulator/cublas/cublas_gemm.h"

/* Whether it need not be computed; then the bytes it would have moved. Its
 * scalars are known. Goes by 256 elements of each matrix: for programs whose
 * data change as a whole or not at all. */
bool emu_once_has(const struct emu_gemm *gemm, uint64_t *bytes_out);
/* It was computed. */
void emu_once_note(const struct emu_gemm *gemm, uint64_t bytes);

#endif
