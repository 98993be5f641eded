/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/calls.c -- what a call costs the program, by the wall clock:
 * queueing many cublasSgemm and waiting for the last.
 *
 *   calls LABEL */
#include "gpu.h"

#include <stdlib.h>

enum { ROUNDS = 15, QUICK_ROUNDS = 3, CALLS = 2000, QUICK_CALLS = 20 };

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void
multiply(int n, const float *a, const float *b, float *c)
{
	const float one = 1, zero = 0;

	MUST(cublasSgemm(gpu.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one,
	    a, n, b, n, &zero, c, n));
}

static void
measure(int n, const char *label)
{
	const int rounds = gpu.quick ? QUICK_ROUNDS : ROUNDS;
	const int calls = gpu.quick ? QUICK_CALLS : CALLS;
	const size_t count = (size_t)n * (size_t)n;
	float *a = gpu_fill(gpu_pool_get(DATA_NORMAL, 0), STORE_FP32, count);
	float *b = gpu_fill(gpu_pool_get(DATA_NORMAL, 1), STORE_FP32, count);
	float *c = gpu_alloc(count * sizeof *c);
	double seconds[ROUNDS];

	for (int i = 0; i < gpu.warm; i++)
		multiply(n, a, b, c);
	MUST(cudaStreamSynchronize(gpu.stream));
	for (int r = 0; r < rounds; r++) {
		const double begin = gpu_now();

		for (int i = 0; i < calls; i++)
			multiply(n, a, b, c);
		MUST(cudaStreamSynchronize(gpu.stream));
		seconds[r] = (gpu_now() - begin) / calls;
	}
	qsort(seconds, (size_t)rounds, sizeof *seconds, compare);
	row("host", "case=%d\tway=%s\tmedian=%.6g\tlow=%.6g\thigh=%.6g\t"
	    "samples=%d\tcalls=%d", n, label, seconds[rounds / 2],
	    seconds[rounds / 4], seconds[3 * rounds / 4], rounds, calls);
	gpu_free(a);
	gpu_free(b);
	gpu_free(c);
}

static void
take(int option, const char *value)
{
	(void)option, (void)value;
}

int
main(int argc, char **argv)
{
	const int first = gpu_start(argc, argv, "", take);
	const char *label = first < argc ? argv[first] : "native";

	measure(32, label);
	measure(gpu.quick ? 64 : 512, label);
	return 0;
}
