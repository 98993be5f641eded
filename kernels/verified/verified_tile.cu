/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_tile.cu -- alpha A B in FP32 from the originals,
 * without alpha: a tile of 64 flagged lines (x) by 64 of the other side (y). A
 * thread has 8 x 4 of them. */
#include "kernels/verified/verified_apart.h"

enum {
	MEND_BLOCK = APART_ROWS,
	MEND_SIDE = AC_VERIFIED_SIDE,
	MEND_DEEP = 16,         /* of K, in shared memory at a time */
	MEND_HALF = MEND_DEEP / 2, /* that a thread brings, of one line */
	MEND_X = 8, MEND_Y = 4  /* of a thread */
};

typedef float mend_sums[MEND_X][MEND_Y];

struct mend_block {
	float x[2][MEND_DEEP][MEND_SIDE], y[2][MEND_DEEP][MEND_SIDE];
	float total[MEND_X * MEND_Y][MEND_BLOCK]; /* of spans, by thread */
	int32_t line[MEND_SIDE];   /* of x; -1: none */
	uint32_t rank[MEND_BLOCK];
	int  count;                /* lines of x */
	bool last;
};

/* What a block does now. */
struct mend_tile {
	int64_t matrix, x, y;          /* the first: of the list, and line */
	int64_t begin, end;            /* of K */
	int side;                      /* of x */
};

/* One line's part of a step: 8 of K. */
struct mend_source {
	const float *from;      /* NULL: no such line */
	int64_t step;           /* of K */
	bool    wide;           /* by 16 bytes */
};

static __device__ __forceinline__ struct mend_source
source_of(const struct ac_verified &v, int side, int64_t matrix, int64_t line,
    int64_t k)
{
	const struct ac_verified_operand o = operand_of(v, side);
	struct mend_source s;

	s.step = ac_verified_k_step(&o);
	s.from = line >= 0 && line < o.lines ? ac_verified_matrix(&o, matrix)
	    + line * ac_verified_line_step(&o) + k * s.step : NULL;
	s.wide = s.step == 1 && !((uintptr_t)s.from & 15);
	return s;
}

static __device__ __forceinline__ void
bring(const struct mend_source &s, int64_t left, float (&to)[MEND_HALF])
{
	if (s.from && s.wide && left >= MEND_HALF) {
		const float4 low = __ldg((const float4 *)s.from);
		const float4 high = __ldg((const float4 *)s.from + 1);

		to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
		to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
		return;
	}
	uint32_t step = (uint32_t)s.step;

	/* Its multiples are not to be kept in registers. */
	asm volatile("" : "+r"(step));
#pragma unroll
	for (int i = 0; i < MEND_HALF; i++)
		to[i] = s.from && i < left
		    ? __ldg(s.from + (uint64_t)(uint32_t)i * step) : 0;
}

static __device__ __forceinline__ void
put(const float (&from)[MEND_HALF], int k, int line,
    float (*to)[MEND_SIDE])
{
#pragma unroll
	for (int i = 0; i < MEND_HALF; i++)
		to[k + i][line] = from[i];
}

static __device__ __forceinline__ void
multiply(const float (*x)[MEND_SIDE], const float (*y)[MEND_SIDE], int tx,
    int ty, mend_sums &sum)
{
#pragma unroll 2
	for (int k = 0; k < MEND_DEEP; k++) {
		const float4 low = *(const float4 *)&x[k][MEND_X * tx];
		const float4 high = *(const float4 *)&x[k][MEND_X * tx + 4];
		const float4 other = *(const float4 *)&y[k][MEND_Y * ty];
		const float a[MEND_X] = { low.x, low.y, low.z, low.w, high.x,
			high.y, high.z, high.w };
		const float b[MEND_Y] = { other.x, other.y, other.z, other.w };

#pragma unroll
		for (int i = 0; i < MEND_X; i++)
#pragma unroll
			for (int j = 0; j < MEND_Y; j++)
				sum[i][j] = ac_verified_fma(a[i], b[j],
				    sum[i][j]);
	}
}

static __device__ __forceinline__ void
add_sums(mend_sums &from, mend_sums &to)
{
#pragma unroll
	for (int i = 0; i < MEND_X; i++)
#pragma unroll
		for (int j = 0; j < MEND_Y; j++) {
			to[i][j] += from[i][j];
			from[i][j] = 0;
		}
}

/* A span of K, chain by chain. A warp has 16 lines of x: none of them, and it
 * only brings. */
static __device__ __forceinline__ void
add_span(const struct ac_verified &v, const struct mend_tile &tile,
    int64_t begin, int64_t end, struct mend_block &block, mend_sums &sum)
{
	const int t = threadIdx.x, line = t % MEND_SIDE;
	const int half = t / MEND_SIDE * MEND_HALF;
	const int tx = t / 16, ty = t % 16;
	const bool works = t / LANES * 16 < block.count;
	struct mend_source x = source_of(v, tile.side, tile.matrix,
	    block.line[line], begin + half);
	struct mend_source y = source_of(v, !tile.side, tile.matrix,
	    tile.y + line, begin + half);
	float a[MEND_HALF], b[MEND_HALF];
	mend_sums chain = {};
	int step = 0;

	bring(x, end - begin - half, a);
	bring(y, end - begin - half, b);
	put(a, half, line, block.x[0]);
	put(b, half, line, block.y[0]);
	__syncthreads();
#pragma unroll 1
	for (int64_t k = begin; k < end; k += MEND_DEEP, step++) {
		const int64_t left = end - k - MEND_DEEP - half;
		const bool more = k + MEND_DEEP < end;
		const int at = step & 1;

		if (more) {
			if (x.from)
				x.from += MEND_DEEP * x.step;
			if (y.from)
				y.from += MEND_DEEP * y.step;
			bring(x, left, a);
			bring(y, left, b);
		}
		if (works)
			multiply(block.x[at], block.y[at], tx, ty, chain);
		if (step % (AC_VERIFIED_CHAIN / MEND_DEEP)
		    == AC_VERIFIED_CHAIN / MEND_DEEP - 1)
			add_sums(chain, sum);
		if (more) {
			put(a, half, line, block.x[at ^ 1]);
			put(b, half, line, block.y[at ^ 1]);
		}
		__syncthreads();
	}
	add_sums(chain, sum);
}
