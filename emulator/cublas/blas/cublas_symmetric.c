/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_symmetric.c -- cuBLAS calls on symmetric
 * matrices: syrk, syr2k, symm, symv, syr. They touch one triangle of a
 * symmetric matrix. Plain loops in double precision. Contracts are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

enum what { SYRK, SYR2K, SYMM, SYMV, SYR };

/* Vectors are matrices of one column whose elements lie `inc` apart. */
struct symmetric {
	enum what what;
	bool wide, upper, transposed, left;
	int64_t m, n, k, lda, ldb, ldc, incx, incy;
	const void *a, *b;
	void *c;
	struct emu_scalar alpha, beta;
};

/* Element of a symmetric matrix, read from the triangle that is stored. */
static double
symmetric(const struct symmetric *t, int64_t i, int64_t j)
{
	if ((i < j) != t->upper) {
		const int64_t swap = i;

		i = j;
		j = swap;
	}
	return emu_get(t->a, t->wide, j * t->lda + i);
}

/* Element (i, l) of op(A) or op(B) of a rank-k update. */
static double
factor(const struct symmetric *t, const void *p, int64_t ld, int64_t i,
    int64_t l)
{
	return emu_get(p, t->wide, t->transposed ? i * ld + l : l * ld + i);
}

static double
sum_of(const struct symmetric *t, int64_t i, int64_t j)
{
	double sum = 0;

	switch (t->what) {
	case SYRK:
		for (int64_t l = 0; l < t->k; l++)
			sum += factor(t, t->a, t->lda, i, l) *
			    factor(t, t->a, t->lda, j, l);
		break;
	case SYR2K:
		for (int64_t l = 0; l < t->k; l++)
			sum += factor(t, t->a, t->lda, i, l) *
			    factor(t, t->b, t->ldb, j, l) +
			    factor(t, t->b, t->ldb, i, l) *
			    factor(t, t->a, t->lda, j, l);
		break;
	case SYMM:
		for (int64_t l = 0; l < (t->left ? t->m : t->n); l++)
			sum += t->left ? symmetric(t, i, l) *
			    emu_get(t->b, t->wide, j * t->ldb + l) :
			    emu_get(t->b, t->wide, l * t->ldb + i) *
			    symmetric(t, l, j);
		break;
	case SYMV:
		for (int64_t l = 0; l < t->n; l++)
			sum += symmetric(t, i, l) * emu_get(t->b, t->wide,
			    emu_at(l, t->n, t->incx));
		break;
	case SYR:
		sum = emu_get(t->b, t->wide, emu_at(i, t->n, t->incx)) *
		    emu_get(t->b, t->wide, emu_at(j, t->n, t->incx));
		break;
	}
	return sum;
}

/* Index of element (i, j) of the result; -1: it is in the other triangle. */
static int64_t
result_at(const struct symmetric *t, int64_t i, int64_t j)
{
	if (t->what == SYMV)
		return emu_at(i, t->n, t->incy);
	if (t->what != SYMM && i != j && (i < j) != t->upper)
		return -1;
	return j * t->ldc + i;
}

static void
run(void *arguments)
{
	struct symmetric *t = arguments;
	const int64_t rows = t->what == SYMM ? t->m : t->n;
	const int64_t cols = t->what == SYMV ? 1 : t->n;

	emu_scalar_fetch(&t->alpha);
	emu_scalar_fetch(&t->beta);
	for (int64_t j = 0; j < cols; j++)
		for (int64_t i = 0; i < rows; i++) {
			const int64_t at = result_at(t, i, j);
			double value = 0;

			if (at < 0)
				continue;
			if (t->alpha.value != 0)
				value = t->alpha.value * sum_of(t, i, j);
			if (t->beta.value != 0)
				value += t->beta.value * emu_get(t->c,
				    t->wide, at);
			emu_put(t->c, t->wide, at, value);
		}
}

static int
check_inputs(const struct symmetric *t)
{
	const int64_t order = t->what == SYMM && t->left ? t->m : t->n;
	const bool update = t->what == SYRK || t->what == SYR2K;
	const int64_t rows = !update ? order : t->transposed ? t->k : t->n;
	const int64_t cols = !update ? order : t->transposed ? t->n : t->k;
	int bad = EMU_OK;

	if (t->what != SYR)
		bad = emu_check_matrix(t->a, rows, cols, t->lda, t->wide, "A");
	if (bad || t->what == SYRK)
		return bad;
	if (t->what == SYR2K)
		return emu_check_matrix(t->b, rows, cols, t->ldb, t->wide, "B");
	return t->what == SYMM ? emu_check_matrix(t->b, t->m, t->n, t->ldb,
	    t->wide, "B") : emu_check_vector(t->b, t->n, t->incx, t->wide,
	    "x");
}

static int
check_result(const struct symmetric *t)
{
	if (t->what == SYMV)
		return emu_check_vector(t->c, t->n, t->incy, t->wide, "y");
	return emu_check_matrix(t->c, t->what == SYMM ? t->m : t->n, t->n,
	    t->ldc, t->wide, t->what == SYR ? "A" : "C");
}

