/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast.cu -- the GPU side of the one-pass cast: who works on
 * which tile. The arithmetic and the order of the sums are recast_body.h's.
 *
 * Compiled into cast.ptx by make-ptx.sh. The grid has any size, but two blocks
 * at least: each works on one operand. A warp takes a tile of 32 x 32, 128
 * bytes of each of its columns at a time, and keeps what it found until its
 * tiles are done; a block adds that to the state once. */
#include "kernels/recast/recast_estimate.h"
#include "kernels/recast/recast_sample.h"

/* Eight rows of a column, from `row` on. */
struct part {
	float   x[AC_CAST_CHUNK];
	int64_t row, col, matrix;
};

/* Zero past the matrix. Whole chunks at an aligned address go by 16 bytes. */
static __device__ __forceinline__ void
load_rows(const float *from, int64_t left, float (&x)[AC_CAST_CHUNK])
{
	if (left >= AC_CAST_CHUNK && !((uintptr_t)from & 15)) {
		const float4 low = __ldg((const float4 *)from);
		const float4 high = __ldg((const float4 *)from + 1);

		x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
		x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
		return;
	}
#pragma unroll
	for (int i = 0; i < AC_CAST_CHUNK; i++)
		x[i] = i < left ? __ldg(from + i) : 0;
}

/* A lane's part of a tile: columns `part.col` + 8 j. */
static __device__ __forceinline__ void
load_part(const struct ac_recast_operand &o, const float *matrix,
    const struct part &part, float (&x)[AC_RECAST_COLS][AC_CAST_CHUNK])
{
#pragma unroll
	for (int j = 0; j < AC_RECAST_COLS; j++) {
		const int64_t col = part.col + 8 * j;

		load_rows(matrix + col * o.ld + part.row,
		    col < o.cols ? o.rows - part.row : 0, x[j]);
	}
}

/* The next column's elements: of a rolled loop over registers. */
static __device__ __forceinline__ void
next_column(float (&x)[AC_RECAST_COLS][AC_CAST_CHUNK], struct part &part)
{
#pragma unroll
	for (int i = 0; i < AC_CAST_CHUNK; i++) {
		part.x[i] = x[0][i];
#pragma unroll
		for (int j = 1; j < AC_RECAST_COLS; j++)
			x[j - 1][i] = x[j][i];
	}
}

static __device__ __forceinline__ uint32_t
largest_of(const struct part &part)
{
	uint32_t largest = 0;

#pragma unroll
	for (int i = 0; i < AC_CAST_CHUNK; i++)
		largest = max(largest, ac_cast_bits(part.x[i]) & 0x7fffffff);
	return largest;
}

/* Makes zero what is not below the limit. The largest finite one raises amax;
 * whether all are finite. */
static __device__ __forceinline__ bool
clean_part(struct part &part, uint32_t limit, uint32_t &amax)
{
	bool finite = true;

#pragma unroll
	for (int i = 0; i < AC_CAST_CHUNK; i++) {
		const uint32_t m = ac_cast_bits(part.x[i]) & 0x7fffffff;

		if (m < AC_CAST_INF)
			amax = max(amax, m);
		else
			finite = false;
		part.x[i] = m < limit ? part.x[i] : 0;
	}
	return finite;
}

/* Two bits of line `number`; a look first spares most of the atomics when a
 * whole matrix is bad. */
static __device__ __forceinline__ void
mark(const struct ac_recast_operand &o, int64_t number, uint32_t bits)
{
	uint32_t *word = o.marks + number / AC_RECAST_LINES;

	bits <<= 2 * (number % AC_RECAST_LINES);
	if (bits && (*(volatile uint32_t *)word & bits) != bits)
		atomicOr(word, bits);
}

static __device__ __forceinline__ uint32_t
mark_bits(float x)
{
	if (ac_recast_is_finite(x))
		return 0;
	return x == x ? 1 : 3;
}

/* The lines of the part that hold an inf or a NaN. Seldom: read again, so that
 * the common way need not keep what it cleans. */
static __device__ __forceinline__ void
mark_part(const struct ac_recast_operand &o, const float *matrix,
    const struct part &part)
{
	const int64_t lines = part.matrix * ac_recast_lines(&o);

	AC_CAST_ROLLED
	for (int64_t row = part.row; row < part.row + AC_CAST_CHUNK; row++)
		if (row < o.rows && part.col < o.cols)
			mark(o, lines + (o.lines_are_cols ? part.col : row),
			    mark_bits(__ldg(matrix + part.col * o.ld + row)));
}

