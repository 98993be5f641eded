/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_block.cu -- what the kernels of one text share: how the
 * blocks of a launch find out who is last. First of the unit that make-ptx.sh
 * compiles. */
#include "kernels/recast/cast.h"

enum {
	WARPS = AC_CAST_BLOCK / AC_CAST_LANES,
	BLOCKS = 2,             /* on an SM at least: 128 registers */
	ALL = ~0
};

typedef unsigned long long counter; /* what atomicAdd() takes for uint64_t */

/* Whether this is the block that comes last, of all that count in `arrived`:
 * then it sees what the others have found. All of it asks. */
static __device__ __forceinline__ bool
is_last_block(uint32_t *arrived)
{
	bool last = false;

	__threadfence();
	__syncthreads();
	if (!threadIdx.x)
		last = atomicAdd(arrived, 1u) + 1 == gridDim.x * gridDim.y;
	last = __syncthreads_or(last);
	if (last)
		__threadfence();
	return last;
}
