/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_level2.c -- cuBLAS calls on a matrix and vectors:
 * gemv, ger. Sums run in order, in double precision. Contracts are NVIDIA's. */
#include "emulator/cublas/blas/cublas_matrix.h"

#include <stdlib.h>

struct matrix_vector {
	bool transposed, rank_one, wide; /* wide: double */
	int64_t m, n, lda, incx, incy;
	const void *x, *a;
	void *y;             /* what changes: gemv's y, or the matrix of ger */
	const void *second;  /* ger's y */
	struct emu_scalar alpha, beta;
};

/* sums[i] += A x, column by column, in the order of memory. */
static void
accumulate(const struct matrix_vector *t, double *sums)
{
	for (int64_t j = 0; j < t->n; j++)
		for (int64_t i = 0; i < t->m; i++)
			sums[t->transposed ? j : i] += emu_get(t->a, t->wide,
							   j * t->lda + i) *
			    emu_get(t->x, t->wide,
				t->transposed ? emu_at(i, t->m, t->incx) :
						emu_at(j, t->n, t->incx));
}

static void
run_gemv(void *arguments)
{
	struct matrix_vector *t = arguments;
	const int64_t count = t->transposed ? t->n : t->m;
	double *sums = calloc((size_t)count, sizeof *sums);

	if (!sums) {
		emu_device_poison(EMU_OUT_OF_MEMORY);
		return;
	}
	emu_scalar_fetch(&t->alpha);
	emu_scalar_fetch(&t->beta);
	if (t->alpha.value != 0)
		accumulate(t, sums);
	for (int64_t i = 0; i < count; i++) {
		const int64_t to = emu_at(i, count, t->incy);
		double value = t->alpha.value * sums[i];

		if (t->beta.value != 0)
			value += t->beta.value * emu_get(t->y, t->wide, to);
		emu_put(t->y, t->wide, to, value);
	}
	free(sums);
}

static void
run_ger(void *arguments)
{
	struct matrix_vector *t = arguments;

	emu_scalar_fetch(&t->alpha);
	for (int64_t j = 0; t->alpha.value != 0 && j < t->n; j++) {
		const double y = t->alpha.value * emu_get(t->second, t->wide,
		    emu_at(j, t->n, t->incy));

		for (int64_t i = 0; i < t->m; i++) {
			const int64_t to = j * t->lda + i;

			emu_put(t->y, t->wide, to,
			    emu_get(t->y, t->wide, to) +
				y *
				    emu_get(t->x, t->wide,
					emu_at(i, t->m, t->incx)));
		}
	}
}

static cublasStatus_t
check(const struct matrix_vector *t)
{
	const int64_t count_x = t->transposed || t->rank_one ? t->m : t->n;
	int status = EMU_OK;

	if (t->rank_one || !emu_scalar_is_zero(&t->alpha)) {
		status = emu_check_matrix(t->rank_one ? t->y : t->a, t->m,
		    t->n, t->lda, t->wide, "A");
		if (!status)
			status = emu_check_vector(t->x, count_x, t->incx,
			    t->wide, "x");
	}
	if (!status)
		status = emu_check_vector(t->rank_one ? t->second : t->y,
		    t->transposed || t->rank_one ? t->n : t->m, t->incy,
		    t->wide, "y");
	return emu_blas_status(status);
}

static cublasStatus_t
call(cublasHandle_t handle, struct matrix_vector *t, const void *alpha,
    const void *beta)
{
	const enum emu_real real = t->wide ? EMU_DOUBLE : EMU_FLOAT;
	struct matrix_vector *task;
	cublasStatus_t status;

	if (t->m < 0 || t->n < 0 || !t->incx || !t->incy || t->lda < 1 ||
	    t->lda < t->m)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!t->m || !t->n)
		return CUBLAS_STATUS_SUCCESS;
	status = emu_scalar_take(handle, alpha, real, "alpha", &t->alpha);
	if (!status && !t->rank_one)
		status = emu_scalar_take(handle, beta, real, "beta",
		    &t->beta);
	if (!status)
		status = check(t);
	if (status)
		return status;
	task = emu_task_new(t->rank_one ? run_ger : run_gemv, sizeof *task);
	if (task)
		*task = *t;
	return emu_blas_submit(handle, task);
}

#define GEMV(symbol, index, T)                                            \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, cublasOperation_t trans, index m, index n,  \
    const T *alpha, const T *A, index lda, const T *x, index incx,        \
    const T *beta, T *y, index incy)                                      \
{                                                                         \
	struct matrix_vector t = {                                        \
		.transposed = trans != CUBLAS_OP_N,                       \
		.wide = sizeof(T) == 8, .m = m, .n = n, .lda = lda,       \
		.incx = incx, .incy = incy, .x = x, .a = A, .y = y        \
	};                                                                \
	BLAS_ENTER(handle);                                               \
	if ((unsigned)trans > CUBLAS_OP_C)                                \
		return CUBLAS_STATUS_INVALID_VALUE;                       \
	return call(handle, &t, alpha, beta);                             \
}
#define GER(symbol, index, T)                                             \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index m, index n, const T *alpha,           \
    const T *x, index incx, const T *y, index incy, T *A, index lda)      \
{                                                                         \
	struct matrix_vector t = {                                        \
		.rank_one = true, .wide = sizeof(T) == 8, .m = m, .n = n, \
		.lda = lda, .incx = incx, .incy = incy, .x = x,           \
		.second = y, .y = A                                       \
	};                                                                \
	BLAS_ENTER(handle);                                               \
	return call(handle, &t, alpha, NULL);                             \
}

GEMV(cublasSgemv_v2, int, float)
GEMV(cublasDgemv_v2, int, double)
GER(cublasSger_v2, int, float)
GER(cublasDger_v2, int, double)
GEMV(cublasSgemv_v2_64, int64_t, float)
GEMV(cublasDgemv_v2_64, int64_t, double)
GER(cublasSger_v2_64, int64_t, float)
GER(cublasDger_v2_64, int64_t, double)
