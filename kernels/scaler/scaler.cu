/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler.cu -- the GPU side of the gradient scaler: who works on
 * which elements, and how the blocks of a launch bring together what they
 * found. The arithmetic is scaler_body.h's.
 *
 * Compiled into scaler.ptx by make-ptx.sh, before scaler_sums.cu. A block takes
 * chunks in turn, 16 bytes a thread, and elements one by one before the first
 * border of 16 bytes and after the last. */
#include "kernels/scaler/scaler_body.h"
#include "kernels/scaler/scaler_update.h"

enum {
	BLOCKS = 3,             /* on an SM at least: 80 registers */
	AHEAD = 2,              /* loads on their way in a thread */
	ALL = ~0
};

/* What an element's bits are kept in. */
template <uint32_t dtype> struct kind { typedef uint16_t bits; };
template <> struct kind<AC_SCALER_F32> { typedef uint32_t bits; };
template <> struct kind<AC_SCALER_F64> { typedef uint64_t bits; };

/* ---- Element by element -------------------------------------------------- */

template <uint32_t dtype> static __device__ __forceinline__ uint32_t
look_at(const uint4 &v)
{
	const uint32_t upper = ac_scaler_look(dtype, v.y)
	    | ac_scaler_look(dtype, v.w);

	if (dtype == AC_SCALER_F64)
		return upper;
	return upper | ac_scaler_look(dtype, v.x) | ac_scaler_look(dtype, v.z);
}

/* A word of FP32 or of two that are shorter. */
template <uint32_t dtype> static __device__ __forceinline__ uint32_t
times(uint32_t word, float factor)
{
	if (dtype == AC_SCALER_F32)
		return ac_scaler_times(dtype, word, factor);
	return ac_scaler_times(dtype, word & 0xffff, factor)
	    | ac_scaler_times(dtype, word >> 16, factor) << 16;
}

