/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_matrix.c -- cuBLAS calls on symmetric and
 * triangular matrices and rotations, in float and double, by int and int64_t,
 * against the definitions. Elements that must not be read are NaN, elements
 * that must not be written stay. */
#include "test_emu.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { ROOM = 12 * 12 };
static cublasHandle_t handle;
static bool wide, big;   /* double; int64_t */
static bool by_device;   /* pointer mode of the scalars */

/* Host matrices in double, and their copies on the device in the call's
 * type. */
struct matrix {
	double h[ROOM];
	void *d;
};
static struct matrix A, B, C, X;

#define CALL(name, ...) (wide ?                                           \
	big ? cublasD##name##_v2_64(__VA_ARGS__) :                        \
	cublasD##name##_v2(__VA_ARGS__) :                                 \
	big ? cublasS##name##_v2_64(__VA_ARGS__) :                        \
	cublasS##name##_v2(__VA_ARGS__))

static size_t
element(void)
{
	return wide ? sizeof(double) : sizeof(float);
}

static void
upload(const double *from, void *to, int count)
{
	static float f[ROOM];

	for (int i = 0; i < count; i++)
		f[i] = (float)from[i];
	OK(cudaMemcpy(to, wide ? (const void *)from : f, (size_t)count *
	    element(), cudaMemcpyHostToDevice));
	OK(cudaDeviceSynchronize());
}

static void
download(const void *from, double *to, int count)
{
	static float f[ROOM];

	OK(cudaMemcpy(wide ? (void *)to : f, from, (size_t)count * element(),
	    cudaMemcpyDeviceToHost));
	for (int i = 0; !wide && i < count; i++)
		to[i] = (double)f[i];
}

/* Random values that a float holds. */
static void
fill(struct matrix *m, uint64_t seed)
{
	for (int i = 0; i < ROOM; i++)
		m->h[i] = (double)test_random(&seed);
	upload(m->h, m->d, ROOM);
}

/* The scalar at the place that the pointer mode needs. */
static const void *
scalar(double value, int slot)
{
	static double host[4];
	static void *device;
	float f = (float)value;

	if (wide)
		host[slot] = value;
	else
		memcpy(&host[slot], &f, sizeof f);
	if (!by_device)
		return &host[slot];
	if (!device)
		device = test_device(sizeof host);
	OK(cudaMemcpy((double *)device + slot, &host[slot], sizeof *host,
	    cudaMemcpyHostToDevice));
	return (double *)device + slot;
}

/* One rounding to the type, and the error of the sum: `terms` additions in
 * double of numbers whose sizes add up to `size`. */
static void
expect(double got, double want, double size, int terms)
{
	const double bound = (wide ? 0 : (double)FLT_EPSILON) * fabs(want) +
	    (terms + 4) * DBL_EPSILON * (size + fabs(want));

	if (!(fabs(got - want) <= bound))
		fail_msg("got %.17g, want %.17g, bound %.3g", got, want,
		    bound);
}

/* NaN in the unused triangle (and on the diagonal, if `unit`). */
static void
keep_triangle(struct matrix *m, int n, int ld, bool upper, bool unit)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			if (i == j ? unit : (i < j) != upper)
				m->h[j * ld + i] = NAN;
	upload(m->h, m->d, ROOM);
}

static double
symmetric(int ld, bool upper, int i, int j)
{
	return (i < j) == upper || i == j ? A.h[j * ld + i] : A.h[i * ld + j];
}

/* Element of op(triangle of A). */
static double
triangle(int ld, bool upper, bool transposed, bool unit, int i, int j)
{
	const int row = transposed ? j : i, col = transposed ? i : j;

	if (row == col)
		return unit ? 1 : A.h[col * ld + row];
	return (row < col) == upper ? A.h[col * ld + row] : 0;
}

/* Index of element i of a vector of n. */
#define AT(i, n, inc) ((inc) < 0 ? ((i) + 1 - (n)) * (inc) : (i) * (inc))

static const double betas[] = { 0, 1, -0.5 };

