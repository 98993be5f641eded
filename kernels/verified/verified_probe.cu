/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_probe.cu -- the lines that are looked at, added up
 * with random weights; the largest number of them; the seed. First of the unit
 * that make-ptx.sh compiles for verified products. */
#include "kernels/verified/verified_body.h"

enum {
	LANES = 32,
	WARPS = AC_CAST_BLOCK / LANES, /* a chain each */
	ALL = ~0
};
static_assert((int)WARPS == (int)AC_VERIFIED_CHAINS, "a warp is a chain");

/* Selected, not indexed: an indexed parameter would be copied to the stack. */
static __device__ __forceinline__ struct ac_verified_operand
operand_of(const struct ac_verified &v, int side)
{
	return side ? v.operand[1] : v.operand[0];
}

/* Whether this block is the last of `count` that come to `word`, which is zero
 * again then: it sees what all others have written. */
static __device__ __forceinline__ bool
comes_last(uint32_t *word, uint32_t count, bool &last)
{
	__syncthreads();
	if (!threadIdx.x) {
		__threadfence(); /* of all of the block: the barrier's */
		last = atomicAdd(word, 1u) + 1 == count;
		if (last)
			*word = 0;
	}
	__syncthreads();
	if (last)
		__threadfence();
	return last;
}

/* Weights of the probe of a side. */
template <class type> static __device__ __forceinline__ void
weigh(uint32_t seed, int side, type (*weight)[AC_VERIFIED_VECTORS])
{
	const int count = AC_VERIFIED_GROUPS * AC_VERIFIED_GROUP
	    * AC_VERIFIED_VECTORS;

#pragma unroll
	for (int j = 0; j < count / AC_CAST_BLOCK; j++) {
		const uint32_t i = threadIdx.x + j * AC_CAST_BLOCK;

		weight[i / AC_VERIFIED_VECTORS][i % AC_VERIFIED_VECTORS] =
		    ac_verified_weight(seed, side, i / AC_VERIFIED_VECTORS,
		    i % AC_VERIFIED_VECTORS);
	}
}

struct probe_block {
	double   weight[AC_VERIFIED_GROUPS * AC_VERIFIED_GROUP]
	    [AC_VERIFIED_VECTORS];
	double   sum[WARPS][AC_VERIFIED_VECTORS][LANES];
	uint32_t seed, amax, bits;
};

static __device__ __forceinline__ uint32_t
seed_of(const struct ac_verified &v, struct probe_block &block)
{
	const uint32_t t = threadIdx.x;

	if (!t)
		block.seed = block.amax = block.bits = 0;
	__syncthreads();
	if (t < 128) {
		const struct ac_verified_operand o = operand_of(v, t & 1);
		const struct ac_verified_element at =
		    ac_verified_element_of(&v, t);

		uint32_t sum = ac_verified_seed_of(t,
		    __ldg(ac_verified_matrix(&o, at.matrix)
		    + at.line * ac_verified_line_step(&o)
		    + at.k * ac_verified_k_step(&o)));

#pragma unroll
		for (int away = LANES / 2; away; away /= 2)
			sum += __shfl_xor_sync(ALL, sum, away);
		if (!(t % LANES))
			atomicAdd(&block.seed, sum);
	}
	__syncthreads();
	return block.seed;
}

/* Lines of a group at one k; zero past them. */
static __device__ __forceinline__ void
load_group(const float *from, int64_t step, int size,
    float (&x)[AC_VERIFIED_GROUP])
{
#pragma unroll
	for (int l = 0; l < AC_VERIFIED_GROUP; l++)
		x[l] = l < size ? __ldg(from + l * step) : 0;
}

static __device__ __forceinline__ void
add_group(const float (&x)[AC_VERIFIED_GROUP],
    const double (*weight)[AC_VERIFIED_VECTORS],
    double (&sum)[AC_VERIFIED_VECTORS], uint32_t &amax, uint32_t &bits)
{
#pragma unroll
	for (int l = 0; l < AC_VERIFIED_GROUP; l++) {
		const float y = ac_cast_is_finite(x[l]) ? x[l] : 0;

		amax = max(amax, ac_cast_bits(y) & 0x7fffffff);
		bits |= ac_verified_seen(y);
#pragma unroll
		for (int t = 0; t < AC_VERIFIED_VECTORS; t++)
			sum[t] = ac_verified_add(weight[l][t], y, sum[t]);
	}
}

/* A block: 32 of K, one operand of one matrix. A warp: groups w and w + 8. */
extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK)
ac_verified_probe(const struct ac_verified v)
{
	__shared__ struct probe_block block;
	const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	const uint32_t across = ((uint32_t)v.k + LANES - 1) / LANES;
	const int64_t k = (int64_t)(blockIdx.x % across) * LANES + lane;
	const int side = blockIdx.x / across % 2;
	const int64_t matrix = blockIdx.x / across / 2;
	const struct ac_verified_operand o = operand_of(v, side);
	const uint32_t seed = seed_of(v, block);
	const int64_t step = ac_verified_line_step(&o);
	const float *from = ac_verified_matrix(&o, matrix)
	    + k * ac_verified_k_step(&o);
	const int groups = ac_verified_groups(o.lines);
	double sum[AC_VERIFIED_VECTORS] = {};
	float x[2][AC_VERIFIED_GROUP];
	uint32_t amax = 0;
	uint32_t bits = 0;

#pragma unroll
	for (int i = 0; i < 2; i++) {
		const int g = warp + i * WARPS;
		const int64_t first = ac_verified_group(seed, side, g, o.lines);

		load_group(from + first * step, step, g < groups && k < v.k
		    ? ac_verified_group_size(first, o.lines) : 0, x[i]);
	}
	weigh(seed, side, block.weight);
	__syncthreads();
#pragma unroll
	for (int i = 0; i < 2; i++)
		add_group(x[i], block.weight + (warp + i * WARPS)
		    * AC_VERIFIED_GROUP, sum, amax, bits);
#pragma unroll
	for (int t = 0; t < AC_VERIFIED_VECTORS; t++)
		block.sum[warp][t][lane] = sum[t];
#pragma unroll
	for (int away = LANES / 2; away; away /= 2)
		amax = max(amax, __shfl_xor_sync(ALL, amax, away)),
		    bits |= __shfl_xor_sync(ALL, bits, away);
	if (!lane) {
		atomicMax(&block.amax, amax);
		atomicOr(&block.bits, bits);
	}
	__syncthreads();
	/* A thread: a vector at a k. */
	double total = block.sum[0][warp][lane];

#pragma unroll
	for (int c = 1; c < WARPS; c++)
		total += block.sum[c][warp][lane];
	if (k < v.k)
		(side ? v.operand[0] : v.operand[1]).sums[(matrix
		    * AC_VERIFIED_VECTORS + warp) * v.k + k] = total;
	if (threadIdx.x)
		return;
	v.state->seed = seed;
	atomicMax(&v.state->amax[side], block.amax);
	if (block.bits)
		atomicOr(&v.state->bits[side], block.bits);
}
