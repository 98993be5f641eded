/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_mend.cu -- flagged lines, or all, computed again:
 * which block does what, and where its outputs go. Where few lines are flagged,
 * the spans of K are work of their own, added in order by the block that comes
 * last to a tile. */
#include "kernels/verified/verified_apart.h"

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
	float *to = ac_verified_product(&v, tile.matrix);

#pragma unroll
	for (int i = 0; i < MEND_X; i++) {
		const int64_t line = block.line[MEND_X * tx + i];

#pragma unroll
		for (int j = 0; j < MEND_Y; j++) {
			const int64_t y = tile.y + MEND_Y * ty + j;
			const int64_t row = tile.side ? y : line;
			const int64_t col = tile.side ? line : y;

			if (line < 0 || row >= v.m || col >= v.n || (tile.side
			    && !all && has_flag(v, 0, tile.matrix, row)))
				continue;
			to[row + col * v.output.ld] = ac_verified_number(alpha
			    * sum[i][j]);
		}
	}
}

/* The same, where the product is apart. */
static __device__ __forceinline__ void
finish_tile(const struct ac_verified &v, const struct mend_tile &tile,
    bool all, struct mend_block &block, const mend_sums &sum)
{
	const int tx = threadIdx.x / 16, ty = threadIdx.x % 16;
	const float alpha = ac_cast_scalar_read(&v.alpha);
	const int64_t lists = tile.side && !all ? (v.n + MEND_SIDE - 1)
	    / MEND_SIDE : 0;
	const struct apart_lines at = { tile.matrix, tile.y, lists
	    + (tile.side ? tile.x : tile.y) / MEND_SIDE, block.line,
	    tile.side, all };
	apart_tile &to = *(apart_tile *)block.total;

	__syncthreads();
#pragma unroll
	for (int i = 0; i < MEND_X; i++)
		*(float4 *)&to[MEND_X * tx + i][MEND_Y * ty] = make_float4(
		    alpha * sum[i][0], alpha * sum[i][1], alpha * sum[i][2],
		    alpha * sum[i][3]);
	__syncthreads();
	write_lines(v, at, to);
	if (!v.output.tail.sums)
		return;
	__syncthreads();
	add_lines(v, at, to);
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
	if (!comes_last(v.arrived + number, (uint32_t)spans, block.last))
		return false;
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
    uint32_t number, uint32_t team, struct mend_block &block)
{
	const struct ac_verified_operand o = operand_of(v, side);
	const uint32_t others = (uint32_t)(side ? v.m : v.n);
	const uint32_t across = (others + MEND_SIDE - 1) / MEND_SIDE;
	const uint32_t span = (uint32_t)ac_verified_span(v.k);
	const uint32_t lines = all ? (uint32_t)o.lines
	    : (uint32_t)list_lines(o, matrix, 0, block);
	const bool spreads = v.spread && v.batch == 1 && lines <= MEND_SIDE;
	const uint32_t spans = ((uint32_t)v.k + span - 1) / span;
	const uint64_t units = (uint64_t)((lines + MEND_SIDE - 1) / MEND_SIDE)
	    * across * (spreads ? spans : 1);
	uint32_t listed = 0;

	for (uint64_t unit = number; unit < units; unit += team) {
		const uint32_t k = spreads ? (uint32_t)(unit / across) * span
		    : 0;
		const uint32_t x = spreads ? 0 : (uint32_t)(unit / across)
		    * MEND_SIDE;
		struct mend_tile tile = { matrix, x, (int64_t)(unit % across)
			* MEND_SIDE, k, spreads ? min((int64_t)k + span, v.k)
			: v.k, side };
		mend_sums sum = {};

		__syncthreads();
		if (all && threadIdx.x < MEND_SIDE)
			block.line[threadIdx.x] = x + threadIdx.x < o.lines
			    ? (int32_t)(x + threadIdx.x) : -1;
		if (!all && x != listed)
			list_lines(o, matrix, (int)x, block);
		listed = x;
		block.count = (int)min(lines - x, (uint32_t)MEND_SIDE);
		__syncthreads();
		add_spans(v, tile, block, sum);
		if (spreads && !spread(v, tile, spans, (int)(k / span), block,
		    sum))
			continue;
		if (ac_verified_is_apart(&v))
			finish_tile(v, tile, all, block, sum);
		else
			write_tile(v, tile, all, block, sum);
	}
}

static __device__ __forceinline__ void
mend_lines(const struct ac_verified &v, bool all, struct mend_block &block)
{
	const uint32_t batch = (uint32_t)v.batch;
	const uint32_t crews = min(batch, gridDim.x);
	const uint32_t team = gridDim.x / crews;

	if (blockIdx.x >= crews * team)
		return;
	for (uint32_t b = blockIdx.x % crews; b < batch; b += crews)
		for (int side = all; side < 2; side++)
			if (all || v.state->flagged[side])
				mend_side(v, b, side, all, blockIdx.x / crews,
				    team, block);
}

extern "C" __global__ void __launch_bounds__(MEND_BLOCK, 3)
ac_verified_mend(const struct ac_verified v)
{
	__shared__ __align__(16) struct mend_block block;
	const struct ac_verified_state *s = v.state;
	const bool all = s->all;
	const bool some = all || s->flagged[0] || s->flagged[1];

	if (some)
		mend_lines(v, all, block);
	if (ac_verified_is_apart(&v))
		write_rest(v, all, some, block.last);
}
