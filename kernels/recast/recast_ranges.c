/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_ranges.c -- queues the counting of exponents with a
 * grid that fits. Nothing here waits or allocates. */
#include "kernels/recast/recast_ranges.h"

#include "kernels/load/load.h"
#include "kernels/recast/cast.h"

enum {
	BLOCKS_PER_SM = 8,      /* of AC_CAST_BLOCK threads: a full SM */
	EACH = 32               /* pieces of a block, 256 rows of a column,
	                         * where all are there at once */
};

/* The host compiler writes it, the GPU reads it. */
static_assert(sizeof(struct ac_recast_ranges) == 136, "ranges layout");

/* Blocks for such matrices; saturates. */
static uint64_t
blocks_of(const struct ac_recast_matrices *m)
{
	const uint64_t rows = ((uint64_t)m->rows + AC_CAST_BLOCK - 1)
	    / AC_CAST_BLOCK;
	uint64_t count;

	if (m->rows <= 0 || m->cols <= 0 || m->batch <= 0)
		return 0;
	if (__builtin_mul_overflow(rows, (uint64_t)m->cols, &count)
	    || __builtin_mul_overflow(count, (uint64_t)m->batch, &count))
		return UINT64_MAX;
	return count / EACH + (count % EACH != 0);
}

/* A row of blocks for each operand. */
enum ac_kernels_status
ac_recast_ranges(const struct ac_kernels *kernels,
    const struct ac_recast_ranges *ranges, ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)ranges };
	const uint64_t cap = (uint64_t)(kernels->sm_count > 0
	    ? kernels->sm_count : 1) * BLOCKS_PER_SM;
	uint64_t most = 1; /* the copy is written even if no element is read */

	for (int i = 0; i < 2; i++) {
		const uint64_t blocks = blocks_of(&ranges->operand[i]);

		most = blocks > most ? blocks : most;
	}
	return kernels->driver->cuLaunchKernel(
	    kernels->function[AC_KERNEL_RECAST_RANGES],
	    (unsigned)(most < cap ? most : cap), 2, 1, AC_CAST_BLOCK, 1, 1, 0,
	    stream, arguments, NULL) ? AC_KERNELS_LAUNCH : AC_KERNELS_OK;
}
