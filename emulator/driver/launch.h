/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/launch.h -- launches of kernels, for the driver and the
 * runtime. */
#ifndef AC_EMULATOR_LAUNCH_H
#define AC_EMULATOR_LAUNCH_H

#include "emulator/driver/emu.h"

struct ptx_function;

struct emu_launch {
	const char   *name;
	unsigned      grid[3], block[3];
	const size_t *sizes;          /* bytes of each parameter */
	size_t        count;
	void        **params;
	struct ptx_function *ptx;     /* the text to run; NULL: a twin */
	size_t        shared;         /* dynamic shared memory, of `ptx` */
};

#pragma GCC visibility push(default)
/* Queue kernel `name`: its text or its CPU twin. */
int emu_kernel_launch(const struct emu_launch *launch,
    struct CUstream_st *handle);
#pragma GCC visibility pop

#endif