/* The casts of the part, packed by two, and what they add. */
static __device__ __forceinline__ void
cast_cells(const struct part &part, const struct ac_recast_way &way,
    uint32_t (&pair)[AC_CAST_CHUNK / 2], struct sums &sums)
{
	float energy[AC_CAST_CHUNK], loss[AC_CAST_CHUNK];

#pragma unroll
	for (int i = 0; i < AC_CAST_CHUNK; i++) {
		const struct ac_recast_cell cell =
		    ac_recast_cell_of(part.x[i], way);

		energy[i] = cell.energy;
		loss[i] = cell.loss;
		pair[i / 2] = i % 2 ? pair[i / 2] | (uint32_t)cell.to << 16
		    : cell.to;
	}
	note_column(add_rows(energy), add_rows(loss), sums);
}

/* The format is a constant here, not a question per element. */
static __device__ __forceinline__ void
cast_part(const struct ac_recast_operand &o, const struct part &part,
    struct ac_recast_way way, struct sums &sums)
{
	uint32_t pair[AC_CAST_CHUNK / 2];

	if (way.format != AC_FORMAT_FP16) {
		way.format = AC_FORMAT_BF16;
		cast_cells(part, way, pair, sums);
	} else if (way.scaled) {
		way.format = AC_FORMAT_FP16;
		way.scaled = 1;
		cast_cells(part, way, pair, sums);
	} else {
		way.format = AC_FORMAT_FP16;
		cast_cells(part, way, pair, sums);
	}
	/* Said so, it is one store; an assignment becomes four, each of which
	 * touches all the sectors of its warp. */
	if (part.row < o.ld_to && part.col < o.cols_to)
		__stcg((uint4 *)(o.to + (part.matrix * o.cols_to + part.col)
		    * o.ld_to + part.row), make_uint4(pair[0], pair[1],
		    pair[2], pair[3]));
}

/* What a pass does: look for amax and mark (the first), cast (an exponent is
 * known), and how. Small: the parameters of a pass have to fit into
 * registers. */
struct todo {
	bool mark, store, scaled;
	uint8_t format;
};

/* A column of the lane's at a time: few registers, so many warps, which read
 * while others work. */
static __device__ __forceinline__ void
do_tile(const struct ac_recast_operand &o, const struct tile &tile,
    const struct ac_recast_way &way, struct todo todo, float *bands,
    struct found &found)
{
	const int lane = threadIdx.x % AC_RECAST_LANES;
	const float *matrix = ac_recast_matrix(&o, tile.matrix);
	float x[AC_RECAST_COLS][AC_CAST_CHUNK];
	struct sums sums = {};
	struct part part;

	part.row = tile.row * AC_TILE_SIDE + lane % 4 * AC_CAST_CHUNK;
	part.col = tile.col * AC_TILE_SIDE + lane / 4;
	part.matrix = tile.matrix;
	load_part(o, matrix, part, x);
	AC_CAST_ROLLED
	for (int j = 0; j < AC_RECAST_COLS; j++, part.col += 8) {
		uint32_t largest;

		next_column(x, part);
		largest = largest_of(part);
		if (largest < way.limit) {
			found.amax = max(found.amax, largest);
		} else if (!clean_part(part, way.limit, found.amax)
		    && todo.mark) {
			found.bad = true;
			mark_part(o, matrix, part);
		}
		if (todo.store)
			cast_part(o, part, way, sums);
	}
	if (todo.store)
		note_sums(o, sums, bands_of(o, tile, bands), found);
}

/* The blocks that share an operand: this one is number `number` of them. */
struct crew {
	uint32_t operand, number, count;
};

static __device__ __forceinline__ float
tiles_of(const struct ac_recast_operand &o)
{
	return (float)((o.ld_to + AC_TILE_SIDE - 1) / AC_TILE_SIDE)
	    * (float)((o.cols_to + AC_TILE_SIDE - 1) / AC_TILE_SIDE)
	    * (float)o.batch;
}

/* Each operand has blocks by its tiles: a small one would keep half of the GPU
 * from a large one. */
static __device__ __forceinline__ struct crew
crew_of(const struct ac_recast &r)
{
	const float first = tiles_of(r.operand[0]);
	const float both = first + tiles_of(r.operand[1]);
	const uint32_t blocks = gridDim.x * gridDim.y;
	const uint32_t number = blockIdx.y * gridDim.x + blockIdx.x;
	const uint32_t share = both > 0
	    ? (uint32_t)((float)blocks * (first / both) + 0.5f) : 1;
	const uint32_t split = min(max(share, 1u), blocks - 1);
	struct crew crew;

	crew.operand = number >= split;
	crew.number = crew.operand ? number - split : number;
	crew.count = crew.operand ? blocks - split : split;
	return crew;
}

static __device__ __forceinline__ void
do_tiles(const struct ac_recast_operand &o, const struct ac_recast_way &way,
    const struct crew &crew, struct todo todo, float *bands,
    struct found &found)
{
	const int64_t rows = (o.ld_to + AC_TILE_SIDE - 1) / AC_TILE_SIDE;
	const int64_t cols = (o.cols_to + AC_TILE_SIDE - 1) / AC_TILE_SIDE;
	struct tile tile, step;

