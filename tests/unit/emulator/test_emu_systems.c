/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_systems.c -- cuBLAS calls on matrices of each
 * type, against plain loops: geam, dgmm, trsm and batches of it. */
#include "test_emu_numbers.h"

#include <float.h>

enum { MOST = 5, LD = MOST + 2, SIZE = LD * MOST, BATCH = 3, FIRST = T_FLOAT };
static cublasHandle_t handle;

/* Matrices of one type, here and on the device. */
struct set {
	const struct test_type *t;
	unsigned char host[BATCH * SIZE * 16];
	char *device;
	void **list;            /* of BATCH */
};
static struct set a, b, c;

static void
draw(struct set *s, int type, uint64_t *seed)
{
	s->t = &test_types[type];
	test_draw(s->t, s->host, BATCH * SIZE, seed);
}

static void
up(const struct set *s)
{
	OK(cudaMemcpy(s->device, s->host, sizeof s->host,
	    cudaMemcpyHostToDevice));
}

static void
down(struct set *s)
{
	OK(cudaMemcpy(s->host, s->device, sizeof s->host,
	    cudaMemcpyDeviceToHost));
}

/* Where matrix `at` of a batch is; the list on the device says so. */
static void
point(const struct set *s)
{
	void *host[BATCH];

	for (int i = 0; i < BATCH; i++)
		host[i] = s->device + (size_t)(i * SIZE) * test_bytes(s->t);
	OK(cudaMemcpy(s->list, host, sizeof host, cudaMemcpyHostToDevice));
}

static number
at(const struct set *s, int matrix, int64_t i)
{
	return test_get(s->t, s->host, matrix * SIZE + i);
}

static void
spoil(struct set *s, int64_t i)
{
	for (int matrix = 0; matrix < BATCH; matrix++)
		memset(s->host + (size_t)(matrix * SIZE + i) *
		    test_bytes(s->t), 0xff, test_bytes(s->t));
}

static double
size(number x)
{
	return fabs(creal(x)) + fabs(cimag(x));
}

static void
near(number is, number wanted, double far)
{
	if (!(size(is - wanted) <= far))
		fail_msg("got %.17g,%.17g, want %.17g,%.17g, %g off",
		    creal(is), cimag(is), creal(wanted), cimag(wanted), far);
}

/* Element of op(A). */
static number
picked(const struct set *s, int matrix, cublasOperation_t op, int i, int j)
{
	const number x = at(s, matrix, op == CUBLAS_OP_N ? i + j * LD :
	    j + i * LD);

	return op == CUBLAS_OP_C ? conj(x) : x;
}

/* A call of the form of this type. */
#define TYPED(type, name, ...)                                            \
	((type) == T_FLOAT ? name(S, float, __VA_ARGS__) :                \
	(type) == T_DOUBLE ? name(D, double, __VA_ARGS__) :               \
	(type) == T_COMPLEX ? name(C, cuComplex, __VA_ARGS__) :           \
	name(Z, cuDoubleComplex, __VA_ARGS__))
#define EITHER(function, ...) (wide ? function##_64(__VA_ARGS__) :        \
	function(__VA_ARGS__))
#define GEAM(L, T, ta, tb, m, n, alpha, beta)                             \
	EITHER(cublas##L##geam, handle, ta, tb, m, n, (const T *)(alpha), \
	    (const T *)(void *)a.device, LD, (const T *)(beta),           \
	    (const T *)(void *)b.device, LD, (T *)(void *)c.device, LD)
#define DGMM(L, T, side, m, n, incx)                                      \
	EITHER(cublas##L##dgmm, handle, side, m, n,                       \
	    (const T *)(void *)a.device, LD, (const T *)(void *)b.device, \
	    incx, (T *)(void *)c.device, LD)
#define TRSM(L, T, s, alpha)                                              \
	(s->batch ? EITHER(cublas##L##trsmBatched, handle, s->side,       \
	    s->uplo, s->op, s->diag, s->m, s->n, (const T *)(alpha),      \
	    (const T *const *)(void *)a.list, s->lda,                     \
	    (T *const *)(void *)c.list, s->ldb, s->count) :               \
	    EITHER(cublas##L##trsm, handle, s->side, s->uplo, s->op,      \
	    s->diag, s->m, s->n, (const T *)(alpha),                      \
	    (const T *)(void *)a.device, s->lda, (T *)(void *)c.device,   \
	    s->ldb))

