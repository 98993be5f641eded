/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_level3.c -- cuBLAS calls on matrices other than
 * products: geam, trsm. Plain loops in double precision. Contracts are
 * NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

struct matrices {
	bool wide, transa, transb, left, upper, unit;
	int64_t m, n, lda, ldb, ldc;
	const void *a, *b;
	void *c;
	struct emu_scalar alpha, beta;
};

static cublasStatus_t
submit(cublasHandle_t handle, void (*run)(void *), const struct matrices *t)
{
	struct matrices *task = emu_task_new(run, sizeof *task);

	if (task)
		*task = *t;
	return emu_blas_submit(handle, task);
}

/* ---- C = alpha op(A) + beta op(B) ------------------------------------- */

static void
run_geam(void *arguments)
{
	struct matrices *t = arguments;

	emu_scalar_fetch(&t->alpha);
	emu_scalar_fetch(&t->beta);
	for (int64_t j = 0; j < t->n; j++)
		for (int64_t i = 0; i < t->m; i++) {
			double sum = 0;

			if (t->alpha.value != 0)
				sum += t->alpha.value * emu_get(t->a, t->wide,
				    t->transa ? i * t->lda + j :
				    j * t->lda + i);
			if (t->beta.value != 0)
				sum += t->beta.value * emu_get(t->b, t->wide,
				    t->transb ? i * t->ldb + j :
				    j * t->ldb + i);
			emu_put(t->c, t->wide, j * t->ldc + i, sum);
		}
}

static cublasStatus_t
geam(cublasHandle_t handle, struct matrices *t, const void *alpha,
    const void *beta)
{
	const enum emu_real real = t->wide ? EMU_DOUBLE : EMU_FLOAT;
	cublasStatus_t status;
	int bad = EMU_OK;

	if (t->m < 0 || t->n < 0 || t->lda < 1 || t->ldb < 1 ||
	    t->lda < (t->transa ? t->n : t->m) ||
	    t->ldb < (t->transb ? t->n : t->m) || t->ldc < 1 ||
	    t->ldc < t->m || (t->c == t->a && (t->transa ||
	    t->lda != t->ldc)) || (t->c == t->b && (t->transb ||
	    t->ldb != t->ldc)))
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m || !t->n)
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, alpha, real, "alpha", &t->alpha);
	if (!status)
		status = emu_scalar_take(handle, beta, real, "beta",
		    &t->beta);
	if (status)
		return status;
	if (!emu_scalar_is_zero(&t->alpha))
		bad = emu_check_matrix(t->a, t->transa ? t->n : t->m,
		    t->transa ? t->m : t->n, t->lda, t->wide, "A");
	if (!bad && !emu_scalar_is_zero(&t->beta))
		bad = emu_check_matrix(t->b, t->transb ? t->n : t->m,
		    t->transb ? t->m : t->n, t->ldb, t->wide, "B");
	if (!bad)
		bad = emu_check_matrix(t->c, t->m, t->n, t->ldc, t->wide, "C");
	return bad ? emu_blas_status(bad) : submit(handle, run_geam, t);
}

/* ---- op(A) X = alpha B or X op(A) = alpha B, X in place of B ----------- */

/* Element of op(A); `upper` says which triangle op(A) has. */
static double
triangle(const struct matrices *t, int64_t i, int64_t j)
{
	return emu_get(t->a, t->wide, t->transa ? i * t->lda + j :
	    j * t->lda + i);
}

/* Solve for one right-hand side at `from`, whose elements are `step` apart.
 * With A on the right the system is transposed. */
static void
solve(const struct matrices *t, int64_t order, int64_t from, int64_t step)
{
	const bool upper = (t->upper != t->transa) == t->left;

	for (int64_t s = 0; s < order; s++) {
		const int64_t i = upper ? order - 1 - s : s;
		const int64_t low = upper ? i + 1 : 0;
		const int64_t high = upper ? order : i;
		double x = t->alpha.value * emu_get(t->c, t->wide,
		    from + i * step);

		for (int64_t j = low; j < high; j++)
			x -= (t->left ? triangle(t, i, j) :
			    triangle(t, j, i)) *
			    emu_get(t->c, t->wide, from + j * step);
		emu_put(t->c, t->wide, from + i * step, t->unit ? x :
		    x / triangle(t, i, i));
	}
}

