/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/scaler/scaler_sums.cu -- the GPU side of norms and guarded sums,
 * where a lane takes elements by four. The order of the sums is
 * scaler_body.h's.
 *
 * Compiled together with scaler.cu, after it. */

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
lane_part(const void *data, const struct ac_scaler_slice &slice, uint32_t p)
{
	typedef typename kind<dtype>::bits bits;
	const void *from = (const bits *)data + slice.first;
	double sum = 0;

	AC_CAST_ROLLED
	for (uint64_t i = threadIdx.x * AC_SCALER_FOUR; i < slice.count;
	    i += AC_SCALER_FOUR * AC_SCALER_LANES) {
		bits x[AC_SCALER_FOUR];

		load_four<dtype>(from, i, slice.count, x);
#pragma unroll
		for (int j = 0; j < AC_SCALER_FOUR; j++)
			sum = ac_scaler_join(sum, ac_scaler_part(
			    number_of<dtype>(x[j]), p), p);
	}
	return sum;
}

static __device__ __forceinline__ double
lane_part_any(const struct ac_scaler_tensor &t,
    const struct ac_scaler_slice &slice, uint32_t p)
{
	switch (t.dtype) {
	case AC_SCALER_F32:
		return lane_part<AC_SCALER_F32>(t.data, slice, p);
	case AC_SCALER_F64:
		return lane_part<AC_SCALER_F64>(t.data, slice, p);
	case AC_SCALER_F16:
		return lane_part<AC_SCALER_F16>(t.data, slice, p);
	default:
		return lane_part<AC_SCALER_BF16>(t.data, slice, p);
	}
}

/* What the block's lanes have together, for thread 0. */
static __device__ __forceinline__ double
together(double sum, uint32_t p, double *sums)
{
	AC_CAST_ROLLED
	for (int away = AC_CAST_LANES / 2; away; away /= 2)
		sum = ac_scaler_join(sum, __shfl_xor_sync(ALL, sum, away), p);
	__syncthreads(); /* thread 0 has read what was there before */
	if (threadIdx.x % AC_CAST_LANES == 0)
		sums[threadIdx.x / AC_CAST_LANES] = sum;
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
		const struct ac_scaler_slice slice = ac_scaler_slice_of(
		    pass.tensors, pass.tensor_count, chunk);

		sum = together(lane_part_any(pass.tensors[slice.tensor], slice,
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
