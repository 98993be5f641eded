/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/region.c -- a product that must stay in FP32 next to one that need
 * not.
 *
 * Solves A X = B by refinement: R = B - A X, X += M R, with M an approximate
 * inverse of A. An error in M R is made good by the next step; one in A X is
 * there to stay. First all of it goes as the policy says, then the residual is
 * computed in a region that keeps it. Prints how far either ends from the
 * solution; exits 1 if the second is further than FP32 should be.
 *
 * Nothing is linked for it: AUTOCAST_DYNAMIC finds the library if it is there,
 * and without it both ways are the same.
 * */
#define AUTOCAST_DYNAMIC
#include <autocast.h>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 512, COLUMNS = 64, STEPS = 8 };

static float a[N * N], m[N * N], b[N * COLUMNS], x[N * COLUMNS];

#define TRY(call) try_call((int)(call), #call)

static void
try_call(int status, const char *call)
{
	if (status) { /* success is 0 in cudart, cuBLAS and autocast */
		fprintf(stderr, "status %d from %s\n", status, call);
		exit(1);
	}
}

static float
symmetric(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(int32_t)*state / 2147483648.0f;
}

/* A = I + E with a small E, whose inverse is about M = I - E. */
static void
make_system(void)
{
	uint32_t state = 1;

	for (int i = 0; i < N * N; i++) {
		const float e = 0.01f * symmetric(&state);

		a[i] = (i % (N + 1) == 0) + e;
		m[i] = (i % (N + 1) == 0) - e;
	}
	for (int i = 0; i < N * COLUMNS; i++)
		b[i] = symmetric(&state);
}

/* |B - A X| / |B| */
static double
error(void)
{
	double wrong = 0, size = 0;

	for (int i = 0; i < N * COLUMNS; i++) {
		double rest = b[i];

		for (int k = 0; k < N; k++)
			rest -= (double)a[k * N + i % N] * x[i / N * N + k];
		wrong += rest * rest;
		size += (double)b[i] * b[i];
	}
	return sqrt(wrong / size);
}

static float *
on_device(const float *host, size_t bytes)
{
	void *device;

	TRY(cudaMalloc(&device, bytes));
	TRY(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
	return device;
}

/* c += scale * a * b */
static void
add_product(cublasHandle_t blas, float scale, const float *da, const float *db,
    float *dc)
{
	const float one = 1;

	TRY(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N, COLUMNS, N, &scale,
	    da, N, db, N, &one, dc, N));
}

static double
solve(cublasHandle_t blas, int protects_residual)
{
	float *da = on_device(a, sizeof a), *dm = on_device(m, sizeof m);
	float *db = on_device(b, sizeof b), *dr = on_device(b, sizeof b);
	float *dx = on_device(b, sizeof b);

	for (int i = 0; i < STEPS; i++) {
		TRY(cudaMemcpy(dr, db, sizeof b, cudaMemcpyDeviceToDevice));
		if (protects_residual)
			TRY(autocast_region_push("residual", 0, NULL));
		add_product(blas, -1, da, dx, dr);
		if (protects_residual)
			TRY(autocast_region_pop());
		add_product(blas, 1, dm, dr, dx);
	}
	TRY(cudaMemcpy(x, dx, sizeof x, cudaMemcpyDeviceToHost));
	TRY(cudaFree(da));
	TRY(cudaFree(dm));
	TRY(cudaFree(db));
	TRY(cudaFree(dr));
	TRY(cudaFree(dx));
	return error();
}

int
main(void)
{
	cublasHandle_t blas;
	double before, after;

	make_system();
	TRY(cublasCreate(&blas));
	before = solve(blas, 0);
	after = solve(blas, 1);
	TRY(cublasDestroy(blas));
	printf("all as the policy says   error %.1e\n", before);
	printf("the residual in FP32     error %.1e\n", after);
	return after > 1e-5;
}
