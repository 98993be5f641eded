/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/preload/programs/queue.c -- queue SIDE CALLS [waits]: equal square
 * products, queued as fast as the host can, or each waited for.
 */
#include "client.h"

int
main(int argc, char **argv)
{
	const float one = 1, zero = 0;
	int side, calls;
	float *a, *b, *c;
	cublasHandle_t handle;

	if (argc < 3)
		return EXIT_USAGE;
	side = atoi(argv[1]);
	calls = atoi(argv[2]);
	a = client_random_device((size_t)side * (size_t)side, 1, 1);
	b = client_random_device((size_t)side * (size_t)side, 1, 2);
	c = client_random_device((size_t)side * (size_t)side, 1, 3);
	BLAS(cublasCreate(&handle));
	for (int i = 0; i < calls; i++) {
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, side, side,
		    side, &one, a, side, b, side, &zero, c, side));
		if (argc > 3)
			CUDA(cudaDeviceSynchronize());
	}
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
