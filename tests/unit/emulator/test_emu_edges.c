/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_edges.c -- products of the emulated cuBLAS: what
 * cuBLAS promises in edge cases, and what some models lack. */
#include "test_emu_gemm.h"

#include <cublasXt.h>
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>

static cublasHandle_t handle;

/* beta = 0 never reads C; k = 0 and alpha = 0 scale it and read neither A nor
 * B; with m, n or batch 0 nothing happens. */
static void
edges(void **state)
{
	const float one = 1, zero = 0, half = 0.5f;
	float c[4] = { NAN, INFINITY, 3, 4 }, back[4];
	float *d = test_upload(c, sizeof c);
	float a[4] = { 1, 2, 3, 4 }, *A = test_upload(a, sizeof a);

	(void)state;
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 2, &one, NULL,
	    1, NULL, 2, &zero, d, 1));
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 0, 2, &one, NULL,
	    2, NULL, 2, &zero, d, 2));
	OK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2,
	    &one, NULL, 2, 0, NULL, 2, 0, &zero, d, 2, 0, 0));
	OK(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
	assert_memory_equal(back, c, sizeof c);
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, A, 2,
	    A, 2, &zero, d, 2));
	OK(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 7 && back[1] == 10 && back[2] == 15 &&
	    back[3] == 22);
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, &one, NULL,
	    2, NULL, 1, &half, d, 2));
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &zero, NULL,
	    2, NULL, 2, &half, d, 2));
	OK(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 1.75f && back[3] == 5.5f);
	OK(cudaMemcpy(d, c, sizeof c, cudaMemcpyHostToDevice));
	OK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 0, &one, NULL,
	    2, NULL, 1, &zero, d, 2));
	OK(cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 0 && back[1] == 0 && back[2] == 0);
	OK(cudaFree(d));
	OK(cudaFree(A));
}

