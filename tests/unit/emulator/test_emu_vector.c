/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_vector.c -- cuBLAS calls other than products:
 * vectors, gemv and ger, geam and trsm, in float and double, against plain
 * loops. */
#include "test_emu.h"

#include <float.h>
#include <math.h>

enum { COUNT = 60 };
static cublasHandle_t handle;
static float xs[COUNT], ys[COUNT], back[COUNT];
static float *x, *y;
static const float one = 1, zero = 0, minus = -1.5f;

static int
setup(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		xs[i] = test_random(&seed);
		ys[i] = test_random(&seed);
	}
	x = test_upload(xs, sizeof xs);
	y = test_upload(ys, sizeof ys);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	return cudaFree(x) || cudaFree(y);
}

static void
fetch(const float *from)
{
	OK(cudaMemcpy(back, from, sizeof back, cudaMemcpyDeviceToHost));
}

static void
near(double got, double want, double scale)
{
	if (!(fabs(got - want) <= scale * (double)FLT_EPSILON))
		fail_msg("got %.9g, want %.9g", got, want);
}

/* Increments, also negative ones, and n <= 0. */
static void
updates(void **state)
{
	(void)state;
	OK(cublasSaxpy(handle, 10, &minus, x, 2, y, -3));
	fetch(y);
	for (int i = 0; i < 10; i++)
		near((double)back[(9 - i) * 3], (double)ys[(9 - i) * 3] -
		    1.5 * (double)xs[2 * i], 3);
	assert_true(back[1] == ys[1]);
	OK(cublasSscal(handle, 5, &minus, x, 4));
	fetch(x);
	assert_true(back[16] == xs[16] * minus && back[15] == xs[15]);
	OK(cublasScopy(handle, 3, x, 1, y, 2));
	OK(cublasSswap(handle, 1, x + 20, 1, y + 1, 1));
	fetch(y);
	assert_true(back[4] == xs[2] && back[1] == xs[20]);
	OK(cublasSscal(handle, -1, &minus, NULL, 1));
	OK(cublasSaxpy(handle, 0, &minus, NULL, 1, NULL, 1));
	assert_int_equal(cublasSscal(handle, 1, NULL, x, 1),
	    CUBLAS_STATUS_INVALID_VALUE);
}

static void
reductions(void **state)
{
	double dot = 0, norm = 0, sum = 0;
	float got, *device = test_device(4);
	int index, largest = 0;

	(void)state;
	for (int i = 0; i < COUNT; i++) {
		dot += (double)xs[i] * (double)ys[i];
		norm += (double)xs[i] * (double)xs[i];
		sum += fabs((double)xs[i]);
		if (fabsf(xs[i]) > fabsf(xs[largest]))
			largest = i;
	}
	OK(cublasSdot(handle, COUNT, x, 1, y, 1, &got));
	near((double)got, dot, 2);
	OK(cublasSnrm2(handle, COUNT, x, 1, &got));
	near((double)got, sqrt(norm), 8);
	OK(cublasSasum(handle, COUNT, x, 1, &got));
	near((double)got, sum, 60);
	OK(cublasIsamax(handle, COUNT, x, 1, &index));
	assert_int_equal(index, largest + 1);
	OK(cublasIsamax(handle, 0, x, 1, &index));
	assert_int_equal(index, 0);
	OK(cublasSnrm2(handle, 0, NULL, 1, &got));
	assert_true(got == 0);
	OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
	OK(cublasSdot(handle, COUNT, x, 1, y, 1, device));
	OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
	OK(cudaMemcpy(&got, device, 4, cudaMemcpyDeviceToHost));
	near((double)got, dot, 2);
	OK(cudaFree(device));
}

static void
gemv(void **state)
{
	enum { M = 5, N = 7, LD = 6 };
	float nans[M] = { NAN, NAN, NAN, NAN, NAN };

	(void)state;
	OK(cudaMemcpy(y, nans, sizeof nans, cudaMemcpyHostToDevice));
	OK(cublasSgemv(handle, CUBLAS_OP_N, M, N, &minus, x, LD, x, 2, &zero,
	    y, 1)); /* beta = 0: the NaNs are not read */
	fetch(y);
	for (int i = 0; i < M; i++) {
		double want = 0;

		for (int j = 0; j < N; j++)
			want += (double)xs[j * LD + i] * (double)xs[2 * j];
		near((double)back[i], -1.5 * want, 8);
	}
	OK(cudaMemcpy(y, ys, sizeof ys, cudaMemcpyHostToDevice));
	OK(cublasSgemv(handle, CUBLAS_OP_T, M, N, &one, x, LD, x, -1, &minus,
	    y, 1));
	fetch(y);
	for (int j = 0; j < N; j++) {
		double want = -1.5 * (double)ys[j];

		for (int i = 0; i < M; i++)
			want += (double)xs[j * LD + i] *
			    (double)xs[M - 1 - i];
		near((double)back[j], want, 8);
	}
	assert_int_equal(cublasSgemv(handle, CUBLAS_OP_N, M, N, &one, x, M - 1,
	    x, 1, &zero, y, 1), CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(cublasSgemv(handle, CUBLAS_OP_N, M, N, &one, x, M, x,
	    0, &zero, y, 1), CUBLAS_STATUS_INVALID_VALUE);
}

static void
ger(void **state)
{
	enum { M = 4, N = 3, LD = 5 };

	(void)state;
	OK(cublasSger(handle, M, N, &minus, x, 1, x + 10, 2, y, LD));
	fetch(y);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < LD; i++)
			near((double)back[j * LD + i],
			    (double)ys[j * LD + i] - (i < M ? 1.5 *
			    (double)xs[i] * (double)xs[10 + 2 * j] : 0), 3);
}

