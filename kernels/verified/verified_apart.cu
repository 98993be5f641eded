/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_apart.cu -- what mend writes where the product is
 * apart: each output once, by who computed it again, or by who found it good.
 * A good one's tile has 128 rows, a thread each, and 64 columns. */
#include "kernels/verified/verified_apart.h"

enum {
	APART_ROWS = 128,       /* of a tile, and threads of a block */
	APART_SIDE = AC_VERIFIED_SIDE,
	APART_ONCE = 16         /* columns that are read at a time: 24 KiB of an
	                         * SM are on their way */
};

typedef float apart_tile[APART_SIDE][APART_SIDE]; /* [line of x][y] */

/* Lines that mend computed again, `line[x]` of `side` by all of the other side
 * from `y` on. */
struct apart_lines {
	int64_t matrix, y, part; /* part: of the rows' sums */
	const int32_t *line;    /* -1: none */
	int  side;
	bool all;
};

static __device__ __forceinline__ bool
has_flag(const struct ac_verified &v, int side, int64_t matrix, int64_t line)
{
	const struct ac_verified_operand o = operand_of(v, side);

	return o.flags[matrix * ac_verified_words(o.lines) + line / LANES]
	    >> line % LANES & 1;
}

/* Bits `own` of the word of a mask with entry `at` become `bits`. */
static __device__ __forceinline__ void
set_bits(const struct ac_verified &v, int64_t at, uint32_t own, uint32_t bits)
{
	uint32_t *word = (uint32_t *)v.output.tail.aux + at / LANES;

	if (own == (uint32_t)ALL) {
		*word = bits;
		return;
	}
	if (own & ~bits)
		atomicAnd(word, bits | ~own);
	if (own & bits)
		atomicOr(word, bits & own);
}

/* ---- Outputs that were computed again ---------------------------------- */

/* `tile` has the products, and then D. */
static __device__ __forceinline__ void
write_lines(const struct ac_verified &v, const struct apart_lines &at,
    apart_tile &tile)
{
	const float beta = ac_cast_scalar_read(&v.output.beta);
	const bool bits = ac_verified_has_bits(&v.output.tail);
	const int y = threadIdx.x % APART_SIDE;
	float *d = ac_verified_d(&v, at.matrix);

#pragma unroll 1
	for (int x = threadIdx.x / APART_SIDE; x < APART_SIDE;
	    x += APART_ROWS / APART_SIDE) {
		const int64_t line = at.line[x];
		const int64_t row = at.side ? at.y + y : line;
		const int64_t col = at.side ? line : at.y + y;

		if (line < 0 || row >= v.m || col >= v.n || (at.side
		    && !at.all && has_flag(v, 0, at.matrix, row)))
			continue;
		const float sum = ac_verified_y(&v, at.matrix, row, col,
		    tile[x][y], beta, beta != 0 ? ac_verified_c(&v, at.matrix)
		    + col * v.output.c_ld + row : NULL);
		const int64_t entry = ac_verified_aux_at(&v, at.matrix, row,
		    col);

		if (bits)
			set_bits(v, entry, 1u << (entry & 31),
			    sum < 0 ? 0 : 1u << (entry & 31));
		tile[x][y] = ac_verified_follow(&v, at.matrix, row, col, sum);
		d[row + col * v.output.d_ld] = tile[x][y];
	}
}

/* Their part of the rows' sums. */
static __device__ __forceinline__ void
add_lines(const struct ac_verified &v, const struct apart_lines &at,
    const apart_tile &tile)
{
	const int t = threadIdx.x;
	const int64_t row = at.side ? at.y + t : t < APART_SIDE ? at.line[t]
	    : -1;
	double sum = 0;

	if (t >= APART_SIDE || row < 0 || row >= v.m)
		return;
	for (int i = 0; i < APART_SIDE; i++) {
		if (at.side ? at.line[i] >= 0 : at.y + i < v.n)
			sum += (double)(at.side ? tile[i][t] : tile[t][i]);
	}
	/* Of a flagged row, in a column that is mended, nobody reads it. */
	ac_verified_partial(&v, at.matrix, at.part)[row] = sum;
}

/* ---- Outputs that were good -------------------------------------------- */

/* `APART_ONCE` columns of a row from `col` on; bit i of `mine`: that one is. */
struct apart_some {
	int64_t matrix, row, col;
	uint32_t mine;
};

