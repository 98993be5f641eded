/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_mend.cu -- flagged lines, or all, computed again as
 * alpha A B in FP32 from the originals.
 *
 * A block works on tiles of 64 flagged lines (x) by 64 of the other side (y); a
 * thread has 8 x 4 of them. Where few lines are flagged, the spans of K are
 * work of their own, added in order by the block that comes last to a tile. */
#include "kernels/verified/verified_body.h"

enum {
	MEND_BLOCK = 128,
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
	int64_t matrix, y, begin, end; /* y: the first; begin, end: of K */
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

/* The flagged lines from the `from`-th on, 64 at most; returns how many there
 * are in all. Words are scanned 128 at a time. */
static __device__ __forceinline__ int
list_lines(const struct ac_verified_operand &o, int64_t matrix, int from,
    struct mend_block &block)
{
	const int64_t words = ac_verified_words(o.lines);
	const uint32_t *flags = o.flags + matrix * words;
	const int t = threadIdx.x;
	int before = 0;

	__syncthreads();
	if (t < MEND_SIDE)
		block.line[t] = -1;
	for (int64_t w = 0; w < words; w += MEND_BLOCK) {
		uint32_t word = w + t < words ? flags[w + t] : 0;
		const int own = __popc(word);
		int rank;

		block.rank[t] = own;
		__syncthreads();
#pragma unroll 1
		for (int away = 1; away < MEND_BLOCK; away *= 2) {
			const uint32_t sum = block.rank[t]
			    + (t >= away ? block.rank[t - away] : 0);

			__syncthreads();
			block.rank[t] = sum;
			__syncthreads();
		}
		for (rank = before + (int)block.rank[t] - own - from; word;
		    rank++, word &= word - 1)
			if (rank >= 0 && rank < MEND_SIDE)
				block.line[rank] = (int32_t)(32 * (w + t))
				    + __ffs(word) - 1;
		before += (int)block.rank[MEND_BLOCK - 1];
		__syncthreads();
	}
	return before;
}

/* Outputs of a tile. Of columns, those in a flagged row are the row's. */
static __device__ __forceinline__ void
write_tile(const struct ac_verified &v, const struct mend_tile &tile,
    bool all, const struct mend_block &block, const mend_sums &sum)
{
	const int tx = threadIdx.x / 16, ty = threadIdx.x % 16;
	const float alpha = ac_cast_scalar_read(&v.alpha);
	const uint32_t *flags = v.operand[0].flags
	    + tile.matrix * ac_verified_words(v.m);
	float *to = ac_verified_product(&v, tile.matrix);

#pragma unroll
	for (int i = 0; i < MEND_X; i++) {
		const int64_t line = block.line[MEND_X * tx + i];

#pragma unroll
		for (int j = 0; j < MEND_Y; j++) {
			const int64_t y = tile.y + MEND_Y * ty + j;
			const int64_t row = tile.side ? y : line;
			const int64_t col = tile.side ? line : y;

			if (line < 0 || row >= v.m || col >= v.n)
				continue;
			if (tile.side && !all
			    && flags[row / 32] >> row % 32 & 1)
				continue;
			to[row + col * v.output.ld] = alpha * sum[i][j];
		}
	}
}

/* A span's sums into scratch; whoever comes last to the tile adds all spans. */
static __device__ __forceinline__ bool
spread(const struct ac_verified &v, const struct mend_tile &tile, int spans,
    int span, struct mend_block &block, mend_sums &sum)
{
	const int tx = threadIdx.x / 16, ty = threadIdx.x % 16;
	const int64_t size = MEND_SIDE * MEND_SIDE;
	/* Rows and columns have tiles of their own: nobody waits between. */
	const int64_t number = tile.y / MEND_SIDE
	    + (tile.side ? (v.n + MEND_SIDE - 1) / MEND_SIDE : 0);
	float *to = v.spread + number * AC_VERIFIED_SPANS * size
	    + (MEND_X * tx * MEND_SIDE + MEND_Y * ty);

	if (MEND_X * tx < block.count)
#pragma unroll
		for (int i = 0; i < MEND_X; i++)
			__stcg((float4 *)(to + span * size + i * MEND_SIDE),
			    make_float4(sum[i][0], sum[i][1], sum[i][2],
			    sum[i][3]));
	__threadfence();
	__syncthreads();
	if (!threadIdx.x) {
		uint32_t *arrived = v.arrived + number;

		block.last = atomicAdd(arrived, 1u) + 1 == (uint32_t)spans;
		if (block.last)
			*arrived = 0;
	}
	__syncthreads();
	if (!block.last)
		return false;
	__threadfence();
#pragma unroll
	for (int i = 0; i < MEND_X; i++) {
		float4 all = make_float4(0, 0, 0, 0);

		for (int s = 0; s < spans && MEND_X * tx < block.count; s++) {
			const float4 part = __ldcg((const float4 *)(to
			    + s * size + i * MEND_SIDE));

			all.x += part.x, all.y += part.y;
			all.z += part.z, all.w += part.w;
		}
		sum[i][0] = all.x, sum[i][1] = all.y;
		sum[i][2] = all.z, sum[i][3] = all.w;
	}
	return true;
}

/* The tile's part of K, span by span; their total waits in shared memory. */
static __device__ __forceinline__ void
add_spans(const struct ac_verified &v, const struct mend_tile &tile,
    struct mend_block &block, mend_sums &total)
{
	const int64_t span = ac_verified_span(v.k);
	float (&own)[MEND_X * MEND_Y][MEND_BLOCK] = block.total;

#pragma unroll 1
	for (int64_t k = tile.begin; k < tile.end; k += span) {
		mend_sums sum = {};

		add_span(v, tile, k, min(k + span, tile.end), block, sum);
#pragma unroll
		for (int i = 0; i < MEND_X * MEND_Y; i++)
			own[i][threadIdx.x] = (k != tile.begin
			    ? own[i][threadIdx.x] : 0)
			    + sum[i / MEND_Y][i % MEND_Y];
	}
#pragma unroll
	for (int i = 0; i < MEND_X * MEND_Y; i++)
		total[i / MEND_Y][i % MEND_Y] = own[i][threadIdx.x];
}

/* One matrix and side: this block is number `number` of `team`. */
static __device__ __forceinline__ void
mend_side(const struct ac_verified &v, int64_t matrix, int side, bool all,
    int64_t number, int64_t team, struct mend_block &block)
{
	const struct ac_verified_operand o = operand_of(v, side);
	const int64_t others = side ? v.m : v.n;
	const int64_t across = (others + MEND_SIDE - 1) / MEND_SIDE;
	const int64_t span = ac_verified_span(v.k);
	const int64_t lines = all ? o.lines
	    : list_lines(o, matrix, 0, block);
	const bool spreads = v.spread && v.batch == 1 && lines <= MEND_SIDE;
	const int spans = (int)((v.k + span - 1) / span);
	const int64_t units = (lines + MEND_SIDE - 1) / MEND_SIDE * across
	    * (spreads ? spans : 1);
	int64_t listed = 0;

	for (int64_t unit = number; unit < units; unit += team) {
		const int64_t k = spreads ? unit / across * span : 0;
		const int64_t x = spreads ? 0 : unit / across * MEND_SIDE;
		struct mend_tile tile = { matrix, unit % across * MEND_SIDE, k,
			spreads ? min(k + span, v.k) : v.k, side };
		mend_sums sum = {};

		__syncthreads();
		if (all && threadIdx.x < MEND_SIDE)
			block.line[threadIdx.x] = x + threadIdx.x < o.lines
			    ? (int32_t)(x + threadIdx.x) : -1;
		if (!all && x != listed)
			list_lines(o, matrix, (int)x, block);
		listed = x;
		block.count = (int)min(lines - x, (int64_t)MEND_SIDE);
		__syncthreads();
		add_spans(v, tile, block, sum);
		if (!spreads || spread(v, tile, spans, (int)(k / span), block,
		    sum))
			write_tile(v, tile, all, block, sum);
	}
}

extern "C" __global__ void __launch_bounds__(MEND_BLOCK, 3)
ac_verified_mend(const struct ac_verified v)
{
	__shared__ __align__(16) struct mend_block block;
	const struct ac_verified_state *s = v.state;
	const bool all = s->all;
	const int64_t crews = min(v.batch, (int64_t)gridDim.x);
	const int64_t team = gridDim.x / crews;

	if (!all && !s->flagged[0] && !s->flagged[1])
		return;
	if (blockIdx.x >= crews * team)
		return;
	for (int64_t b = blockIdx.x % crews; b < v.batch; b += crews)
		for (int side = all; side < 2; side++)
			if (all || s->flagged[side])
				mend_side(v, b, side, all, blockIdx.x / crews,
				    team, block);
}