/* syrk and syr2k: one triangle of C, the other unchanged. */
static void
rank_k(bool two, bool upper, bool transposed, double beta)
{
	enum { N = 7, K = 5, LDA = 9, LDB = 8, LDC = 10 };
	const cublasFillMode_t uplo = upper ? CUBLAS_FILL_MODE_UPPER :
	    CUBLAS_FILL_MODE_LOWER;
	const cublasOperation_t op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
	static double got[ROOM];

	fill(&A, 1);
	fill(&B, 2);
	fill(&C, 3);
	if (beta == 0)
		keep_triangle(&C, N, LDC, !upper, true);
	if (two)
		OK(CALL(syr2k, handle, uplo, op, N, K, scalar(1.25, 0), A.d,
		    LDA, B.d, LDB, scalar(beta, 1), C.d, LDC));
	else
		OK(CALL(syrk, handle, uplo, op, N, K, scalar(1.25, 0), A.d,
		    LDA, scalar(beta, 1), C.d, LDC));
	download(C.d, got, ROOM);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			double sum = 0, size = 0;

			if (i != j && (i < j) != upper) {
				assert_true(got[j * LDC + i] ==
				    C.h[j * LDC + i]);
				continue;
			}
			for (int l = 0; l < K; l++) {
				const int ia = transposed ? i * LDA + l :
				    l * LDA + i, ja = transposed ?
				    j * LDA + l : l * LDA + j;
				const int ib = transposed ? i * LDB + l :
				    l * LDB + i, jb = transposed ?
				    j * LDB + l : l * LDB + j;
				const double term = two ? A.h[ia] * B.h[jb] +
				    B.h[ib] * A.h[ja] : A.h[ia] * A.h[ja];

				sum += term;
				size += 2;
			}
			sum *= 1.25;
			if (beta != 0)
				sum += beta * C.h[j * LDC + i];
			expect(got[j * LDC + i], sum, size, 2 * K);
		}
}

static void
symm(bool left, bool upper, double beta)
{
	enum { M = 6, N = 5, LDA = 7, LDB = 8, LDC = 9 };
	static double got[ROOM];

	fill(&A, 4);
	fill(&B, 5);
	fill(&C, 6);
	keep_triangle(&A, left ? M : N, LDA, upper, false);
	OK(CALL(symm, handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
	    upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER, M, N,
	    scalar(-2, 0), A.d, LDA, B.d, LDB, scalar(beta, 1), C.d, LDC));
	download(C.d, got, ROOM);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			double sum = 0;

			for (int l = 0; l < (left ? M : N); l++)
				sum += left ? symmetric(LDA, upper, i, l) *
				    B.h[j * LDB + l] : B.h[l * LDB + i] *
				    symmetric(LDA, upper, l, j);
			sum = -2 * sum + (beta == 0 ? 0 :
			    beta * C.h[j * LDC + i]);
			expect(got[j * LDC + i], sum, 2 * M, M);
		}
	assert_true(got[M] == C.h[M]);
}

/* symv and syr, increments of both signs. */
static void
vectors(bool upper, int incx, int incy, double beta)
{
	enum { N = 6, LD = 7 };
	const cublasFillMode_t uplo = upper ? CUBLAS_FILL_MODE_UPPER :
	    CUBLAS_FILL_MODE_LOWER;
	static double got[ROOM];
	fill(&A, 7);
	fill(&X, 8);
	fill(&C, 9);
	keep_triangle(&A, N, LD, upper, false);
	OK(CALL(symv, handle, uplo, N, scalar(0.75, 0), A.d, LD, X.d, incx,
	    scalar(beta, 1), C.d, incy));
	download(C.d, got, ROOM);
	for (int i = 0; i < N; i++) {
		double sum = 0;

		for (int l = 0; l < N; l++)
			sum += symmetric(LD, upper, i, l) *
			    X.h[AT(l, N, incx)];
		sum = 0.75 * sum + (beta == 0 ? 0 :
		    beta * C.h[AT(i, N, incy)]);
		expect(got[AT(i, N, incy)], sum, N, N);
	}
	fill(&C, 10);
	OK(CALL(syr, handle, uplo, N, scalar(3, 0), X.d, incx, C.d, LD));
	download(C.d, got, ROOM);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++)
			expect(got[j * LD + i],
			    C.h[j * LD + i] +
				(i == j || (i < j) == upper ?
					3 * X.h[AT(i, N, incx)] *
					    X.h[AT(j, N, incx)] :
					0),
			    4, 2);
}