/* alpha, and beta, of a type. */
static unsigned char scalars[64];

static number
scalar(int type, int which)
{
	return test_get(&test_types[type], scalars + which * 16, 0);
}

static void
set_scalars(int type, bool zero, uint64_t *seed)
{
	memset(scalars, 0, sizeof scalars);
	test_draw(&test_types[type], scalars, 1, seed);
	if (!zero)
		test_draw(&test_types[type], scalars + 16, 1, seed);
}

/* A sum of two products of numbers whose parts are below 2, rounded once. */
static void
geam(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int k = 0; k < 4 * 3 * 3 * 2 * 2; k++) {
		const int type = FIRST + k % 4;
		const cublasOperation_t ta = k / 4 % 3, tb = k / 12 % 3;
		const bool wide = k / 36 % 2, zero = k / 72;
		const int m = 3, n = 4;
		static struct set was;

		draw(&a, type, &seed);
		draw(&b, type, &seed);
		draw(&c, type, &seed);
		set_scalars(type, zero, &seed);
		if (zero)       /* beta = 0: B is not read */
			for (int i = 0; i < SIZE; i++)
				spoil(&b, i);
		up(&a);
		up(&b);
		up(&c);
		was = c;
		OK(TYPED(type, GEAM, ta, tb, m, n, scalars, scalars + 16));
		down(&c);
		for (int i = 0; i < SIZE; i++) {
			const int row = i % LD, col = i / LD;
			number sum;

			if (row >= m || col >= n) {
				assert_true(at(&c, 0, i) == at(&was, 0, i));
				continue;
			}
			sum = scalar(type, 0) * picked(&a, 0, ta, row, col);
			if (!zero)
				sum += scalar(type, 1) * picked(&b, 0, tb, row,
				    col);
			near(at(&c, 0, i), sum, ldexp(size(sum), -a.t->bits) +
			    32 * DBL_EPSILON);
		}
	}
}

static void
dgmm(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (int k = 0; k < 4 * 2 * 4 * 2; k++) {
		static const int steps[] = { 1, 2, -3, 0 };
		const int type = FIRST + k % 4, step = steps[k / 8 % 4];
		const bool left = k / 4 % 2, wide = k / 32;
		const int m = 3, n = 5, order = left ? m : n;
		static struct set was;

		draw(&a, type, &seed);
		draw(&b, type, &seed);
		draw(&c, type, &seed);
		up(&a);
		up(&b);
		up(&c);
		was = c;
		OK(TYPED(type, DGMM, left ? CUBLAS_SIDE_LEFT :
		    CUBLAS_SIDE_RIGHT, m, n, step));
		down(&c);
		for (int i = 0; i < SIZE; i++) {
			const int row = i % LD, col = i / LD;
			const int at_x = left ? row : col;
			number product;

			if (row >= m || col >= n) {
				assert_true(at(&c, 0, i) == at(&was, 0, i));
				continue;
			}
			product = at(&a, 0, i) * at(&b, 0, step < 0 ?
			    (order - 1 - at_x) * -step : at_x * step);
			near(at(&c, 0, i), product, ldexp(size(product),
			    -a.t->bits) + 16 * DBL_EPSILON);
		}
	}
}

/* ---- trsm ---------------------------------------------------------------- */

struct system {
	cublasSideMode_t side;
	cublasFillMode_t uplo;
	cublasOperation_t op;
	cublasDiagType_t diag;
	int m, n, lda, ldb, count;
	bool batch;
};

/* Element of op(A), with the ones of a unit diagonal. */
static number
triangle(const struct system *s, int matrix, int i, int j)
{
	const bool upper = (s->uplo == CUBLAS_FILL_MODE_UPPER) ==
	    (s->op == CUBLAS_OP_N);

	if (i == j && s->diag == CUBLAS_DIAG_UNIT)
		return 1;
	return i != j && (i < j) != upper ? 0 : picked(&a, matrix, s->op, i,
	    j);
}

/* op(A) X = alpha B holds but for the rounding of X: an element is rounded once
 * to its type, after those that it depends on, and that is how far its equation
 * is off, times the diagonal's element. Sums are made in double: each of an
 * equation's terms and the right-hand side is off by an epsilon of that per
 * operation, of which there are four for each of MOST terms and eight more. */
