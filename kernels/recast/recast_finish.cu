/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_finish.cu -- the GPU side of finish, write and ranges.
 * The rules are recast_out.h's.
 *
 * A block takes squares of 64 x 64 outputs: it finds what their marked lines
 * add to them and writes them, so nobody else touches them. The last block
 * judges the sample, clears the marks and posts. Compiled together with
 * recast.cu, after it. */
#include "kernels/recast/recast_estimate.h"
#include "kernels/recast/recast_sample.h"

enum {
	SIDE = 64,              /* of a square of outputs */
	STRIP = 1024,           /* factors that are looked through at a time */
	NIBBLES = 8             /* in a word of classes */
};

/* A block's notes on a square. */
struct notes {
	uint32_t marks[2][SIDE];    /* of its rows, of its columns */
	uint32_t products[SIDE * SIDE / NIBBLES]; /* four bits per output */
	uint32_t count;
	uint32_t list[STRIP];       /* where in the strip a line is bad */
};

struct square {
	int64_t matrix, row, col;   /* its first output */
};

/* `repair` is the square's own. */
struct outputs {
	bool  repair, write;
	float alpha, beta;
};

static __device__ __forceinline__ void
note(struct notes &notes, int row, int col, uint32_t products)
{
	const int at = col * SIDE + row;

	if (products)
		atomicOr(&notes.products[at / NIBBLES],
		    products << 4 * (at % NIBBLES));
}

/* Fetches the square's marks; whether there are any. */
static __device__ __forceinline__ bool
fetch_marks(const struct ac_recast &r, const struct square &square,
    struct notes &notes)
{
	const int t = threadIdx.x % SIDE, side = threadIdx.x / SIDE;
	uint32_t bits = 0;

	__syncthreads(); /* the notes of the last square are read */
	if (side == 0 && square.row + t < r.m)
		bits = ac_recast_mark_of(&r.operand[0], square.matrix,
		    square.row + t);
	if (side == 1 && square.col + t < r.n)
		bits = ac_recast_mark_of(&r.operand[1], square.matrix,
		    square.col + t);
	if (side == 0)
		notes.marks[0][t] = bits;
	if (side == 1)
		notes.marks[1][t] = bits;
	AC_CAST_ROLLED
	for (int i = threadIdx.x; i < SIDE * SIDE / NIBBLES;
	    i += AC_CAST_BLOCK)
		notes.products[i] = 0;
	return __syncthreads_or(bits != 0);
}

/* One line of one side with an inf against all of the square's lines of the
 * other side. */
static __device__ __forceinline__ void
scan_line(const struct ac_recast &r, const struct square &square, int side,
    int line, struct notes &notes)
{
	const struct ac_recast_operand mine = recast_operand(r, side);
	const struct ac_recast_operand other = recast_operand(r, !side);
	const float *from = ac_recast_matrix(&mine, square.matrix);
	const float *against = ac_recast_matrix(&other, square.matrix);
	const int64_t first = (side ? square.col : square.row) + line;
	const int t = threadIdx.x % SIDE;
	const int64_t second = (side ? square.row : square.col) + t;
	const bool inside = second < (side ? r.m : r.n);

	AC_CAST_ROLLED
	for (int64_t strip = 0; strip < r.k; strip += STRIP) {
		if (!threadIdx.x)
			notes.count = 0;
		__syncthreads();
		AC_CAST_ROLLED
		for (int i = threadIdx.x; i < STRIP && strip + i < r.k;
		    i += AC_CAST_BLOCK)
			if (!ac_recast_is_finite(__ldg(from + ac_recast_offset(
			    &mine, first, strip + i))))
				notes.list[atomicAdd(&notes.count, 1u)] = i;
		__syncthreads();
		AC_CAST_ROLLED
		for (uint32_t e = threadIdx.x / SIDE; inside && e < notes.count;
		    e += AC_CAST_BLOCK / SIDE) {
			const int64_t k = strip + notes.list[e];
			const uint32_t products = ac_recast_product(
			    __ldg(from + ac_recast_offset(&mine, first, k)),
			    __ldg(against + ac_recast_offset(&other, second,
			    k)));

			note(notes, side ? t : line, side ? line : t, products);
		}
		__syncthreads();
	}
}

static __device__ __forceinline__ void
note_lines(const struct ac_recast &r, const struct square &square, int side,
    struct notes &notes)
{
	AC_CAST_ROLLED
	for (int line = 0; line < SIDE; line++) {
		const uint32_t bits = notes.marks[side][line];
		const int t = threadIdx.x;

		if (bits & 2 && t < SIDE)
			note(notes, side ? t : line, side ? line : t,
			    AC_RECAST_NEITHER);
		else if (bits == 1)
			scan_line(r, square, side, line, notes);
	}
}

static __device__ __forceinline__ void
write_output(const struct ac_recast &r, const struct outputs &outputs,
    int64_t matrix, int64_t row, int64_t col, uint32_t products)
{
	float *c, value;

	if (!products && !outputs.write)
		return;
	c = ac_recast_c(&r, matrix, row, col);
	value = outputs.write ? __ldg(ac_recast_result(&r, matrix, row, col))
	    : *c;
	value = ac_recast_repaired(value, products, outputs.alpha);
	*c = outputs.write ? ac_recast_sum(value, outputs.beta,
	    ac_recast_old(&r, matrix, row, col)) : value;
}

