/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast_estimate.cu -- the GPU side of the estimate of a call's error.
 * What is added, and in which order, is recast_estimate.h's.
 *
 * settle adds up the bands of the casts, a block per 32 of K; finish adds those
 * sums, and looks at an output per thread. There all blocks do the same: so each
 * knows, and none waits for another, whether the sample is theirs to take.
 * Compiled before recast.cu. */
#include "kernels/recast_estimate.h"

/* A block's sums of bands by operand, warp and word; of pairs, by warp. */
struct estimate_room {
	double bands[2][WARPS][AC_RECAST_WORDS];
	struct ac_recast_part pair[WARPS];
};

static __device__ __forceinline__ double
add_far(double sum, int away)
{
	return sum + __shfl_xor_sync(ALL, sum, away);
}

/* This warp's share of the bands of a stretch of K. */
static __device__ __forceinline__ void
add_bands(const float *bands, int64_t tiles, double *room)
{
	const int lane = threadIdx.x % AC_RECAST_LANES;
	double sum = 0;

#pragma unroll 4
	for (int64_t i = threadIdx.x; i < tiles * AC_RECAST_WORDS;
	    i += AC_CAST_BLOCK)
		sum = sum + (double)__ldg(bands + i);
	sum = add_far(add_far(sum, 8), 16);
	if (lane < AC_RECAST_WORDS)
		room[lane] = sum;
}

/* The first warp: lane 8 i + w has word w of operand i; so a band's energy of
 * one operand meets its loss of the other at a distance of 12. */
static __device__ __forceinline__ void
store_part(const struct ac_recast &r, int64_t number, int64_t along,
    const struct estimate_room &room)
{
	const int lane = threadIdx.x, i = lane / AC_RECAST_WORDS % 2;
	const double width = ac_recast_width(&r, along, lane % AC_RECAST_BANDS);
	double mine = 0, lost, all;

	AC_CAST_ROLLED
	for (int w = 0; w < WARPS; w++)
		mine = mine + room.bands[i][w][lane % AC_RECAST_WORDS];
	lost = mine * __shfl_xor_sync(ALL, mine, 12);
	all = mine * __shfl_xor_sync(ALL, mine, 8);
	lost = add_far(lost, 4) / width;
	all = all / width;
	lost = add_far(add_far(lost, 1), 2);
	all = add_far(add_far(all, 1), 2);
	if (!lane) {
		r.parts[2 * number] = lost;
		r.parts[2 * number + 1] = all;
	}
}

/* What settle does where an estimate is due: all blocks share the work. */
static __device__ __forceinline__ void
add_parts(const struct ac_recast &r, struct estimate_room &room)
{
	const int64_t along = ac_recast_tiles(r.k);
	const int warp = threadIdx.x / AC_RECAST_LANES;

	AC_CAST_ROLLED
	for (int64_t number = blockIdx.y * gridDim.x + blockIdx.x;
	    number < along; number += gridDim.x * gridDim.y) {
		AC_CAST_ROLLED
		for (int i = 0; i < 2; i++) {
			const struct ac_recast_operand o = recast_operand(r, i);
			const float *bands = i ? r.bands[1] : r.bands[0];

			add_bands(bands + ac_recast_bands_at(&o, 0, number, 0),
			    ac_recast_line_tiles(&o), room.bands[i][warp]);
		}
		__syncthreads();
		if (!warp)
			store_part(r, number, number, room);
		__syncthreads();
	}
}

/* The block's sums, for all of its threads. */
static __device__ __forceinline__ struct ac_recast_part
add_block(struct ac_recast_part mine, struct estimate_room &room)
{
	struct ac_recast_part sum = {};

	AC_CAST_ROLLED
	for (int away = AC_RECAST_LANES / 2; away; away /= 2) {
		mine.lost = add_far(mine.lost, away);
		mine.all = add_far(mine.all, away);
	}
	__syncthreads(); /* the last sums are read */
	if (threadIdx.x % AC_RECAST_LANES == 0)
		room.pair[threadIdx.x / AC_RECAST_LANES] = mine;
	__syncthreads();
	AC_CAST_ROLLED
	for (int w = 0; w < WARPS; w++) {
		sum.lost = sum.lost + room.pair[w].lost;
		sum.all = sum.all + room.pair[w].all;
	}
	return sum;
}

static __device__ __forceinline__ struct ac_recast_part
read_parts(const struct ac_recast &r)
{
	struct ac_recast_part sum = {};

	if (r.state->probe != AC_PROBE_ESTIMATE)
		return sum;
	AC_CAST_ROLLED
	for (int64_t i = threadIdx.x; i < ac_recast_tiles(r.k);
	    i += AC_CAST_BLOCK) {
		sum.lost = sum.lost + __ldg(r.parts + 2 * i);
		sum.all = sum.all + __ldg(r.parts + 2 * i + 1);
	}
	return sum;
}

/* The same in all blocks, and in all of their threads. */
static __device__ __forceinline__ struct ac_recast_estimate
estimate_of(const struct ac_recast &r, struct estimate_room &room)
{
	const struct ac_recast_probe probe = ac_recast_probe_at(&r, 0,
	    threadIdx.x);
	const struct ac_recast_part parts = add_block(read_parts(r), room);
	const struct ac_recast_weight weight = ac_recast_weigh(&r, &probe,
	    ac_recast_most(&r, &parts));
	const struct ac_recast_part squares = { weight.c, weight.product };
	const struct ac_recast_part sums = add_block(squares, room);
	struct ac_recast_weights weights;

	weights.c = sums.lost;
	weights.product = sums.all;
	weights.counted = __syncthreads_count(weight.counts);
	weights.clear = __syncthreads_count(weight.counts && !weight.drowns);
	return ac_recast_estimate_of(&r, &parts, &weights);
}
