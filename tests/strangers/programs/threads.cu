/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/threads.cu -- OpenMP threads, each with a stream, a
 * handle and buffers of its own: products and a kernel, against FP64. */
#include <cublas_v2.h>
#include <omp.h>
#include "user.h"

enum { THREADS = 4, N = 192, TURNS = 6 };

__global__ void
shift(float *x, float by, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		x[i] += by;
}

/* The error of this thread's product, of its norm. */
static double
work(const std::vector<float> &a, const std::vector<float> &b, float by)
{
	const float one = 1, zero = 0;
	double error = 0, norm = 0;
	float *da, *db, *dc;
	std::vector<float> c(N * N);
	cublasHandle_t blas;
	cudaStream_t stream;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cublasCreate(&blas));
	CHECK(cublasSetStream(blas, stream));
	CHECK(cudaMallocAsync(&da, N * N * 4, stream));
	CHECK(cudaMallocAsync(&db, N * N * 4, stream));
	CHECK(cudaMallocAsync(&dc, N * N * 4, stream));
	CHECK(cudaMemcpyAsync(da, a.data(), N * N * 4, cudaMemcpyHostToDevice,
	    stream));
	CHECK(cudaMemcpyAsync(db, b.data(), N * N * 4, cudaMemcpyHostToDevice,
	    stream));
	for (int turn = 0; turn < TURNS; turn++)
		CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &one, da, N, db, N, &zero, dc, N));
	shift<<<(N * N + 127) / 128, 128, 0, stream>>>(dc, by, N * N);
	CHECK(cudaMemcpyAsync(c.data(), dc, N * N * 4, cudaMemcpyDeviceToHost,
	    stream));
	CHECK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double sum = 0;

			for (int k = 0; k < N; k++)
				sum += (double)a[k * N + i] * b[j * N + k];
			error += pow(c[j * N + i] - by - sum, 2);
			norm += sum * sum;
		}
	CHECK(cudaFreeAsync(da, stream));
	CHECK(cudaFreeAsync(db, stream));
	CHECK(cudaFreeAsync(dc, stream));
	CHECK(cublasDestroy(blas));
	CHECK(cudaStreamDestroy(stream));
	return sqrt(error / norm);
}

int
main()
{
	std::vector<float> a[THREADS], b[THREADS];
	double worst = 0;

	for (int t = 0; t < THREADS; t++) {
		a[t] = uniforms(N * N);
		b[t] = uniforms(N * N);
	}
#pragma omp parallel for num_threads(THREADS) reduction(max : worst)
	for (int t = 0; t < THREADS; t++)
		worst = fmax(worst, work(a[t], b[t], (float)t));
	/* What was added is exact to 2^-24 of the largest element. */
	expect("each thread's products", worst, product_error() + 0x1p-20);
	return wrong;
}
