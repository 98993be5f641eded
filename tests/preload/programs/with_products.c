/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/with_products.c -- products on so many streams as
 * have lanes, and convolutions next to them: with_products WORD=VALUE..., of
 * the convolution. */
#include "conv_problem.h"

#include <cublas_v2.h>

enum { STREAMS = 16, SIDE = 64 };

int
main(int argc, char **argv)
{
	const float one = 1, zero = 0;
	struct problem p = { .bytes = 0 };
	cublasHandle_t products;
	cudnnHandle_t handle;
	float *matrix;

	if (!parse(argc, argv))
		return 2;
	MUST(cudaMalloc((void **)&matrix, 2 * SIDE * SIDE * sizeof *matrix));
	MUST(cudaMemset(matrix, 0, 2 * SIDE * SIDE * sizeof *matrix));
	MUST(cublasCreate(&products));
	for (int i = 0; i < STREAMS; i++) {
		cudaStream_t stream;

		MUST(cudaStreamCreate(&stream));
		MUST(cublasSetStream(products, stream));
		MUST(cublasSgemm(products, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE,
		    SIDE, &one, matrix, SIDE, matrix, SIDE, &zero,
		    matrix + SIDE * SIDE, SIDE));
	}
	MUST(cudnnCreate(&handle));
	make(&p, handle);
	for (int i = 0; i < whole("calls"); i++)
		MUST(convolve(&p, handle));
	MUST(cudaDeviceSynchronize());
	MUST(cudnnDestroy(handle));
	MUST(cublasDestroy(products));
	return 0;
}
