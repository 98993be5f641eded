/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler.cu -- the GPU side of the gradient scaler: who works on which
 * elements, and how the blocks of a launch bring together what they found. The
 * arithmetic and the order of the sums are scaler_body.h's.
 *
 * Compiled into scaler.ptx by make-ptx.sh. A block takes chunks in turn, 16
 * bytes a thread, and elements one by one before the first border of 16 bytes
 * and after the last. */
#include "kernels/scaler_body.h"
#include "kernels/scaler_update.h"

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
times_pack(const uint4 &v, float factor)
{
	if (dtype == AC_SCALER_F64) {
		const uint64_t x = ac_scaler_times_double(both(v.x, v.y),
		    factor);
		const uint64_t y = ac_scaler_times_double(both(v.z, v.w),
		    factor);

		return make_uint4((uint32_t)x, (uint32_t)(x >> 32),
		    (uint32_t)y, (uint32_t)(y >> 32));
	}
	return make_uint4(times<dtype>(v.x, factor), times<dtype>(v.y, factor),
	    times<dtype>(v.z, factor), times<dtype>(v.w, factor));
}

/* Not 0 if an element is not finite. */
template <uint32_t dtype> static __device__ __forceinline__ uint32_t
treat_pack(const struct ac_scaler_way &way, const uint4 &from, uint4 *at)
{
	uint32_t bad = look_at<dtype>(from);

	if (way.write || way.after) {
		const uint4 to = times_pack<dtype>(from, way.factor);

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
	    == AC_SCALER_F64 ? ac_scaler_times_double(from, way.factor)
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
ac_scaler_treat(struct ac_scaler_way way, uint32_t dtype, void *data, uint64_t first,
    uint32_t count)
{
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
		const struct ac_scaler_spot spot = ac_scaler_spot_of(tensors,
		    tensor_count, chunk);

		bad |= ac_scaler_treat(way, tensors[spot.tensor].dtype,
		    tensors[spot.tensor].data, spot.first,
		    (uint32_t)spot.count);
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
	const struct ac_scaler_way way =
	    ac_scaler_way_of(pass.words->coefficient);

	if (way.write)
		treat_all(way, pass.tensors, pass.tensor_count,
		    pass.chunk_count);
}

/* ---- By four ------------------------------------------------------------- */

/* Elements from `first` on; +0 past the end. One load where the address and
 * the count allow. */
template <uint32_t dtype> static __device__ __forceinline__ void
load_four(const void *data, uint64_t first, uint64_t count,
    typename kind<dtype>::bits (&x)[AC_SCALER_FOUR])
{
	typedef typename kind<dtype>::bits bits;
	const bits *from = (const bits *)data + first;
	const bool whole = count - first >= AC_SCALER_FOUR;

	if (whole && sizeof(bits) == 4 && !((uintptr_t)from & 15)) {
		const uint4 v = *(const uint4 *)from;

		x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
		return;
	}
	if (whole && sizeof(bits) == 2 && !((uintptr_t)from & 7)) {
		const uint2 v = *(const uint2 *)from;

		x[0] = (bits)v.x, x[1] = (bits)(v.x >> 16);
		x[2] = (bits)v.y, x[3] = (bits)(v.y >> 16);
		return;
	}
	if (whole && sizeof(bits) == 8 && !((uintptr_t)from & 15)) {
		const ulonglong2 v = ((const ulonglong2 *)from)[0];
		const ulonglong2 w = ((const ulonglong2 *)from)[1];

		x[0] = (bits)v.x, x[1] = (bits)v.y;
		x[2] = (bits)w.x, x[3] = (bits)w.y;
		return;
	}
#pragma unroll
	for (int i = 0; i < AC_SCALER_FOUR; i++)
		x[i] = first + i < count ? from[i] : 0;
}

template <uint32_t dtype> static __device__ __forceinline__ double
number_of(typename kind<dtype>::bits x)
{
	return dtype == AC_SCALER_F64 ? ac_scaler_double(x)
	    : (double)ac_scaler_wide(dtype, (uint32_t)x);
}

/* ---- Norms --------------------------------------------------------------- */

/* This lane's part of a chunk. */
template <uint32_t dtype> static __device__ __forceinline__ double
lane_part(const void *data, const struct ac_scaler_spot &spot, uint32_t p)
{
	typedef typename kind<dtype>::bits bits;
	const void *from = (const bits *)data + spot.first;
	double sum = 0;

	AC_CAST_ROLLED
	for (uint64_t i = threadIdx.x * AC_SCALER_FOUR; i < spot.count;
	    i += AC_SCALER_FOUR * AC_SCALER_LANES) {
		bits x[AC_SCALER_FOUR];

		load_four<dtype>(from, i, spot.count, x);
#pragma unroll
		for (int j = 0; j < AC_SCALER_FOUR; j++)
			sum = ac_scaler_join(sum, ac_scaler_part(
			    number_of<dtype>(x[j]), p), p);
	}
	return sum;
}

static __device__ __forceinline__ double
lane_part_any(const struct ac_scaler_tensor &t,
    const struct ac_scaler_spot &spot, uint32_t p)
{
	switch (t.dtype) {
	case AC_SCALER_F32:
		return lane_part<AC_SCALER_F32>(t.data, spot, p);
	case AC_SCALER_F64:
		return lane_part<AC_SCALER_F64>(t.data, spot, p);
	case AC_SCALER_F16:
		return lane_part<AC_SCALER_F16>(t.data, spot, p);
	default:
		return lane_part<AC_SCALER_BF16>(t.data, spot, p);
	}
}

/* What the block's lanes have together, for thread 0. */
static __device__ __forceinline__ double
together(double sum, uint32_t p, double *sums)
{
	AC_CAST_ROLLED
	for (int away = AC_RECAST_LANES / 2; away; away /= 2)
		sum = ac_scaler_join(sum, __shfl_xor_sync(ALL, sum, away), p);
	__syncthreads(); /* thread 0 has read what was there before */
	if (threadIdx.x % AC_RECAST_LANES == 0)
		sums[threadIdx.x / AC_RECAST_LANES] = sum;
	__syncthreads();
	AC_CAST_ROLLED
	for (int i = 1; i < AC_SCALER_WARPS && !threadIdx.x; i++)
		sum = ac_scaler_join(sum, sums[i], p);
	return ac_scaler_clean_double(sum);
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_scaler_norm(struct ac_scaler_pass pass, uint32_t p)
{
	__shared__ double sums[AC_SCALER_WARPS];
	double sum;

	AC_CAST_ROLLED
	for (uint64_t chunk = blockIdx.x; chunk < pass.chunk_count;
	    chunk += gridDim.x) {
		const struct ac_scaler_spot spot = ac_scaler_spot_of(
		    pass.tensors, pass.tensor_count, chunk);

		sum = together(lane_part_any(pass.tensors[spot.tensor], spot,
		    p), p, sums);
		if (!threadIdx.x)
			pass.partials[chunk] = sum;
	}
	if (!is_last(pass.words))
		return;
	sum = 0;
	AC_CAST_ROLLED
	for (uint64_t i = threadIdx.x; i < pass.chunk_count;
	    i += AC_SCALER_LANES)
		sum = ac_scaler_join(sum, __ldcg(pass.partials + i), p);
	sum = together(sum, p, sums);
	if (!threadIdx.x) {
		pass.words->sum = sum;
		pass.words->arrived = 0;
	}
}

/* ---- Guarded sums -------------------------------------------------------- */

/* y += alpha x in FP32. */
template <uint32_t dtype> static __device__ __forceinline__ void
add_four(const struct ac_scaler_sum &job, float alpha, uint64_t first)
{
	typename kind<dtype>::bits x[AC_SCALER_FOUR];
	uint32_t y[AC_SCALER_FOUR];
	uint32_t *to = (uint32_t *)job.y + first;

	load_four<dtype>(job.x, first, job.count, x);
	load_four<AC_SCALER_F32>(job.y, first, job.count, y);
#pragma unroll
	for (int i = 0; i < AC_SCALER_FOUR; i++)
		y[i] = ac_cast_bits(ac_scaler_added(ac_cast_float(y[i]), alpha,
		    ac_scaler_wide(dtype, (uint32_t)x[i])));
	if (job.count - first >= AC_SCALER_FOUR && !((uintptr_t)to & 15)) {
		*(uint4 *)to = make_uint4(y[0], y[1], y[2], y[3]);
		return;
	}
#pragma unroll
	for (int i = 0; i < AC_SCALER_FOUR; i++)
		if (first + i < job.count)
			to[i] = y[i];
}

static __device__ __forceinline__ void
add_four_double(const struct ac_scaler_sum &job, float alpha, uint64_t first)
{
	uint64_t x[AC_SCALER_FOUR];
	double *to = (double *)job.y + first;

	load_four<AC_SCALER_F64>(job.x, first, job.count, x);
#pragma unroll
	for (int i = 0; i < AC_SCALER_FOUR; i++)
		if (first + i < job.count)
			to[i] = ac_scaler_added_double(to[i], alpha,
			    ac_scaler_double(x[i]));
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_scaler_add(struct ac_scaler_sum job)
{
	const float alpha = ac_cast_scalar_read(&job.alpha);
	const uint64_t step = (uint64_t)gridDim.x * AC_CAST_BLOCK
	    * AC_SCALER_FOUR;

	if (!ac_scaler_may_add(&job))
		return;
	AC_CAST_ROLLED
	for (uint64_t i = ((uint64_t)blockIdx.x * AC_CAST_BLOCK + threadIdx.x)
	    * AC_SCALER_FOUR; i < job.count; i += step)
		switch (job.x_dtype) {
		case AC_SCALER_F32:
			add_four<AC_SCALER_F32>(job, alpha, i);
			break;
		case AC_SCALER_F64:
			add_four_double(job, alpha, i);
			break;
		case AC_SCALER_F16:
			add_four<AC_SCALER_F16>(job, alpha, i);
			break;
		default:
			add_four<AC_SCALER_BF16>(job, alpha, i);
		}
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
