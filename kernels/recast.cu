/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast.cu -- the GPU side of the one-pass cast: who works on which
 * tile. The arithmetic and the order of the sums are recast_body.h's.
 *
 * Compiled into cast.ptx by make-ptx.sh. grid.y is the operand, grid.x any
 * size: a warp takes a tile of 32 x 32, 128 bytes of each of its columns at a
 * time, and keeps what it found until its tiles are done; a block adds that to
 * the state once. */
#include "kernels/recast_out.h"

/* A lane's part of a tile: 8 rows from `row`, columns `col` + 8 j. */
struct part {
	float   x[AC_RECAST_COLS][AC_CAST_CHUNK];
	int64_t row, col, matrix;
};

/* Zero past the matrix. Whole chunks at an aligned address go by 16 bytes. */
static __device__ __forceinline__ void
load_part(const struct ac_recast_operand &o, struct part &part)
{
	const float *matrix = ac_recast_matrix(&o, part.matrix);

#pragma unroll
	for (int j = 0; j < AC_RECAST_COLS; j++) {
		const int64_t col = part.col + 8 * j;
		const int64_t left = col < o.cols ? o.rows - part.row : 0;
		const float *from = matrix + col * o.ld + part.row;
		float (&x)[AC_CAST_CHUNK] = part.x[j];

		if (left >= AC_CAST_CHUNK && !((uintptr_t)from & 15)) {
			const float4 low = __ldg((const float4 *)from);
			const float4 high = __ldg((const float4 *)from + 1);

			x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
			x[4] = high.x, x[5] = high.y;
			x[6] = high.z, x[7] = high.w;
			continue;
		}
#pragma unroll
		for (int i = 0; i < AC_CAST_CHUNK; i++)
			x[i] = i < left ? __ldg(from + i) : 0;
	}
}

static __device__ __forceinline__ uint32_t
largest_of(const struct part &part)
{
	uint32_t largest = 0;

#pragma unroll
	for (int j = 0; j < AC_RECAST_COLS; j++)
#pragma unroll
		for (int i = 0; i < AC_CAST_CHUNK; i++)
			largest = max(largest,
			    ac_cast_bits(part.x[j][i]) & 0x7fffffff);
	return largest;
}

/* Makes zero what is not below the limit. The largest finite one raises amax;
 * whether all are finite. */
