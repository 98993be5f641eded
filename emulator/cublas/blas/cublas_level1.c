/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_level1.c -- cuBLAS calls on vectors. Sums run in
 * order, in double precision: deterministic, and at least as exact as the
 * device's. Contracts are NVIDIA's. */
#include "emulator/cublas/cublas.h"

struct vectors;
typedef void (*vector_run)(struct vectors *v);

struct vectors {
	vector_run run;
	int64_t n, incx, incy;
	const void *x;
	void *y;               /* or the address of a scalar result */
	struct emu_scalar alpha;
	size_t result_bytes;   /* 4 or 8: index results */
};

static void
run(void *arguments)
{
	struct vectors *v = arguments;

	emu_scalar_fetch(&v->alpha);
	v->run(v);
}

/* Element 0 is at the far end if the increment is negative. */
static int64_t
first(int64_t n, int64_t increment)
{
	return increment < 0 ? (1 - n) * increment : 0;
}

static uint64_t
extent(int64_t n, int64_t increment, size_t element)
{
	const uint64_t step = (uint64_t)(increment < 0 ? -increment :
	    increment);

	return n > 0 ? ((uint64_t)(n - 1) * step + 1) * element : 0;
}

static cublasStatus_t
submit(cublasHandle_t handle, const struct vectors *v)
{
	struct vectors *task = emu_task_new(run, sizeof *task);

	if (task)
		*task = *v;
	return emu_blas_submit(handle, task);
}

/* Calls that change y. */
static cublasStatus_t
update(cublasHandle_t handle, struct vectors *v, const void *alpha,
    enum emu_real real)
{
	const size_t element = real == EMU_DOUBLE ? 8 : 4;
	cublasStatus_t status = CUBLAS_STATUS_SUCCESS;

	if (v->n <= 0)
		return CUBLAS_STATUS_SUCCESS;
	if (alpha)
		status = emu_scalar_take(handle, alpha, real, "alpha",
		    &v->alpha);
	if (!status && v->x)
		status = emu_blas_status(emu_memory_check(v->x,
		    extent(v->n, v->incx, element), "x"));
	if (!status)
		status = emu_blas_status(emu_memory_check(v->y,
		    extent(v->n, v->incy, element), v->x ? "y" : "x"));
	return status ? status : submit(handle, v);
}

/* Calls with a scalar result, stored at v->y; the second input is `with`. */
struct reduction {
	struct vectors v;
	const void *with;
};

static void
run_reduction(void *arguments)
{
	struct reduction *r = arguments;

	r->v.run(&r->v);
}

static cublasStatus_t
reduce(cublasHandle_t handle, struct reduction *r, size_t element)
{
	const bool device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
	struct reduction *task;
	int status = EMU_OK;

	if (!r->v.y)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (device)
		status = emu_memory_check(r->v.y, r->v.result_bytes,
		    "result");
	if (!status)
		status = emu_memory_check(r->v.x, extent(r->v.n, r->v.incx,
		    element), "x");
	if (!status && r->with)
		status = emu_memory_check(r->with, extent(r->v.n, r->v.incy,
		    element), "y");
	if (status)
		return emu_blas_status(status);
	task = emu_task_new(run_reduction, sizeof *task);
	if (task)
		*task = *r;
	status = emu_blas_submit(handle, task);
	return status || device ? (cublasStatus_t)status :
	    emu_blas_wait(handle);
}

#define KERNELS(T)                                                        \
static void                                                               \
axpy_##T(struct vectors *v)                                               \
{                                                                         \
	const T *x = (const T *)v->x + first(v->n, v->incx);              \
	T *y = (T *)v->y + first(v->n, v->incy);                          \
	const T alpha = (T)v->alpha.value;                                \
	if (v->incx == 1 && v->incy == 1)                                 \
		for (int64_t i = 0; i < v->n; i++)                        \
			y[i] += alpha * x[i];                             \
	else                                                              \
		for (int64_t i = 0; i < v->n; i++)                        \
			y[i * v->incy] += alpha * x[i * v->incx];         \
}                                                                         \
static void                                                               \
scal_##T(struct vectors *v)                                               \
{                                                                         \
	T *y = v->y;                                                      \
	for (int64_t i = 0; i < v->n; i++)                                \
		y[i * v->incy] *= (T)v->alpha.value;                      \
}                                                                         \
static void                                                               \
copy_##T(struct vectors *v)                                               \
{                                                                         \
	const T *x = (const T *)v->x + first(v->n, v->incx);              \
	T *y = (T *)v->y + first(v->n, v->incy);                          \
	for (int64_t i = 0; i < v->n; i++)                                \
		y[i * v->incy] = x[i * v->incx];                          \
}                                                                         \
static void                                                               \
swap_##T(struct vectors *v)                                               \
{                                                                         \
	T *x = (T *)(uintptr_t)v->x + first(v->n, v->incx);               \
	T *y = (T *)v->y + first(v->n, v->incy);                          \
	for (int64_t i = 0; i < v->n; i++) {                              \
		const T old = y[i * v->incy];                             \
		y[i * v->incy] = x[i * v->incx];                          \
		x[i * v->incx] = old;                                     \
	}                                                                 \
}                                                                         \
static void                                                               \
dot_##T(struct vectors *v)                                                \
{                                                                         \
	const struct reduction *r = (const struct reduction *)v;          \
	const T *x = (const T *)v->x + first(v->n, v->incx);              \
	const T *y = (const T *)r->with + first(v->n, v->incy);           \
	double sum = 0;                                                   \
	for (int64_t i = 0; i < v->n; i++)                                \
		sum += (double)x[i * v->incx] * (double)y[i * v->incy];   \
	*(T *)v->y = (T)sum;                                              \
}                                                                         \
static void                                                               \
asum_##T(struct vectors *v)                                               \
{                                                                         \
	const T *x = v->x;                                                \
	double sum = 0;                                                   \
	for (int64_t i = 0; i < v->n; i++)                                \
		sum += (double)(x[i * v->incx] < 0 ? -x[i * v->incx] :    \
		    x[i * v->incx]);                                      \
	*(T *)v->y = (T)sum;                                              \
}                                                                         \
static void                                                               \
nrm2_##T(struct vectors *v)                                               \
{                                                                         \
	const T *x = v->x;                                                \
	long double sum = 0;                                              \
	for (int64_t i = 0; i < v->n; i++)                                \
		sum += (long double)x[i * v->incx] *                      \
		    (long double)x[i * v->incx];                          \
	*(T *)v->y = (T)__builtin_sqrtl(sum);                             \
}                                                                         \
static void                                                               \
extreme_##T(struct vectors *v, bool smallest)                             \
{                                                                         \
	const T *x = v->x;                                                \
	int64_t at = v->n > 0 ? 1 : 0;                                    \
	T best = smallest ? (T)__builtin_inf() : 0;                       \
	for (int64_t i = 0; i < v->n; i++) {                              \
		const T value = x[i * v->incx];                           \
		const T size = value < 0 ? -value : value;                \
		if (smallest ? size < best : size > best) {               \
			best = size;                                      \
			at = i + 1;                                       \
		}                                                         \
	}                                                                 \
	if (v->result_bytes == 8)                                         \
		*(int64_t *)v->y = at;                                    \
	else                                                              \
		*(int *)v->y = (int)at;                                   \
}                                                                         \
static void                                                               \
amax_##T(struct vectors *v)                                               \
{                                                                         \
	extreme_##T(v, false);                                            \
}                                                                         \
static void                                                               \
amin_##T(struct vectors *v)                                               \
{                                                                         \
	extreme_##T(v, true);                                             \
}
KERNELS(float)
KERNELS(double)

