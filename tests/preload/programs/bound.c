/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/bound.c -- products of one size in a row, each into
 * its layer's place, as a loop of small layers makes them: bound SIZE LAYERS
 * STEPS. The device is waited for once a step. Prints the microseconds that a
 * product took in the second half of the steps. */
#include "client.h"

int
main(int argc, char **argv)
{
	const int size = argc > 1 ? atoi(argv[1]) : 0;
	const int layers = argc > 2 ? atoi(argv[2]) : 0;
	const int steps = argc > 3 ? atoi(argv[3]) : 0;
	const size_t count = (size_t)size * (size_t)size;
	cudaEvent_t start, end;
	cublasHandle_t handle;
	float *a, *b, *c, ms;

	if (size < 1 || layers < 1 || steps < 2)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	CUDA(cudaEventCreate(&start));
	CUDA(cudaEventCreate(&end));
	a = client_random_device(count, 1, 1);
	b = client_random_device(count, 1, 2);
	CUDA(cudaMalloc((void **)&c, (size_t)layers * count * sizeof *c));
	for (int step = 0; step < steps; step++) {
		if (step == steps / 2)
			CUDA(cudaEventRecord(start, NULL));
		for (int layer = 0; layer < layers; layer++)
			BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N,
			    size, size, size, &one, a, size, b, size, &zero,
			    c + (size_t)layer * count, size));
		CUDA(cudaDeviceSynchronize());
	}
	CUDA(cudaEventRecord(end, NULL));
	CUDA(cudaEventSynchronize(end));
	CUDA(cudaEventElapsedTime(&ms, start, end));
	printf("%.3f\n", 1000 * (double)ms / (steps - steps / 2) / layers);
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