	if (!o.to || rows <= 0 || cols <= 0)
		return;
	tile = tile_of((uint64_t)crew.number * WARPS
	    + threadIdx.x / AC_RECAST_LANES, rows, cols);
	step = tile_of((uint64_t)crew.count * WARPS, rows, cols);
	for (; tile.matrix < o.batch; tile_advance(step, rows, cols, tile))
		do_tile(o, tile, way, todo, bands, found);
}

/* This block's part of a pass over its operand. Both kernels call it, so that
 * the driver has it to compile once; by value, for a reference to a parameter
 * would be a copy on the stack. */
extern "C" __device__ __noinline__ void
ac_recast_pass(struct ac_recast_operand o, struct crew crew, int32_t exponent,
    struct todo todo, float *bands, struct block_found *block,
    struct ac_recast_state *state)
{
	const struct ac_recast_way way = ac_recast_way_of(todo.format,
	    todo.scaled, exponent);
	struct found found = {};

	do_tiles(o, way, crew, todo, bands, found);
	if (!todo.mark)
		found.amax = 0; /* what it was is still there */
	publish(crew.operand, found, *block, state);
}

static __device__ __forceinline__ void
do_pass(const struct ac_recast &r, const struct ac_recast_plan &plan,
    bool first, struct block_found &block)
{
	const struct todo todo = { first, plan.known != 0, r.scaled != 0,
		(uint8_t)r.format };
	const struct crew crew = crew_of(r);

	ac_recast_pass(recast_operand(r, crew.operand), crew, crew.operand
	    ? plan.exponent[1] : plan.exponent[0], todo,
	    crew.operand ? r.bands[1] : r.bands[0], &block, r.state);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_cast(struct ac_recast r)
{
	__shared__ struct block_found block;

	do_pass(r, ac_recast_remembered(&r), true, block);
	if (is_last(r.state)) {
		const struct ac_recast_plan plan = ac_recast_remembered(&r);

		ac_recast_decide(&r, &plan);
	}
}

/* What C holds where the sample may look. */
static __device__ __forceinline__ void
keep_sample(const struct ac_recast &r)
{
	const int t = threadIdx.x;
	struct ac_recast_spot spot;

	if (blockIdx.x || blockIdx.y || t >= AC_RECAST_SAMPLE)
		return;
	spot = ac_recast_spot_of(&r, t);
	r.before[t] = *ac_recast_old(&r, spot.matrix, spot.row, spot.col);
}

/* All that C holds where finish will look, or may. */
static __device__ __forceinline__ void
keep_before(const struct ac_recast &r, bool sample, bool probes)
{
	if (!sample && !probes)
		return;
	keep_sample(r);
	if (sample || r.batch > 1)
		keep_more(r, sample ? 0 : AC_KEPT_LINES);
	if (probes)
		keep_probes(r);
}

/* The casts that let inf and NaN through, of both operands, padding and all: a
 * column per block at a time. Seldom, so nothing is known of its speed. */
static __device__ __forceinline__ void
pass_through(const struct ac_recast &r)
{
	AC_CAST_ROLLED
	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand o = recast_operand(r, i);
		const struct ac_recast_way way = ac_recast_way_of(r.format,
		    r.scaled, r.state->measured[i]);

		AC_CAST_ROLLED
		for (int64_t to = (int64_t)blockIdx.y * gridDim.x + blockIdx.x;
		    to < o.cols_to * o.batch; to += gridDim.x * gridDim.y) {
			const int64_t col = to % o.cols_to;
			const float *from = ac_recast_matrix(&o, to / o.cols_to)
			    + col * o.ld;

			AC_CAST_ROLLED
			for (int64_t row = threadIdx.x; row < o.ld_to;
			    row += AC_CAST_BLOCK)
				__stcg(o.to + to * o.ld_to + row,
				    ac_recast_through(row < o.rows
				    && col < o.cols ? __ldg(from + row) : 0,
				    way));
		}
	}
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_settle(struct ac_recast r)
{
	__shared__ struct block_found block;
	__shared__ struct estimate_room room;
	const uint32_t todo = r.state->todo;
	const bool probes = ac_recast_probes(&r);

	if (ac_cast_scalar_read(&r.beta) != 0)
		keep_before(r, ac_recast_duty_of(&r, todo).sample, probes);
	if (todo & AC_TODO_THROUGH)
		pass_through(r);
	if (!(todo & AC_TODO_SETTLE)) {
		if (probes && r.state->probe == AC_PROBE_ESTIMATE)
			add_parts(r, room);
		return;
	}
	do_pass(r, ac_recast_own(&r, r.state->amax[0], r.state->amax[1]),
	    false, block);
	if (is_last(r.state))
		ac_recast_decide_again(&r);
}
