/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_block.cu -- what ranges and the check of a convolution
 * share: how the blocks of a launch find out who is last. Before them in the
 * unit that make-ptx.sh compiles. */
#include "kernels/recast/cast.h"

enum {
	BLOCKS = 2              /* on an SM at least: 128 registers */
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
