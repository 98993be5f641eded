/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_clock.c -- the modelled clock: with
 * AUTOCAST_EMU_CLOCK=model the times of events follow from rates and from the
 * program's order alone. The test has its own copy of the figures. */
#include "test_emu.h"

#include "kernels/recast/recast_ranges.h"

#include <cuda.h>
#include <math.h>

/* An H200: 1e12 operations, bytes per second; seconds. */
#define FP32 52e12
#define TF32 403e12
#define HALF 790e12
#define MEMORY 4.3e12
#define LINK 64e9
#define LAUNCH 2.5e-6
enum { SIZE = 256, ROOM = 8 << 20 };

static cublasHandle_t handle;
static cudaEvent_t first, last;
static char *room; /* ROOM bytes of zeros on the device */
static size_t out = ROOM / 2; /* place for products in it */

static double
seconds_between(cudaEvent_t from, cudaEvent_t to)
{
	float milliseconds = -1;

	OK(cudaEventSynchronize(from));
	OK(cudaEventSynchronize(to));
	OK(cudaEventElapsedTime(&milliseconds, from, to));
	return (double)milliseconds * 1e-3;
}

static void
start(cudaStream_t stream)
{
	OK(cudaEventRecord(first, stream));
}

static double
stop(cudaStream_t stream)
{
	OK(cudaEventRecord(last, stream));
	return seconds_between(first, last);
}

/* Float milliseconds have 24 bits; that is the only error. */
#define TAKES(seconds, want) assert_true(fabs((seconds) - (want)) < \
	(want) * 1e-6 + 1e-12)

static void
multiply(cublasComputeType_t compute, cudaDataType type, int m, int n, int k,
    float beta)
{
	const float one = 1;

	OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, room,
	    type, m, room, type, k, &beta, room + out, CUDA_R_32F, m,
	    compute, CUBLAS_GEMM_DEFAULT));
}

/* The arithmetic that was really used, or memory, whichever takes longer. */
static void
products(void **state)
{
	static const struct {
		cublasComputeType_t compute;
		cudaDataType type;
		double rate, element;
	} cases[] = {
		{ CUBLAS_COMPUTE_32F, CUDA_R_32F, FP32, 4 },
		{ CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, TF32, 4 },
		{ CUBLAS_COMPUTE_32F_FAST_16F, CUDA_R_32F, HALF, 4 },
		{ CUBLAS_COMPUTE_32F_FAST_16BF, CUDA_R_32F, HALF, 4 },
		{ CUBLAS_COMPUTE_32F, CUDA_R_16F, HALF, 2 },
		{ CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_16F, FP32, 2 },
	};
	static const int shapes[][3] = { { 256, 256, 256 }, { 1, 512, 256 },
		{ 384, 512, 512 } };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	for (size_t s = 0; s < 3; s++)
	for (int beta = 0; beta < 2; beta++) {
		const double m = shapes[s][0], n = shapes[s][1];
		const double k = shapes[s][2];
		const double moves = (cases[i].element * (m * k + k * n) +
		    4 * m * n * (1 + beta)) / MEMORY;

		start(NULL);
		multiply(cases[i].compute, cases[i].type, shapes[s][0],
		    shapes[s][1], shapes[s][2], (float)beta);
		TAKES(stop(NULL), LAUNCH + fmax(2 * m * n * k / cases[i].rate,
		    moves));
	}
}

/* Complex products do four times the work; without a product, only the launch
 * and C take time. */
static void
other_products(void **state)
{
	const cuComplex one = { 1, 0 }, none = { 0, 0 };
	const double n = 256;
	cuComplex *c = (cuComplex *)room;

	(void)state;
	start(NULL);
	OK(cublasCgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 256, 256, 256, &one,
	    c, 256, c, 256, &none, c + ROOM / 16, 256));
	TAKES(stop(NULL), LAUNCH + 8 * n * n * n / FP32);
	start(NULL);
	OK(cublasCgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 256, 256, 256, &none,
	    c, 256, c, 256, &none, c + ROOM / 16, 256));
	TAKES(stop(NULL), LAUNCH + 8 * n * n / MEMORY);
}

