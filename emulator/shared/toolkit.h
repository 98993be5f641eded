/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/shared/toolkit.h -- which CUDA a copy of libcudart or libcublas
 * belongs to. Both copies are the same objects except for toolkit_12.c and
 * toolkit_13.c. */
#ifndef AC_EMULATOR_TOOLKIT_H
#define AC_EMULATOR_TOOLKIT_H

#include <stdint.h>

struct emu_toolkit {
	int      runtime;    /* cudaRuntimeGetVersion() */
	int      blas[3];    /* major, minor, patch */
	uint32_t mark;       /* of its handles; the other's are invalid */
};
extern const struct emu_toolkit emu_toolkit;

#endif