static void
check(const struct system *s, const struct set *before, int type)
{
	const bool left = s->side == CUBLAS_SIDE_LEFT;
	const int order = left ? s->m : s->n;

	for (int k = 0; k < (s->batch ? BATCH : 1) * SIZE; k++) {
		const int matrix = k / SIZE, at_b = k % SIZE;
		const int row = at_b % LD, col = at_b / LD;
		const int own = left ? row : col;
		number sum = 0, right;
		double sizes, far;

		if (row >= s->m || col >= s->n) {
			assert_true(at(&c, matrix, at_b) == at(before, matrix,
			    at_b));
			continue;
		}
		right = scalar(type, 0) * at(before, matrix, at_b);
		sizes = size(right);
		for (int j = 0; j < order; j++) {
			const number term = left ? triangle(s, matrix, row, j) *
			    at(&c, matrix, j + col * LD) :
			    triangle(s, matrix, j, col) *
			    at(&c, matrix, row + j * LD);

			sum += term;
			sizes += 2 * size(term);
		}
		far = ldexp(2 * size(triangle(s, matrix, own, own)) *
		    size(at(&c, matrix, at_b)), -a.t->bits) +
		    (4 * MOST + 8) * DBL_EPSILON * sizes;
		near(sum, right, far);
	}
}

/* What A's other triangle holds, and a unit diagonal, is not read. Of what is
 * solved the diagonal is at least 1/2 in size. */
static void
prepare(const struct system *s, int type, uint64_t *seed)
{
	draw(&a, type, seed);
	draw(&c, type, seed);
	set_scalars(type, true, seed);
	for (int i = 0; i < SIZE; i++) {
		const int row = i % LD, col = i / LD;

		for (int m = 0; row == col && m < BATCH; m++)
			while (size(at(&a, m, i)) < 0.5)
				test_draw(a.t, a.host + (size_t)(m * SIZE + i) *
				    test_bytes(a.t), 1, seed);
		if (row == col ? s->diag == CUBLAS_DIAG_UNIT :
		    (row < col) != (s->uplo == CUBLAS_FILL_MODE_UPPER))
			spoil(&a, i);
	}
	up(&a);
	up(&c);
	point(&a);
	point(&c);
}

static void
systems(void **state)
{
	static const int shapes[][2] = {
		{ MOST, MOST }, { 1, 1 }, { 2, MOST }, { MOST, 3 }
	};
	static struct set before;
	uint64_t seed = 3;

	(void)state;
	for (int k = 0; k < 2 * 2 * 3 * 2 * 4 * 4 * 2; k++) {
		const int *shape = shapes[k / 24 % 4], type = FIRST +
		    k / 96 % 4;
		const bool wide = (k / 24 + k / 96) % 2;
		const struct system system = { k % 2, k / 2 % 2, k / 4 % 3,
			k / 12 % 2, shape[0], shape[1], LD, LD, BATCH,
			k / 384 }, *const s = &system;

		prepare(s, type, &seed);
		before = c;
		OK(TYPED(type, TRSM, s, scalars));
		down(&c);
		check(s, &before, type);
	}
}

/* The scalar is on the device, or zero: then A is not read. */
static void
scales(void **state)
{
	static struct set before;
	uint64_t seed = 4;
	const bool wide = false;

	(void)state;
	for (int type = FIRST; type < T_TYPES; type++) {
		const struct system system = { CUBLAS_SIDE_LEFT,
			CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
			CUBLAS_DIAG_NON_UNIT, 3, 4, LD, LD, BATCH, true },
			*const s = &system;
		void *device;

		prepare(s, type, &seed);
		before = c;
		device = test_upload(scalars, sizeof scalars);
		OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
		OK(TYPED(type, TRSM, s, device));
		OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
		down(&c);
		check(s, &before, type);
		OK(cudaFree(device));
		for (int i = 0; i < SIZE; i++)
			spoil(&a, i);
		up(&a);
		OK(TYPED(type, TRSM, s, scalars + 16));
		down(&c);
		assert_true(at(&c, 1, 0) == 0 && at(&c, 2, 2 + 3 * LD) == 0);
		assert_true(at(&c, 1, 3) == at(&before, 1, 3));
	}
}

