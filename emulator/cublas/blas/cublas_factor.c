/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_factor.c -- cuBLAS calls on batches of small
 * matrices: LU, solving and inverting by it.
 * Plain loops in double precision. Contracts are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

#include <math.h>
#include <stdlib.h>

enum { MATINV_MOST = 32 }; /* the largest order of matinvBatched */

struct batch {
	int n, nrhs, lda, ldc, count;
	bool wide, transposed;
	const void *const *a;   /* on the device, as are the matrices */
	void *const *c;
	const int *from_pivots;
	int *pivots, *info;     /* may be NULL; pivots count from 1 */
};

static void
swap(double *lu, int n, int one, int other)
{
	for (int j = 0; j < n && one != other; j++) {
		const double kept = lu[one + j * n];

		lu[one + j * n] = lu[other + j * n];
		lu[other + j * n] = kept;
	}
}

/* The n x n matrix `lu` factored in place; the order of the first pivot that is
 * zero, or 0. Without `pivots` no rows change places. */
static int
factor(double *lu, int n, int *pivots)
{
	int singular = 0;

	for (int k = 0; k < n; k++) {
		int best = k;

		for (int i = k + 1; pivots && i < n; i++)
			if (fabs(lu[i + k * n]) > fabs(lu[best + k * n]))
				best = i;
		if (pivots)
			pivots[k] = best + 1;
		swap(lu, n, k, best);
		if (lu[k + k * n] == 0) {
			singular = singular ? singular : k + 1;
			continue;
		}
		for (int i = k + 1; i < n; i++)
			lu[i + k * n] /= lu[k + k * n];
		for (int j = k + 1; j < n; j++)
			for (int i = k + 1; i < n; i++)
				lu[i + j * n] -= lu[i + k * n] * lu[k + j * n];
	}
	return singular;
}

/* x becomes the solution of A x = x, or of its transpose. */
static void
solve(const double *lu, int n, const int *pivots, bool transposed, double *x)
{
	const int row = transposed ? n : 1, col = transposed ? 1 : n;

	for (int k = 0; !transposed && pivots && k < n; k++)
		swap(x, 1, k, pivots[k] - 1);
	for (int i = 0; i < n; i++) {          /* the lower one */
		for (int k = 0; k < i; k++)
			x[i] -= lu[i * row + k * col] * x[k];
		if (transposed)
			x[i] /= lu[i + i * n];
	}
	for (int i = n - 1; i >= 0; i--) {     /* the upper one */
		for (int k = i + 1; k < n; k++)
			x[i] -= lu[i * row + k * col] * x[k];
		if (!transposed)
			x[i] /= lu[i + i * n];
	}
	for (int k = n - 1; transposed && pivots && k >= 0; k--)
		swap(x, 1, k, pivots[k] - 1);
}

static void
fetch(const struct batch *b, int number, double *to)
{
	for (int j = 0; j < b->n; j++)
		for (int i = 0; i < b->n; i++)
			to[i + j * b->n] = emu_get(b->a[number], b->wide,
			    i + (int64_t)j * b->lda);
}

static double *
room(int n)
{
	return malloc(((size_t)n * (size_t)n + (size_t)n) * sizeof(double));
}

static void
run_factor(void *arguments)
{
	const struct batch *b = arguments;
	double *lu = room(b->n);

	for (int at = 0; lu && at < b->count; at++) {
		fetch(b, at, lu);
		b->info[at] = factor(lu, b->n, b->pivots ?
		    b->pivots + (size_t)at * (size_t)b->n : NULL);
		for (int j = 0; j < b->n; j++)
			for (int i = 0; i < b->n; i++)
				emu_put(b->c[at], b->wide,
				    i + (int64_t)j * b->ldc, lu[i + j * b->n]);
	}
	free(lu);
}

/* C = A^-1 C, for the columns that C has. */
static void
run_solve(void *arguments)
{
	const struct batch *b = arguments;
	double *lu = room(b->n), *x = lu ? lu + b->n * b->n : NULL;

	for (int at = 0; lu && at < b->count; at++) {
		fetch(b, at, lu);
		for (int j = 0; j < b->nrhs; j++) {
			const int64_t column = (int64_t)j * b->ldc;

			for (int i = 0; i < b->n; i++)
				x[i] = emu_get(b->c[at], b->wide, column + i);
			solve(lu, b->n, b->from_pivots ? b->from_pivots +
			    (size_t)at * (size_t)b->n : NULL, b->transposed, x);
			for (int i = 0; i < b->n; i++)
				emu_put(b->c[at], b->wide, column + i, x[i]);
		}
	}
	free(lu);
}