/* trmm in place and out of place, trmv, and trsv by its residual. */
static void
triangular(bool left, bool upper, bool transposed, bool unit, bool in_place)
{
	enum { M = 6, N = 5, LDA = 7, LD = 8 };
	const cublasFillMode_t uplo = upper ? CUBLAS_FILL_MODE_UPPER :
	    CUBLAS_FILL_MODE_LOWER;
	const cublasOperation_t op = transposed ? CUBLAS_OP_C : CUBLAS_OP_N;
	const cublasDiagType_t diag = unit ? CUBLAS_DIAG_UNIT :
	    CUBLAS_DIAG_NON_UNIT;
	const int inc = in_place ? -2 : 1;
	void *const to = in_place ? B.d : C.d;
	static double got[ROOM];

	fill(&A, 11);
	for (int i = 0; i < M; i++) /* far from singular */
		A.h[i * LDA + i] = (float)(3 + A.h[i * LDA + i]);
	keep_triangle(&A, left ? M : N, LDA, upper, unit);
	fill(&B, 12);
	OK(CALL(trmm, handle, left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT,
	    uplo, op, diag, M, N, scalar(1.5, 0), A.d, LDA, B.d, LD, to, LD));
	download(to, got, ROOM);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < M; i++) {
			double sum = 0;

			for (int l = 0; l < (left ? M : N); l++)
				sum += left ? triangle(LDA, upper, transposed,
				    unit, i, l) * B.h[j * LD + l] :
				    B.h[l * LD + i] * triangle(LDA, upper,
				    transposed, unit, l, j);
			expect(got[j * LD + i], 1.5 * sum, 6 * M, M);
		}
	if (!left)
		return;
	fill(&X, 13);
	OK(CALL(trmv, handle, uplo, op, diag, M, A.d, LDA, X.d, inc));
	download(X.d, got, ROOM);
	for (int i = 0; i < M; i++) {
		double sum = 0;

		for (int l = 0; l < M; l++)
			sum += triangle(LDA, upper, transposed, unit, i, l) *
			    X.h[AT(l, M, inc)];
		expect(got[AT(i, M, inc)], sum, 4 * M, M);
	}
	fill(&X, 14);
	OK(CALL(trsv, handle, uplo, op, diag, M, A.d, LDA, X.d, inc));
	download(X.d, got, ROOM);
	for (int i = 0; i < M; i++) {
		double sum = 0, size = 0;

		for (int l = 0; l < M; l++) {
			const double term = triangle(LDA, upper, transposed,
			    unit, i, l) * got[AT(l, M, inc)];

			sum += term;
			size += fabs(term);
		}
		assert_true(fabs(sum - X.h[AT(i, M, inc)]) <= size *
		    (wide ? (M + 3) * DBL_EPSILON : (double)FLT_EPSILON));
	}
}

static void
rotations(void)
{
	enum { N = 5 };
	const double c = 0.6, s = 0.8;
	static double x[ROOM], y[ROOM];

	fill(&A, 15);
	fill(&B, 16);
	OK(CALL(rot, handle, N, A.d, 2, B.d, -1, scalar(c, 0), scalar(s, 1)));
	download(A.d, x, ROOM);
	download(B.d, y, ROOM);
	for (int i = 0; i < N; i++) {
		const double a = A.h[2 * i], b = B.h[N - 1 - i];
		const double cc = wide ? c : (double)(float)c;
		const double ss = wide ? s : (double)(float)s;

		expect(x[2 * i], cc * a + ss * b, 2, 2);
		expect(y[N - 1 - i], cc * b - ss * a, 2, 2);
	}
	assert_true(x[1] == A.h[1]);
}

static void
all_of(void)
{
	for (int flags = 0; flags < 32; flags++) {
		const bool f[] = { flags & 1, flags & 2, flags & 4, flags & 8,
			flags & 16 };

		for (int b = 0; b < 3; b++) {
			if (flags < 8)
				rank_k(f[0], f[1], f[2], betas[b]);
			if (flags < 4) {
				symm(f[0], f[1], betas[b]);
				vectors(f[0], f[1] ? -2 : 1, f[1] ? 3 : -1,
				    betas[b]);
			}
		}
		triangular(f[0], f[1], f[2], f[3], f[4]);
	}
	rotations();
}