static __device__ __forceinline__ bool
clean_part(struct part &part, uint32_t limit, uint32_t &amax)
{
	bool finite = true;

#pragma unroll
	for (int j = 0; j < AC_RECAST_COLS; j++)
#pragma unroll
		for (int i = 0; i < AC_CAST_CHUNK; i++) {
			const uint32_t m =
			    ac_cast_bits(part.x[j][i]) & 0x7fffffff;

			if (m < AC_CAST_INF)
				amax = max(amax, m);
			else
				finite = false;
			part.x[j][i] = m < limit ? part.x[j][i] : 0;
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

/* The tile's lines that hold an inf or a NaN. Seldom: read again, so that the
 * common way need not keep what it cleans. */
static __device__ __forceinline__ void
mark_part(const struct ac_recast_operand &o, const struct part &part)
{
	const float *matrix = ac_recast_matrix(&o, part.matrix);
	const int64_t lines = part.matrix * ac_recast_lines(&o);

#pragma unroll 1
	for (int i = 0; i < AC_RECAST_COLS * AC_CAST_CHUNK; i++) {
		const int64_t col = part.col + i / AC_CAST_CHUNK * 8;
		const int64_t row = part.row + i % AC_CAST_CHUNK;

		if (row < o.rows && col < o.cols)
			mark(o, lines + (o.lines_are_cols ? col : row),
			    mark_bits(__ldg(matrix + col * o.ld + row)));
	}
}

/* The casts of a lane's part, packed by two. */
struct packed {
	uint32_t pair[AC_RECAST_COLS][AC_CAST_CHUNK / 2];
};

static __device__ __forceinline__ void
store_part(const struct ac_recast_operand &o, const struct part &part,
    const struct packed &packed)
{
	uint16_t *to = o.to + (part.matrix * o.cols_to + part.col) * o.ld_to
	    + part.row;

#pragma unroll
	for (int j = 0; j < AC_RECAST_COLS; j++)
		if (part.row < o.ld_to && part.col + 8 * j < o.cols_to)
			*(uint4 *)(to + 8 * j * o.ld_to) = make_uint4(
			    packed.pair[j][0], packed.pair[j][1],
			    packed.pair[j][2], packed.pair[j][3]);
}

struct sums {
	float energy, loss;
};

static __device__ __forceinline__ struct sums
operator+(const struct sums &a, const struct sums &b)
{
	const struct sums sum = { a.energy + b.energy, a.loss + b.loss };

	return sum;
}

/* One row of the part: its casts and their sums over the columns. */
static __device__ __forceinline__ struct sums
cast_row(const struct part &part, int i, const struct ac_recast_way &way,
    struct packed &packed)
{
	struct sums sum = {};

#pragma unroll
	for (int j = 0; j < AC_RECAST_COLS; j++) {
		const struct ac_recast_cell cell =
		    ac_recast_cell_of(part.x[j][i], way);
		uint32_t &pair = packed.pair[j][i / 2];

		sum.energy = sum.energy + cell.energy;
		sum.loss = sum.loss + cell.loss;
		pair = i % 2 ? pair | (uint32_t)cell.to << 16 : cell.to;
	}
	return sum;
}

/* `count` rows from `i` on, added two by two. */
template <int count> static __device__ __forceinline__ struct sums
cast_rows(const struct part &part, int i, const struct ac_recast_way &way,
    struct packed &packed)
{
	const struct sums first =
	    cast_rows<count / 2>(part, i, way, packed);

	return first + cast_rows<count / 2>(part, i + count / 2, way, packed);
}

template <> __device__ __forceinline__ struct sums
cast_rows<1>(const struct part &part, int i, const struct ac_recast_way &way,
    struct packed &packed)
{
	return cast_row(part, i, way, packed);
}

static __device__ __forceinline__ float
add_lanes(float sum)
{
#pragma unroll
	for (int away = AC_RECAST_LANES / 2; away; away /= 2)
		sum = sum + __shfl_xor_sync(ALL, sum, away);
	return sum;
}

/* The format is a constant here, not a question per element. */
static __device__ __forceinline__ struct sums
cast_all(const struct part &part, struct ac_recast_way way,
    struct packed &packed)
{
	if (way.format != AC_FORMAT_FP16) {
		way.format = AC_FORMAT_BF16;
		return cast_rows<AC_CAST_CHUNK>(part, 0, way, packed);
	}
	way.format = AC_FORMAT_FP16;
	if (way.scaled) {
		way.scaled = 1;
		return cast_rows<AC_CAST_CHUNK>(part, 0, way, packed);
	}
	way.scaled = 0;
	return cast_rows<AC_CAST_CHUNK>(part, 0, way, packed);
}

static __device__ __forceinline__ void
cast_part(const struct ac_recast_operand &o, const struct part &part,
    const struct ac_recast_way &way, struct found &found)
{
	struct packed packed;
	const struct sums sum = cast_all(part, way, packed);
	const float energy = add_lanes(sum.energy);
	const float loss = add_lanes(sum.loss);
	const float mine = threadIdx.x & 2 ? loss : energy;

	store_part(o, part, packed);
	found.sum += threadIdx.x & 1 ? ac_recast_whole(mine)
	    : ac_recast_parts(mine);
	found.tile = max(found.tile, ac_recast_ratio(energy, loss));
}

template <bool first> static __device__ __forceinline__ void
do_tile(const struct ac_recast_operand &o, const struct tile &tile,
    const struct ac_recast_way &way, bool store, struct found &found)
{
	const int lane = threadIdx.x % AC_RECAST_LANES;
	struct part part;
	uint32_t largest;

	part.row = tile.row * AC_TILE_SIDE + lane % 4 * AC_CAST_CHUNK;
	part.col = tile.col * AC_TILE_SIDE + lane / 4;
	part.matrix = tile.matrix;
	load_part(o, part);
	largest = largest_of(part);
	if (largest < way.limit) {
		found.amax = max(found.amax, largest);
	} else if (!clean_part(part, way.limit, found.amax) && first) {
		found.bad = true;
		mark_part(o, part);
	}
	if (store)
		cast_part(o, part, way, found);
}

template <bool first> static __device__ __forceinline__ void
do_pass(const struct ac_recast_operand &o, const struct ac_recast_way &way,
    bool store, struct found &found)
{
	const int64_t rows = (o.ld_to + AC_TILE_SIDE - 1) / AC_TILE_SIDE;
	const int64_t cols = (o.cols_to + AC_TILE_SIDE - 1) / AC_TILE_SIDE;
	struct tile tile, step;

	if (!o.to || rows <= 0 || cols <= 0)
		return;
	tile = tile_of((uint64_t)blockIdx.x * WARPS
	    + threadIdx.x / AC_RECAST_LANES, rows, cols);
	step = tile_of((uint64_t)gridDim.x * WARPS, rows, cols);
	for (; tile.matrix < o.batch; tile_advance(step, rows, cols, tile))
		do_tile<first>(o, tile, way, store, found);
}

/* This block's part of a pass with the exponents of `plan`. */
template <bool first> static __device__ __forceinline__ void
do_operand(const struct ac_recast &r, const struct ac_recast_plan &plan,
    struct block_found &block)
{
	struct found found = {};

	do_pass<first>(recast_operand(r), ac_recast_way_of(&r, blockIdx.y
	    ? plan.exponent[1] : plan.exponent[0]), plan.known, found);
	if (!first)
		found.amax = 0; /* what it was is still there */
	publish(found, block, r.state);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_cast(struct ac_recast r)
{
	__shared__ struct block_found block;

	do_operand<true>(r, ac_recast_predict(&r), block);
	if (is_last(r.state)) {
		const struct ac_recast_plan plan = ac_recast_predict(&r);

		ac_recast_decide(&r, &plan);
	}
}

/* What C holds where the sample will look. */
static __device__ __forceinline__ void
keep_before(const struct ac_recast &r)
{
	struct ac_recast_spot spot;

	if (blockIdx.x || blockIdx.y || threadIdx.x >= AC_RECAST_SAMPLE)
		return;
	spot = ac_recast_spot_of(&r, threadIdx.x);
	r.before[threadIdx.x] = *ac_recast_c(&r, spot.matrix, spot.row,
	    spot.col);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_recast_settle(struct ac_recast r)
{
	__shared__ struct block_found block;
	const uint32_t todo = r.state->todo;

	if (ac_recast_duty_of(&r, todo).sample
	    && ac_cast_scalar_read(&r.beta) != 0)
		keep_before(r);
	if (!(todo & AC_TODO_SETTLE))
		return;
	do_operand<false>(r, ac_recast_settled(&r), block);
	if (is_last(r.state))
		ac_recast_decide_again(&r);
}
