/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/device_alpha.c -- alpha and beta live on the device
 * and are written just before the call, by copies on the same stream, while
 * the stream is still busy. Powers of two, so that every C is exactly alpha
 * times the first one: who reads a scalar early, or on the host, is found. */
#include "client.h"

enum { N = 48, LONG = 256, CALLS = 12 };

static const float alphas[CALLS] = {
	1, 2, -4, 0.5f, 0, 1024, -0.125f, 1, 0, -1, 65536, 0.0009765625f
};

int
main(void)
{
	const size_t count = (size_t)N * N;
	float *a = client_random_device(count, 1, 1);
	float *b = client_random_device(count, 1, 2);
	float *busy = client_random_device((size_t)LONG * LONG, 1, 3);
	float *busy_to = client_random_device((size_t)LONG * LONG, 1, 4);
	float *scalars, *pinned, *c[CALLS], host[2][N * N];
	cublasHandle_t handle;
	cudaStream_t stream;
	uint64_t hash = 0;

	CUDA(cudaStreamCreate(&stream));
	CUDA(cudaMalloc((void **)&scalars, 2 * sizeof *scalars));
	CUDA(cudaMemset(scalars, 0xff, 2 * sizeof *scalars));
	CUDA(cudaMallocHost((void **)&pinned, 2 * CALLS * sizeof *pinned));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
	for (int i = 0; i < CALLS; i++) {
		CUDA(cudaMalloc((void **)&c[i], sizeof host[0]));
		CUDA(cudaMemset(c[i], 0, sizeof host[0]));
		pinned[2 * i] = alphas[i];
		pinned[2 * i + 1] = (float)(i % 2); /* C is 0: no matter */
	}
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < CALLS; i++) {
		BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, LONG, LONG,
		    LONG, &one, busy, LONG, busy, LONG, &zero, busy_to, LONG));
		BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
		CUDA(cudaMemcpyAsync(scalars, pinned + 2 * i,
		    2 * sizeof *scalars, cudaMemcpyHostToDevice, stream));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N,
		    scalars, a, N, b, N, scalars + 1, c[i], N));
	}
	CUDA(cudaStreamSynchronize(stream));
	for (int i = 0; i < CALLS; i++) {
		client_host(host[1], c[i], count);
		if (!i)
			memcpy(host[0], host[1], sizeof host[0]);
		for (size_t j = 0; j < count; j++)
			client_expect(host[1][j] == alphas[i] * host[0][j],
			    "C is alpha times A B");
		hash = client_hash(hash, host[1], sizeof host[1]);
		CUDA(cudaFree(c[i]));
	}
	BLAS(cublasDestroy(handle));
	CUDA(cudaFreeHost(pinned));
	CUDA(cudaFree(scalars));
	CUDA(cudaFree(busy_to));
	CUDA(cudaFree(busy));
	CUDA(cudaFree(b));
	CUDA(cudaFree(a));
	CUDA(cudaStreamDestroy(stream));
	printf("device_alpha checksum=%016" PRIx64 "\n", hash);
	return EXIT_SUCCESS;
}
