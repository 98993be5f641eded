/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_cast.cu -- both operands in 16 bits, and what
 * verify has to know of each line. A block has 128 lines of a slice of K. */
#include "kernels/verified/verified_body.h"

enum {
	CAST_LINES = 128,       /* of a block */
	CAST_EACH = 4,          /* lines of a lane, and k of it at a time */
	CAST_STEP = CAST_EACH * AC_VERIFIED_CHAINS, /* k of a block */
	CAST_ROUND = 4          /* values that warps bring together at a time */
};

/* 16 KiB: what the slice is projected on, then what the warps have found. */
union cast_block {
	float u[AC_VERIFIED_VECTORS * AC_VERIFIED_SLICE];
	float found[WARPS][CAST_ROUND][CAST_LINES];
};
static_assert(sizeof(union cast_block) == 16384, "shared memory of cast");

/* One block's work. In shared memory: in registers it would crowd out the
 * sums. */
struct cast_work {
	const float  *from;     /* the block's first element */
	const double *sums;     /* the slice's */
	uint16_t *to;
	float    *parts;        /* the slice's, of the first line */
	int64_t  lines;
	int64_t  left, left_to; /* lines from the first on; with padding */
	uint32_t ld, ld_to;
	int      begin, ks, count; /* of K; without and with padding */
	float    factor, factor_u;
	int      side;
	bool     wide, exact, along; /* along: memory runs along K */
	bool     writes;        /* where it goes, or it is only looked at */
	uint32_t found;         /* AC_VERIFIED_* */
};

typedef float cast_sums[CAST_EACH][AC_VERIFIED_SUMS];
typedef float cast_cells[CAST_EACH][CAST_EACH];

static __device__ __forceinline__ void
find_work(const struct ac_verified &v, struct cast_work &w)
{
	const uint32_t slices = ((uint32_t)v.k + (uint32_t)v.slice - 1)
	    / (uint32_t)v.slice;
	const uint32_t tiles0 = ((uint32_t)v.m + CAST_LINES - 1) / CAST_LINES;
	const uint32_t tiles1 = ((uint32_t)v.n + CAST_LINES - 1) / CAST_LINES;
	const uint32_t number = blockIdx.x / slices;
	const uint32_t tile = number % (tiles0 + tiles1);
	const int64_t slice = blockIdx.x % slices;
	const int64_t matrix = number / (tiles0 + tiles1);
	const int side = tile >= tiles0;
	const int64_t first = (int64_t)(side ? tile - tiles0 : tile)
	    * CAST_LINES;
	const struct ac_verified_operand o = operand_of(v, side);
	const struct ac_cast_scale scale = ac_verified_scale_of(&v);
	const int64_t begin = slice * v.slice;

	w.begin = (int)begin;
	w.ks = (int)min(v.slice, v.k - begin);
	w.count = (w.ks + 7) / 8 * 8;
	w.from = ac_verified_matrix(&o, matrix)
	    + first * ac_verified_line_step(&o)
	    + begin * ac_verified_k_step(&o);
	w.to = o.to + (o.lines_are_cols
	    ? (matrix * o.lines + first) * o.ld_to + begin
	    : (matrix * v.k + begin) * o.ld_to + first);
	w.sums = o.sums + matrix * AC_VERIFIED_VECTORS * v.k + begin;
	w.parts = o.parts + (matrix * slices + slice) * AC_VERIFIED_VALUES
	    * o.lines + first;
	w.lines = o.lines;
	w.ld = (uint32_t)o.ld;
	w.ld_to = (uint32_t)o.ld_to;
	w.left = o.lines - first;
	w.left_to = o.to ? o.ld_to - first : 0;
	w.factor = ac_verified_power(side ? scale.exponent[1]
	    : scale.exponent[0]);
	w.factor_u = ac_verified_power(side ? scale.exponent[0]
	    : scale.exponent[1]);
	w.side = side;
	w.along = o.lines_are_cols;
	w.writes = o.to;
	w.wide = !((uintptr_t)w.from & 15) && !(o.ld & 3);
	w.exact = !(v.state->bits[0] & v.state->bits[1]
	    & AC_VERIFIED_PROBED);
	w.found = 0;
	if (!blockIdx.x)
		ac_verified_begin(&scale, v.state);
}