static void
moves(void **state)
{
	enum { BYTES = 1 << 20 };
	void *host;

	(void)state;
	OK(cudaMallocHost(&host, BYTES));
	memset(host, 0, BYTES);
	start(NULL);
	OK(cudaMemsetAsync(room, 0, BYTES, NULL));
	TAKES(stop(NULL), LAUNCH + BYTES / MEMORY);
	start(NULL);
	OK(cudaMemcpyAsync(room + BYTES, room, BYTES, cudaMemcpyDefault,
	    NULL));
	TAKES(stop(NULL), LAUNCH + 2 * BYTES / MEMORY);
	start(NULL);
	OK(cudaMemcpyAsync(room, host, BYTES, cudaMemcpyDefault, NULL));
	OK(cudaMemcpyAsync(host, room, BYTES, cudaMemcpyDefault, NULL));
	TAKES(stop(NULL), 2 * (LAUNCH + BYTES / LINK));
	OK(cudaFreeHost(host));
}

static void
nothing(const struct emu_twin_launch *launch, void **params)
{
	(void)launch;
	(void)params;
}

/* A kernel takes the time of the bytes that its twin counts. For twins that
 * count none, and for other cuBLAS calls, only the launch is known. */
static void
kernels(void **state)
{
	static const size_t none;
	uint64_t *counts = (uint64_t *)(room + ROOM / 4);
	struct ac_recast_ranges p = { .counts = counts, .copy = counts + 512,
		.arrived = (uint32_t *)(room + ROOM / 2) };
	void *params[] = { &p };
	char ptx[256];
	CUfunction ranges, other;
	CUmodule module;
	float *x = (float *)room, result;

	(void)state;
	emuTwinRegister("nothing", nothing, &none, 0);
	snprintf(ptx, sizeof ptx, ".version 6.0\n.visible .entry "
	    "ac_recast_ranges(\n.param .align 8 .b8 p[%zu])\n{ ret; }\n"
	    ".visible .entry nothing()\n{ ret; }\n", sizeof p);
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&ranges, module, "ac_recast_ranges"));
	OK(cuModuleGetFunction(&other, module, "nothing"));
	p.operand[0] = (struct ac_recast_matrices){ .from = x, .rows = 300,
		.cols = 200, .ld = 301, .batch = 1 };
	start(NULL);
	OK(cuLaunchKernel(ranges, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
	TAKES(stop(NULL), LAUNCH + 300 * 200 * 4 / MEMORY);
	start(NULL);
	OK(cuLaunchKernel(other, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	TAKES(stop(NULL), LAUNCH);
	start(NULL);
	OK(cublasSdot(handle, 1000, x, 1, x, 1, &result));
	TAKES(stop(NULL), LAUNCH);
	OK(cuModuleUnload(module));
}

/* One product of SIZE in FP32, on a stream; never twice at one place. */
static double
one_product(cudaStream_t stream)
{
	out = out == ROOM / 2 ? ROOM / 4 * 3 : ROOM / 2;
	OK(cublasSetStream(handle, stream));
	multiply(CUBLAS_COMPUTE_32F, CUDA_R_32F, SIZE, SIZE, SIZE, 0);
	OK(cublasSetStream(handle, NULL));
	return LAUNCH + 2.0 * SIZE * SIZE * SIZE / FP32;
}

/* Streams run at the same time; a wait takes the later of two times, on a
 * stream and on the host. */
static void
streams(void **state)
{
	cudaStream_t a, b;
	cudaEvent_t middle;
	double t;

	(void)state;
	OK(cudaDeviceSynchronize());
	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	OK(cudaEventCreate(&middle));
	start(a);
	t = one_product(a);
	TAKES(stop(a), t);
	OK(cudaDeviceSynchronize());
	start(a); /* two at a time */
	one_product(a);
	one_product(b);
	TAKES(stop(b), t);
	OK(cudaDeviceSynchronize());
	start(a); /* b after a */
	one_product(a);
	OK(cudaEventRecord(middle, a));
	OK(cudaStreamWaitEvent(b, middle, 0));
	one_product(b);
	TAKES(stop(b), 2 * t);
	TAKES(seconds_between(middle, last), t);
	start(a); /* the host between them */
	one_product(a);
	OK(cudaStreamSynchronize(a));
	one_product(b);
	TAKES(stop(b), 2 * t);
	start(a); /* the same, waiting for an idle stream */
	one_product(a);
	while (cudaStreamQuery(a) == cudaErrorNotReady)
		;
	OK(cudaStreamSynchronize(a));
	one_product(b);
	TAKES(stop(b), 2 * t);
	OK(cudaStreamDestroy(a));
	OK(cudaStreamDestroy(b));
	OK(cudaEventDestroy(middle));
}

/* The legacy stream follows the others, which follow it. */
static void
legacy(void **state)
{
	cudaStream_t a;
	double t;

	(void)state;
	OK(cudaStreamCreate(&a));
	start(NULL);
	one_product(NULL);
	one_product(a);
	t = one_product(NULL);
	TAKES(stop(a), 3 * t);
	OK(cudaStreamDestroy(a));
}

/* Work in a graph takes as long as outside. */
static void
graphs(void **state)
{
	cudaGraphExec_t exec;
	cudaStream_t a;
	cudaGraph_t graph;
	double t;

	(void)state;
	OK(cudaStreamCreate(&a));
	OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
	one_product(a);
	t = one_product(a);
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 2; i++) {
		start(a);
		OK(cudaGraphLaunch(exec, a));
		TAKES(stop(a), 2 * t);
	}
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaStreamDestroy(a));
}

/* ---- in processes of their own ----------------------------------------- */

/* The cost of one of many, in microseconds: of products, of fills, and of fills
 * in a graph. */
static int
rows(void)
{
	enum { ROW = 50 };
	cudaGraphExec_t exec;
	cudaStream_t a;
	cudaGraph_t graph;

	OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	start(a);
	for (int i = 0; i < ROW; i++)
		one_product(a);
	fprintf(stderr, "%.2f ", stop(a) * 1e6 / ROW);
	OK(cudaDeviceSynchronize());
	start(a);
	for (int i = 0; i < ROW; i++)
		OK(cudaMemsetAsync(room, 0, 4, a));
	fprintf(stderr, "%.2f ", stop(a) * 1e6 / ROW);
	OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < ROW; i++)
		OK(cudaMemsetAsync(room, 0, 4, a));
	OK(cudaStreamEndCapture(a, &graph));
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaDeviceSynchronize());
	start(a);
	OK(cudaGraphLaunch(exec, a));
	fprintf(stderr, "%.2f ", stop(a) * 1e6 / ROW);
	return 0;
}

