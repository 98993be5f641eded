/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/shared/toolkit_13.c -- for the copies that programs built with CUDA
 * 13 load: the versions in the headers that the emulator was built with. */
#include "emulator/shared/toolkit.h"
#include "emulator/driver/nvidia.h"

const struct emu_toolkit emu_toolkit = {
	.runtime = CUDART_VERSION,
	.blas = { CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH },
	.mark = 0x424c3133
};
