/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_symmetric.h -- a symmetric matrix of which one triangle
 * is stored, written whole: one launch on the caller's stream. Waits for
 * nothing, allocates nothing. */
#ifndef AC_KERNELS_RECAST_SYMMETRIC_H
#define AC_KERNELS_RECAST_SYMMETRIC_H

#include "kernels/load/kernels.h"

enum { AC_SYMMETRIC_SIDE = 32 };    /* of a block's tile */

/* Passed by value to the kernel. */
struct ac_recast_symmetric {
	const float *from;          /* column-major, n x n: of the other
	                             * triangle nothing is read */
	float       *to;            /* all of it is written */
	int64_t      n, ld, ld_to;  /* elements, >= n */
	uint32_t     is_lower;      /* the stored triangle; else the upper */
	uint32_t     reserved;      /* 0 */
};

/* Queue it. n is at least 1. */
enum ac_kernels_status ac_recast_symmetric(const struct ac_kernels *kernels,
    const struct ac_recast_symmetric *s, ac_cu_stream stream);

#endif
