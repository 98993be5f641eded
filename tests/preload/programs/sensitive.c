/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/preload/programs/sensitive.c -- sensitive SITES CALLS LIMIT [SITE]...:
 * so many products of different widths, in turn, so many times. The outputs of
 * each SITE (from 0) count: is one off by more than LIMIT of the square root of
 * its terms' squares, it prints "spoilt", else "good"; with LIMIT 0 a hash of
 * their bits.
 */
#include "client.h"

#include <math.h>

enum { M = 512, K = 2048, FIRST = 512, STEP = 8 };

static float a[M * K], *b, *c;
static float *da, *db, *dc;

static void
fill(float *x, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i++)
		x[i] = (float)((double)(client_random(&seed) >> 11) * 0x1p-53
		    - 0.5);
}

/* The first row is held against FP64. */
static bool
is_spoilt(int n, double limit)
{
	for (int j = 0; j < n; j++) {
		double sum = 0, square = 0;

		for (int l = 0; l < K; l++) {
			const double x = (double)a[l * M]
			    * (double)b[(size_t)j * K + (size_t)l];

			sum += x;
			square += x * x;
		}
		if (!(fabs((double)c[(size_t)j * M] - sum)
		    <= limit * sqrt(square)))
			return true;
	}
	return false;
}

static bool
multiply(cublasHandle_t handle, int site, bool counts, double limit,
    uint64_t *bits_out)
{
	const int n = FIRST + STEP * site;
	const float one = 1, zero = 0;

	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, n, K, &one, da, M,
	    db, K, &zero, dc, M));
	if (!counts)
		return false;
	CUDA(cudaMemcpy(c, dc, sizeof *c * M * (size_t)n,
	    cudaMemcpyDeviceToHost));
	*bits_out = client_hash(*bits_out, c, sizeof *c * M * (size_t)n);
	return limit > 0 && is_spoilt(n, limit);
}

static bool
is_named(int site, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (atoi(argv[i]) == site)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	const int sites = argc > 3 ? atoi(argv[1]) : 0;
	const size_t wide = (size_t)(FIRST + STEP * sites);
	bool spoilt = false;
	uint64_t bits = 0;
	cublasHandle_t handle;

	if (sites < 1)
		return EXIT_USAGE;
	b = client_allocate(wide * K, sizeof *b);
	c = client_allocate(wide * M, sizeof *c);
	fill(a, (size_t)M * K, 1);
	fill(b, wide * K, 2);
	BLAS(cublasCreate(&handle));
	CUDA(cudaMalloc((void **)&da, sizeof a));
	CUDA(cudaMalloc((void **)&db, wide * K * sizeof *b));
	CUDA(cudaMalloc((void **)&dc, wide * M * sizeof *c));
	CUDA(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(db, b, wide * K * sizeof *b, cudaMemcpyHostToDevice));
	for (int i = 0; i < atoi(argv[2]) * sites; i++)
		spoilt |= multiply(handle, i % sites, is_named(i % sites, argc,
		    argv), atof(argv[3]), &bits);
	CUDA(cudaDeviceSynchronize());
	if (atof(argv[3]) > 0)
		printf("%s\n", spoilt ? "spoilt" : "good");
	else
		printf("bits %016" PRIx64 "\n", bits);
	BLAS(cublasDestroy(handle));
	CUDA(cudaFree(da));
	CUDA(cudaFree(db));
	CUDA(cudaFree(dc));
	free(b);
	free(c);
	return 0;
}
