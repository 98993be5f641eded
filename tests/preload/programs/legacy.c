/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/legacy.c -- symbols that are passed through by a
 * jump: arguments in every register and on the stack arrive as they were. */
#include <cublas.h>
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

enum { M = 5, N = 4, K = 3 };

int
main(void)
{
	float a[M * K], b[K * N], c[M * N], *device;
	double worst = 0;

	for (int i = 0; i < M * K; i++)
		a[i] = (float)(i % 7 - 3);
	for (int i = 0; i < K * N; i++)
		b[i] = (float)(i % 5 - 2);
	for (int i = 0; i < M * N; i++)
		c[i] = 1;
	if (cublasInit() || cudaMalloc((void **)&device, 4096))
		return EXIT_FAILURE;
	cudaMemcpy(device, a, sizeof a, cudaMemcpyHostToDevice);
	cudaMemcpy(device + 100, b, sizeof b, cudaMemcpyHostToDevice);
	cudaMemcpy(device + 200, c, sizeof c, cudaMemcpyHostToDevice);
	cublasSgemm('n', 'n', M, N, K, 0.75f, device, M, device + 100, K, -2,
	    device + 200, M);
	cudaMemcpy(c, device + 200, sizeof c, cudaMemcpyDeviceToHost);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			double sum = 0;

			for (int l = 0; l < K; l++)
				sum += (double)a[i + l * M] * b[l + j * K];
			sum = 0.75 * sum - 2 - c[i + j * M];
			worst = sum * sum > worst ? sum * sum : worst;
		}
	cublasShutdown();
	printf("legacy worst=%g\n", worst);
	return worst == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
