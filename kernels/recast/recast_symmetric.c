/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_symmetric.c -- queues the writing of a symmetric
 * matrix: a block for each tile. Nothing here waits or allocates. */
#include "kernels/recast/recast_symmetric.h"

#include "kernels/load/load.h"
#include "kernels/recast/cast.h"

/* The host compiler writes it, the GPU reads it. */
static_assert(sizeof(struct ac_recast_symmetric) == 48, "symmetric layout");

enum ac_kernels_status
ac_recast_symmetric(const struct ac_kernels *kernels,
    const struct ac_recast_symmetric *s, ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)s };
	const int64_t side = (s->n + AC_SYMMETRIC_SIDE - 1) / AC_SYMMETRIC_SIDE;

	if (side > UINT16_MAX)
		return AC_KERNELS_LAUNCH;
	return kernels->driver->cuLaunchKernel(
	    kernels->function[AC_KERNEL_RECAST_SYMMETRIC], (unsigned)side,
	    (unsigned)side, 1, AC_CAST_BLOCK, 1, 1, 0, stream, arguments, NULL)
	    ? AC_KERNELS_LAUNCH : AC_KERNELS_OK;
}