static bool
is_valid(const struct symmetric *t, cublasSideMode_t side,
    cublasFillMode_t uplo, cublasOperation_t trans)
{
	const int64_t order = t->what == SYMM && t->left ? t->m : t->n;
	const bool update = t->what == SYRK || t->what == SYR2K;
	const int64_t rows = update && t->transposed ? t->k : order;

	if ((unsigned)side > 1 || (unsigned)uplo > 1 ||
	    (unsigned)trans > CUBLAS_OP_C || t->m < 0 || t->n < 0 || t->k < 0)
		return false;
	if (t->what == SYR)
		return t->incx && t->ldc >= 1 && t->ldc >= t->n;
	if (t->lda < 1 || t->lda < rows)
		return false;
	if (t->what == SYMV)
		return t->incx && t->incy;
	if (t->what == SYR2K && (t->ldb < 1 || t->ldb < rows))
		return false;
	if (t->what == SYMM && (t->ldb < 1 || t->ldb < t->m))
		return false;
	return t->ldc >= 1 && t->ldc >= (t->what == SYMM ? t->m : t->n);
}

static cublasStatus_t
call(cublasHandle_t handle, struct symmetric *t, const void *alpha,
    const void *beta)
{
	const enum emu_real real = t->wide ? EMU_DOUBLE : EMU_FLOAT;
	struct symmetric *task;
	cublasStatus_t status;
	int bad = EMU_OK;

	if (!t->n || (t->what == SYMM && !t->m))
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, alpha, real, "alpha", &t->alpha);
	if (!status && t->what == SYR)
		t->beta.value = 1;
	else if (!status)
		status = emu_scalar_take(handle, beta, real, "beta",
		    &t->beta);
	if (status)
		return status;
	if (!emu_scalar_is_zero(&t->alpha))
		bad = check_inputs(t);
	if (!bad)
		bad = check_result(t);
	if (bad)
		return emu_blas_status(bad);
	task = emu_task_new(run, sizeof *task);
	if (task)
		*task = *t;
	return emu_blas_submit(handle, task);
}

#define CALL(T, side, uplo, trans, beta, ...)                             \
	struct symmetric t = { .wide = sizeof(T) == 8,                    \
	    .upper = uplo == CUBLAS_FILL_MODE_UPPER,                      \
	    .transposed = trans != CUBLAS_OP_N,                           \
	    .left = side == CUBLAS_SIDE_LEFT, .n = n, __VA_ARGS__ };      \
	BLAS_ENTER(handle);                                               \
	return is_valid(&t, side, uplo, trans) ?                          \
	    call(handle, &t, alpha, beta) : CUBLAS_STATUS_INVALID_VALUE

#define SYMMETRIC(S, suffix, index, T)                                    \
cublasStatus_t                                                            \
cublas##S##syrk_v2##suffix(cublasHandle_t handle, cublasFillMode_t uplo,  \
    cublasOperation_t trans, index n, index k, const T *alpha,            \
    const T *A, index lda, const T *beta, T *C, index ldc)                \
{                                                                         \
	CALL(T, CUBLAS_SIDE_LEFT, uplo, trans, beta, .what = SYRK,        \
	    .k = k, .a = A, .lda = lda, .c = C, .ldc = ldc);              \
}                                                                         \
cublasStatus_t                                                            \
cublas##S##syr2k_v2##suffix(cublasHandle_t handle, cublasFillMode_t uplo, \
    cublasOperation_t trans, index n, index k, const T *alpha,            \
    const T *A, index lda, const T *B, index ldb, const T *beta, T *C,    \
    index ldc)                                                            \
{                                                                         \
	CALL(T, CUBLAS_SIDE_LEFT, uplo, trans, beta, .what = SYR2K,       \
	    .k = k, .a = A, .lda = lda, .b = B, .ldb = ldb, .c = C,       \
	    .ldc = ldc);                                                  \
}                                                                         \
cublasStatus_t                                                            \
cublas##S##symm_v2##suffix(cublasHandle_t handle, cublasSideMode_t side,  \
    cublasFillMode_t uplo, index m, index n, const T *alpha, const T *A,  \
    index lda, const T *B, index ldb, const T *beta, T *C, index ldc)     \
{                                                                         \
	CALL(T, side, uplo, CUBLAS_OP_N, beta, .what = SYMM, .m = m,      \
	    .a = A, .lda = lda, .b = B, .ldb = ldb, .c = C, .ldc = ldc);  \
}                                                                         \
cublasStatus_t                                                            \
cublas##S##symv_v2##suffix(cublasHandle_t handle, cublasFillMode_t uplo,  \
    index n, const T *alpha, const T *A, index lda, const T *x,           \
    index incx, const T *beta, T *y, index incy)                          \
{                                                                         \
	CALL(T, CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_N, beta, .what = SYMV,  \
	    .a = A, .lda = lda, .b = x, .incx = incx, .c = y,             \
	    .incy = incy);                                                \
}                                                                         \
cublasStatus_t                                                            \
cublas##S##syr_v2##suffix(cublasHandle_t handle, cublasFillMode_t uplo,   \
    index n, const T *alpha, const T *x, index incx, T *A, index lda)     \
{                                                                         \
	CALL(T, CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_N, NULL, .what = SYR,   \
	    .b = x, .incx = incx, .c = A, .ldc = lda);                    \
}

SYMMETRIC(S, , int, float)
SYMMETRIC(D, , int, double)
SYMMETRIC(S, _64, int64_t, float)
SYMMETRIC(D, _64, int64_t, double)
