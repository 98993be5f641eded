/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_sample.cu -- the GPU side of the sample: whose dot is
 * whose work. The rules are recast_sample.h's.
 *
 * A block takes an output of the 16 x 16 at a time, all of its threads the
 * terms, so that the whole GPU shares K; a warp takes a matrix of a batch; the
 * last block judges, and takes the lines that are looked at again, a warp per
 * output. Compiled together with recast.cu, ahead of it. */
#include "kernels/recast/recast_sample.h"

/* The last block's notes. */
struct sampled {
	double sums[WARPS];     /* of an output, by any block */
	struct ac_recast_norm norms[AC_RECAST_SIDES];
	struct ac_recast_facts facts;
	int    line;            /* that is looked at again */
};

/* What C holds where lines and matrices may be looked at again, from number
 * `first` on. */
static __device__ __forceinline__ void
keep_more(const struct ac_recast &r, int64_t first)
{
	const int64_t count = ac_recast_kept_count(&r);
	const int64_t block = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;

	AC_CAST_ROLLED
	for (int64_t i = first + block * AC_CAST_BLOCK + threadIdx.x; i < count;
	    i += (int64_t)gridDim.x * gridDim.y * AC_CAST_BLOCK)
		ac_recast_keep(&r, i);
}

/* What a sampled output is compared with: a row of op(A), a column of op(B). */
struct factors {
	const float *a, *b;
	int64_t step_a, step_b, count;
	struct ac_recast_place place;
};

/* An output, by a warp or by all of the block's threads. All of a warp's lanes
 * know of it then; of a block's, the first warp's. There once, for all who want
 * one; by value, as ac_recast_pass(). */
extern "C" __device__ __noinline__ struct ac_recast_look
ac_recast_look(struct factors f, uint32_t lanes, double *sums)
{
	double sum = 0;

#pragma unroll 4
	for (int64_t k = threadIdx.x % lanes; k < f.count; k += lanes) {
		const double x = __ldg(f.a + k * f.step_a);
		const double y = __ldg(f.b + k * f.step_b);

		sum = sum + x * y;
	}
	AC_CAST_ROLLED
	for (int away = AC_RECAST_LANES / 2; away; away /= 2)
		sum = sum + __shfl_xor_sync(ALL, sum, away);
	if (lanes > AC_RECAST_LANES) {
		if (threadIdx.x % AC_RECAST_LANES == 0)
			sums[threadIdx.x / AC_RECAST_LANES] = sum;
		__syncthreads();
		sum = sums[0];
		AC_CAST_ROLLED
		for (int i = 1; i < WARPS; i++)
			sum = sum + sums[i];
		__syncthreads();
	}
	return ac_recast_look_at(&f.place, sum);
}

/* With alpha 0 no terms, as the product: nothing is read. */
static __device__ __forceinline__ struct ac_recast_look
look_at(const struct ac_recast &r, const struct ac_recast_spot &spot,
    const float *old, uint32_t lanes, double *sums)
{
	struct factors f;

	f.a = ac_recast_matrix(&r.operand[0], spot.matrix)
	    + ac_recast_offset(&r.operand[0], spot.row, 0);
	f.b = ac_recast_matrix(&r.operand[1], spot.matrix)
	    + ac_recast_offset(&r.operand[1], spot.col, 0);
	f.step_a = ac_recast_offset(&r.operand[0], 0, 1);
	f.step_b = ac_recast_offset(&r.operand[1], 0, 1);
	f.place = ac_recast_place_of(&r, &spot, old);
	f.count = f.place.alpha == 0 ? 0 : r.k;
	return ac_recast_look(f, lanes, sums);
}

/* The 16 x 16, by this block and the others: it is number `block` of `blocks`.
 * All of its threads. */
static __device__ __forceinline__ void
take_sample(const struct ac_recast &r, uint32_t block, uint32_t blocks,
    struct sampled &sampled)
{
	AC_CAST_ROLLED
	for (uint32_t at = block; at < AC_RECAST_SAMPLE; at += blocks) {
		const struct ac_recast_look look = look_at(r,
		    ac_recast_spot_of(&r, at), r.before + at, AC_CAST_BLOCK,
		    sampled.sums);

		if (!threadIdx.x)
			ac_recast_look_store(r.state->sample, &look, at);
	}
}

