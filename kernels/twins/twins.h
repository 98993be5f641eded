/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins.h -- the CPU twins of the kernels, for the emulated GPU.
 *
 * One row per kernel of *.cu, found by the name the module exports, with
 * cuLaunchKernel's parameter convention: params[i] points at the i-th argument.
 * "Device memory" is ordinary memory here. A twin gives the GPU kernel's bits,
 * whatever the launch geometry and the calling thread's rounding and denormal
 * modes. It runs on the calling thread, start to end; runs on distinct states
 * and destinations may overlap. The emulator calls this; the product never. */
#ifndef AC_KERNELS_TWINS_H
#define AC_KERNELS_TWINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ac_twin_launch {
	unsigned grid[3], block[3];
};

typedef void ac_twin_run(const struct ac_twin_launch *launch, void **params);

struct ac_twin {
	const char  *name;
	ac_twin_run *run;
	/* On a GPU: how many times as long as a copy of its bytes it takes, and
	 * what besides, in seconds, once its launch is done. */
	double bytes, idle;
};

extern const struct ac_twin ac_twins[];
extern const size_t ac_twin_count;

/* Bytes of matrices and tensors that all twins of the process moved, counted
 * where they are touched, added once per run. The 64 bytes of state and the two
 * scalars are left out: they do not grow. Relaxed atomics; a test may store
 * zero. */
extern _Atomic uint64_t ac_twin_bytes_read, ac_twin_bytes_written;
/* The same, both ways, of this thread: runs add, whoever launches zeroes. */
extern _Thread_local uint64_t ac_twin_bytes_here;
/* Operations in FP32 of products that kernels make themselves, of this thread;
 * what is only done to each element on its way is not among them. */
extern _Thread_local double ac_twin_operations_here;

/* Set: leave AVX2 and F16C alone. For tests that hold both ways together. */
extern _Atomic bool ac_twin_plain;

#endif
