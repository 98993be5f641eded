/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_level1.c -- cuBLAS calls on vectors, whose types
 * the name says; how all calls on vectors are checked and queued. Contracts are
 * NVIDIA's. */
#include "emulator/cublas/blas/cublas_vector.h"

static void
run(void *arguments)
{
	struct emu_vector_task *t = arguments;

	emu_scalar_fetch(&t->alpha);
	emu_scalar_fetch(&t->s);
	emu_vector_find(t->v.call, t->v.type)(t);
}

static int
check(const struct emu_vectors *v, int64_t n, const void *at,
    int64_t increment, const char *argument)
{
	const struct emu_shape shape = { 1, n, increment < 0 ? -increment :
	    increment, 1, 0, emu_real_bytes(v->type) };

	return emu_memory_check_matrix(at, &shape, argument);
}

static bool
has_pair(enum emu_vector_call call)
{
	return call != EMU_SCAL && call < EMU_ASUM;
}

/* Calls on one vector do nothing where its increment is not positive. */
static int64_t
count(const struct emu_vectors *v)
{
	return v->n > 0 && (has_pair(v->call) || v->incx > 0) ? v->n : 0;
}

cublasStatus_t
emu_vector_submit(cublasHandle_t handle, const struct emu_vectors *v)
{
	const bool device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
	const bool reduces = v->call >= EMU_DOT;
	const int64_t n = count(v);
	struct emu_scalar alpha = { 0 }, s = { 0 };
	struct emu_vector_task *task;
	int status = EMU_OK;

	if (reduces && !v->result)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!n && !reduces)
		return CUBLAS_STATUS_SUCCESS;
	if (v->alpha)
		status = emu_scalar_take(handle, v->alpha, v->alpha_type,
		    v->s ? "c" : "alpha", &alpha);
	if (!status && v->s)
		status = emu_scalar_take(handle, v->s, v->s_type, "s", &s);
	if (status)
		return (cublasStatus_t)status;
	if (device && reduces)
		status = emu_memory_check(v->result, v->result_bytes, "result");
	if (!status)
		status = check(v, n, v->x, v->incx, "x");
	if (!status && has_pair(v->call))
		status = check(v, n, v->y, v->incy, "y");
	if (status)
		return emu_blas_status(status);
	task = emu_task_new(run, sizeof *task);
	if (task)
		*task = (struct emu_vector_task){ *v, alpha, s };
	if (task)
		task->v.n = n;
	status = emu_blas_submit(handle, task);
	return status || !reduces || device ? (cublasStatus_t)status :
	    emu_blas_wait(handle);
}

#define VECTORS(which, real, increment) .call = which, .type = real,      \
	.n = n, .incx = incx, .incy = increment, .x = x