/* ---- Matrices ---------------------------------------------------------- */

/* 2 x 2 outputs of a matrix, or 8 x 8 if `deep`, more while those make it
 * suspect. `old`: what C held at those. */
static __device__ __forceinline__ struct ac_recast_norm
look_through(const struct ac_recast &r, int64_t matrix, const float *old,
    bool deep)
{
	struct ac_recast_norm norm;

	AC_CAST_ROLLED
	for (int side = deep ? ac_recast_next_side(2) : 2;;
	    side = ac_recast_next_side(side)) {
		norm = ac_recast_norm_none();
		AC_CAST_ROLLED
		for (int i = 0; i < side * side; i++) {
			const int at = ac_recast_inside_at(&r, matrix, side, i);
			const struct ac_recast_look look = look_at(r,
			    ac_recast_spot_in(&r, matrix, at),
			    old ? old + at : old, AC_RECAST_LANES, NULL);

			ac_recast_norm_add(&norm, &look);
		}
		if (side == AC_RECAST_DEEP
		    || !ac_recast_is_suspect(&r, side, &norm))
			return norm;
	}
}

/* Samples a matrix, by a warp, all of its lanes: 2 x 2 outputs, or 8 x 8 if
 * `deep`, up to AC_SAMPLE_DEEP while those make it suspect. What it finds
 * is the call's as soon as ac_recast_sample_close() is called behind it. `old`
 * has what C held at ac_recast_spot_in(.., 0 .. 255) before the product; not
 * read with beta 0. */
static __device__ __forceinline__ void
sample_matrix(const struct ac_recast &r, int64_t matrix, const float *old,
    bool deep)
{
	const struct ac_recast_norm norm = look_through(r, matrix, old, deep);
	const float error = ac_recast_norm_final(r.epilogue.activation,
	    &norm);
	const float exact = ac_recast_norm_exact(r.judge, &norm);

	if (threadIdx.x % AC_RECAST_LANES)
		return;
	if (error > 0)
		atomicMax(&r.state->matrix_error, ac_cast_bits(error));
	if (exact > 0)
		atomicMax(&r.state->matrix_exact, ac_cast_bits(exact));
	if (norm.added)
		atomicOr(&r.state->matrix_seen, 1u);
}

/* ---- The last block ---------------------------------------------------- */

static __device__ __forceinline__ void
look_again(const struct ac_recast &r, int line, bool kept)
{
	const float *old = ac_recast_kept_line(&r, kept, line);
	const int count = ac_recast_line_count(&r, line);

	AC_CAST_ROLLED
	for (int i = threadIdx.x / AC_RECAST_LANES; i < count; i += WARPS) {
		const struct ac_recast_look look = look_at(r,
		    ac_recast_spot_on(&r, line, i), old ? old + i : old,
		    AC_RECAST_LANES, NULL);

		if (threadIdx.x % AC_RECAST_LANES == 0)
			ac_recast_look_store(r.state->sample, &look, i);
	}
	__syncthreads();
}

/* All of its threads; the sample is taken, and seen by them. */
static __device__ __forceinline__ void
judge_sample(const struct ac_recast &r, bool kept, struct sampled &sampled)
{
	if (threadIdx.x < AC_RECAST_SIDES)
		sampled.norms[threadIdx.x] = ac_recast_norm_line(
		    r.state->sample, threadIdx.x, AC_SAMPLE_SIDE);
	__syncthreads();
	if (!threadIdx.x)
		sampled.facts = ac_recast_facts_of(&r, sampled.norms, kept);
	AC_CAST_ROLLED
	for (;;) {
		if (!threadIdx.x)
			sampled.line = ac_recast_next_line(&r, &sampled.facts,
			    sampled.norms);
		__syncwarp(); /* its lanes come to the barrier together */
		__syncthreads();
		if (sampled.line < 0)
			break;
		look_again(r, sampled.line, kept);
		if (!threadIdx.x)
			ac_recast_line_again(&r, sampled.line, &sampled.facts);
	}
	if (!threadIdx.x)
		ac_recast_sample_close(&r, &sampled.facts);
}