/* C = A^-1, of A that is factored with from_pivots, or is to be: nrhs 0. */
static void
run_invert(void *arguments)
{
	const struct batch *b = arguments;
	double *lu = room(b->n), *x = lu ? lu + b->n * b->n : NULL;
	int own[MATINV_MOST];

	for (int at = 0; lu && at < b->count; at++) {
		const int *pivots = b->from_pivots ? b->from_pivots +
		    (size_t)at * (size_t)b->n : NULL;

		fetch(b, at, lu);
		b->info[at] = 0;
		if (!b->nrhs) {
			b->info[at] = factor(lu, b->n, own);
			pivots = own;
		}
		for (int k = 0; k < b->n && !b->info[at]; k++)
			if (lu[k + k * b->n] == 0)
				b->info[at] = k + 1;
		for (int j = 0; j < b->n && !b->info[at]; j++) {
			for (int i = 0; i < b->n; i++)
				x[i] = i == j;
			solve(lu, b->n, pivots, false, x);
			for (int i = 0; i < b->n; i++)
				emu_put(b->c[at], b->wide,
				    i + (int64_t)j * b->ldc, x[i]);
		}
	}
	free(lu);
}

static cublasStatus_t
submit(cublasHandle_t handle, void (*run)(void *arguments),
    const struct batch *b)
{
	const size_t pointers = (size_t)b->count * sizeof *b->a;
	const size_t words = (size_t)b->count * sizeof *b->info;
	struct batch *task;
	int bad;

	if (!b->n || !b->count)
		return CUBLAS_STATUS_SUCCESS;
	bad = emu_memory_check(b->a, pointers, "A");
	if (!bad)
		bad = emu_memory_check(b->c, pointers, "C");
	if (!bad && b->info)
		bad = emu_memory_check(b->info, words, "info");
	if (!bad && b->pivots)
		bad = emu_memory_check(b->pivots, words * (size_t)b->n, "P");
	if (!bad && b->from_pivots)
		bad = emu_memory_check(b->from_pivots, words * (size_t)b->n,
		    "P");
	if (bad)
		return emu_blas_status(bad);
	task = emu_task_new(run, sizeof *task);
	if (task)
		*task = *b;
	return emu_blas_submit(handle, task);
}

static bool
is_bad(const struct batch *b)
{
	return b->n < 0 || b->count < 0 || b->lda < 1 || b->lda < b->n ||
	    b->ldc < 1 || b->ldc < b->n;
}

#define BATCHES(L, T)                                                     \
cublasStatus_t                                                            \
cublas##L##getrfBatched(cublasHandle_t handle, int n, T *const A[],       \
    int lda, int *pivots, int *info, int count)                           \
{                                                                         \
	const struct batch b = { .n = n, .lda = lda, .ldc = lda,          \
	    .count = count, .wide = sizeof(T) == 8,                       \
	    .a = (const void *const *)A, .c = (void *const *)A,           \
	    .pivots = pivots, .info = info };                             \
	BLAS_ENTER(handle);                                               \
	if (is_bad(&b) || !info)                                          \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	return submit(handle, run_factor, &b);                            \
}                                                                         \
cublasStatus_t                                                            \
cublas##L##getriBatched(cublasHandle_t handle, int n, const T *const A[], \
    int lda, const int *pivots, T *const C[], int ldc, int *info,         \
    int count)                                                            \
{                                                                         \
	const struct batch b = { .n = n, .nrhs = n, .lda = lda,           \
	    .ldc = ldc, .count = count, .wide = sizeof(T) == 8,           \
	    .a = (const void *const *)A, .c = (void *const *)C,           \
	    .from_pivots = pivots, .info = info };                        \
	BLAS_ENTER(handle);                                               \
	if (is_bad(&b) || !info)                                          \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	return submit(handle, run_invert, &b);                            \
}                                                                         \
cublasStatus_t                                                            \
cublas##L##matinvBatched(cublasHandle_t handle, int n,                    \
    const T *const A[], int lda, T *const C[], int ldc, int *info,        \
    int count)                                                            \
{                                                                         \
	const struct batch b = { .n = n, .lda = lda, .ldc = ldc,          \
	    .count = count, .wide = sizeof(T) == 8,                       \
	    .a = (const void *const *)A, .c = (void *const *)C,           \
	    .info = info };                                               \
	BLAS_ENTER(handle);                                               \
	if (is_bad(&b) || n > MATINV_MOST || !info)                       \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	return submit(handle, run_invert, &b);                            \
}                                                                         \
cublasStatus_t                                                            \
cublas##L##getrsBatched(cublasHandle_t handle, cublasOperation_t trans,   \
    int n, int nrhs, const T *const A[], int lda, const int *pivots,      \
    T *const B[], int ldb, int *info, int count)                          \
{                                                                         \
	const struct batch b = { .n = n, .nrhs = nrhs, .lda = lda,        \
	    .ldc = ldb, .count = count, .wide = sizeof(T) == 8,           \
	    .transposed = trans != CUBLAS_OP_N,                           \
	    .a = (const void *const *)A, .c = (void *const *)B,           \
	    .from_pivots = pivots };                                      \
	BLAS_ENTER(handle);                                               \
	if (!info)                                                        \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	*info = 0; /* on the host, unlike the others' */                  \
	if (is_bad(&b) || nrhs < 0 || (unsigned)trans > CUBLAS_OP_C)      \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	return submit(handle, run_solve, &b);                             \
}
BATCHES(S, float)
BATCHES(D, double)
