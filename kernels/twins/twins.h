/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins.h -- the CPU twins of the kernels, for the emulated GPU
 * and for tests.
 *
 * One row per kernel of *.cu, found by the name the module exports
 * (emulator/driver/twin.h). "Device memory" is ordinary memory here. A twin
 * gives the GPU kernel's bits, whatever the launch geometry and the calling
 * thread's rounding and denormal modes. It runs on the calling thread, start to
 * end; runs on distinct states and destinations may overlap. The product calls
 * none. */
#ifndef AC_KERNELS_TWINS_H
#define AC_KERNELS_TWINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_twin_launch; /* the geometry, which no twin reads */
typedef void ac_twin_run(const struct emu_twin_launch *launch, void **params);

struct ac_twin {
	const char  *name;
	ac_twin_run *run;
	double       bytes, idle;    /* as struct emu_twin_row has them */
};

enum { AC_TWINS = 16 };
extern const struct ac_twin ac_twins[AC_TWINS];

/* Bytes of matrices and tensors that all twins of the process moved, counted
 * where they are touched, added once per run. The 64 bytes of state and the two
 * scalars are left out: they do not grow. Relaxed atomics; a test may store
 * zero. */
extern _Atomic uint64_t ac_twin_bytes_read, ac_twin_bytes_written;
/* Called at the end of each run, unless it is NULL, with its bytes and with the
 * operations in FP32 of products that the kernel makes itself. What is done to
 * each element on its way does not count. */
extern void (*ac_twin_moved)(uint64_t read, uint64_t written,
    double operations);

/* Set: leave AVX2 and F16C alone. For tests that hold both ways together. */
extern _Atomic bool ac_twin_plain;

#endif
