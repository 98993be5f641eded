/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_cast.cu -- both operands in 16 bits, and what
 * verify has to know of each line. A block has 128 lines of a slice of K. */
#include "kernels/verified/verified_body.h"

/* The next part of four numbers; one question for four, so that both formats
 * have one loop. */
static __device__ __forceinline__ void
next_parts(float (&rest)[CAST_EACH], float (&lost)[CAST_EACH],
    uint32_t format, uint16_t (&cell)[CAST_EACH])
{
	if (format == AC_FORMAT_BF16) {
#pragma unroll
		for (int i = 0; i < CAST_EACH; i++)
			cell[i] = ac_verified_part_of(&rest[i], &lost[i],
			    AC_FORMAT_BF16);
		return;
	}
#pragma unroll
	for (int i = 0; i < CAST_EACH; i++)
		cell[i] = ac_verified_part_of(&rest[i], &lost[i],
		    AC_FORMAT_FP16);
}

/* As many parts as the rung has, each as all terms that it is. */
static __device__ __forceinline__ void
write_parts(const struct cast_work &w, uint16_t *to, bool stores,
    float (&rest)[CAST_EACH], float (&lost)[CAST_EACH], uint32_t &bits)
{
#pragma unroll 1
	for (uint32_t p = 0; p < again(w.rung.parts); p++) {
		uint32_t order = again(w.rung.order);
		uint16_t cell[CAST_EACH];

		next_parts(rest, lost, again(w.rung.format), cell);
		if (p && (cell[0] | cell[1] | cell[2] | cell[3]))
			bits = AC_VERIFIED_PARTED;
#pragma unroll 1
		for (uint32_t t = 0; stores && t < again(w.terms); t++) {
			if ((order & 3) == p)
				store_four(to + t * again(w.step_to), cell);
			order >>= 2;
		}
	}
}

/* Four numbers to where they go, and what that has lost of each. What is exact
 * goes through the loops for parts: it is rare, and has registers for them. */
template <bool EXACT> static __device__ __forceinline__ void
write_out(const struct cast_work &w, uint32_t format,
    const float (&y)[CAST_EACH], uint16_t *to, bool stores,
    float (&lost)[CAST_EACH], uint32_t &bits)
{
	float rest[CAST_EACH];
	uint16_t cell[CAST_EACH];

#pragma unroll
	for (int i = 0; i < CAST_EACH; i++) {
		rest[i] = ac_verified_rest(y[i]);
		lost[i] = y[i];
	}
	if (EXACT) {
		write_parts(w, to, stores, rest, lost, bits);
		return;
	}
	next_parts(rest, lost, format, cell);
	if (stores)
		store_four(to, cell);
}

static __device__ __forceinline__ void
project(float y, const float4 &u, float *sum)
{
	sum[0] = ac_verified_fma(y, u.x, sum[0]);
	sum[1] = ac_verified_fma(y, u.y, sum[1]);
	sum[2] = ac_verified_fma(y, u.z, sum[2]);
	sum[3] = ac_verified_fma(y, u.w, sum[3]);
}

/* From 0 to 4: how far it is to an end. */
static __device__ __forceinline__ int
near_end(int64_t left)
{
	return (int)max((int64_t)0, min(left, (int64_t)CAST_EACH));
}

