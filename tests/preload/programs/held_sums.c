/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/held_sums.c -- held_sums PAIRS [apart]: sums of two
 * products that begin to cancel while the host is far ahead. C = A B at one
 * place, and C - A' B at another; five sums of which much is left, then so
 * many, each in a C of its own, behind a host function that holds the stream
 * until all are queued. Prints how many of those are off by more than 3 % of
 * themselves, where FP32 is by 0.3 %.
 * apart: the second place adds to a C of its own, after 100 pairs that were
 * waited for: only the time counts. */
#include "client.h"

#include <math.h>

enum { N = 64, SQUARE = N * N, WARM = 5 };

static cublasHandle_t handle;
static cudaStream_t stream;
static float *a, *a2, *b;

__attribute__((noinline)) static void
write_first(float *c)
{
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N,
	    b, N, &zero, c, N));
}

__attribute__((noinline)) static void
subtract_second(float *c)
{
	const float minus = -1;

	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &minus, a2,
	    N, b, N, &one, c, N));
}

/* A' = A but for a ten-thousandth. */
static void
come_near(void)
{
	float host[SQUARE], other[SQUARE];

	client_host(host, a, SQUARE);
	client_host(other, a2, SQUARE);
	for (int i = 0; i < SQUARE; i++)
		other[i] = host[i] * (1 + 1e-4f * other[i]);
	CUDA(cudaMemcpy(a2, other, sizeof other, cudaMemcpyHostToDevice));
}

static bool
is_wrong(const float *c)
{
	static float left[SQUARE], x[SQUARE], y[SQUARE], z[SQUARE];
	double off = 0, all = 0;

	client_host(left, c, SQUARE);
	client_host(x, a, SQUARE);
	client_host(y, a2, SQUARE);
	client_host(z, b, SQUARE);
	for (int i = 0; i < SQUARE; i++) {
		double sum = 0;

		for (int p = 0; p < N; p++)
			sum += ((double)x[p * N + i % N] - y[p * N + i % N])
			    * z[i / N * N + p];
		off += pow(left[i] - sum, 2);
		all += sum * sum;
	}
	return !(off <= 0.03 * 0.03 * all);
}

int
main(int argc, char **argv)
{
	const int pairs = argc >= 2 ? atoi(argv[1]) : 0;
	const bool is_apart = argc == 3;
	float *own = client_random_device(SQUARE, 1, 5);
	float *c = client_random_device((size_t)(pairs + 1) * SQUARE, 1, 4);
	int wrong = 0;

	if (pairs < 1)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	BLAS(cublasSetStream(handle, stream));
	a = client_random_device(SQUARE, 1, 1);
	a2 = client_random_device(SQUARE, 1, 2);
	b = client_random_device(SQUARE, 1, 3);
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < (is_apart ? 100 : WARM); i++) {
		write_first(c);
		subtract_second(is_apart ? own : c);
		CUDA(cudaStreamSynchronize(stream));
	}
	come_near();
	CUDA(cudaLaunchHostFunc(stream, client_hold, NULL));
	for (int i = 1; i <= pairs; i++) {
		write_first(c + (size_t)i * SQUARE);
		subtract_second(is_apart ? own : c + (size_t)i * SQUARE);
	}
	client_released = 1;
	CUDA(cudaStreamSynchronize(stream));
	for (int i = 1; i <= pairs; i++)
		wrong += is_wrong(c + (size_t)i * SQUARE);
	printf("%d\n", wrong);
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