static __device__ __forceinline__ uint64_t
both(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

template <uint32_t dtype> static __device__ __forceinline__ uint4
times_pack(const uint4 &v, const struct ac_scaler_way &way)
{
	if (dtype == AC_SCALER_F64) {
		const uint64_t x = ac_scaler_times_double(both(v.x, v.y),
		    way.factor_double);
		const uint64_t y = ac_scaler_times_double(both(v.z, v.w),
		    way.factor_double);

		return make_uint4((uint32_t)x, (uint32_t)(x >> 32),
		    (uint32_t)y, (uint32_t)(y >> 32));
	}
	return make_uint4(times<dtype>(v.x, way.factor),
	    times<dtype>(v.y, way.factor), times<dtype>(v.z, way.factor),
	    times<dtype>(v.w, way.factor));
}

/* Not 0 if an element is not finite. */
template <uint32_t dtype> static __device__ __forceinline__ uint32_t
treat_pack(const struct ac_scaler_way &way, const uint4 &from, uint4 *at)
{
	uint32_t bad = look_at<dtype>(from);

	if (way.write || way.after) {
		const uint4 to = times_pack<dtype>(from, way);

		if (way.after)
			bad |= look_at<dtype>(to);
		if (way.write)
			*at = to;
	}
	return bad;
}

template <uint32_t dtype> static __device__ __forceinline__ uint32_t
treat_one(const struct ac_scaler_way &way, typename kind<dtype>::bits *at)
{
	const typename kind<dtype>::bits from = *at, to = dtype
	    == AC_SCALER_F64 ? ac_scaler_times_double(from, way.factor_double)
	    : ac_scaler_times(dtype, (uint32_t)from, way.factor);
	const int shift = dtype == AC_SCALER_F64 ? 32 : 0;
	uint32_t bad = ac_scaler_look(dtype, (uint32_t)(from >> shift));

	if (way.after)
		bad |= ac_scaler_look(dtype, (uint32_t)(to >> shift));
	if (way.write)
		*at = to;
	return bad;
}

/* This thread's packs. */
template <uint32_t dtype> static __device__ __forceinline__ uint32_t
treat_packs(const struct ac_scaler_way &way, uint4 *at, uint32_t count)
{
	uint4 from[AHEAD];
	uint32_t bad = 0;

	AC_CAST_ROLLED
	for (uint32_t i = threadIdx.x; i < count; i += AHEAD * AC_CAST_BLOCK) {
#pragma unroll
		for (int j = 0; j < AHEAD; j++)
			if (i + j * AC_CAST_BLOCK < count)
				from[j] = at[i + j * AC_CAST_BLOCK];
#pragma unroll
		for (int j = 0; j < AHEAD; j++)
			if (i + j * AC_CAST_BLOCK < count)
				bad |= treat_pack<dtype>(way, from[j],
				    at + i + j * AC_CAST_BLOCK);
	}
	return bad;
}

/* A chunk, by a block. */
template <uint32_t dtype> static __device__ __forceinline__ uint32_t
treat_chunk(const struct ac_scaler_way &way, void *data, uint64_t first,
    uint32_t count)
{
	typedef typename kind<dtype>::bits bits;
	const uint32_t each = sizeof(uint4) / sizeof(bits);
	bits *from = (bits *)data + first;
	const uint32_t border = (uint32_t)(0 - (uintptr_t)from)
	    % sizeof(uint4) / sizeof(bits);
	const uint32_t head = border < count ? border : count;
	const uint32_t packs = (count - head) / each;
	const uint32_t tail = head + packs * each + threadIdx.x;
	uint32_t bad = treat_packs<dtype>(way, (uint4 *)(from + head), packs);

	/* Fewer than `each` on either side: one of them for a thread. */
	if (threadIdx.x < head)
		bad |= treat_one<dtype>(way, from + threadIdx.x);
	if (tail < count)
		bad |= treat_one<dtype>(way, from + tail);
	return bad;
}

/* Not inlined: three kernels share its text. Named as C does: a name of nvcc's
 * own would be another one each time. */
extern "C" __device__ __noinline__ uint32_t
ac_scaler_treat(struct ac_scaler_way all, uint32_t dtype, void *data,
    uint64_t first, uint32_t count)
{
	const struct ac_scaler_way way = ac_scaler_way_for(&all, dtype);

	switch (dtype) {
	case AC_SCALER_F32:
		return treat_chunk<AC_SCALER_F32>(way, data, first, count);
	case AC_SCALER_F64:
		return treat_chunk<AC_SCALER_F64>(way, data, first, count);
	case AC_SCALER_F16:
		return treat_chunk<AC_SCALER_F16>(way, data, first, count);
	default:
		return treat_chunk<AC_SCALER_BF16>(way, data, first, count);
	}
}

static __device__ __forceinline__ bool
treat_all(const struct ac_scaler_way &way,
    const struct ac_scaler_tensor *tensors, uint64_t tensor_count,
    uint64_t chunk_count)
{
	uint32_t bad = 0;

	AC_CAST_ROLLED
	for (uint64_t chunk = blockIdx.x; chunk < chunk_count;
	    chunk += gridDim.x) {
		const struct ac_scaler_slice slice = ac_scaler_slice_of(tensors,
		    tensor_count, chunk);

		bad |= ac_scaler_treat(way, tensors[slice.tensor].dtype,
		    tensors[slice.tensor].data, slice.first,
		    (uint32_t)slice.count);
	}
	return bad != 0;
}

/* Whether this is the block that comes last: all of it asks. */
static __device__ __forceinline__ bool
is_last(struct ac_scaler_words *words)
{
	bool last = false;

	__threadfence();
	__syncthreads();
	if (!threadIdx.x)
		last = atomicAdd(&words->arrived, 1u) + 1 == gridDim.x;
	last = __syncthreads_or(last);
	if (last)
		__threadfence();
	return last;
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_scaler_multiply(struct ac_scaler_product product)
{
	const struct ac_scaler_way way =
	    ac_scaler_way_of(product.state->scale);

	if (way.write)
		treat_all(way, product.tensor, product.tensor_count,
		    product.chunk_count);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_scaler_unscale(struct ac_scaler_pass pass)
{
	const bool bad = treat_all(ac_scaler_unscale_way(&pass), pass.tensors,
	    pass.tensor_count, pass.chunk_count);

	if (__syncthreads_or(bad) && !threadIdx.x)
		atomicOr(&pass.words->found, 1u);
	if (is_last(pass.words) && !threadIdx.x)
		ac_scaler_publish(&pass);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_scaler_clip(struct ac_scaler_pass pass)
{
	const struct ac_scaler_way way = ac_scaler_clip_way(pass.words);

	if (way.write)
		treat_all(way, pass.tensors, pass.tensor_count,
		    pass.chunk_count);
}

/* ---- What one thread does ------------------------------------------------ */

extern "C" __global__ void
ac_scaler_fold(struct ac_scaler_words *words, struct ac_scaler_state *state,
    const float *flags, uint64_t count)
{
	ac_scaler_fold_flags(words, state, flags, count);
}

extern "C" __global__ void
ac_scaler_close(struct ac_scaler_close close)
{
	ac_scaler_close_norm(&close);
}

extern "C" __global__ void
ac_scaler_update(struct ac_scaler_state *state, struct ac_scaler_rule rule)
{
	ac_scaler_apply(state, &rule);
}

extern "C" __global__ void
ac_scaler_set(struct ac_scaler_state *state, struct ac_scaler_set set)
{
	ac_scaler_assign(state, &set);
}