/* Lines are neighbours: a lane has four, a warp a chain of K. */
template <bool EXACT> static __device__ __forceinline__ void
cast_lines(const struct cast_work &w, uint32_t format,
    const union cast_block &block, cast_sums &sums,
    uint32_t &bits)
{
	const int first = CAST_EACH * (threadIdx.x / LANES);
	const int line = CAST_EACH * (threadIdx.x % LANES);
	const float *from = after(w.from, first, w.ld) + line;
	uint16_t *to = after(w.to, first, w.ld_to) + line;
	const int left = near_end(w.left - line);
	const bool wide = w.wide && left == CAST_EACH;
	struct cast_ahead ahead = look_ahead(w);
	const bool stores = line < w.left_to;

#pragma unroll 1
	for (int k = first; k < again(w.count); k += CAST_STEP) {
		const float4 *u = (const float4 *)(block.u
		    + k * AC_VERIFIED_VECTORS);
		const uint32_t ld = again(w.ld), ld_to = again(w.ld_to);
		const int ks = again(w.ks);
		const int end = EXACT ? again(w.stored) : ks;
		const float factor = again(w.factor);
		cast_cells x;

		load_fours(from, ld, wide && k + CAST_EACH <= ks, ks - k, left,
		    x);
		if (!EXACT) { /* which has no registers for it */
			ahead.from = after(ahead.from, CAST_STEP, ld);
			ask(ahead, k + CAST_STEP, ks);
		}
#pragma unroll
		for (int i = 0; i < CAST_EACH; i++) {
			const float4 low = u[2 * i], high = u[2 * i + 1];
			float y[CAST_EACH], lost[CAST_EACH];

#pragma unroll
			for (int l = 0; l < CAST_EACH; l++)
				y[l] = x[i][l] * factor;
			write_out<EXACT>(w, format, y, after(to, i, ld_to),
			    stores && k + i < end, lost, bits);
#pragma unroll
			for (int l = 0; l < CAST_EACH; l++) {
				ac_verified_count(x[i][l], y[l], lost[l],
				    EXACT, sums[l]);
				project(y[l], low, sums[l]);
				project(y[l], high, sums[l] + 4);
			}
		}
		from = after(from, CAST_STEP, ld);
		to = after(to, CAST_STEP, ld_to);
	}
}

/* K runs along memory: a lane has four of it, on four lines; eight lanes are
 * the chains of a line. */
template <bool EXACT> static __device__ __forceinline__ void
cast_ks(const struct cast_work &w, uint32_t format,
    const union cast_block &block, cast_sums &sums,
    uint32_t &bits)
{
	const int first = CAST_EACH * (threadIdx.x % AC_VERIFIED_CHAINS);
	const int line = threadIdx.x / AC_VERIFIED_CHAINS * CAST_EACH;
	const float *from = after(w.from, line, w.ld) + first;
	uint16_t *to = after(w.to, line, w.ld_to) + first;
	const int rows = near_end(w.left - line);
	const bool wide = w.wide && rows == CAST_EACH;
	struct cast_ahead ahead = look_ahead(w);

#pragma unroll 1
	for (int k = first; k < again(w.count); k += CAST_STEP) {
		const uint32_t ld = again(w.ld), ld_to = again(w.ld_to);
		const int ks = again(w.ks);
		const float factor = again(w.factor);
		const int stored = again(w.writes) ? rows : 0;
		cast_cells x;

		load_fours(from, ld, wide && k + CAST_EACH <= ks, rows, ks - k,
		    x);
		if (!EXACT) {
			ahead.from += CAST_STEP;
			ask(ahead, k + CAST_STEP, ks);
		}
#pragma unroll
		for (int l = 0; l < CAST_EACH; l++) {
			float y[CAST_EACH], lost[CAST_EACH];

#pragma unroll
			for (int i = 0; i < CAST_EACH; i++)
				y[i] = x[l][i] * factor;
			write_out<EXACT>(w, format, y, after(to, l, ld_to),
			    l < stored, lost, bits);
#pragma unroll
			for (int i = 0; i < CAST_EACH; i++) {
				ac_verified_count(x[l][i], y[i], lost[i],
				    EXACT, sums[l]);
				x[l][i] = y[i];
			}
		}
#pragma unroll
		for (int t = 0; t < AC_VERIFIED_VECTORS; t++) {
			const float4 u = *(const float4 *)(block.u
			    + t * AC_VERIFIED_SLICE + k);

#pragma unroll
			for (int l = 0; l < CAST_EACH; l++) {
				float &sum = sums[l][t];

				sum = ac_verified_fma(x[l][0], u.x, sum);
				sum = ac_verified_fma(x[l][1], u.y, sum);
				sum = ac_verified_fma(x[l][2], u.z, sum);
				sum = ac_verified_fma(x[l][3], u.w, sum);
			}
		}
		from += CAST_STEP;
		to += CAST_STEP;
	}
}

static __device__ __forceinline__ float
tree(const float (*found)[CAST_ROUND][CAST_LINES], int value, int line)
{
	float c[WARPS];

#pragma unroll
	for (int i = 0; i < WARPS; i++)
		c[i] = found[i][value][line];
	return ac_verified_tree(c);
}

