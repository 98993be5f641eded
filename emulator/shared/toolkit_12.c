/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/shared/toolkit_12.c -- for the copies that programs built with CUDA
 * 12 load: the versions of its last release, 12.9. */
#include "emulator/shared/toolkit.h"

const struct emu_toolkit emu_toolkit = {
	.runtime = 12090, .blas = { 12, 9, 1 }, .mark = 0x424c3132
};
