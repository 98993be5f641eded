/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_triangular.c -- cuBLAS calls on triangular
 * matrices other than trsm: trmm, trmv, trsv. Plain loops in double precision.
 * Contracts are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

#include <stdlib.h>

/* Each line of B is multiplied by a triangle or solved for. A line is a column,
 * or a row if A is on the right, or the vector. */
struct triangular {
	bool wide, upper, transposed, unit, left, solve;
	int64_t m, n, lda, ldb, ldc;
	const void *a, *b;
	void *c;
	struct emu_scalar alpha;
	int64_t incx;          /* of the vector calls; else 0 */
};

/* Element of the matrix that multiplies a line from the left: op(A), or, with
 * A on the right, its transpose. */
static double
element(const struct triangular *t, int64_t i, int64_t j)
{
	const bool swapped = t->transposed == t->left;
	const int64_t row = swapped ? j : i, col = swapped ? i : j;

	if (row == col && t->unit)
		return 1;
	if (row != col && (row < col) != t->upper)
		return 0;
	return emu_get(t->a, t->wide, col * t->lda + row);
}

static bool
is_upper(const struct triangular *t)
{
	return t->upper != (t->transposed == t->left);
}

static void
multiply(const struct triangular *t, int64_t order, double *line)
{
	for (int64_t s = 0; s < order; s++) {
		const int64_t i = is_upper(t) ? s : order - 1 - s;
		double sum = 0;

		for (int64_t j = is_upper(t) ? i : 0;
		    j < (is_upper(t) ? order : i + 1); j++)
			sum += element(t, i, j) * line[j];
		line[i] = sum;
	}
}

static void
solve(const struct triangular *t, int64_t order, double *line)
{
	for (int64_t s = 0; s < order; s++) {
		const int64_t i = is_upper(t) ? order - 1 - s : s;

		for (int64_t j = is_upper(t) ? i + 1 : 0;
		    j < (is_upper(t) ? order : i); j++)
			line[i] -= element(t, i, j) * line[j];
		if (!t->unit)
			line[i] /= element(t, i, i);
	}
}

/* Index of element i of line `number`. */
static int64_t
place(const struct triangular *t, int64_t ld, int64_t number, int64_t i)
{
	if (t->incx)
		return emu_at(i, t->m, t->incx);
	return t->left ? number * ld + i : i * ld + number;
}

static void
run(void *arguments)
{
	struct triangular *t = arguments;
	const int64_t order = t->left ? t->m : t->n;
	const int64_t lines = t->left ? t->n : t->m;
	double *line = malloc((size_t)order * sizeof *line);

	if (!line) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
		return;
	}
	emu_scalar_fetch(&t->alpha);
	for (int64_t l = 0; l < lines; l++) {
		for (int64_t i = 0; i < order; i++)
			line[i] = t->alpha.value == 0 ? 0 : emu_get(t->b,
			    t->wide, place(t, t->ldb, l, i));
		if (t->alpha.value != 0)
			(t->solve ? solve : multiply)(t, order, line);
		for (int64_t i = 0; i < order; i++)
			emu_put(t->c, t->wide, place(t, t->ldc, l, i),
			    t->alpha.value * line[i]);
	}
	free(line);
}

static cublasStatus_t
submit(cublasHandle_t handle, const struct triangular *t)
{
	struct triangular *task = emu_task_new(run, sizeof *task);

	if (task)
		*task = *t;
	return emu_blas_submit(handle, task);
}

/* C = alpha op(A) B or alpha B op(A); C may be B. */
static cublasStatus_t
trmm(cublasHandle_t handle, struct triangular *t, const void *alpha)
{
	const int64_t order = t->left ? t->m : t->n;
	cublasStatus_t status;
	int bad = EMU_OK;

	if (t->m < 0 || t->n < 0 || t->lda < 1 || t->lda < order ||
	    t->ldb < 1 || t->ldb < t->m || t->ldc < 1 || t->ldc < t->m ||
	    (t->b == t->c && t->ldb != t->ldc))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m || !t->n)
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, alpha, t->wide ? EMU_DOUBLE :
	    EMU_FLOAT, "alpha", &t->alpha);
	if (status)
		return status;
	if (!emu_scalar_is_zero(&t->alpha)) {
		bad = emu_check_matrix(t->a, order, order, t->lda, t->wide,
		    "A");
		if (!bad)
			bad = emu_check_matrix(t->b, t->m, t->n, t->ldb,
			    t->wide, "B");
	}
	if (!bad)
		bad = emu_check_matrix(t->c, t->m, t->n, t->ldc, t->wide, "C");
	return bad ? emu_blas_status(bad) : submit(handle, t);
}

static cublasStatus_t
vector(cublasHandle_t handle, struct triangular *t)
{
	int bad;

	if (t->m < 0 || !t->incx || t->lda < 1 || t->lda < t->m)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m)
		return CUBLAS_STATUS_SUCCESS;
	t->alpha.value = 1;
	bad = emu_check_matrix(t->a, t->m, t->m, t->lda, t->wide, "A");
	if (!bad)
		bad = emu_check_vector(t->c, t->m, t->incx, t->wide, "x");
	return bad ? emu_blas_status(bad) : submit(handle, t);
}

#define TRIANGLE .upper = uplo == CUBLAS_FILL_MODE_UPPER,                 \
	.transposed = trans != CUBLAS_OP_N,                               \
	.unit = diag == CUBLAS_DIAG_UNIT, .a = A, .lda = lda
#define IS_KNOWN ((unsigned)uplo <= 1 && (unsigned)diag <= 1 &&           \
	(unsigned)trans <= CUBLAS_OP_C)

#define TRMM(symbol, index, T)                                            \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasSideMode_t side,                      \
    cublasFillMode_t uplo, cublasOperation_t trans,                       \
    cublasDiagType_t diag, index m, index n, const T *alpha, const T *A,  \
    index lda, const T *B, index ldb, T *C, index ldc)                    \
{                                                                         \
	struct triangular t = { .wide = sizeof(T) == 8,                   \
	    .left = side == CUBLAS_SIDE_LEFT, .m = m, .n = n, TRIANGLE,   \
	    .b = B, .ldb = ldb, .c = C, .ldc = ldc };                     \
	BLAS_ENTER(handle);                                               \
	return IS_KNOWN && (unsigned)side <= 1 ?                          \
	    trmm(handle, &t, alpha) : CUBLAS_STATUS_INVALID_VALUE;        \
}
#define VECTOR(symbol, index, T, solves)                                  \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasFillMode_t uplo,                      \
    cublasOperation_t trans, cublasDiagType_t diag, index n, const T *A,  \
    index lda, T *x, index incx)                                          \
{                                                                         \
	struct triangular t = { .wide = sizeof(T) == 8, .left = true,     \
	    .solve = solves, .m = n, .n = 1, TRIANGLE, .b = x, .c = x,    \
	    .incx = incx };                                               \
	BLAS_ENTER(handle);                                               \
	return IS_KNOWN ? vector(handle, &t) :                            \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define TRIANGULAR(S, suffix, index, T)                                   \
	TRMM(cublas##S##trmm_v2##suffix, index, T)                        \
	VECTOR(cublas##S##trmv_v2##suffix, index, T, false)               \
	VECTOR(cublas##S##trsv_v2##suffix, index, T, true)

TRIANGULAR(S, , int, float)
TRIANGULAR(D, , int, double)
TRIANGULAR(S, _64, int64_t, float)
TRIANGULAR(D, _64, int64_t, double)