static void
geam(void **state)
{
	float *c = test_device(sizeof back);

	(void)state;
	OK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 4, 5, &one, x, 6,
	    &minus, y, 4, c, 4));
	fetch(c);
	for (int j = 0; j < 5; j++)
		for (int i = 0; i < 4; i++)
			near((double)back[j * 4 + i], (double)xs[i * 6 + j] -
			    1.5 * (double)ys[j * 4 + i], 3);
	OK(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 5, &one, x, 4,
	    &zero, NULL, 4, c, 4)); /* beta = 0: B is not read */
	fetch(c);
	assert_true(back[19] == xs[19]);
	OK(cudaFree(c));
}

/* op(A) X = B and X op(A) = B, of all kinds: op(A) times the result is alpha
 * B. */
static void
trsm_case(int side, int uplo, int trans, int diag)
{
	enum { N = 4 };
	double a[N][N] = { { 0 } }, product, want;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			if (i == j)
				a[i][j] = diag ? 1 : 3 + (double)xs[5 * i];
			else if ((i > j) == (uplo == CUBLAS_FILL_MODE_LOWER))
				a[i][j] = (double)xs[j * N + i];
	for (int i = 0; i < N; i++)
		back[5 * i] = 3 + xs[5 * i];
	for (int i = 0; i < N * N; i++)
		if (i % 5)
			back[i] = xs[i];
	OK(cudaMemcpy(x, back, sizeof(float) * N * N,
	    cudaMemcpyHostToDevice));
	OK(cudaMemcpy(y, ys, sizeof ys, cudaMemcpyHostToDevice));
	OK(cublasStrsm(handle, (cublasSideMode_t)side, (cublasFillMode_t)uplo,
	    (cublasOperation_t)trans, (cublasDiagType_t)diag, N, N, &minus, x,
	    N, y, N));
	fetch(y);
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			product = 0;
			want = -1.5 * (double)ys[j * N + i];
			for (int l = 0; l < N; l++)
				product += side == CUBLAS_SIDE_LEFT ?
				    (trans ? a[l][i] : a[i][l]) *
				    (double)back[j * N + l] :
				    (double)back[l * N + i] *
				    (trans ? a[j][l] : a[l][j]);
			near(product, want, 64);
		}
}

static void
trsm(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++)
		trsm_case(i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3);
}

/* Double precision keeps double precision; _64 calls take long sizes. */
static void
doubles(void **state)
{
	const double third = 1.0 / 3, two = 2;
	double *d = test_upload(&third, 8), got, alpha = 1.5;

	(void)state;
	OK(cublasDscal(handle, 1, &alpha, d, 1));
	OK(cublasDaxpy(handle, 1, &two, d, 1, d, 1));
	OK(cublasDdot(handle, 1, d, 1, d, 1, &got));
	assert_true(fabs(got - 2.25) < 1e-15);
	OK(cublasDger(handle, 1, 1, &two, d, 1, d, 1, d, 1));
	OK(cublasDnrm2(handle, 1, d, 1, &got));
	assert_true(fabs(got - 6) < 1e-14);
	{
		const double pair[2] = { -1.0 / 3, 3 };
		double *v = test_upload(pair, 16), *w = test_device(16), out[2];
		int at;

		OK(cublasDasum(handle, 2, v, 1, &got));
		assert_true(fabs(got - 10.0 / 3) < 1e-15);
		OK(cublasIdamax(handle, 2, v, 1, &at));
		assert_int_equal(at, 2);
		OK(cublasIdamin(handle, 2, v, 1, &at));
		assert_int_equal(at, 1);
		OK(cublasDcopy(handle, 2, v, 1, w, -1));
		OK(cublasDswap(handle, 1, w, 1, d, 1)); /* 3 and 6 */
		OK(cublasDgemv(handle, CUBLAS_OP_N, 2, 1, &two, v, 2, d, 1,
		    &third, w, 1));
		OK(cudaMemcpy(out, w, 16, cudaMemcpyDeviceToHost));
		/* (6, -1/3) / 3 + 2 * 3 * (-1/3, 3) */
		assert_true(fabs(out[0]) < 1e-15 &&
		    fabs(out[1] - 18 + 1.0 / 9) < 1e-14);
		OK(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, 1, 2, &two,
		    v, 2, &alpha, v, 1, w, 1));
		OK(cublasDtrsm(handle, CUBLAS_SIDE_LEFT,
		    CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
		    CUBLAS_DIAG_NON_UNIT, 1, 2, &two, d, 1, w, 1));
		OK(cudaMemcpy(out, w, 16, cudaMemcpyDeviceToHost));
		/* 2 (2 + 1.5) (-1/3, 3) / 3 */
		assert_true(fabs(out[0] + 7.0 / 9) < 1e-15 &&
		    fabs(out[1] - 7) < 1e-14);
		OK(cudaFree(v));
		OK(cudaFree(w));
	}
	{
		int64_t index;
		float sum;

		OK(cublasIsamax_v2_64(handle, COUNT, x, 1, &index));
		assert_true(index > 0 && index <= COUNT);
		OK(cublasSasum_v2_64(handle, 2, x, 1, &sum));
		near((double)sum, fabs((double)xs[0]) + fabs((double)xs[1]),
		    2);
	}
	OK(cudaFree(d));
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(updates), TEST(reductions), TEST(gemv), TEST(ger),
		TEST(geam), TEST(trsm), TEST(doubles),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&handle))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasDestroy(handle);
	return failed;
}