/* Every bad argument has cuBLAS's status, and nothing is launched. */
static void
bad_arguments(void **state)
{
	const float one = 1;
	float *p = test_device(64);
	const uint64_t launches = emuCounter("launches");
	cublasHandle_t stale = handle;

#define TRY(h, ta, tb, m, n, k, al, lda, ldb, be, ldc) \
	cublasSgemm(h, ta, tb, m, n, k, al, p, lda, p, ldb, be, p, ldc)
#define N CUBLAS_OP_N
#define T CUBLAS_OP_T
	(void)state;
	assert_int_equal(TRY(NULL, N, N, 2, 2, 2, &one, 2, 2, &one, 2),
	    CUBLAS_STATUS_NOT_INITIALIZED);
#define INVALID(...) assert_int_equal(TRY(stale, __VA_ARGS__), \
	CUBLAS_STATUS_INVALID_VALUE)
	INVALID(N, N, -1, 2, 2, &one, 2, 2, &one, 2);
	INVALID(N, N, 2, -1, 2, &one, 2, 2, &one, 2);
	INVALID(N, N, 2, 2, -1, &one, 2, 2, &one, 2);
	INVALID((cublasOperation_t)7, N, 2, 2, 2, &one, 2, 2, &one, 2);
	INVALID(N, N, 3, 2, 2, &one, 2, 2, &one, 3);
	INVALID(T, N, 2, 2, 3, &one, 2, 3, &one, 2);
	INVALID(N, N, 2, 2, 3, &one, 2, 2, &one, 2);
	INVALID(N, T, 2, 3, 2, &one, 2, 2, &one, 2);
	INVALID(N, N, 2, 2, 2, &one, 2, 2, &one, 1);
	INVALID(N, N, 2, 2, 2, NULL, 2, 2, &one, 2);
	INVALID(N, N, 2, 2, 2, &one, 2, 2, NULL, 2);
	INVALID(N, N, 0, 0, 0, &one, 0, 0, &one, 0);
	assert_int_equal(cublasGemmEx(handle, N, N, 2, 2, 2, &one, p,
	    CUDA_R_8I, 2, p, CUDA_R_8I, 2, &one, p, CUDA_R_16F, 2,
	    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
	    CUBLAS_STATUS_NOT_SUPPORTED);
	assert_int_equal(cublasGemmEx(handle, N, N, 2, 2, 2, &one, p,
	    CUDA_R_32F, 2, p, CUDA_R_16F, 2, &one, p, CUDA_R_32F, 2,
	    CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
	    CUBLAS_STATUS_NOT_SUPPORTED);
	assert_int_equal(emuCounter("launches"), launches);
	OK(cudaFree(p));
}

/* Pointer arrays are read when the work runs; groups have sizes of their
 * own. */
static void
pointer_arrays(void **state)
{
	const float one = 1, zero = 0;
	float x[4] = { 2, 0, 0, 3 }, y[4] = { 5, 6, 7, 8 }, back[4];
	float *a = test_upload(x, sizeof x), *b = test_upload(y, sizeof y);
	float *c = test_device(2 * sizeof back);
	const float *as[2] = { a, b }, *bs[2] = { b, a };
	float *cs[2] = { c, c + 4 };
	const float **A = test_upload(as, sizeof as);
	const float **B = test_upload(bs, sizeof bs);
	float **C = test_upload(cs, sizeof cs);

	(void)state;
	OK(cublasSgemmBatched(handle, N, N, 2, 2, 2, &one, A, 2, B, 2, &zero,
	    C, 2, 2));
	OK(cudaMemcpy(back, c, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 10 && back[1] == 18 && back[3] == 24);
	OK(cudaMemcpy(back, c + 4, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 10 && back[1] == 12 && back[3] == 24);
	{
		const cublasOperation_t ops[2] = { N, T };
		const int m[2] = { 2, 1 }, sizes[2] = { 1, 1 }, ld[2] = { 2,
			2 };
		const float alphas[2] = { 1, 2 }, betas[2] = { 0, 1 };

		OK(cublasSgemmGroupedBatched(handle, ops, ops, m, m, m,
		    alphas, A, ld, B, ld, betas, C, ld, 2, sizes));
	}
	OK(cudaMemcpy(back, c + 4, sizeof back, cudaMemcpyDeviceToHost));
	assert_true(back[0] == 30 && back[1] == 12);
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
	OK(cudaFree(A));
	OK(cudaFree(B));
	OK(cudaFree(C));
}

/* dx * dx, by each of the calls that take several products. */
static void
double_batches(double *a, double *c)
{
	const double *ins[1] = { a }, one = 1, zero = 0;
	const cublasOperation_t ops[1] = { N };
	const int ints[1] = { 1 };
	double *outs[1] = { c }, back[3];
	const double **in = test_upload(ins, sizeof ins);
	double **out = test_upload(outs, sizeof outs);

	for (int i = 0; i < 3; i++) {
		OK(cudaMemset(c, 0xff, 8));
		if (i == 0)
			OK(cublasDgemmBatched(handle, N, N, 1, 1, 1, &one, in,
			    1, in, 1, &zero, out, 1, 1));
		else if (i == 1)
			OK(cublasDgemmStridedBatched(handle, N, N, 1, 1, 1,
			    &one, a, 1, 1, a, 1, 1, &zero, c, 1, 1, 1));
		else
			OK(cublasDgemmGroupedBatched(handle, ops, ops, ints,
			    ints, ints, &one, in, ints, in, ints, &zero, out,
			    ints, 1, ints));
		OK(cudaMemcpy(&back[i], c, 8, cudaMemcpyDeviceToHost));
	}
	assert_true(back[0] == 1.0 / 3 * (1.0 / 3));
	assert_true(back[1] == back[0] && back[2] == back[0]);
	OK(cudaFree(in));
	OK(cudaFree(out));
}

/* Complex and double products. */
static void
other_types(void **state)
{
	const cuComplex one = { 1, 0 }, zero = { 0, 0 };
	cuComplex x = { 1, 2 }, y = { 3, -1 }, back;
	cuComplex *a = test_upload(&x, 8), *b = test_upload(&y, 8);
	cuComplex *c = test_device(8);
	double dx = 1.0 / 3, dback, done = 1, dzero = 0;
	double *da = test_upload(&dx, 8), *dc = test_device(8);

	(void)state;
	OK(cublasCgemm(handle, N, N, 1, 1, 1, &one, a, 1, b, 1, &zero, c, 1));
	OK(cudaMemcpy(&back, c, 8, cudaMemcpyDeviceToHost));
	assert_true(back.x == 5 && back.y == 5);
	OK(cublasCgemm(handle, CUBLAS_OP_C, N, 1, 1, 1, &one, a, 1, b, 1,
	    &zero, c, 1));
	OK(cudaMemcpy(&back, c, 8, cudaMemcpyDeviceToHost));
	assert_true(back.x == 1 && back.y == -7);
	OK(cublasDgemm(handle, N, N, 1, 1, 1, &done, da, 1, da, 1, &dzero, dc,
	    1));
	OK(cudaMemcpy(&dback, dc, 8, cudaMemcpyDeviceToHost));
	assert_true(dback == dx * dx);
	double_batches(da, dc);
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
	OK(cudaFree(da));
	OK(cudaFree(dc));
}

/* cublas.h has these, but goes with cublas_v2.h in no file. */
cublasStatus_t cublasAlloc(int n, int size, void **pointer);
cublasStatus_t cublasFree(void *pointer);
cublasStatus_t cublasGetError(void);

static void
log_nothing(const char *message)
{
	(void)message;
}

/* Calls without a handle: memory of the first API, the logger; cuBLASXt. */
static void
without_handle(void **state)
{
	const float x[4] = { 1, 2, 3, 4 }, one = 1, zero = 0;
	cublasXtHandle_t xt;
	cublasLogCallback logger;
	float y[4];
	void *p;

	(void)state;
	OK(cublasAlloc(4, 4, &p));
	OK(cudaMemset(p, 0, 16));
	OK(cublasFree(p));
	assert_int_equal(cublasAlloc(0, 4, &p), CUBLAS_STATUS_INVALID_VALUE);
	OK(cublasGetError());
	OK(cublasLoggerConfigure(1, 0, 0, NULL));
	OK(cublasSetLoggerCallback(log_nothing));
	OK(cublasGetLoggerCallback(&logger));
	assert_true(logger == log_nothing);
	OK(cublasSetLoggerCallback(NULL));
	OK(cublasXtCreate(&xt));
	OK(cublasXtDeviceSelect(xt, 1, (int[]){ 0 }));
	assert_int_equal(cublasXtDeviceSelect(xt, 1, (int[]){ 1 }),
	    CUBLAS_STATUS_INVALID_VALUE);
	OK(cublasXtSetBlockDim(xt, 64));
	assert_int_equal(cublasXtSetBlockDim(xt, 0),
	    CUBLAS_STATUS_INVALID_VALUE);
	OK(cublasXtSgemm(xt, N, T, 2, 2, 2, &one, x, 2, x, 2, &zero, y, 2));
	assert_true(y[0] == 10 && y[1] == 14 && y[3] == 20);
	OK(cublasXtDestroy(xt));
	assert_int_equal(cublasXtDestroy(NULL),
	    CUBLAS_STATUS_NOT_INITIALIZED);
}

/* The same call twice gives the same bits. */
static void
same_bits(void **state)
{
	enum { SIZE = 96 };
	static float x[SIZE * SIZE], first[SIZE * SIZE], again[SIZE * SIZE];
	const float one = 1, zero = 0;
	uint64_t seed = 5;
	float *a, *c = test_device(sizeof x);

	(void)state;
	for (size_t i = 0; i < SIZE * SIZE; i++)
		x[i] = test_random(&seed);
	a = test_upload(x, sizeof x);
	for (int i = 0; i < 20; i++) {
		OK(cublasSgemm(handle, N, T, SIZE, SIZE, SIZE, &one, a, SIZE,
		    a, SIZE, &zero, c, SIZE));
		OK(cudaMemcpy(i ? again : first, c, sizeof x,
		    cudaMemcpyDeviceToHost));
		if (i)
			assert_memory_equal(first, again, sizeof x);
	}
	OK(cudaFree(a));
	OK(cudaFree(c));
}

/* Only the emulator can use its OpenBLAS: it exports no symbol and starts no
 * thread; products run on the stream's worker. Run as another process, which
 * has one stream. */
static int
hidden(void)
{
	DIR *tasks;
	int count = 0;

	if (cublasCreate(&handle) ||
	    test_one_by_one(handle, CUBLAS_COMPUTE_32F, 3, 2) != 6)
		return 1;
	if (dlsym(RTLD_DEFAULT, "cblas_sgemm") ||
	    dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))
		return 2;
	tasks = opendir("/proc/self/task");
	while (tasks && readdir(tasks))
		count++;
	if (tasks)
		closedir(tasks);
	/* ".", "..", main, worker; TSan has one more. */
	return count > 4 + TEST_WITH_TSAN;
}

static void
openblas(void **state)
{
	char text[1024];

	(void)state;
	assert_int_equal(test_again("hidden", NULL, NULL, text, sizeof text),
	    0);
}

/* A T4 has neither TF32 nor BF16 arithmetic. Run as another process. */
static int
on_t4(void)
{
	const float one = 1, x = 1 + 0x1p-12f;
	struct cudaDeviceProp p;
	float *d;

	cudaGetDeviceProperties(&p, 0);
	if (cublasCreate(&handle) || p.major != 7 || p.minor != 5)
		return 1;
	if (test_one_by_one(handle, CUBLAS_COMPUTE_32F_FAST_TF32, x, 1) != x ||
	    test_one_by_one(handle, CUBLAS_COMPUTE_32F_FAST_16F, x, 1) != 1)
		return 2;
	d = test_device(64);
	if (cublasGemmEx(handle, N, N, 1, 1, 1, &one, d, CUDA_R_16BF, 1, d,
	    CUDA_R_16BF, 1, &one, d, CUDA_R_32F, 1, CUBLAS_COMPUTE_32F,
	    CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_NOT_SUPPORTED)
		return 3;
	return 0;
}

static void
t4(void **state)
{
	char text[1024];

	(void)state;
	assert_int_equal(test_again("t4", "AUTOCAST_EMU_MODEL", "t4", text,
	    sizeof text), 0);
}

/* NVIDIA_TF32_OVERRIDE=0 forbids TF32, as in the real library. */
static int
without_tf32(void)
{
	const float x = 1 + 0x1p-12f;

	if (cublasCreate(&handle))
		return 1;
	return test_one_by_one(handle, CUBLAS_COMPUTE_32F_FAST_TF32, x, 1) != x;
}

static void
tf32_override(void **state)
{
	char text[1024];

	(void)state;
	assert_int_equal(test_again("no-tf32", "NVIDIA_TF32_OVERRIDE", "0",
	    text, sizeof text), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges),
		cmocka_unit_test(bad_arguments),
		cmocka_unit_test(pointer_arrays),
		cmocka_unit_test(other_types),
		cmocka_unit_test(without_handle),
		cmocka_unit_test(same_bits),
		cmocka_unit_test(openblas),
		cmocka_unit_test(t4),
		cmocka_unit_test(tf32_override),
	};
	int failed;

	if (argc > 1)
		return !strcmp(argv[1], "t4") ? on_t4() :
		    !strcmp(argv[1], "hidden") ? hidden() : without_tf32();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasDestroy(handle);
	return failed;
}
