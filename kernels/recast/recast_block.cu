/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_block.cu -- what the kernels of a recast share: a
 * warp's way over the tiles, and how the blocks of a launch bring together what
 * they found. First of the unit that make-ptx.sh compiles for them. */
#include "kernels/recast/recast_sample.h"

enum {
	WARPS = AC_CAST_BLOCK / AC_RECAST_LANES,
	BLOCKS = 2,             /* on an SM at least: 128 registers */
	ALL = ~0
};

typedef unsigned long long counter; /* what atomicAdd() takes for uint64_t */

/* A tile's place. Also a distance, added with carry: no division per tile. */
struct tile {
	int64_t row, col, matrix; /* row, col: in tiles */
};

static __device__ __forceinline__ struct tile
tile_of(uint64_t index, int64_t rows, int64_t cols)
{
	const uint64_t column = index / (uint64_t)rows;
	struct tile tile;

	tile.row = (int64_t)(index % (uint64_t)rows);
	tile.col = (int64_t)(column % (uint64_t)cols);
	tile.matrix = (int64_t)(column / (uint64_t)cols);
	return tile;
}

static __device__ __forceinline__ void
tile_advance(const struct tile &step, int64_t rows, int64_t cols,
    struct tile &tile)
{
	tile.row += step.row;
	tile.col += step.col;
	tile.matrix += step.matrix;
	if (tile.row >= rows) {
		tile.row -= rows;
		tile.col++;
	}
	if (tile.col >= cols) {
		tile.col -= cols;
		tile.matrix++;
	}
}

/* Selected, not indexed: an indexed parameter would be copied to the stack. */
static __device__ __forceinline__ struct ac_recast_operand
recast_operand(const struct ac_recast &r, int operand)
{
	return operand ? r.operand[1] : r.operand[0];
}

/* What a lane has found. */
struct found {
	uint32_t amax, tile;
	bool     bad;
	uint64_t sum;   /* the warp's, of lane 0 .. 3: parts and whole ones of
	                 * energy, parts and whole ones of loss */
};

/* What a block has found. In shared memory, declared by the kernels: that of
 * an inlined function would be named after the compiler's temporary files. */
struct block_found {
	counter  sums[4];       /* as of the lanes */
	uint32_t amax, tile;
};

static __device__ __forceinline__ void
gather(const struct found &found, struct block_found &block)
{
	const int lane = threadIdx.x % AC_RECAST_LANES;
	uint32_t largest = found.amax;

	if (!threadIdx.x)
		block = {};
	__syncthreads();
	AC_CAST_ROLLED
	for (int away = AC_RECAST_LANES / 2; away; away /= 2)
		largest = max(largest, __shfl_xor_sync(ALL, largest, away));
	if (lane < 4)
		atomicAdd(&block.sums[lane], (counter)found.sum);
	if (lane)
		return;
	atomicMax(&block.amax, largest);
	atomicMax(&block.tile, found.tile);
}

/* The block's findings about operand i into the state. */
static __device__ __forceinline__ void
publish(int i, const struct found &found, struct block_found &block,
    struct ac_recast_state *state)
{
	const int t = threadIdx.x;

	gather(found, block);
	if (__syncthreads_or(found.bad) && !t)
		atomicOr(&state->nonfinite, 1u << i);
	if (t < 4 && block.sums[t])
		atomicAdd((counter *)(t < 2 ? state->energy[i]
		    : state->loss[i]) + t % 2, block.sums[t]);
	if (!t && block.amax)
		atomicMax(&state->amax[i], block.amax);
	if (!t && block.tile)
		atomicMax(&state->tile[i], block.tile);
}

/* Whether this is the last block: then all the others' findings are seen by
 * its thread 0. */
static __device__ __forceinline__ bool
is_last(struct ac_recast_state *state)
{
	__threadfence();
	__syncthreads();
	if (threadIdx.x)
		return false;
	if (atomicAdd(&state->arrived, 1u) + 1 != gridDim.x * gridDim.y)
		return false;
	__threadfence();
	return true;
}