/* The slice's sums as floats: by vector where a lane has neighbouring k, by k
 * where it has neighbouring lines. Zero past K. */
static __device__ __forceinline__ void
load_sums(const struct cast_work &w, int64_t ks, bool by_vector,
    union cast_block &block)
{
	for (int i = threadIdx.x; i < AC_VERIFIED_VECTORS * AC_VERIFIED_SLICE;
	    i += AC_CAST_BLOCK) {
		const int t = i / AC_VERIFIED_SLICE, k = i % AC_VERIFIED_SLICE;
		const double sum = k < w.ks ? __ldg(w.sums + t * ks + k) : 0;

		block.u[by_vector ? i : k * AC_VERIFIED_VECTORS + t] =
		    (float)(sum * (double)w.factor_u);
	}
}

/* From shared memory each time: what a step begins with is not to be kept in
 * registers, nor what follows from it. */
template <class type> static __device__ __forceinline__ type
again(const type &x)
{
	return *(const volatile type *)&x;
}

/* `count` steps on. Of 32 bits: fewer registers. */
template <class type> static __device__ __forceinline__ type *
after(type *from, uint32_t count, uint32_t step)
{
	return from + (uint64_t)count * step;
}

/* Four times four neighbours; zero past the matrix: `rows` of `left`. Mostly
 * there is no end near, and the address is aligned: `fast`. */
static __device__ __forceinline__ void
load_fours(const float *from, uint32_t step, bool fast, int rows, int left,
    cast_cells &x)
{
	if (fast) {
#pragma unroll
		for (int i = 0; i < CAST_EACH; i++) {
			const float4 four = __ldg((const float4 *)after(from,
			    i, step));

			x[i][0] = four.x, x[i][1] = four.y;
			x[i][2] = four.z, x[i][3] = four.w;
		}
		return;
	}
	/* What follows from these is not to be kept in registers for it. */
	asm volatile("" : "+r"(step), "+r"(rows), "+r"(left));
#pragma unroll
	for (int i = 0; i < CAST_EACH; i++) {
#pragma unroll
		for (int j = 0; j < CAST_EACH; j++)
			x[i][j] = i < rows && j < left ? __ldg(from + j) : 0;
		from = after(from, 1, step);
	}
}

