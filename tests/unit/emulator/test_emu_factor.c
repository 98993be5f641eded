/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_factor.c -- cuBLAS calls on batches of small
 * matrices, in float and double: the factors multiply to the matrix again, a
 * solution solves, an inverse inverts, and a singular matrix is named. */
#include "test_emu.h"

#include <float.h>
#include <math.h>

enum { MOST = 8, COUNT = 3, LD = MOST + 2, ROOM = LD * MOST };
static cublasHandle_t handle;

/* How far a product with a solution may be off, in epsilons. A matrix has one
 * element of 2n more than a draw in each row and column: entries are below
 * 2n + 1, those of its inverse below 1 / n, those of |L||U| below 2n (2n + 1).
 * Factors and solution are rounded once to their type, by half an epsilon, and
 * computed in double by at most n roundings: (n + 1) (2n + 1)^2 together. */
static double
far_off(int n)
{
	return (n + 1) * (2 * n + 1.0) * (2 * n + 1.0);
}

/* Of one element type: pointers to COUNT matrices, on the device and here. */
#define TESTS(L, T, EPSILON)                                              \
struct set_##L { T *at[COUNT]; T **list; T host[COUNT][ROOM]; };          \
static void                                                               \
up_##L(struct set_##L *s)                                                 \
{                                                                         \
	for (int i = 0; i < COUNT; i++)                                   \
		s->at[i] = test_upload(s->host[i], sizeof s->host[i]);    \
	s->list = test_upload(s->at, sizeof s->at);                       \
}                                                                         \
static void                                                               \
down_##L(struct set_##L *s)                                               \
{                                                                         \
	for (int i = 0; i < COUNT; i++)                                   \
		OK(cudaMemcpy(s->host[i], s->at[i], sizeof s->host[i],    \
		    cudaMemcpyDeviceToHost));                             \
}                                                                         \
static void                                                               \
draw_##L(struct set_##L *s, uint64_t seed)                                \
{                                                                         \
	for (int i = 0; i < COUNT * ROOM; i++)                            \
		s->host[i / ROOM][i % ROOM] = (T)test_random(&seed);      \
}                                                                         \
/* Largest difference of A X and B, for A with op, X and B of n columns. */ \
static double                                                             \
off_##L(const T *a, bool turned, const T *x, const T *b, int n)           \
{                                                                         \
	double worst = 0;                                                 \
	for (int i = 0; i < n; i++)                                       \
		for (int j = 0; j < n; j++) {                             \
			double sum = 0;                                   \
			for (int k = 0; k < n; k++)                       \
				sum += (double)a[turned ? k + i * LD :    \
				    i + k * LD] * (double)x[k + j * LD];  \
			sum -= b ? (double)b[i + j * LD] : i == j;        \
			worst = fmax(worst, fabs(sum));                   \
		}                                                         \
	return worst;                                                     \
}                                                                         \
static void                                                               \
batches_##L(void **state)                                                 \
{                                                                         \
	static struct set_##L a, lu, b, x, inverse;                       \
	int zeros[COUNT * MOST] = { 0 }, got[COUNT], told = 7;            \
	int *pivots = test_upload(zeros, sizeof zeros);                   \
	int *info = test_upload(zeros, sizeof got);                       \
	(void)state;                                                      \
	for (int n = 1; n <= MOST; n++) {                                 \
		const double far = far_off(n) * (double)(EPSILON);        \
		int *p = n % 2 ? pivots : NULL;                           \
		draw_##L(&a, (uint64_t)n);                                \
		for (int m = 0; m < COUNT; m++)                           \
			for (int k = 0; k < n; k++)                       \
				a.host[m][(k + n % 2) % n + k * LD] +=    \
				    (T)(2 * n);                           \
		for (int m = 0; m < COUNT && p && n > 1; m++)             \
			a.host[m][0] = 0; /* no pivot, so rows move */    \
		lu = a;                                                   \
		draw_##L(&b, 90);                                         \
		inverse = x = b;                                          \
		up_##L(&a); up_##L(&lu); up_##L(&x); up_##L(&inverse);    \
		OK(cublas##L##getrfBatched(handle, n, lu.list, LD, p,     \
		    info, COUNT));                                        \
		OK(cublas##L##getrsBatched(handle, CUBLAS_OP_N, n, n,     \
		    (const T *const *)lu.list, LD, p, x.list, LD,         \
		    &told, COUNT));                                       \
		assert_int_equal(told, 0);                                \
		OK(cublas##L##getriBatched(handle, n,                     \
		    (const T *const *)lu.list, LD, p, inverse.list,       \
		    LD, info, COUNT));                                    \
		down_##L(&x); down_##L(&inverse);                         \
		for (int m = 0; m < COUNT; m++) {                         \
			assert_true(off_##L(a.host[m], false, x.host[m],  \
			    b.host[m], n) <= far);                        \
			assert_true(off_##L(a.host[m], false,             \
			    inverse.host[m], NULL, n) <= far);            \
			assert_true(inverse.host[m][n] == b.host[m][n]);  \
		}                                                         \
		x = b;                                                    \
		up_##L(&x);                                               \
		OK(cublas##L##getrsBatched(handle, CUBLAS_OP_T, n, n,     \
		    (const T *const *)lu.list, LD, p, x.list, LD,         \
		    &told, COUNT));                                       \
		OK(cublas##L##matinvBatched(handle, n,                    \
		    (const T *const *)a.list, LD, inverse.list, LD, info, \
		    COUNT));                                              \
		down_##L(&x); down_##L(&inverse);                         \
		for (int m = 0; m < COUNT; m++) {                         \
			assert_true(off_##L(a.host[m], true, x.host[m],   \
			    b.host[m], n) <= far);                        \
			assert_true(off_##L(a.host[m], false,             \
			    inverse.host[m], NULL, n) <= far);            \
		}                                                         \
	}                                                                 \
	for (int i = 0; i < LD; i++)  /* column 2 of the second: zeros */ \
		a.host[1][i + 2 * LD] = 0;                                \
	up_##L(&a);                                                       \
	OK(cublas##L##matinvBatched(handle, 4, (const T *const *)a.list,  \
	    LD, inverse.list, LD, info, COUNT));                          \
	OK(cudaMemcpy(got, info, sizeof got, cudaMemcpyDeviceToHost));    \
	assert_int_equal(got[0], 0);                                      \
	assert_int_equal(got[1], 3);                                      \
	OK(cublas##L##getrfBatched(handle, 4, a.list, LD, pivots, info,   \
	    COUNT));                                                      \
	OK(cudaMemcpy(got, info, sizeof got, cudaMemcpyDeviceToHost));    \
	assert_int_equal(got[1], 3);                                      \
	assert_int_equal(got[2], 0);                                      \
	assert_int_equal(cublas##L##matinvBatched(handle, 33,             \
	    (const T *const *)a.list, 40, inverse.list, 40, info, COUNT), \
	    CUBLAS_STATUS_INVALID_VALUE);                                 \
	assert_int_equal(cublas##L##getrfBatched(handle, 4, a.list, 3,    \
	    pivots, info, COUNT), CUBLAS_STATUS_INVALID_VALUE);           \
}
TESTS(S, float, FLT_EPSILON)
TESTS(D, double, DBL_EPSILON)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_S),
		cmocka_unit_test(batches_D),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	OK(cublasCreate_v2(&handle));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
