/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/held_stream.c -- products on a stream that a host
 * function holds: held_stream grow|other|order.
 * grow: the second product is larger than the first; memory that the program
 * takes meanwhile keeps its bytes. other: a product on another stream ends
 * while the first is held. order (only where one lane exists): it does not. */
#include "client.h"

enum { SMALL = 64, LARGE = 512, BLOCKS = 64, BYTES = 64 << 10 };

static void
multiply(cublasHandle_t handle, cudaStream_t stream, int n, const float *a,
    float *c)
{
	BLAS(cublasSetStream(handle, stream));
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n,
	    a, n, &zero, c, n));
}

static uint64_t
hash_of(const float *device)
{
	static float host[LARGE * LARGE];

	CUDA(cudaDeviceSynchronize());
	client_host(host, device, LARGE * LARGE);
	return client_hash(0, host, sizeof host);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const size_t count = (size_t)LARGE * LARGE;
	static unsigned char host[BYTES];
	unsigned char *block[BLOCKS];
	cudaStream_t a, b;
	cublasHandle_t handle;
	float *from = client_random_device(count, 1, 1);
	float *c = client_random_device(count, 1, 2);
	float *d = client_random_device(count, 1, 3);
	uint64_t expected;

	alarm(240); /* a deadlock is a failure */
	BLAS(cublasCreate(&handle));
	CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	if (!strcmp(mode, "order"))
		multiply(handle, a, SMALL, from, c);
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaLaunchHostFunc(a, client_hold, NULL));
	multiply(handle, a, SMALL, from, c);
	if (strcmp(mode, "order"))
		multiply(handle, a, LARGE, from, c);
	for (int i = 0; i < BLOCKS; i++) {
		CUDA(cudaMalloc((void **)&block[i], BYTES));
		CUDA(cudaMemsetAsync(block[i], 0xa5, BYTES, b));
	}
	multiply(handle, b, strcmp(mode, "order") ? LARGE : SMALL, from, d);
	if (!strcmp(mode, "other"))
		CUDA(cudaStreamSynchronize(b));
	usleep(200000);
	if (!strcmp(mode, "order"))
		client_expect(cudaStreamQuery(b) == cudaErrorNotReady,
		    "a lane that is in use is waited for");
	client_released = 1;
	expected = hash_of(d);
	if (strcmp(mode, "order"))
		client_expect(hash_of(c) == expected,
		    "both streams get the same bits");
	for (int i = 0; i < BLOCKS; i++) {
		CUDA(cudaMemcpy(host, block[i], BYTES, cudaMemcpyDeviceToHost));
		for (int j = 0; j < BYTES; j++)
			client_expect(host[j] == 0xa5,
			    "memory the program took keeps its bytes");
		CUDA(cudaFree(block[i]));
	}
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
