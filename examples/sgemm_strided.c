/* SPDX-License-Identifier: Apache-2.0 */
/*
 * examples/sgemm_strided.c -- one product asked for in three ways.
 *
 * Four 96x80 products over k = 112 through cublasSgemm, cublasGemmEx and
 * cublasSgemmStridedBatched, each compared with a host reference. Prints the
 * normwise error of each; exits 1 if one is above 1e-3, the size that FP16,
 * TF32 and FP32 stay below on this data and BF16 does not.
 */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 96, N = 80, K = 112, BATCH = 4 };
enum { A_SIZE = M * K, B_SIZE = K * N, C_SIZE = M * N };

static float a[BATCH * A_SIZE], b[BATCH * B_SIZE], c[BATCH * C_SIZE];

#define TRY(call) try_call((int)(call), #call)

static void
try_call(int status, const char *call)
{
	if (status) { /* success is 0 in cudart and in cuBLAS */
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

static double
error(void)
{
	double wrong = 0, size = 0;

	for (int i = 0; i < BATCH * C_SIZE; i++) {
		const int p = i / C_SIZE, col = i % C_SIZE / M, row = i % M;
		double sum = 0;
		for (int k = 0; k < K; k++)
			sum += (double)a[p * A_SIZE + k * M + row] *
			    (double)b[p * B_SIZE + col * K + k];
		wrong += (c[i] - sum) * (c[i] - sum);
		size += sum * sum;
	}
	return sqrt(wrong / size);
}

static void
product(cublasHandle_t blas, int way, const float *da, const float *db,
    float *dc)
{
	const float one = 1, zero = 0;

	if (way == 2) {
		TRY(cublasSgemmStridedBatched(blas, CUBLAS_OP_N, CUBLAS_OP_N,
		    M, N, K, &one, da, M, A_SIZE, db, K, B_SIZE, &zero, dc, M,
		    C_SIZE, BATCH));
		return;
	}
	for (int p = 0; p < BATCH; p++) {
		if (way == 0)
			TRY(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, M, N,
			    K, &one, da, M, db, K, &zero, dc, M));
		else
			TRY(cublasGemmEx(blas, CUBLAS_OP_N, CUBLAS_OP_N, M, N,
			    K, &one, da, CUDA_R_32F, M, db, CUDA_R_32F, K,
			    &zero, dc, CUDA_R_32F, M, CUBLAS_COMPUTE_32F,
			    CUBLAS_GEMM_DEFAULT));
		da += A_SIZE;
		db += B_SIZE;
		dc += C_SIZE;
	}
}

int
main(void)
{
	static const char *const names[] = {
		"cublasSgemm", "cublasGemmEx", "cublasSgemmStridedBatched"
	};
	cublasHandle_t blas;
	float *da, *db, *dc;
	uint32_t state = 1;
	int failed = 0;

	for (int i = 0; i < BATCH * A_SIZE; i++)
		a[i] = symmetric(&state);
	for (int i = 0; i < BATCH * B_SIZE; i++)
		b[i] = symmetric(&state);
	TRY(cudaMalloc((void **)&da, sizeof a));
	TRY(cudaMalloc((void **)&db, sizeof b));
	TRY(cudaMalloc((void **)&dc, sizeof c));
	TRY(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	TRY(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	TRY(cublasCreate(&blas));
	for (int way = 0; way < 3; way++) {
		TRY(cudaMemset(dc, 0xff, sizeof c)); /* NaN: beta is 0 */
		product(blas, way, da, db, dc);
		TRY(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
		printf("%-25s error %.2e\n", names[way], error());
		failed |= !(error() <= 1e-3);
	}
	TRY(cublasDestroy(blas));
	TRY(cudaFree(dc));
	TRY(cudaFree(db));
	TRY(cudaFree(da));
	return failed;
}
