/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_ranges.cu -- the GPU side of the counting of exponents:
 * blocks take 256 elements of a column at a time, warps count apart. Compiled
 * together with recast_block.cu, after it. */
#include "kernels/recast/recast_ranges.h"

enum { RANGES_WARPS = AC_CAST_BLOCK / AC_CAST_LANES };

/* 256 rows of a column. Also a distance, added with carry: no division for
 * each. */
struct piece {
	int64_t row, col, matrix; /* row: in pieces */
};

static __device__ __forceinline__ struct piece
piece_of(uint64_t index, int64_t rows, int64_t cols)
{
	const uint64_t column = index / (uint64_t)rows;
	struct piece piece;

	piece.row = (int64_t)(index % (uint64_t)rows);
	piece.col = (int64_t)(column % (uint64_t)cols);
	piece.matrix = (int64_t)(column / (uint64_t)cols);
	return piece;
}

static __device__ __forceinline__ void
piece_advance(const struct piece &step, int64_t rows, int64_t cols,
    struct piece &piece)
{
	piece.row += step.row;
	piece.col += step.col;
	piece.matrix += step.matrix;
	if (piece.row >= rows) {
		piece.row -= rows;
		piece.col++;
	}
	if (piece.col >= cols) {
		piece.col -= cols;
		piece.matrix++;
	}
}

/* This block's share of the elements, column by column. */
static __device__ __forceinline__ void
count_elements(const struct ac_recast_matrices &m, uint32_t *bins)
{
	const int64_t rows = (m.rows + AC_CAST_BLOCK - 1) / AC_CAST_BLOCK;

	if (m.rows <= 0 || m.cols <= 0)
		return;
	struct piece piece = piece_of(blockIdx.x, rows, m.cols);
	const struct piece step = piece_of(gridDim.x, rows, m.cols);

	for (; piece.matrix < m.batch;
	    piece_advance(step, rows, m.cols, piece)) {
		const int64_t row = piece.row * AC_CAST_BLOCK + threadIdx.x;
		const float *from = m.array ? m.array[piece.matrix]
		    : m.from + piece.matrix * m.stride;

		if (row < m.rows)
			atomicAdd(&bins[ac_cast_bits(__ldg(from
			    + piece.col * m.ld + row)) >> 23 & 0xff], 1u);
	}
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_ranges(struct ac_recast_ranges r)
{
	__shared__ uint32_t bins[RANGES_WARPS][AC_RANGE_BINS];
	const int t = threadIdx.x;
	counter *counts = (counter *)r.counts, sum = 0;

	AC_CAST_ROLLED
	for (int w = 0; w < RANGES_WARPS; w++)
		bins[w][t] = 0;
	__syncthreads();
	/* Selected, not indexed: that would copy the parameter to the stack. */
	count_elements(blockIdx.y ? r.operand[1] : r.operand[0],
	    bins[t / AC_CAST_LANES]);
	__syncthreads();
	AC_CAST_ROLLED
	for (int w = 0; w < RANGES_WARPS; w++)
		sum += bins[w][t];
	if (sum)
		atomicAdd(counts + blockIdx.y * AC_RANGE_BINS + t, sum);
	if (!is_last_block(r.arrived))
		return;
	AC_CAST_ROLLED
	for (int i = t; i < 2 * AC_RANGE_BINS; i += AC_CAST_BLOCK)
		r.copy[i] = atomicAdd(counts + i, 0ull);
	if (!t)
		*r.arrived = 0;
	__threadfence_system();
}
