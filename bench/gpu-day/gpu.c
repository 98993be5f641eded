/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/gpu.c -- the device, rows, times. Data and errors: data.c. */
#include "gpu.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES = 21, QUICK_SAMPLES = 3, FEWEST_SAMPLES = 3, MOST_CALLS = 2000 };

/* A sample is so long that the clock's grain and a gap do not count; a case
 * takes no longer than it is worth. */
static const double sample_seconds = 2e-3, case_seconds = 0.35;

struct gpu gpu = { .warm = 3 };

double
gpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

bool
gpu_is_late(void)
{
	return gpu_now() > gpu.deadline;
}

void
gpu_must(int failed, const char *what)
{
	if (!failed)
		return;
	fprintf(stderr, "%s: error %d\n", what, failed);
	exit(1);
}

/* From 345 MHz to its working clock takes an idle GPU some time. FP64: the
 * library under test has no part in it. */
static void
warm_up(void)
{
	enum { SIDE = 1024 };
	const double stop = gpu_now() + 0.2, one = 1, zero = 0;
	const size_t bytes = (size_t)SIDE * SIDE * sizeof(double);
	double *a = gpu_alloc(bytes), *c = gpu_alloc(bytes);

	MUST(cudaMemsetAsync(a, 0, bytes, gpu.stream));
	while (!gpu.quick && gpu_now() < stop) {
		MUST(cublasDgemm(gpu.handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE,
		    SIDE, SIDE, &one, a, SIDE, a, SIDE, &zero, c, SIDE));
		MUST(cudaStreamSynchronize(gpu.stream));
	}
	gpu_free(a);
	gpu_free(c);
}

int
gpu_start(int argc, char **argv, const char *more,
    void (*take)(int option, const char *value))
{
	char options[64];
	double budget = 1e9;
	int option;

	snprintf(options, sizeof options, "qb:w:%s", more);
	while ((option = getopt(argc, argv, options)) != -1) {
		switch (option) {
		case 'q': gpu.quick = true; break;
		case 'b': budget = strtod(optarg, NULL); break;
		case 'w': gpu.warm = (int)strtol(optarg, NULL, 10); break;
		case '?': exit(2);
		default: take(option, optarg);
		}
	}
	gpu.deadline = gpu_now() + budget;
	MUST(cudaSetDevice(0));
	MUST(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking));
	MUST(cublasCreate(&gpu.handle));
	MUST(cublasSetStream(gpu.handle, gpu.stream));
	MUST(cublasCreate(&gpu.tf32));
	MUST(cublasSetStream(gpu.tf32, gpu.stream));
	MUST(cublasSetMathMode(gpu.tf32, CUBLAS_TF32_TENSOR_OP_MATH));
	warm_up();
	return optind;
}

bool
gpu_has_room(double bytes)
{
	size_t left, total;

	MUST(cudaMemGetInfo(&left, &total));
	return bytes < 0.8 * (double)left;
}

void *
gpu_alloc(size_t bytes)
{
	void *device;

	MUST(cudaMalloc(&device, bytes ? bytes : 1));
	return device;
}

void
gpu_free(void *device)
{
	MUST(cudaStreamSynchronize(gpu.stream));
	MUST(cudaFree(device));
}

/* ---- Rows */

void
row(const char *kind, const char *format, ...)
{
	va_list arguments;

	printf("row=%s\t", kind);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

void
row_item(const char *id, const char *part, double value, const char *unit,
    const char *verdict, const char *note, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, note);
	vsnprintf(text, sizeof text, note, arguments);
	va_end(arguments);
	row("item", "id=%s\tpart=%s\tvalue=%.6g\tunit=%s\tverdict=%s\tnote=%s",
	    id, part, value, unit, verdict, text);
}

void
row_value(const char *name, double value, const char *unit, const char *note,
    ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, note);
	vsnprintf(text, sizeof text, note, arguments);
	va_end(arguments);
	row("value", "name=%s\tvalue=%.6g\tunit=%s\tnote=%s", name, value, unit,
	    text);
}

void
row_unanswered(const char *id, const char *part, const char *reason)
{
	row("item", "id=%s\tpart=%s\tverdict=not measured\tnote=%s", id, part,
	    reason);
}

/* ---- Times */

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
quantile(const double *sorted, int count, double q)
{
	const double at = q * (count - 1);
	const int below = (int)at;
	const int above = below + 1 < count ? below + 1 : below;

	return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

static double
time_calls(gpu_call call, void *context, int calls)
{
	static cudaEvent_t begin, end;
	float milliseconds;

	if (!begin) {
		MUST(cudaEventCreate(&begin));
		MUST(cudaEventCreate(&end));
	}
	MUST(cudaEventRecord(begin, gpu.stream));
	for (int i = 0; i < calls; i++)
		call(context);
	MUST(cudaEventRecord(end, gpu.stream));
	MUST(cudaEventSynchronize(end));
	MUST(cudaEventElapsedTime(&milliseconds, begin, end));
	return 1e-3 * milliseconds / calls;
}

struct gpu_timing
gpu_time(gpu_call call, void *context)
{
	const int most = gpu.quick ? QUICK_SAMPLES : SAMPLES;
	double seconds[SAMPLES], once, stop;
	struct gpu_timing t = { .calls = 1 };

	for (int i = 0; i < gpu.warm; i++)
		call(context);
	once = time_calls(call, context, 1);
	if (once < sample_seconds && !gpu.quick)
		t.calls = once * MOST_CALLS < sample_seconds ? MOST_CALLS :
		    (int)ceil(sample_seconds / once);
	stop = gpu_now() + case_seconds;
	while (t.samples < most &&
	    (t.samples < FEWEST_SAMPLES || gpu_now() < stop))
		seconds[t.samples++] = time_calls(call, context, t.calls);
	qsort(seconds, (size_t)t.samples, sizeof *seconds, compare);
	t.median = quantile(seconds, t.samples, 0.5);
	t.low = quantile(seconds, t.samples, 0.25);
	t.high = quantile(seconds, t.samples, 0.75);
	return t;
}

struct copy {
	void  *to;
	const void *from;
	size_t bytes;
};

static void
copy_call(void *context)
{
	const struct copy *c = context;

	MUST(cudaMemcpyAsync(c->to, c->from, c->bytes,
	    cudaMemcpyDeviceToDevice, gpu.stream));
}

double
gpu_copy_rate(void)
{
	const size_t bytes = gpu.quick ? 1 << 20 : (size_t)1 << 30;
	struct copy c = { .bytes = bytes };
	double seconds;

	c.from = gpu_fill(gpu_pool_get(DATA_NORMAL, 1), STORE_FP32, bytes / 4);
	c.to = gpu_alloc(bytes);
	seconds = gpu_time(copy_call, &c).median;
	gpu_free(c.to);
	gpu_free((void *)(uintptr_t)c.from);
	return 2 * (double)bytes / seconds;
}
