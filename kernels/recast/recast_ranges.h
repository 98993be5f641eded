/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_ranges.h -- how often each FP32 exponent occurs in the
 * operands of a product: one launch on the caller's stream. Waits for nothing,
 * allocates nothing (doc/rules.md R4). */
#ifndef AC_KERNELS_RECAST_RANGES_H
#define AC_KERNELS_RECAST_RANGES_H

#include "kernels/load/kernels.h"

enum { AC_RANGE_BINS = 256 };       /* FP32 exponents */

/* FP32 matrices of the program, column-major. */
struct ac_recast_matrices {
	const float        *from;   /* the first matrix; NULL: see `array` */
	const float *const *array;  /* device memory: the matrices' addresses */
	int64_t rows, cols, ld;     /* as stored; ld >= rows */
	int64_t stride;             /* elements to the next */
	int64_t batch;              /* matrices to read */
};

/* Passed by value to the kernel. */
struct ac_recast_ranges {
	struct ac_recast_matrices operand[2];
	uint64_t *counts;           /* [2][AC_RANGE_BINS] on the device */
	uint64_t *copy;             /* as many in host memory: its address on
	                             * the device */
	uint32_t *arrived;          /* on the device, of this launch alone: 0,
	                             * and left so */
};

/* Queue: add the operands' exponents (bits 30..23 of every element of every
 * matrix) to `counts`, then copy all of those to `copy`. */
enum ac_kernels_status ac_recast_ranges(const struct ac_kernels *kernels,
    const struct ac_recast_ranges *ranges, ac_cu_stream stream);

#endif