static __device__ __forceinline__ void
do_square(const struct ac_recast &r, const struct square &square,
    const struct outputs &outputs, struct notes &notes)
{
	const int row = threadIdx.x % SIDE;
	bool marked = false;

	if (outputs.repair) {
		marked = fetch_marks(r, square, notes);
		if (marked) {
			AC_CAST_ROLLED
			for (int side = 0; side < 2; side++)
				note_lines(r, square, side, notes);
			__syncthreads();
		}
	}
	if ((!marked && !outputs.write) || square.row + row >= r.m)
		return;
	AC_CAST_ROLLED
	for (int col = threadIdx.x / SIDE;
	    col < SIDE && square.col + col < r.n;
	    col += AC_CAST_BLOCK / SIDE) {
		const int at = col * SIDE + row;

		write_output(r, outputs, square.matrix, square.row + row,
		    square.col + col, marked ? notes.products[at / NIBBLES]
		    >> 4 * (at % NIBBLES) & 7 : 0);
	}
}

static __device__ __forceinline__ void
do_squares(const struct ac_recast &r, const struct outputs &outputs,
    struct notes &notes)
{
	const int64_t rows = (r.m + SIDE - 1) / SIDE;
	const int64_t cols = (r.n + SIDE - 1) / SIDE;

	AC_CAST_ROLLED
	for (int64_t i = blockIdx.x; i < rows * cols * r.batch;
	    i += gridDim.x) {
		struct square square;

		square.row = i % rows * SIDE;
		square.col = i / rows % cols * SIDE;
		square.matrix = i / rows / cols;
		do_square(r, square, outputs, notes);
	}
}

static __device__ __forceinline__ struct outputs
outputs_of(const struct ac_recast &r, bool repair, bool write)
{
	struct outputs outputs;

	outputs.repair = repair;
	outputs.write = write;
	outputs.alpha = ac_cast_scalar_read(&r.alpha);
	outputs.beta = ac_cast_scalar_read(&r.beta);
	return outputs;
}

static __device__ __forceinline__ void
clear_marks(const struct ac_recast_operand &o)
{
	const int64_t words = ac_recast_mark_words(&o);

	AC_CAST_ROLLED
	for (int64_t i = threadIdx.x; i < words; i += AC_CAST_BLOCK)
		o.marks[i] = 0;
}

static __device__ __forceinline__ bool
is_last_block(struct ac_recast_state *state)
{
	const bool last = __syncthreads_or(is_last(state));

	if (last)
		__threadfence();
	return last;
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_finish(struct ac_recast r)
{
	__shared__ struct notes notes;
	__shared__ struct sampled sampled;
	__shared__ struct estimate_room room;
	const uint32_t todo = r.state->todo;
	struct ac_recast_duty duty = ac_recast_duty_of(&r, todo);
	const bool probes = ac_recast_probes(&r);
	const bool each = probes && r.batch > 1;
	struct ac_recast_estimate estimate = {};

	if (probes || duty.each)
		estimate = do_matrices(r, probes, duty.each, room);
	duty.sample |= !each && estimate.suspect;
	if (duty.repair || duty.write)
		do_squares(r, outputs_of(r, duty.repair, duty.write), notes);
	if (!todo && !duty.sample && !each) {
		if (!blockIdx.x && !threadIdx.x)
			ac_recast_close(&r, &estimate);
		return;
	}
	if (duty.sample) {
		take_sample(r, blockIdx.x, gridDim.x, sampled);
	}
	if (!is_last_block(r.state))
		return;
	if (duty.sample)
		judge_sample(r, duty.kept, sampled);
	else if (each && !threadIdx.x)
		ac_recast_matrices_close(&r);
	if (duty.clear) {
		clear_marks(r.operand[0]);
		clear_marks(r.operand[1]);
	}
	if (threadIdx.x)
		return;
	if (each)
		estimate = ac_recast_estimate_all(&r);
	ac_recast_close(&r, &estimate);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_write(struct ac_recast r)
{
	__shared__ struct notes notes;

	do_squares(r, outputs_of(r, false, true), notes);
}

/* This block's share of the elements, column by column. */
static __device__ __forceinline__ void
count_elements(const struct ac_recast_operand &o, uint32_t *bins)
{
	const int64_t rows = (o.rows + AC_CAST_BLOCK - 1) / AC_CAST_BLOCK;

	if (o.rows <= 0 || o.cols <= 0)
		return;
	struct tile piece = tile_of(blockIdx.x, rows, o.cols);
	const struct tile step = tile_of(gridDim.x, rows, o.cols);

	for (; piece.matrix < o.batch;
	    tile_advance(step, rows, o.cols, piece)) {
		const int64_t row = piece.row * AC_CAST_BLOCK + threadIdx.x;

		if (row < o.rows)
			atomicAdd(&bins[ac_cast_bits(__ldg(ac_recast_matrix(&o,
			    piece.matrix) + piece.col * o.ld + row))
			    >> 23 & 0xff], 1u);
	}
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_ranges(struct ac_recast r, counter *counts, counter *copy)
{
	__shared__ uint32_t bins[WARPS][AC_RANGE_BINS];
	const int t = threadIdx.x;
	counter sum = 0;

	AC_CAST_ROLLED
	for (int w = 0; w < WARPS; w++)
		bins[w][t] = 0;
	__syncthreads();
	count_elements(recast_operand(r, blockIdx.y),
	    bins[t / AC_RECAST_LANES]);
	__syncthreads();
	AC_CAST_ROLLED
	for (int w = 0; w < WARPS; w++)
		sum += bins[w][t];
	if (sum)
		atomicAdd(counts + blockIdx.y * AC_RANGE_BINS + t, sum);
	if (!is_last_block(r.state))
		return;
	AC_CAST_ROLLED
	for (int i = t; i < 2 * AC_RANGE_BINS; i += AC_CAST_BLOCK)
		copy[i] = atomicAdd(counts + i, 0ull);
	if (!t)
		r.state->arrived = 0;
	__threadfence_system();
}
