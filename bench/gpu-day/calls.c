/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/calls.c -- what a call costs the program, by the wall clock:
 * queueing many cublasSgemm and waiting for the last; only queueing a few;
 * making and ending handles.
 *
 *   calls LABEL | host LABEL | handle */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* So few that the device's queue takes them all. */
static void
queue_only(int n, const char *label)
{
	enum { FEW = 64 };
	const int rounds = gpu.quick ? QUICK_ROUNDS : ROUNDS;
	const size_t count = (size_t)n * (size_t)n;
	float *a = gpu_fill(gpu_pool_get(DATA_NORMAL, 0), STORE_FP32, count);
	float *c = gpu_alloc(count * sizeof *c);
	double seconds[ROUNDS];
	char name[80];

	for (int i = 0; i < gpu.warm; i++)
		multiply(n, a, a, c);
	for (int r = 0; r < rounds; r++) {
		MUST(cudaStreamSynchronize(gpu.stream));
		const double begin = gpu_now();

		for (int i = 0; i < FEW; i++)
			multiply(n, a, a, c);
		seconds[r] = (gpu_now() - begin) / FEW;
	}
	qsort(seconds, (size_t)rounds, sizeof *seconds, compare);
	snprintf(name, sizeof name, "host time of a call, N=%d, %s", n, label);
	row_value(name, 1e6 * seconds[rounds / 2], "us", "only queued");
	gpu_free(a);
	gpu_free(c);
}

static double
free_mib(void)
{
	size_t left, total;

	MUST(cudaMemGetInfo(&left, &total));
	return (double)left / (1 << 20);
}

/* A handle per lane is what the library makes. */
static void
handles(void)
{
	enum { HANDLES = 4, N = 512, COUNT = N * N };
	const float one = 1, zero = 0;
	cublasHandle_t handle[HANDLES];
	float *a = gpu_fill(gpu_pool_get(DATA_NORMAL, 0), STORE_FP32, COUNT);
	float *c = gpu_alloc(COUNT * sizeof *c);
	double create = 0, destroy = 0, before = free_mib(), created, used;

	for (int i = 0; i < HANDLES; i++) {
		const double begin = gpu_now();

		MUST(cublasCreate(&handle[i]));
		create += gpu_now() - begin;
	}
	created = before - free_mib();
	for (int i = 0; i < HANDLES; i++) {
		MUST(cublasSetStream(handle[i], gpu.stream));
		MUST(cublasSgemm(handle[i], CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &one, a, N, a, N, &zero, c, N));
	}
	MUST(cudaStreamSynchronize(gpu.stream));
	used = before - free_mib();
	for (int i = 0; i < HANDLES; i++) {
		const double begin = gpu_now();

		MUST(cublasDestroy(handle[i]));
		destroy += gpu_now() - begin;
	}
	row_value("cublasCreate", 1e3 * create / HANDLES, "ms",
	    "mean of %d, after two others", HANDLES);
	row_value("cublasDestroy", 1e3 * destroy / HANDLES, "ms", "the same");
	row_value("memory of a handle, as created", created / HANDLES,
	    "MiB", "as the device counts it");
	row_value("memory of a handle, used", used / HANDLES, "MiB",
	    "after its first product");
	gpu_free(a);
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

	if (!strcmp(label, "handle")) {
		handles();
		return 0;
	}
	if (!strcmp(label, "host")) {
		label = first + 1 < argc ? argv[first + 1] : "native";
		queue_only(gpu.quick ? 32 : 128, label);
		queue_only(gpu.quick ? 64 : 512, label);
		return 0;
	}
	measure(32, label);
	measure(gpu.quick ? 64 : 512, label);
	return 0;
}