static void
run_trsm(void *arguments)
{
	struct matrices *t = arguments;
	const int64_t order = t->left ? t->m : t->n;
	const int64_t sides = t->left ? t->n : t->m;

	emu_scalar_fetch(&t->alpha);
	for (int64_t s = 0; s < sides; s++) {
		const int64_t from = t->left ? s * t->ldc : s;
		const int64_t step = t->left ? 1 : t->ldc;

		if (t->alpha.value != 0) {
			solve(t, order, from, step);
			continue;
		}
		for (int64_t i = 0; i < order; i++)
			emu_put(t->c, t->wide, from + i * step, 0);
	}
}

static cublasStatus_t
trsm(cublasHandle_t handle, struct matrices *t, const void *alpha)
{
	const enum emu_real real = t->wide ? EMU_DOUBLE : EMU_FLOAT;
	const int64_t order = t->left ? t->m : t->n;
	cublasStatus_t status;
	int bad = EMU_OK;

	if (t->m < 0 || t->n < 0 || t->lda < 1 || t->lda < order ||
	    t->ldc < 1 || t->ldc < t->m)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m || !t->n)
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, alpha, real, "alpha", &t->alpha);
	if (status)
		return status;
	if (!emu_scalar_is_zero(&t->alpha))
		bad = emu_check_matrix(t->a, order, order, t->lda, t->wide,
		    "A");
	if (!bad)
		bad = emu_check_matrix(t->c, t->m, t->n, t->ldc, t->wide, "B");
	return bad ? emu_blas_status(bad) : submit(handle, run_trsm, t);
}

#define GEAM(symbol, index, T)                                            \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasOperation_t transa,                   \
    cublasOperation_t transb, index m, index n, const T *alpha,           \
    const T *A, index lda, const T *beta, const T *B, index ldb, T *C,    \
    index ldc)                                                            \
{                                                                         \
	struct matrices t = {                                             \
		.wide = sizeof(T) == 8, .transa = transa != CUBLAS_OP_N,  \
		.transb = transb != CUBLAS_OP_N, .m = m, .n = n,          \
		.lda = lda, .ldb = ldb, .ldc = ldc, .a = A, .b = B,       \
		.c = C                                                    \
	};                                                                \
	BLAS_ENTER(handle);                                               \
	if ((unsigned)transa > CUBLAS_OP_C ||                             \
	    (unsigned)transb > CUBLAS_OP_C)                               \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	return geam(handle, &t, alpha, beta);                             \
}
#define TRSM(symbol, index, T)                                            \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasSideMode_t side,                      \
    cublasFillMode_t uplo, cublasOperation_t trans,                       \
    cublasDiagType_t diag, index m, index n, const T *alpha, const T *A,  \
    index lda, T *B, index ldb)                                           \
{                                                                         \
	struct matrices t = {                                             \
		.wide = sizeof(T) == 8, .transa = trans != CUBLAS_OP_N,   \
		.left = side == CUBLAS_SIDE_LEFT,                         \
		.upper = uplo == CUBLAS_FILL_MODE_UPPER,                  \
		.unit = diag == CUBLAS_DIAG_UNIT, .m = m, .n = n,         \
		.lda = lda, .ldc = ldb, .a = A, .c = B                    \
	};                                                                \
	BLAS_ENTER(handle);                                               \
	if ((unsigned)side > 1 || (unsigned)uplo > 1 ||                   \
	    (unsigned)diag > 1 || (unsigned)trans > CUBLAS_OP_C)          \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	return trsm(handle, &t, alpha);                                   \
}

GEAM(cublasSgeam, int, float)
GEAM(cublasDgeam, int, double)
TRSM(cublasStrsm_v2, int, float)
TRSM(cublasDtrsm_v2, int, double)
GEAM(cublasSgeam_64, int64_t, float)
GEAM(cublasDgeam_64, int64_t, double)
TRSM(cublasStrsm_v2_64, int64_t, float)
TRSM(cublasDtrsm_v2_64, int64_t, double)
