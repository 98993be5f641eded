/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_estimate.cu -- the GPU side of the estimate of a call's
 * error. What is added, and in which order, is recast_estimate.h's.
 *
 * settle adds up the bands of the casts, a block per 32 of K; finish adds those
 * sums, and looks at an output per thread. There all blocks do the same: so
 * each knows, and none waits for another, whether the sample is theirs to take.
 * Of a batch, a warp does both for a matrix, and samples it at once if it is
 * suspect. Compiled between recast_sample.cu and recast.cu. */
#include "kernels/recast/recast_estimate.h"
#include "kernels/recast/recast_sample.h"

/* Threads that share a matrix: all of a block, or a warp where there are
 * many. */
static __device__ __forceinline__ int
share_of(const struct ac_recast &r)
{
	return r.batch > 1 ? AC_RECAST_LANES : AC_CAST_BLOCK;
}

/* Sums over K, or over outputs and how many they are. */
struct estimate_sums {
	double first, second;
	int    counts;
};

/* A block's sums of bands by operand, warp and word; of the others by warp. */
struct estimate_room {
	double bands[2][WARPS][AC_RECAST_WORDS];
	struct estimate_sums sums[WARPS];
};

static __device__ __forceinline__ void
wait_for(int share)
{
	if (share > AC_RECAST_LANES)
		__syncthreads();
	else
		__syncwarp();
}

static __device__ __forceinline__ double
add_far(double sum, int away)
{
	return sum + __shfl_xor_sync(ALL, sum, away);
}

/* ---- settle ------------------------------------------------------------ */

/* A thread's word of operand i over a stretch of K, added to its warp's. */
static __device__ __forceinline__ double
add_bands(const struct ac_recast &r, int i, int64_t matrix, int64_t along,
    int share)
{
	const struct ac_recast_operand o = recast_operand(r, i);
	const float *bands = (i ? r.bands[1] : r.bands[0])
	    + ac_recast_bands_at(&o, matrix, along, 0);
	const int64_t count = ac_recast_line_tiles(&o) * AC_RECAST_WORDS;
	double sum = 0;

#pragma unroll 4
	for (int64_t at = threadIdx.x % share; at < count; at += share)
		sum = sum + (double)__ldg(bands + at);
	return add_far(add_far(sum, 8), 16);
}

/* A warp: lane 8 i + w has word w of operand i; so a band's energy of one
 * operand meets its loss of the other at a distance of 12. `part` is stored
 * to. */
static __device__ __forceinline__ void
store_part(const struct ac_recast &r, double mine, int64_t along, double *part)
{
	const int lane = threadIdx.x % AC_RECAST_LANES;
	const double width = ac_recast_width(&r, along, lane % AC_RECAST_BANDS);
	double lost = mine * __shfl_xor_sync(ALL, mine, 12);
	double all = mine * __shfl_xor_sync(ALL, mine, 8);

	lost = add_far(lost, 4) / width;
	all = all / width;
	lost = add_far(add_far(lost, 1), 2);
	all = add_far(add_far(all, 1), 2);
	if (!lane) {
		part[0] = lost;
		part[1] = all;
	}
}

/* A stretch of K of a matrix, by those who share it. */
static __device__ __forceinline__ void
add_part(const struct ac_recast &r, int64_t matrix, int64_t along,
    struct estimate_room &room, double *part)
{
	const int lane = threadIdx.x % AC_RECAST_LANES;
	const int warp = threadIdx.x / AC_RECAST_LANES, share = share_of(r);
	double mine = 0;

	AC_CAST_ROLLED
	for (int i = 0; i < 2; i++) {
		const double sum = add_bands(r, i, matrix, along, share);

		if (lane < AC_RECAST_WORDS)
			room.bands[i][warp][lane] = sum;
	}
	wait_for(share);
	if (share == AC_RECAST_LANES || !warp) {
		AC_CAST_ROLLED
		for (int w = 0; w < share / AC_RECAST_LANES; w++)
			mine = mine + room.bands[lane / AC_RECAST_WORDS % 2]
			    [warp + w][lane % AC_RECAST_WORDS];
		store_part(r, mine, along, part);
	}
	wait_for(share);
}

/* What settle does where an estimate is due: all blocks share the work. */
static __device__ __forceinline__ void
add_parts(const struct ac_recast &r, struct estimate_room &room)
{
	const int64_t all = ac_recast_tiles(r.k);
	const int64_t thread = ((int64_t)blockIdx.y * gridDim.x + blockIdx.x)
	    * AC_CAST_BLOCK + threadIdx.x;
	const int64_t step = (int64_t)gridDim.x * gridDim.y * AC_CAST_BLOCK
	    / share_of(r);

	AC_CAST_ROLLED
	for (int64_t number = thread / share_of(r);
	    number < all * ac_recast_probed(&r); number += step)
		add_part(r, ac_recast_probed_at(&r, number / all),
		    number % all, room, r.parts + 2 * number);
}

/* What C holds where the estimate looks. */
static __device__ __forceinline__ void
keep_probes(const struct ac_recast &r)
{
	const int64_t count = ac_recast_probed(&r) << ac_recast_probe_bits(&r);
	const int64_t block = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;

	AC_CAST_ROLLED
	for (int64_t i = block * AC_CAST_BLOCK + threadIdx.x; i < count;
	    i += (int64_t)gridDim.x * gridDim.y * AC_CAST_BLOCK)
		ac_recast_probe_keep(&r, i);
}

