/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/twin.h -- the CPU twins of kernels: how a library brings
 * them.
 *
 * A twin does once, on the stream's worker, what all threads of a launch would
 * do. params[i] points at the i-th argument, as with cuLaunchKernel().
 *
 * A library registers its twins in its constructor. AUTOCAST_EMU_TWINS names
 * it, or it is EMU_TWINS_HERE in the folder of libcuda.so.1. */
#ifndef AC_EMULATOR_TWIN_H
#define AC_EMULATOR_TWIN_H

#include "emulator/driver/emu.h"

#define EMU_TWINS_HERE "libtwins.so"

struct emu_twin_launch {
	unsigned grid[3], block[3];
};

typedef void (*emu_twin_run)(const struct emu_twin_launch *launch,
    void **params);

struct emu_twin_row {
	const char  *name;           /* of the kernel, mangled */
	emu_twin_run run;
	/* Before a run: EMU_OK, or a status after a complaint, and there is no
	 * run. It asks emu_memory_check() and its like. NULL: nothing is
	 * checked. */
	int        (*check)(void **params);
	/* On a GPU: how many times as long as a copy of its bytes a run takes,
	 * and what besides, in seconds, once its launch is done. */
	double       bytes, idle;
};

#pragma GCC visibility push(default)
/* Register `run` as the twin of kernel `name` (mangled, borrowed for ever),
 * whose `count` parameters have these sizes in bytes. Any time, from any
 * thread; a kernel's twin is looked up at each launch, the last one counts. */
void emuTwinRegister(const char *name, emu_twin_run run, const size_t *sizes,
    size_t count);
/* The same of `count` rows, borrowed for ever. Their parameters are those that
 * the kernel's own text declares: one that has none is not run. */
void emuTwinsRegister(const struct emu_twin_row *rows, size_t count);
/* What a run has moved, in bytes, and its operations in FP32, for the counters
 * and the modelled time; called by the run, adds up. */
void emuTwinMoved(uint64_t read, uint64_t written, double operations);
#pragma GCC visibility pop

#endif
