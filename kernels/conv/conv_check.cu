/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/conv/conv_check.cu -- the GPU side of the sample of a convolution.
 * The rules are conv_body.h's.
 *
 * A block takes sampled outputs one after the other, its threads the terms;
 * then all threads of the launch look through the output; the last block
 * judges and posts. Compiled together with
 * recast_block.cu, after it. */
#include "kernels/conv/conv_body.h"

/* This thread's terms of a sampled output. */
static __device__ __forceinline__ double
conv_terms(const struct ac_conv_job &job, uint32_t row, uint32_t col)
{
	const struct ac_conv_line &position = job.line[0][row];
	const struct ac_conv_digits step = ac_conv_digits_of(&job,
	    AC_CONV_LANES);
	struct ac_conv_digits digits = ac_conv_digits_of(&job, threadIdx.x);
	struct ac_conv_pair from;
	double sum = 0;

	from.a = position.a + job.line[1][col].a;
	from.b = position.b + job.line[1][col].b;
	from.is_inside = true;
	AC_CAST_ROLLED
	for (int64_t left = job.terms - threadIdx.x; left > 0;
	    left -= AC_CONV_LANES) {
		const struct ac_conv_pair pair = ac_conv_pair_of(&job, &from,
		    position.base, &digits);

		if (pair.is_inside)
			sum = sum + (double)__ldg(job.a + pair.a)
			    * (double)__ldg(job.b + pair.b);
		ac_conv_advance(&job, &step, &digits);
	}
	AC_CAST_ROLLED
	for (int away = AC_CAST_LANES / 2; away; away /= 2)
		sum = sum + __shfl_xor_sync(~0u, sum, away);
	return sum;
}

/* This block's sampled outputs; what was found, for thread 0. */
static __device__ __forceinline__ uint32_t
conv_sample(const struct ac_conv_job &job, double *sums)
{
	const uint32_t rows = job.count[0];
	uint32_t found = 0;

	AC_CAST_ROLLED
	for (uint32_t at = blockIdx.x; at < rows * job.count[1];
	    at += gridDim.x) {
		const uint32_t row = at % rows, col = at / rows;
		double sum = conv_terms(job, row, col);

		if (threadIdx.x % AC_CAST_LANES == 0)
			sums[threadIdx.x / AC_CAST_LANES] = sum;
		__syncthreads();
		if (!threadIdx.x) {
			AC_CAST_ROLLED
			for (int i = 1; i < AC_CONV_WARPS; i++)
				sum = sum + sums[i];
			found |= ac_conv_compare(&job, row, col, sum);
		}
		__syncthreads();
	}
	return found;
}

static __device__ __forceinline__ uint32_t
conv_scan(const struct ac_conv_job &job)
{
	uint32_t found = 0;

	AC_CAST_ROLLED
	for (int64_t i = (int64_t)blockIdx.x * AC_CONV_LANES + threadIdx.x;
	    i < job.scan_count; i += (int64_t)gridDim.x * AC_CONV_LANES)
		found |= ac_conv_found_in(__ldg(job.out
		    + ac_conv_scan_offset(&job, i)));
	return found;
}

extern "C" __global__ void __launch_bounds__(AC_CAST_BLOCK, BLOCKS)
ac_conv_check(struct ac_conv_job job)
{
	__shared__ double sums[AC_CONV_WARPS];
	__shared__ struct ac_conv_norm norms[2 * AC_CONV_SIDE];
	__shared__ float energy[2];
	const uint32_t found = conv_sample(job, sums) | conv_scan(job);

	if (found)
		atomicOr(&job.scratch->found, found);
	if (!is_last_block(&job.scratch->arrived))
		return;
	if (threadIdx.x < 2 * AC_CONV_SIDE)
		norms[threadIdx.x] = ac_conv_norm_of(&job, threadIdx.x);
	else if (threadIdx.x < 2 * AC_CONV_SIDE + 2)
		energy[threadIdx.x - 2 * AC_CONV_SIDE] = ac_conv_energy(&job,
		    threadIdx.x - 2 * AC_CONV_SIDE);
	__syncthreads();
	if (!threadIdx.x)
		ac_conv_close(&job, norms, energy);
}