/* The longer of the host's time and the device's: 3.15 us for a product, 2.5
 * for a fill; the first one comes after the host's time. A graph is one
 * call. */
static void
host(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "", "3.15 2.50 2.50 " }, { "host=1", "3.21 3.05 2.56 " },
		{ "host=2", "6.06 6.05 2.62 " },
	};
	static char text[4096];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(test_again("rows", "AUTOCAST_EMU_RATES",
		    cases[i].text, text, sizeof text), 0);
		assert_string_equal(text, cases[i].said);
	}
}

/* Some streams that delay each other; all times are compared to the last
 * bit. */
static int
tangle(void)
{
	enum { STREAMS = 4, ROUNDS = 40 };
	cudaStream_t stream[STREAMS];
	cudaEvent_t event[STREAMS];
	float milliseconds;

	for (int i = 0; i < STREAMS; i++) {
		OK(cudaStreamCreateWithFlags(&stream[i], i % 2 ?
		    cudaStreamNonBlocking : 0));
		OK(cudaEventCreate(&event[i]));
	}
	start(NULL);
	for (int i = 0; i < ROUNDS; i++) {
		const int s = i * 7 % STREAMS, w = i * 5 % 3;

		OK(cublasSetStream(handle, stream[s]));
		out = ROOM / 2 + (size_t)s * 65536;
		multiply(CUBLAS_COMPUTE_32F, CUDA_R_32F, 16 + i, 16, 64, 0);
		OK(cudaEventRecord(event[s], stream[s]));
		OK(cudaStreamWaitEvent(stream[w], event[s], 0));
		OK(cudaMemsetAsync(room + ROOM / 4 * 3 + w * 65536, 0,
		    1000 * (size_t)(i + 1), stream[w]));
		if (i % 8 == 0)
			OK(cudaEventSynchronize(event[s]));
		if (i % 11 == 0)
			OK(cudaMemsetAsync(room + ROOM - 64, 0, 64, NULL));
	}
	for (int i = 0; i < STREAMS; i++) {
		OK(cudaEventRecord(event[i], stream[i]));
		OK(cudaEventSynchronize(event[i]));
		OK(cudaEventElapsedTime(&milliseconds, first, event[i]));
		fprintf(stderr, "%a\n", (double)milliseconds);
		OK(cudaStreamDestroy(stream[i]));
		OK(cudaEventDestroy(event[i]));
	}
	return 0;
}