static void
every_form(void **state)
{
	(void)state;
	for (int form = 0; form < 8; form++) {
		wide = form & 1;
		big = form & 2;
		by_device = form & 4;
		OK(cublasSetPointerMode(handle, by_device ?
		    CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
		all_of();
	}
	OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
}

/* a, b -> r, z; c and s rotate (a, b) to (r, 0). */
static void
generators(void **state)
{
	static const double pairs[][2] = { { 3, 4 }, { -4, 3 }, { 0, 2 },
		{ 5, 0 }, { 0, 0 }, { 1e-200, 2e-200 }, { -1e200, 3e200 } };

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		double a = pairs[i][0], b = pairs[i][1], c = 9, s = 9;
		const double size = hypot(a, b);

		OK(cublasDrotg(handle, &a, &b, &c, &s));
		assert_true(fabs(c * c + s * s - 1) <= 4 * DBL_EPSILON);
		assert_true(fabs(c * pairs[i][0] + s * pairs[i][1] - a) <=
		    4 * DBL_EPSILON * size);
		assert_true(fabs(c * pairs[i][1] - s * pairs[i][0]) <=
		    4 * DBL_EPSILON * size);
		if (fabs(b) < 1) /* how z encodes c and s */
			expect(s, b, 1, 1);
		else if (b != 1)
			expect(c, 1 / b, 1, 1);
		else
			assert_true(c == 0);
	}
	{
		float f[4] = { 3, 4, 0, 0 }, *d = test_upload(f, sizeof f);

		OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
		OK(cublasSrotg(handle, d, d + 1, d + 2, d + 3));
		assert_int_equal(cublasSrotg(handle, f, d, d, d),
		    CUBLAS_STATUS_EXECUTION_FAILED);
		OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
		OK(cudaMemcpy(f, d, sizeof f, cudaMemcpyDeviceToHost));
		assert_true(fabsf(f[0]) == 5 && fabsf(f[2] - 0.6f) <
		    FLT_EPSILON);
		OK(cudaFree(d));
	}
	assert_int_equal(cublasSrotg(handle, NULL, NULL, NULL, NULL),
	    CUBLAS_STATUS_INVALID_VALUE);
}

static void
smallest(void **state)
{
	const float f[] = { 3, -2, 5, 1, -1, 1 };
	float *d = test_upload(f, sizeof f);
	int64_t wide_index;
	int index;

	(void)state;
	OK(cublasIsamin(handle, 6, d, 1, &index));
	assert_int_equal(index, 4); /* the first of equals */
	OK(cublasIsamin(handle, 2, d, 2, &index));
	assert_int_equal(index, 1);
	OK(cublasIsamin(handle, 0, NULL, 1, &index));
	assert_int_equal(index, 0);
	OK(cublasIsamin_v2_64(handle, 6, d, 1, &wide_index));
	assert_int_equal(wide_index, 4);
	OK(cudaFree(d));
}

/* Arguments that cuBLAS's manual calls invalid, empty sizes, and bad
 * addresses. */
static void
arguments(void **state)
{
	const float one = 1, host[4] = { 0 };
	float *d = test_device(64);

	(void)state;
#define INVALID(call) \
	assert_int_equal((call), CUBLAS_STATUS_INVALID_VALUE)
	INVALID(cublasSsyrk(handle, 2, CUBLAS_OP_N, 2, 2, &one, d, 2, &one, d,
	    2));
	INVALID(cublasSsyrk(handle, 0, 9, 2, 2, &one, d, 2, &one, d, 2));
	INVALID(cublasSsyrk(handle, 0, 0, -1, 2, &one, d, 2, &one, d, 2));
	INVALID(cublasSsyrk(handle, 0, 0, 2, 2, &one, d, 1, &one, d, 2));
	INVALID(cublasSsyrk(handle, 0, 1, 2, 3, &one, d, 2, &one, d, 2));
	INVALID(cublasSsyrk(handle, 0, 0, 2, 2, &one, d, 2, &one, d, 1));
	INVALID(cublasSsyrk(handle, 0, 0, 2, 2, NULL, d, 2, &one, d, 2));
	INVALID(cublasSsymm(handle, 2, 0, 2, 2, &one, d, 2, d, 2, &one, d, 2));
	INVALID(cublasSsymm(handle, 0, 0, 3, 2, &one, d, 2, d, 3, &one, d, 3));
	INVALID(cublasSsymv(handle, 0, 2, &one, d, 2, d, 0, &one, d, 1));
	INVALID(cublasSsyr(handle, 0, 2, &one, d, 0, d, 2));
	INVALID(cublasStrmm(handle, 0, 0, 0, 7, 2, 2, &one, d, 2, d, 2, d, 2));
	INVALID(cublasStrmm(handle, 0, 0, 0, 0, 2, 2, &one, d, 2, d, 3, d, 2));
	INVALID(cublasStrsv(handle, 0, 0, 0, 2, d, 1, d, 1));
	INVALID(cublasStrmv(handle, 0, 0, 0, 2, d, 2, d, 0));
	OK(cublasSsyrk(handle, 0, 0, 0, 2, &one, NULL, 2, &one, NULL, 2));
	OK(cublasStrsv(handle, 0, 0, 0, 0, NULL, 1, NULL, 1));
	OK(cublasSrot(handle, 0, NULL, 1, NULL, 1, &one, &one));
	assert_int_equal(cublasSsyrk(handle, 0, 0, 2, 2, &one, host, 2, &one,
	    d, 2), CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cublasStrsv(handle, 0, 0, 0, 2, host, 2, d, 1),
	    CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cublasSrot(handle, 20, d, 1, d, 1, &one, &one),
	    CUBLAS_STATUS_EXECUTION_FAILED);
	assert_int_equal(cublasSsymm(NULL, 0, 0, 2, 2, &one, d, 2, d, 2, &one,
	    d, 2), CUBLAS_STATUS_NOT_INITIALIZED);
	OK(cudaFree(d));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form),
		cmocka_unit_test(generators),
		cmocka_unit_test(smallest),
		cmocka_unit_test(arguments),
	};
	struct matrix *all[] = { &A, &B, &C, &X };
	int failed;

	setenv("AUTOCAST_LOG", "off", 1); /* complaints are provoked */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (cublasCreate(&handle))
		return 1;
	for (int i = 0; i < 4; i++)
		all[i]->d = test_device(ROOM * sizeof(double));
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	cublasDestroy(handle);
	return failed;
}
