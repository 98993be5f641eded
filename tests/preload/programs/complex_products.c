/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/complex_products.c -- complex_products CALLS: products
 * of complex numbers, by cublasCgemm, cublasGemmEx and in a batch. Each adds to
 * what the last one left. Prints the hash of that. */
#include "client.h"

enum { M = 40, N = 36, K = 50, BATCH = 3 };

struct work {
	cublasHandle_t handle;
	cuComplex *a, *b, *c;
};

static cuComplex *
numbers(size_t count, uint64_t seed)
{
	void *memory = client_random_device(2 * count, 1, seed);

	return memory;
}

static void
multiply(const struct work *w)
{
	const cuComplex alpha = { 0.01f, 0.02f }, beta = { 0.5f, 0 };

	BLAS(cublasCgemm(w->handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha,
	    w->a, M, w->b, K, &beta, w->c, M));
	BLAS(cublasGemmEx(w->handle, CUBLAS_OP_N, CUBLAS_OP_C, M, N, K, &alpha,
	    w->a, CUDA_C_32F, M, w->b, CUDA_C_32F, N, &beta, w->c, CUDA_C_32F,
	    M, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
	BLAS(cublasCgemmStridedBatched(w->handle, CUBLAS_OP_T, CUBLAS_OP_N, M,
	    N, K, &alpha, w->a, K, M * K, w->b, K, K * N, &beta, w->c, M,
	    M * N, BATCH));
}

int
main(int argc, char **argv)
{
	const int calls = argc > 1 ? atoi(argv[1]) : 1;
	struct work w = {
		.a = numbers(M * K * BATCH, 1), .b = numbers(K * N * BATCH, 2),
		.c = numbers(M * N * BATCH, 3)
	};
	const size_t count = (size_t)2 * M * N * BATCH;
	float *host = client_allocate(count, sizeof *host);

	BLAS(cublasCreate(&w.handle));
	for (int i = 0; i < calls; i++)
		multiply(&w);
	CUDA(cudaMemcpy(host, w.c, count * sizeof *host,
	    cudaMemcpyDeviceToHost));
	printf("complex %016" PRIx64 "\n", client_hash(0, host, count
	    * sizeof *host));
	BLAS(cublasDestroy(w.handle));
	free(host);
	return EXIT_SUCCESS;
}