#define AXPY(symbol, index, T, real)                                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *alpha, const T *x,        \
    index incx, T *y, index incy)                                         \
{                                                                         \
	const struct emu_vectors v = { VECTORS(EMU_AXPY, real, incy), \
	    .y = y, .alpha = alpha, .alpha_type = real };                 \
	BLAS_ENTER(handle);                                               \
	return alpha ? emu_vector_submit(handle, &v) :                    \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define SCAL(symbol, index, T, real, S, scalar)                           \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const S *alpha, T *x, index incx)  \
{                                                                         \
	const struct emu_vectors v = { VECTORS(EMU_SCAL, real, 1),        \
	    .alpha = alpha, .alpha_type = scalar };                       \
	BLAS_ENTER(handle);                                               \
	return alpha ? emu_vector_submit(handle, &v) :                    \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define MOVE(symbol, call, index, constant, T, real)                      \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, constant T *x, index incx, T *y,   \
    index incy)                                                           \
{                                                                         \
	const struct emu_vectors v = { VECTORS(call, real, incy), .y = y }; \
	BLAS_ENTER(handle);                                               \
	return emu_vector_submit(handle, &v);                             \
}
#define ROT(symbol, index, T, real, C, c_type, S, s_is)                   \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, T *x, index incx, T *y,            \
    index incy, const C *c, const S *s)                                   \
{                                                                         \
	const struct emu_vectors v = { VECTORS(EMU_ROT, real, incy),      \
	    .y = y, .alpha = c, .alpha_type = c_type, .s = s,             \
	    .s_type = s_is };                                             \
	BLAS_ENTER(handle);                                               \
	return n <= 0 || (c && s) ? emu_vector_submit(handle, &v) :       \
	    CUBLAS_STATUS_INVALID_VALUE;                                  \
}
#define DOT(symbol, call, index, T, real)                                 \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *x, index incx,            \
    const T *y, index incy, T *result)                                    \
{                                                                         \
	const struct emu_vectors v = { VECTORS(call, real, incy),         \
	    .y = y, .result = result, .result_bytes = sizeof(T) };        \
	BLAS_ENTER(handle);                                               \
	return emu_vector_submit(handle, &v);                             \
}
#define ONE(symbol, call, index, T, real, R)                              \
cublasStatus_t                                                            \
symbol(cublasHandle_t handle, index n, const T *x, index incx, R *result) \
{                                                                         \
	const struct emu_vectors v = { VECTORS(call, real, 1),            \
	    .result = result, .result_bytes = sizeof(R) };                \
	BLAS_ENTER(handle);                                               \
	return emu_vector_submit(handle, &v);                             \
}
#define UPDATES(L, suffix, index, T, real)                                \
	AXPY(cublas##L##axpy_v2##suffix, index, T, real)                  \
	SCAL(cublas##L##scal_v2##suffix, index, T, real, T, real)         \
	MOVE(cublas##L##copy_v2##suffix, EMU_COPY, index, const, T, real)  \
	MOVE(cublas##L##swap_v2##suffix, EMU_SWAP, index, , T, real)
#define NORMS(L, l, suffix, index, T, real, R)                            \
	ONE(cublas##L##asum_v2##suffix, EMU_ASUM, index, T, real, R)      \
	ONE(cublas##L##nrm2_v2##suffix, EMU_NRM2, index, T, real, R)      \
	ONE(cublasI##l##amax_v2##suffix, EMU_AMAX, index, T, real, index)  \
	ONE(cublasI##l##amin_v2##suffix, EMU_AMIN, index, T, real, index)
#define REAL(L, l, suffix, index, T, real)                                \
	UPDATES(L, suffix, index, T, real)                                \
	NORMS(L, l, suffix, index, T, real, T)                            \
	DOT(cublas##L##dot_v2##suffix, EMU_DOT, index, T, real)           \
	ROT(cublas##L##rot_v2##suffix, index, T, real, T, real, T, real)
#define COMPLEX(L, l, norm, r, suffix, index, T, real, R, part)           \
	UPDATES(L, suffix, index, T, real)                                \
	NORMS(norm, l, suffix, index, T, real, R)                         \
	DOT(cublas##L##dotu_v2##suffix, EMU_DOT, index, T, real)          \
	DOT(cublas##L##dotc_v2##suffix, EMU_DOTC, index, T, real)         \
	SCAL(cublas##L##r##scal_v2##suffix, index, T, real, R, part)      \
	ROT(cublas##L##rot_v2##suffix, index, T, real, R, part, T, real)  \
	ROT(cublas##L##r##rot_v2##suffix, index, T, real, R, part, R, part)

REAL(S, s, , int, float, EMU_FLOAT)
REAL(D, d, , int, double, EMU_DOUBLE)
REAL(S, s, _64, int64_t, float, EMU_FLOAT)
REAL(D, d, _64, int64_t, double, EMU_DOUBLE)
COMPLEX(C, c, Sc, s, , int, cuComplex, EMU_COMPLEX, float, EMU_FLOAT)
COMPLEX(C, c, Sc, s, _64, int64_t, cuComplex, EMU_COMPLEX, float, EMU_FLOAT)
COMPLEX(Z, z, Dz, d, , int, cuDoubleComplex, EMU_DOUBLE_COMPLEX, double,
    EMU_DOUBLE)
COMPLEX(Z, z, Dz, d, _64, int64_t, cuDoubleComplex, EMU_DOUBLE_COMPLEX,
    double, EMU_DOUBLE)