#define AXPY(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *alpha, const T *x,        \
    index incx, T *y, index incy)                                         \
{                                                                         \
	struct vectors v = { axpy_##T, n, incx, incy, x, y,               \
	    { .type = real }, 0 };                                        \
	BLAS_ENTER(handle);                                               \
	return alpha ? update(handle, &v, alpha, real) :                  \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define SCAL(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *alpha, T *x, index incx)  \
{                                                                         \
	struct vectors v = { scal_##T, incx > 0 ? n : 0, 1, incx, NULL,   \
	    x, { .type = real }, 0 };                                     \
	BLAS_ENTER(handle);                                               \
	return alpha ? update(handle, &v, alpha, real) :                  \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define COPY(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *x, index incx, T *y,      \
    index incy)                                                           \
{                                                                         \
	struct vectors v = { copy_##T, n, incx, incy, x, y,               \
	    { .type = real }, 0 };                                        \
	BLAS_ENTER(handle);                                               \
	return update(handle, &v, NULL, real);                            \
}
#define SWAP(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, T *x, index incx, T *y, index incy) \
{                                                                         \
	struct vectors v = { swap_##T, n, incx, incy, x, y,               \
	    { .type = real }, 0 };                                        \
	BLAS_ENTER(handle);                                               \
	return update(handle, &v, NULL, real);                            \
}
#define DOT(symbol, index, T, real)                                       \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *x, index incx,            \
    const T *y, index incy, T *result)                                    \
{                                                                         \
	struct reduction r = { { dot_##T, n > 0 ? n : 0, incx, incy, x,   \
	    result, { .type = real }, sizeof(T) }, y };                   \
	BLAS_ENTER(handle);                                               \
	return reduce(handle, &r, sizeof(T));                             \
}
#define ONE(symbol, index, T, kernel, R)                                  \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *x, index incx, R *result) \
{                                                                         \
	struct reduction r = { { kernel##_##T, n > 0 && incx > 0 ? n : 0, \
	    incx, 0, x, result, { .type = EMU_FLOAT }, sizeof(R) }, NULL }; \
	BLAS_ENTER(handle);                                               \
	return reduce(handle, &r, sizeof(T));                             \
}
#define LEVEL1(S, suffix, index, T, real)                                 \
	AXPY(cublas##S##axpy_v2##suffix, index, T, real)                  \
	SCAL(cublas##S##scal_v2##suffix, index, T, real)                  \
	COPY(cublas##S##copy_v2##suffix, index, T, real)                  \
	SWAP(cublas##S##swap_v2##suffix, index, T, real)                  \
	DOT(cublas##S##dot_v2##suffix, index, T, real)                    \
	ONE(cublas##S##asum_v2##suffix, index, T, asum, T)                \
	ONE(cublas##S##nrm2_v2##suffix, index, T, nrm2, T)

LEVEL1(S, , int, float, EMU_FLOAT)
LEVEL1(D, , int, double, EMU_DOUBLE)
ONE(cublasIsamax_v2, int, float, amax, int)
ONE(cublasIdamax_v2, int, double, amax, int)
ONE(cublasIsamin_v2, int, float, amin, int)
ONE(cublasIdamin_v2, int, double, amin, int)
LEVEL1(S, _64, int64_t, float, EMU_FLOAT)
LEVEL1(D, _64, int64_t, double, EMU_DOUBLE)
ONE(cublasIsamax_v2_64, int64_t, float, amax, int64_t)
ONE(cublasIdamax_v2_64, int64_t, double, amax, int64_t)
ONE(cublasIsamin_v2_64, int64_t, float, amin, int64_t)
ONE(cublasIdamin_v2_64, int64_t, double, amin, int64_t)