typedef float apart_row[APART_ONCE];

/* Zero where it is not mine. */
static __device__ __forceinline__ void
load_some(const float *from, int64_t step, uint32_t mine, apart_row &x)
{
#pragma unroll
	for (int i = 0; i < APART_ONCE; i++, from += step)
		x[i] = mine >> i & 1 ? *from : 0;
}

static __device__ __forceinline__ void
store_some(float *to, int64_t step, uint32_t mine, const apart_row &x)
{
#pragma unroll
	for (int i = 0; i < APART_ONCE; i++, to += step)
		if (mine >> i & 1)
			*to = x[i];
}

static __device__ __forceinline__ void
add_bias(const struct ac_verified &v, const struct apart_some &at,
    apart_row &y)
{
	const struct ac_verified_tail &t = v.output.tail;
	const float *bias = t.bias + at.matrix * t.bias_stride
	    + (t.bias_is_row ? at.col : at.row);
	apart_row b;

	load_some(bias, t.bias_is_row, at.mine, b);
#pragma unroll
	for (int i = 0; i < APART_ONCE; i++)
		y[i] += b[i];
}

/* Of y, what the gradient reads; lane i writes column i. */
static __device__ __forceinline__ void
write_bits(const struct ac_verified &v, const struct apart_some &at,
    const apart_row &y)
{
	const int lane = threadIdx.x % LANES;
	uint32_t own = 0, bits = 0;

#pragma unroll
	for (int i = 0; i < APART_ONCE; i++) {
		const bool mine = at.mine >> i & 1;
		const uint32_t all = __ballot_sync(ALL, mine);
		const uint32_t open = __ballot_sync(ALL, mine && !(y[i] < 0));

		own = lane == i ? all : own;
		bits = lane == i ? open : bits;
	}
	if (own)
		set_bits(v, ac_verified_aux_at(&v, at.matrix, at.row - lane,
		    at.col + lane), own, bits);
}

/* `activation` is known where this is called: what it is not is left out. */
static __device__ __forceinline__ void
activate(const struct ac_verified &v, const struct apart_some &at,
    uint32_t activation, apart_row &y)
{
#pragma unroll
	for (int i = 0; i < APART_ONCE; i++) {
		const float aux = at.mine >> i & 1 ? ac_verified_aux(
		    v.output.tail.aux, activation, ac_verified_aux_at(&v,
		    at.matrix, at.row, at.col + i)) : 0;

		y[i] = ac_verified_activate(activation, aux, y[i]);
	}
}

/* D of y; one question for all of them. */
static __device__ __forceinline__ void
follow_some(const struct ac_verified &v, const struct apart_some &at,
    apart_row &y)
{
	switch (v.output.tail.activation) {
	case AC_ACTIVATION_RELU:
		activate(v, at, AC_ACTIVATION_RELU, y);
		break;
	case AC_ACTIVATION_GELU:
		activate(v, at, AC_ACTIVATION_GELU, y);
		break;
	case AC_ACTIVATION_DRELU:
		activate(v, at, AC_ACTIVATION_DRELU, y);
		break;
	case AC_ACTIVATION_DGELU:
		activate(v, at, AC_ACTIVATION_DGELU, y);
		break;
	default:
		activate(v, at, AC_ACTIVATION_NONE, y);
	}
}

/* Returns `sum` and them. */
static __device__ __forceinline__ double
write_some(const struct ac_verified &v, const struct apart_some &at,
    float beta, double sum)
{
	const struct ac_verified_output &o = v.output;
	apart_row y, c;

	load_some(ac_verified_product(&v, at.matrix) + at.row
	    + at.col * o.ld, o.ld, at.mine, y);
	if (beta != 0) {
		load_some(ac_verified_c(&v, at.matrix) + at.row
		    + at.col * o.c_ld, o.c_ld, at.mine, c);
#pragma unroll
		for (int i = 0; i < APART_ONCE; i++)
			y[i] = ac_verified_sum(y[i], beta, c[i]);
	}
	if (o.tail.bias)
		add_bias(v, at, y);
	if (ac_verified_has_bits(&o.tail))
		write_bits(v, at, y);
	if (o.tail.aux && o.tail.activation == AC_ACTIVATION_GELU) {
#pragma unroll
		for (int i = 0; i < APART_ONCE; i++)
			c[i] = ac_verified_number(y[i]);
		store_some((float *)o.tail.aux + ac_verified_aux_at(&v,
		    at.matrix, at.row, at.col), o.tail.aux_ld, at.mine, c);
	}
	follow_some(v, at, y);
	store_some(ac_verified_d(&v, at.matrix) + at.row + at.col * o.d_ld,
	    o.d_ld, at.mine, y);
	if (o.tail.sums)
#pragma unroll
		for (int i = 0; i < APART_ONCE; i++)
			if (at.mine >> i & 1)
				sum += (double)y[i];
	return sum;
}

