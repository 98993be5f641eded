/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/cast.cu -- the GPU side of the casts: who works on which elements.
 *
 * The arithmetic is cast.h's. Compiled to cast.ptx by make-ptx.sh and checked
 * in; nothing in the ordinary build reads this file. grid.y is the operand,
 * grid.x any size: threads walk over chunks of AC_CAST_CHUNK rows of a column,
 * neighbours on neighbouring chunks, so a warp reads along the rows. */
#include "kernels/cast.h"

enum { BLOCK = AC_CAST_BLOCK, WARP = 32 };

/* A chunk's place. Also a distance, added with carry: no division per chunk. */
struct place {
	int64_t chunk, col, matrix;
};

static __device__ __forceinline__ struct place
place_of(uint64_t index, int64_t chunks, int64_t cols)
{
	const uint64_t column = index / (uint64_t)chunks;
	struct place place;

	place.chunk = (int64_t)(index % (uint64_t)chunks);
	place.col = (int64_t)(column % (uint64_t)cols);
	place.matrix = (int64_t)(column / (uint64_t)cols);
	return place;
}

static __device__ __forceinline__ void
advance(const struct place &step, int64_t chunks, int64_t cols,
    struct place &place)
{
	place.chunk += step.chunk;
	place.col += step.col;
	place.matrix += step.matrix;
	if (place.chunk >= chunks) {
		place.chunk -= chunks;
		place.col++;
	}
	if (place.col >= cols) {
		place.col -= cols;
		place.matrix++;
	}
}

/* Selected, not indexed: an indexed parameter would be copied to the stack. */
static __device__ __forceinline__ struct ac_cast_operand
operand_of(const struct ac_cast_params &params)
{
	return blockIdx.y ? params.operand[1] : params.operand[0];
}

/* The chunk's elements; zero past the matrix. Whole chunks at an aligned
 * address (every second or fourth column, if ld is not a multiple of 4) go by
 * 16-byte loads. */
static __device__ __forceinline__ void
load(const struct ac_cast_operand &o, const struct place &place,
    float (&x)[AC_CAST_CHUNK])
{
	const int64_t row = place.chunk * AC_CAST_CHUNK;
	const int64_t left = place.col < o.cols ? o.rows - row : 0;
	const float *from =
	    o.from + place.matrix * o.stride + place.col * o.ld + row;

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

static __device__ __forceinline__ void
store(const struct ac_cast_operand &o, const struct place &place,
    struct ac_cast_factor factor, uint32_t format,
    const float (&x)[AC_CAST_CHUNK])
{
	uint32_t pair[AC_CAST_CHUNK / 2];
	uint16_t *to = o.to + (place.matrix * o.cols_to + place.col) * o.ld_to +
	    place.chunk * AC_CAST_CHUNK;

#pragma unroll
	for (int i = 0; i < AC_CAST_CHUNK / 2; i++)
		pair[i] = ac_cast_element(x[2 * i], factor, format) |
		    (uint32_t)ac_cast_element(x[2 * i + 1], factor, format)
		    << 16;
	*(uint4 *)to = make_uint4(pair[0], pair[1], pair[2], pair[3]);
}

static __device__ __forceinline__ bool
nonfinite_in(const float (&x)[AC_CAST_CHUNK])
{
	bool found = false;

#pragma unroll
	for (int i = 0; i < AC_CAST_CHUNK; i++)
		found |= (ac_cast_bits(x[i]) & AC_CAST_INF) == AC_CAST_INF;
	return found;
}

static __device__ __forceinline__ void
flag_nonfinite(bool found, struct ac_cast_state *state)
{
	if (__syncthreads_or(found) && !threadIdx.x)
		atomicOr(&state->nonfinite, 1u << blockIdx.y);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
ac_amax(struct ac_cast_params params)
{
	const struct ac_cast_operand o = operand_of(params);
	const int64_t chunks = (o.rows + AC_CAST_CHUNK - 1) / AC_CAST_CHUNK;
	uint32_t *amax = &params.state->amax[blockIdx.y];
	uint32_t largest = 0;
	bool nonfinite = false;

	if (chunks > 0 && o.cols > 0) {
		struct place place = place_of((uint64_t)blockIdx.x * BLOCK +
		    threadIdx.x, chunks, o.cols);
		const struct place step =
		    place_of((uint64_t)gridDim.x * BLOCK, chunks, o.cols);

		for (; place.matrix < o.batch;
		    advance(step, chunks, o.cols, place)) {
			float x[AC_CAST_CHUNK];

			load(o, place, x);
			nonfinite |= nonfinite_in(x);
#pragma unroll
			for (int i = 0; i < AC_CAST_CHUNK; i++) {
				const uint32_t m =
				    ac_cast_bits(x[i]) & 0x7fffffff;
				if (m < AC_CAST_INF && m > largest)
					largest = m;
			}
		}
	}
#pragma unroll
	for (int lane = WARP / 2; lane; lane /= 2)
		largest = max(largest, __shfl_xor_sync(~0u, largest, lane));
	if (threadIdx.x % WARP == 0 && largest)
		atomicMax(amax, largest);
	flag_nonfinite(nonfinite, params.state);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
ac_cast(struct ac_cast_params params)
{
	const struct ac_cast_operand o = operand_of(params);
	struct ac_cast_state *const state = params.state;
	const int64_t chunks = o.ld_to / AC_CAST_CHUNK;
	/* All blocks come to the same scale: the state is not written before
	 * the last of them has read it. */
	const struct ac_cast_scale scale = ac_cast_scale_of(state->amax[0],
	    state->amax[1], params.scaled, ac_cast_scalar_read(&params.alpha));
	const struct ac_cast_factor factor = ac_cast_factor_of(
	    blockIdx.y ? scale.exponent[1] : scale.exponent[0]);
	bool nonfinite = false;

	if (chunks > 0 && o.cols_to > 0) {
		struct place place = place_of((uint64_t)blockIdx.x * BLOCK +
		    threadIdx.x, chunks, o.cols_to);
		const struct place step =
		    place_of((uint64_t)gridDim.x * BLOCK, chunks, o.cols_to);

		for (; place.matrix < o.batch;
		    advance(step, chunks, o.cols_to, place)) {
			float x[AC_CAST_CHUNK];

			load(o, place, x);
			nonfinite |= nonfinite_in(x);
			store(o, place, factor, params.format, x);
		}
	}
	flag_nonfinite(nonfinite, state); /* also: all have read the state */
	if (threadIdx.x)
		return;
	__threadfence();
	if (atomicAdd(&state->arrived, 1u) + 1 != gridDim.x * gridDim.y)
		return;
	__threadfence();
	ac_cast_finish(&scale, ac_cast_scalar_read(&params.beta),
	    atomicOr(&state->nonfinite, 0u), state);
}