/* What is refused, in one type: the others share the code. */
static void
arguments(void **state)
{
	const struct system good = { .m = 3, .n = 4, .lda = 4, .ldb = 3,
		.side = CUBLAS_SIDE_RIGHT, .count = BATCH, .batch = true };
	const bool wide = false;
	const float one = 1;
	uint64_t seed = 5;

	(void)state;
	draw(&a, T_FLOAT, &seed);
	prepare(&good, T_FLOAT, &seed);
	for (int k = 0; k < 13; k++) {
		struct system bad = good, *const s = &bad;
		int *const numbers[] = { &bad.m, &bad.n, &bad.count };

		if (k < 3)
			*numbers[k] = -1;
		bad.lda = k == 3 ? 3 : good.lda;
		bad.ldb = k == 4 ? 2 : good.ldb;
		bad.side = k == 5 ? (cublasSideMode_t)2 : good.side;
		bad.uplo = k == 6 ? (cublasFillMode_t)2 : good.uplo;
		bad.op = k == 7 ? (cublasOperation_t)3 : good.op;
		bad.diag = k == 8 ? (cublasDiagType_t)2 : good.diag;
		if (k >= 9 && k < 12)
			*numbers[k - 9] = 0;
		assert_int_equal(TRSM(S, float, s, k == 12 ? NULL : &one),
		    k >= 9 && k < 12 ? CUBLAS_STATUS_SUCCESS :
		    CUBLAS_STATUS_INVALID_VALUE);
	}
	assert_int_equal(DGMM(S, float, (cublasSideMode_t)2, 1, 1, 1),
	    CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(DGMM(S, float, CUBLAS_SIDE_LEFT, -1, 1, 1),
	    CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(DGMM(S, float, CUBLAS_SIDE_LEFT, 1, -1, 1),
	    CUBLAS_STATUS_INVALID_VALUE);
	assert_int_equal(DGMM(S, float, CUBLAS_SIDE_LEFT, LD + 1, 1, 1),
	    CUBLAS_STATUS_INVALID_VALUE);
	OK(DGMM(S, float, CUBLAS_SIDE_LEFT, 0, 1, 1));
	OK(DGMM(S, float, CUBLAS_SIDE_RIGHT, 1, 0, 1));
	assert_int_equal(cublasSdgmm(NULL, CUBLAS_SIDE_LEFT, 0, 0, NULL, 1,
	    NULL, 1, NULL, 1), CUBLAS_STATUS_NOT_INITIALIZED);
	assert_int_equal(cublasSdgmm(handle, CUBLAS_SIDE_LEFT, 1, 1, &one, 1,
	    (float *)(void *)b.device, 1, (float *)(void *)c.device, 1),
	    CUBLAS_STATUS_EXECUTION_FAILED);
}

/* A batch whose matrices are not the device's: the call cannot know, the work
 * does. */
static int
bad_batch(void)
{
	const struct system system = { .m = 1, .n = 1, .lda = 1, .ldb = 1,
		.count = 1, .batch = true }, *const s = &system;
	const bool wide = false;
	const float one = 1;
	float host = 1;
	void *const list[] = { &host };

	OK(cudaMemcpy(a.list, list, sizeof list, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(c.list, list, sizeof list, cudaMemcpyHostToDevice));
	OK(TRSM(S, float, s, &one));
	return cudaDeviceSynchronize() == cudaErrorIllegalAddress && host == 1
	    ? 0 : 1;
}

static void
addresses(void **state)
{
	char said[4096];

	(void)state;
	if (TEST_WITH_TSAN) {
		print_message("# TSan's checks take the place of ours\n");
		skip();
	}
	assert_int_equal(test_again("bad-batch", NULL, NULL, said,
	    sizeof said), 0);
	assert_non_null(strstr(said, "cublasStrsmBatched: argument A"));
}

int
main(int count, char **words)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(geam),
		cmocka_unit_test(dgmm),
		cmocka_unit_test(systems),
		cmocka_unit_test(scales),
		cmocka_unit_test(arguments),
		cmocka_unit_test(addresses),
	};
	struct set *const sets[] = { &a, &b, &c };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	OK(cublasCreate_v2(&handle));
	for (int i = 0; i < 3; i++) {
		sets[i]->device = test_device(sizeof a.host);
		sets[i]->list = test_device(BATCH * sizeof *a.list);
	}
	if (count > 1 && !strcmp(words[1], "bad-batch"))
		return bad_batch();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
