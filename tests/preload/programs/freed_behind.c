/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/freed_behind.c -- products whose C is of a pool, and
 * is freed behind them while they are queued: the next one's C lies there. What
 * is copied from it before must be what a C of its own has: each of the two is
 * within 1e-3 of the exact product, however it was made. */
#include "client.h"

enum { N = 96, STEPS = 40, BYTES = N * N * sizeof(float) };

/* `kept`: room for the results of all steps. */
static void
run(cublasHandle_t handle, cudaStream_t stream, const float *a, bool pooled,
    float *kept)
{
	for (int i = 0; i < STEPS; i++) {
		float *to = kept + (size_t)i * N * N, *c = to;

		if (pooled)
			CUDA(cudaMallocAsync((void **)&c, BYTES, stream));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &one, a + i, N, a, N, &zero, c, N));
		if (!pooled)
			continue;
		CUDA(cudaMemcpyAsync(to, c, BYTES, cudaMemcpyDeviceToDevice,
		    stream));
		CUDA(cudaFreeAsync(c, stream));
	}
	CUDA(cudaStreamSynchronize(stream));
}

/* The square of the distance of two matrices over that of their size. */
static double
distance(const float *a, const float *b)
{
	double apart = 0, size = 0;

	for (int i = 0; i < N * N; i++) {
		apart += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
		size += (double)a[i] * a[i];
	}
	return apart / size;
}

int
main(void)
{
	static float own[STEPS * N * N], pooled[STEPS * N * N];
	const size_t count = sizeof own / sizeof *own;
	const float *a = client_random_device(N * N + STEPS, 1, 1);
	float *kept = client_random_device(count, 1, 2);
	cudaStream_t stream;
	cublasHandle_t handle;

	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
	run(handle, stream, a, false, kept);
	client_host(own, kept, count);
	CUDA(cudaMemset(kept, 0xff, sizeof own));
	CUDA(cudaDeviceSynchronize());
	run(handle, stream, a, true, kept);
	client_host(pooled, kept, count);
	for (size_t i = 0; i < count; i += N * N)
		client_expect(distance(own + i, pooled + i) <= 4e-6,
		    "a C that is freed behind its product has had it");
	BLAS(cublasDestroy(handle));
	CUDA(cudaStreamDestroy(stream));
	return EXIT_SUCCESS;
}
