/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/attention.cu -- causal attention in one kernel, tile
 * by tile with an online softmax, against the same by two cublasSgemmStrided-
 * Batched() and a softmax, and against FP64 on the CPU. */
#include <cublas_v2.h>
#include "user.h"

enum { HEADS = 2, LENGTH = 256, DIM = 64, TILE = 32 };

/* A block is TILE queries of one head, a thread one query. */
__global__ void
flash(const float *q, const float *k, const float *v, float *out, float scale)
{
	__shared__ float ks[TILE][DIM], vs[TILE][DIM];
	const int row = blockIdx.x * TILE + threadIdx.x;
	const size_t head = (size_t)blockIdx.y * LENGTH * DIM;
	float acc[DIM], query[DIM], top = -INFINITY, sum = 0;

	for (int d = 0; d < DIM; d++) {
		query[d] = q[head + row * DIM + d] * scale;
		acc[d] = 0;
	}
	for (int begin = 0; begin <= blockIdx.x * TILE; begin += TILE) {
		for (int i = threadIdx.x; i < TILE * DIM; i += TILE) {
			ks[i / DIM][i % DIM] = k[head + begin * DIM + i];
			vs[i / DIM][i % DIM] = v[head + begin * DIM + i];
		}
		__syncthreads();
		for (int j = 0; j < TILE && begin + j <= row; j++) {
			float s = 0, before = top, shrink, e;

			for (int d = 0; d < DIM; d++)
				s = fmaf(query[d], ks[j][d], s);
			top = fmaxf(top, s);
			shrink = __expf(before - top);
			e = __expf(s - top);
			sum = sum * shrink + e;
			for (int d = 0; d < DIM; d++)
				acc[d] = acc[d] * shrink + e * vs[j][d];
		}
		__syncthreads();
	}
	for (int d = 0; d < DIM; d++)
		out[head + row * DIM + d] = acc[d] / sum;
}

/* A warp per row of the scores. */
__global__ void
causal_softmax(float *s, float scale)
{
	const int row = blockIdx.x, lane = threadIdx.x;
	float *const x = s + ((size_t)blockIdx.y * LENGTH + row) * LENGTH;
	float top = -INFINITY, sum = 0;

	for (int i = lane; i <= row; i += 32)
		top = fmaxf(top, x[i] * scale);
	for (int d = 16; d; d /= 2)
		top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, d));
	for (int i = lane; i <= row; i += 32)
		sum += expf(x[i] * scale - top);
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffff, sum, d);
	for (int i = lane; i < LENGTH; i += 32)
		x[i] = i <= row ? expf(x[i] * scale - top) / sum : 0;
}

static double
distance(const std::vector<float> &a, const std::vector<double> &b)
{
	double error = 0, norm = 0;

	for (size_t i = 0; i < a.size(); i++) {
		error += pow(a[i] - b[i], 2);
		norm += b[i] * b[i];
	}
	return sqrt(error / norm);
}

int
main()
{
	const size_t all = HEADS * LENGTH * DIM;
	const auto q = uniforms(all), k = uniforms(all), v = uniforms(all);
	const float scale = 1 / sqrtf(DIM), one = 1, zero = 0;
	float *dq = upload(q), *dk = upload(k), *dv = upload(v), *out, *s;
	std::vector<double> wanted(all);
	const long long step = LENGTH * DIM, square = LENGTH * LENGTH;
	double largest = 0;
	cublasHandle_t blas;

	for (int h = 0; h < HEADS; h++)
		for (int r = 0; r < LENGTH; r++) {
			double e[LENGTH], sum = 0, norm = 0;

			for (int c = 0; c <= r; c++) {
				double x = 0;

				for (int d = 0; d < DIM; d++)
					x += (double)q[(h * LENGTH + r) * DIM +
					    d] * k[(h * LENGTH + c) * DIM + d];
				norm += x * x * scale * scale;
				sum += e[c] = exp(x * scale);
			}
			largest = fmax(largest, sqrt(norm));
			for (int c = 0; c <= r; c++)
				for (int d = 0; d < DIM; d++)
					wanted[(h * LENGTH + r) * DIM + d] +=
					    e[c] / sum * v[(h * LENGTH + c) *
					    DIM + d];
		}
	CHECK(cublasCreate(&blas));
	CHECK(cudaMalloc(&out, all * sizeof *out));
	CHECK(cudaMalloc(&s, HEADS * square * sizeof *s));
	flash<<<dim3(LENGTH / TILE, HEADS), TILE>>>(dq, dk, dv, out, scale);
	CHECK(cudaGetLastError());
	/* Sums of DIM and of LENGTH terms, an exponential each: 2^-23 for each
	 * step, times what the softmax makes of an error of its arguments. */
	expect("one kernel", distance(download(out, all), wanted),
	    (DIM + LENGTH + 8) * 0x1p-23 * (1 + largest));
	for (int turn = 0; turn < 6; turn++) {
		CHECK(cublasSgemmStridedBatched(blas, CUBLAS_OP_T, CUBLAS_OP_N,
		    LENGTH, LENGTH, DIM, &one, dk, DIM, step, dq, DIM, step,
		    &zero, s, LENGTH, square, HEADS));
		causal_softmax<<<dim3(LENGTH, HEADS), 32>>>(s, scale);
		CHECK(cublasSgemmStridedBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N,
		    DIM, LENGTH, LENGTH, &one, dv, DIM, step, s, LENGTH,
		    square, &zero, out, DIM, step, HEADS));
	}
	/* A product's error of the scores, and one of the result; as much as
	 * the scores are large. */
	expect("two products and a softmax", distance(download(out, all),
	    wanted), product_error() * (1 + largest) * 2);
	return wrong;
}