/* ---- finish ------------------------------------------------------------ */

/* The sums of those who share a matrix, for all of them. */
static __device__ __forceinline__ struct estimate_sums
add_all(struct estimate_sums mine, int share, struct estimate_room &room)
{
	const int warp = threadIdx.x / AC_RECAST_LANES;
	const int first = share == AC_RECAST_LANES ? warp : 0;
	struct estimate_sums sum = {};

	AC_CAST_ROLLED
	for (int away = AC_RECAST_LANES / 2; away; away /= 2) {
		mine.first = add_far(mine.first, away);
		mine.second = add_far(mine.second, away);
		mine.counts += __shfl_xor_sync(ALL, mine.counts, away);
	}
	wait_for(share); /* the last sums are read */
	if (threadIdx.x % AC_RECAST_LANES == 0)
		room.sums[warp] = mine;
	wait_for(share);
	AC_CAST_ROLLED
	for (int w = 0; w < share / AC_RECAST_LANES; w++) {
		sum.first = sum.first + room.sums[first + w].first;
		sum.second = sum.second + room.sums[first + w].second;
		sum.counts += room.sums[first + w].counts;
	}
	return sum;
}

static __device__ __forceinline__ struct ac_recast_part
read_parts(const struct ac_recast &r, int64_t number, int share,
    struct estimate_room &room)
{
	const int64_t all = ac_recast_tiles(r.k);
	const double *parts = r.parts + 2 * number * all;
	struct estimate_sums mine = {};
	struct ac_recast_part part;

	AC_CAST_ROLLED
	for (int64_t i = threadIdx.x % share; i < all
	    && r.state->probe == AC_PROBE_ESTIMATE; i += share) {
		mine.first = mine.first + __ldg(parts + 2 * i);
		mine.second = mine.second + __ldg(parts + 2 * i + 1);
	}
	mine = add_all(mine, share, room);
	part.lost = mine.first;
	part.all = mine.second;
	return part;
}

/* The number-th matrix that is looked at: the same for all who share it. */
static __device__ __forceinline__ struct ac_recast_estimate
estimate_of(const struct ac_recast &r, int64_t number,
    struct estimate_room &room)
{
	const int share = share_of(r);
	const struct ac_recast_part parts = read_parts(r, number, share, room);
	const double most = ac_recast_most(&r, &parts);
	struct estimate_sums sums = {};
	struct ac_recast_weights weights;

	AC_CAST_ROLLED
	for (int at = threadIdx.x % share; at < 1 << ac_recast_probe_bits(&r);
	    at += share) {
		const struct ac_recast_probe probe = ac_recast_probe_at(&r,
		    number, at);
		const struct ac_recast_weight weight = ac_recast_weigh(&r,
		    &probe, most);

		sums.first = sums.first + weight.c;
		sums.second = sums.second + weight.product;
		sums.counts += weight.counts + ((weight.counts
		    && !weight.drowns) << 16);
	}
	sums = add_all(sums, share, room);
	weights.c = sums.first;
	weights.product = sums.second;
	weights.counted = sums.counts & 0xffff;
	weights.clear = sums.counts >> 16;
	return ac_recast_estimate_of(&r, &parts, &weights);
}

/* A matrix of a batch, by a warp: what is known of it, and a sample if that is
 * due, of many outputs if it is suspect. */
static __device__ __forceinline__ void
note_matrix(const struct ac_recast &r, int64_t number, bool sample,
    const struct ac_recast_estimate &estimate)
{
	const uint32_t probed = (estimate.suspect ? AC_PROBED_SUSPECT : 0)
	    | (estimate.shrunk ? AC_PROBED_SHRUNK : 0);
	const bool kept = ac_cast_scalar_read(&r.beta) != 0;

	if (threadIdx.x % AC_RECAST_LANES == 0 && estimate.value > 0)
		atomicMax(&r.state->matrix_estimate,
		    ac_cast_bits(estimate.value));
	if (threadIdx.x % AC_RECAST_LANES == 0 && probed)
		atomicOr(&r.state->matrix_probed, probed);
	if (sample || estimate.suspect)
		sample_matrix(r, ac_recast_matrix_at(&r, number),
		    ac_recast_kept_matrix(&r, kept, number), estimate.suspect);
}

/* All that is looked at matrix by matrix, by all blocks: of a batch, this
 * warp's share; else the one there is, and what is said of it. */
static __device__ __forceinline__ struct ac_recast_estimate
do_matrices(const struct ac_recast &r, bool probes, bool sample,
    struct estimate_room &room)
{
	const bool each = r.batch > 1;
	const int64_t count = each ? ac_recast_matrices(&r) : probes;
	const int64_t step = each ? (int64_t)gridDim.x * WARPS : 1;
	struct ac_recast_estimate estimate = {};

	AC_CAST_ROLLED
	for (int64_t number = each ? (int64_t)blockIdx.x * WARPS
	    + threadIdx.x / AC_RECAST_LANES : 0; number < count;
	    number += step) {
		if (probes)
			estimate = estimate_of(r, number, room);
		if (each)
			note_matrix(r, number, sample, estimate);
	}
	return estimate;
}
