/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/stream_each.c -- a server that has a stream for each
 * request: stream_each REQUESTS ALIVE. Of one place, a product each; the last
 * ALIVE streams stay, and are used in turn. */
#include "client.h"

enum { N = 64, MOST = 512 };

int
main(int argc, char **argv)
{
	const int requests = argc > 1 ? atoi(argv[1]) : 0;
	const int alive = argc > 2 ? atoi(argv[2]) : 0;
	float *a = client_random_device(N * N, 1, 1);
	float *c = client_random_device(N * N, 1, 2);
	cudaStream_t stream[MOST] = { NULL };
	cublasHandle_t handle;

	if (alive < 1 || alive > MOST)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	for (int i = 0; i < requests; i++) {
		cudaStream_t *mine = &stream[i % alive];

		if (!*mine)
			CUDA(cudaStreamCreateWithFlags(mine,
			    cudaStreamNonBlocking));
		BLAS(cublasSetStream(handle, *mine));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &one, a, N, a, N, &zero, c, N));
		CUDA(cudaStreamSynchronize(*mine));
		if (alive > 1)
			continue;
		CUDA(cudaStreamDestroy(*mine));
		*mine = NULL;
	}
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