static void
deterministic(void **state)
{
	static char once[4096], again[4096];

	(void)state;
	assert_int_equal(test_again("tangle", NULL, NULL, once, sizeof once),
	    0);
	assert_true(strlen(once) > 20);
	assert_int_equal(test_again("tangle", "AUTOCAST_EMU_JITTER", "7",
	    again, sizeof again), 0);
	assert_string_equal(once, again);
	assert_int_equal(test_again("tangle", "AUTOCAST_EMU_JITTER", "12",
	    again, sizeof again), 0);
	assert_string_equal(once, again);
}

static int
times(void)
{
	static const cublasComputeType_t computes[] = { CUBLAS_COMPUTE_32F,
		CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F };

	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 3; i++) {
		start(NULL);
		multiply(computes[i], CUDA_R_32F, 512, 512, 512, 0);
		fprintf(stderr, "%.2f ", stop(NULL) * 1e6);
	}
	return 0;
}

/* 2 * 512^3 operations, 3 MiB. */
static void
rates(void **state)
{
	static const struct {
		const char *text, *said;
	} cases[] = {
		{ "", "7.66 3.23 3.23 " },
		{ "memory=100", "7.66 3.17 2.84 " },
		{ "memory=100,tf32=0.25,fp16=2", "7.66 5.16 2.67 " },
		{ "fp32=0.5,launch=0", "not a list" },
		{ "launch=2", "10.16 5.73 5.73 " },
		/* The product is queued 3 us after its event. */
		{ "host=1", "10.66 6.23 6.23 " },
		{ "host=2,launch=2", "16.16 11.73 11.73 " },
		{ "fp32=0.5,tf33=1", "AUTOCAST_EMU_RATES=fp32=0.5,tf33=1 is "
		  "not a list like tf32=0.25,fp16=2; ignored\n7.66 " },
		{ "fp32", "; ignored\n7.66 " },
		{ "fp32=", "; ignored\n7.66 " },
		{ "fp32=x", "; ignored\n7.66 " },
		{ "fp32=2,", "; ignored\n7.66 " },
		{ "fp32=2;tf32=1", "; ignored\n7.66 " },
		{ "fp32=-2", "; ignored\n7.66 " },
	};
	static char text[4096];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(test_again("times", "AUTOCAST_EMU_RATES",
		    cases[i].text, text, sizeof text), 0);
		if (!strstr(text, cases[i].said))
			fail_msg("%s: %s", cases[i].text, text);
	}
	test_again("times", "AUTOCAST_EMU_CLOCK", "wall", text, sizeof text);
	assert_non_null(strstr(text, "AUTOCAST_EMU_CLOCK=wall is neither"));
	assert_null(strstr(text, "7.66 3.23"));
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products),
		cmocka_unit_test(other_products),
		cmocka_unit_test(moves),
		cmocka_unit_test(kernels),
		cmocka_unit_test(streams),
		cmocka_unit_test(legacy),
		cmocka_unit_test(graphs),
		cmocka_unit_test(deterministic),
		cmocka_unit_test(rates),
		cmocka_unit_test(host),
	};
	int failed;

	setenv("AUTOCAST_EMU_CLOCK", "model", 0);
	setenv("AUTOCAST_LOG", "error", 1);
	OK(cublasCreate(&handle));
	OK(cudaEventCreate(&first));
	OK(cudaEventCreate(&last));
	room = test_device(ROOM);
	OK(cudaMemset(room, 0, ROOM));
	OK(cudaDeviceSynchronize()); /* non-blocking streams would not wait */
	if (argc > 1) {
		failed = !strcmp(argv[1], "tangle") ? tangle() :
		    !strcmp(argv[1], "rows") ? rows() : times();
	} else {
		cmocka_set_message_output(CM_OUTPUT_TAP);
		failed = cmocka_run_group_tests(tests, NULL, NULL);
	}
	OK(cudaEventDestroy(first));
	OK(cudaEventDestroy(last));
	OK(cublasDestroy(handle));
	return failed;
}