/* Of neighbouring lines: the chains are warps, brought together four values at
 * a time. */
static __device__ __forceinline__ uint32_t
gather_lines(const struct cast_work &w, const cast_sums &sums,
    union cast_block &block)
{
	const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
	uint32_t bits = 0;

#pragma unroll
	for (int from = 0; from < AC_VERIFIED_VALUES; from += CAST_ROUND) {
		const int count = min((int)CAST_ROUND,
		    AC_VERIFIED_VALUES - from);

		__syncthreads();
#pragma unroll
		for (int i = 0; i < count; i++)
			*(float4 *)&block.found[warp][i][CAST_EACH * lane] =
			    make_float4(sums[0][from + i], sums[1][from + i],
			    sums[2][from + i], sums[3][from + i]);
		__syncthreads();
#pragma unroll
		for (int j = 0; j < CAST_ROUND * CAST_LINES; j
		    += AC_CAST_BLOCK) {
			const int i = j + (int)threadIdx.x;
			const int value = i / CAST_LINES, l = i % CAST_LINES;

			if (value >= count || l >= w.left)
				continue;
			const float sum = tree(block.found, value, l);

			bits |= ac_verified_bits(from + value, sum);
			w.parts[(from + value) * w.lines + l] = sum;
		}
	}
	return bits;
}

/* Where K runs along memory: the chains are lanes. */
static __device__ __forceinline__ uint32_t
gather_ks(const struct cast_work &w, const cast_sums &sums)
{
	const int line = threadIdx.x / AC_VERIFIED_CHAINS * CAST_EACH;
	const bool writes = !(threadIdx.x % AC_VERIFIED_CHAINS);
	uint32_t bits = 0;

#pragma unroll
	for (int t = 0; t < AC_VERIFIED_VALUES; t++)
#pragma unroll
		for (int l = 0; l < CAST_EACH; l++) {
			float sum = sums[l][t];

			sum += __shfl_xor_sync(ALL, sum, 1);
			sum += __shfl_xor_sync(ALL, sum, 2);
			sum += __shfl_xor_sync(ALL, sum, 4);
			sum += 0.f; /* as ac_verified_tree() */
			bits |= ac_verified_bits(t, sum);
			if (writes && line + l < w.left)
				w.parts[t * w.lines + line + l] = sum;
		}
	return bits;
}

template <bool EXACT> static __device__ __forceinline__ void
cast_slice(struct cast_work &w, uint32_t format,
    const union cast_block &block, cast_sums &sums)
{
	uint32_t bits = 0;

	if (again(w.along))
		cast_ks<EXACT>(w, format, block, sums, bits);
	else
		cast_lines<EXACT>(w, format, block, sums, bits);
	if (EXACT && bits)
		atomicOr(&w.found, bits);
#pragma unroll
	for (int l = 0; EXACT && l < CAST_EACH; l++)
		sums[l][AC_VERIFIED_LOSS] = ac_verified_loss(
		    sums[l][AC_VERIFIED_LOSS], sums[l][AC_VERIFIED_TRACE]);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, 2)
ac_verified_cast(const struct ac_verified v)
{
	__shared__ __align__(16) union cast_block block;
	__shared__ struct cast_work w;
	cast_sums sums = {};
	uint32_t bits;

	if (!threadIdx.x)
		find_work(v, w);
	__syncthreads();
	ask(look_ahead(w), CAST_EACH * (int)(w.along ? threadIdx.x
	    % AC_VERIFIED_CHAINS : threadIdx.x / LANES), w.ks);
	load_sums(w, v.k, (int)v.slice, w.along, block);
	__syncthreads();
	if (again(w.exact))
		cast_slice<true>(w, v.format, block, sums);
	else
		cast_slice<false>(w, v.format, block, sums);
	bits = again(w.along) ? gather_ks(w, sums)
	    : gather_lines(w, sums, block);
	if (bits)
		atomicOr(&w.found, bits);
	__syncthreads();
	if (!threadIdx.x
	    && w.found & ~*(volatile uint32_t *)&v.state->bits[w.side])
		atomicOr(&v.state->bits[w.side], w.found);
}
