/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/plugin.c -- a shared object linked to libcublas, as
 * an extension module is; plugin_host opens it. */
#include "plugin.h"
#include "client.h"

enum { N = 80 };

uint64_t
plugin_multiply(int products)
{
	const size_t count = (size_t)N * N;
	const float alpha = 1, beta = 0;
	float *a = client_random_device(count, 1, 1);
	float *b = client_random_device(count, 1, 2);
	float *c = client_random_device(count, 1, 3);
	float host[N * N];
	cublasHandle_t handle;

	BLAS(cublasCreate(&handle));
	for (int i = 0; i < products; i++)
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N,
		    &alpha, a, N, b, N, &beta, c, N));
	client_host(host, c, count);
	BLAS(cublasDestroy(handle));
	CUDA(cudaFree(c));
	CUDA(cudaFree(b));
	CUDA(cudaFree(a));
	return client_hash(0, host, sizeof host);
}