static __device__ __forceinline__ void
store_four(uint16_t *to, const uint16_t (&x)[CAST_EACH])
{
	__stcg((uint2 *)to, make_uint2(x[0] | (uint32_t)x[1] << 16,
	    x[2] | (uint32_t)x[3] << 16));
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
cast_lines(const struct cast_work &w, struct ac_verified_rung rung,
    const union cast_block &block, cast_sums &sums)
{
	const int first = CAST_EACH * (threadIdx.x / LANES);
	const int line = CAST_EACH * (threadIdx.x % LANES);
	const float *from = after(w.from, first, w.ld) + line;
	uint16_t *to = after(w.to, first, w.ld_to) + line;
	const int left = near_end(w.left - line);
	const bool wide = w.wide && left == CAST_EACH;
	const bool stores = line < w.left_to;

#pragma unroll 1
	for (int k = first; k < again(w.count); k += CAST_STEP) {
		const float4 *u = (const float4 *)(block.u
		    + k * AC_VERIFIED_VECTORS);
		const uint32_t ld = again(w.ld), ld_to = again(w.ld_to);
		const int ks = again(w.ks);
		const float factor = again(w.factor);
		cast_cells x;

		load_fours(from, ld, wide && k + CAST_EACH <= ks, ks - k, left,
		    x);
#pragma unroll
		for (int i = 0; i < CAST_EACH; i++) {
			const float4 low = u[2 * i], high = u[2 * i + 1];
			uint16_t cell[CAST_EACH];

#pragma unroll
			for (int l = 0; l < CAST_EACH; l++) {
				const float y = x[i][l] * factor;

				ac_verified_cell(x[i][l], y, rung, EXACT,
				    sums[l], &cell[l]);
				project(y, low, sums[l]);
				project(y, high, sums[l] + 4);
			}
			if (stores && k + i < ks)
				store_four(after(to, i, ld_to), cell);
		}
		from = after(from, CAST_STEP, ld);
		to = after(to, CAST_STEP, ld_to);
	}
}

/* K runs along memory: a lane has four of it, on four lines; eight lanes are
 * the chains of a line. */
template <bool EXACT> static __device__ __forceinline__ void
cast_ks(const struct cast_work &w, struct ac_verified_rung rung,
    const union cast_block &block, cast_sums &sums)
{
	const int first = CAST_EACH * (threadIdx.x % AC_VERIFIED_CHAINS);
	const int line = threadIdx.x / AC_VERIFIED_CHAINS * CAST_EACH;
	const float *from = after(w.from, line, w.ld) + first;
	uint16_t *to = after(w.to, line, w.ld_to) + first;
	const int rows = near_end(w.left - line);
	const bool wide = w.wide && rows == CAST_EACH;

#pragma unroll 1
	for (int k = first; k < again(w.count); k += CAST_STEP) {
		const uint32_t ld = again(w.ld), ld_to = again(w.ld_to);
		const int ks = again(w.ks);
		const float factor = again(w.factor);
		const int stored = again(w.writes) ? rows : 0;
		cast_cells x;

		load_fours(from, ld, wide && k + CAST_EACH <= ks, rows, ks - k,
		    x);
#pragma unroll
		for (int l = 0; l < CAST_EACH; l++) {
			uint16_t cell[CAST_EACH];

#pragma unroll
			for (int i = 0; i < CAST_EACH; i++) {
				const float y = x[l][i] * factor;

				ac_verified_cell(x[l][i], y, rung, EXACT,
				    sums[l], &cell[i]);
				x[l][i] = y;
			}
			if (l < stored)
				store_four(after(to, l, ld_to), cell);
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
	return ((c[0] + c[1]) + (c[2] + c[3]))
	    + ((c[4] + c[5]) + (c[6] + c[7]));
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
		for (int i = threadIdx.x; i < count * CAST_LINES;
		    i += AC_CAST_BLOCK) {
			const int value = i / CAST_LINES, l = i % CAST_LINES;
			const float sum = tree(block.found, value, l);

			if (l >= w.left)
				continue;
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
			bits |= ac_verified_bits(t, sum);
			if (writes && line + l < w.left)
				w.parts[t * w.lines + line + l] = sum;
		}
	return bits;
}

template <bool EXACT> static __device__ __forceinline__ void
cast_slice(const struct cast_work &w, struct ac_verified_rung rung,
    const union cast_block &block, cast_sums &sums)
{
	if (again(w.along))
		cast_ks<EXACT>(w, rung, block, sums);
	else
		cast_lines<EXACT>(w, rung, block, sums);
#pragma unroll
	for (int l = 0; EXACT && l < CAST_EACH; l++)
		sums[l][AC_VERIFIED_LOSS] = ac_verified_loss(
		    sums[l][AC_VERIFIED_LOSS], sums[l][AC_VERIFIED_TRACE]);
}

static __device__ __forceinline__ void
cast_rung(const struct cast_work &w, struct ac_verified_rung rung,
    const union cast_block &block, cast_sums &sums)
{
	if (again(w.exact))
		cast_slice<true>(w, rung, block, sums);
	else
		cast_slice<false>(w, rung, block, sums);
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
	load_sums(w, v.k, w.along, block);
	__syncthreads();
	if (v.format == AC_FORMAT_BF16)
		cast_rung(w, ac_verified_rung_of(AC_FORMAT_BF16), block, sums);
	else
		cast_rung(w, ac_verified_rung_of(AC_FORMAT_FP16), block, sums);
	bits = again(w.along) ? gather_ks(w, sums)
	    : gather_lines(w, sums, block);
	if (bits)
		atomicOr(&w.found, bits);
	__syncthreads();
	if (!threadIdx.x
	    && w.found & ~*(volatile uint32_t *)&v.state->bits[w.side])
		atomicOr(&v.state->bits[w.side], w.found);
}