static __device__ __forceinline__ void
write_good(const struct ac_verified &v, int64_t matrix, int64_t row,
    int64_t chunk)
{
	const uint32_t *words = v.operand[1].flags + matrix
	    * ac_verified_words(v.n) + chunk * (APART_SIDE / LANES);
	const int64_t first = chunk * APART_SIDE;
	const bool there = row < v.m && !has_flag(v, 0, matrix, row);
	const float beta = ac_cast_scalar_read(&v.output.beta);
	double sum = 0;

#pragma unroll 1
	for (int i = 0; i < APART_SIDE && first + i < v.n; i += APART_ONCE) {
		const int64_t left = v.n - first - i;
		const uint32_t good = ~(words[i / LANES] >> i % LANES)
		    & ((1u << min(left, (int64_t)APART_ONCE)) - 1);

		sum = write_some(v, { matrix, row, first + i, there ? good
		    : 0 }, beta, sum);
	}
	if (there && v.output.tail.sums)
		ac_verified_partial(&v, matrix, chunk)[row] = sum;
}

/* ---- Sums of rows ------------------------------------------------------ */

/* Of 128 rows; `lists`: parts of columns that were mended. */
static __device__ __forceinline__ void
sum_rows(const struct ac_verified &v, int64_t matrix, int64_t row,
    int64_t lists)
{
	const struct ac_verified_tail &t = v.output.tail;
	const int64_t chunks = (v.n + APART_SIDE - 1) / APART_SIDE;
	double sum = 0;

	if (row >= v.m)
		return;
	if (lists && has_flag(v, 0, matrix, row))
		lists = 0;
#pragma unroll 8
	for (int64_t i = 0; i < chunks + lists; i++)
		sum += __ldcg(ac_verified_partial(&v, matrix, i) + row);
	t.sums[matrix * t.sums_stride + row] = ac_verified_number((float)sum);
}

/* All of them, by the last block. */
static __device__ __forceinline__ void
sum_all(const struct ac_verified &v, bool all)
{
	const int64_t words = ac_verified_words(v.n);

	for (int64_t b = 0; b < v.batch; b++) {
		int64_t flagged = 0;

		for (int64_t i = 0; i < words && !all; i++)
			flagged += __popc(v.operand[1].flags[b * words + i]);
		for (int64_t row = threadIdx.x; row < v.m; row += APART_ROWS)
			sum_rows(v, b, row, (flagged + APART_SIDE - 1)
			    / APART_SIDE);
	}
}

/* This block's share of all that was good. `some`: not everything was: then the
 * rows' sums wait for all blocks. */
static __device__ __forceinline__ void
write_rest(const struct ac_verified &v, bool all, bool some, bool &last)
{
	const uint32_t strips = ((uint32_t)v.m + APART_ROWS - 1) / APART_ROWS;
	const uint32_t chunks = ((uint32_t)v.n + APART_SIDE - 1) / APART_SIDE;
	const int64_t units = all ? 0 : (int64_t)strips * chunks * v.batch;
	uint32_t *arrived = v.output.tail.arrived;

	for (int64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
		const uint32_t strip = (uint32_t)(unit % strips);
		const int64_t chunk = unit / strips % chunks;
		const int64_t matrix = unit / strips / chunks;
		const int64_t row = (int64_t)strip * APART_ROWS + threadIdx.x;

		write_good(v, matrix, row, chunk);
		if (v.output.tail.sums && !some && comes_last(arrived + 1
		    + matrix * strips + strip, chunks, last))
			sum_rows(v, matrix, row, 0);
	}
	if (v.output.tail.sums && some && comes_last(arrived, gridDim.x, last))
		sum_all(v, all);
}
