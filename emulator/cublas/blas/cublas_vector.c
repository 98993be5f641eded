/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_vector.c -- computes on vectors, on the stream's
 * worker. Each element is computed in double precision and rounded once, by way
 * of FP32 if it is narrower. Sums run in order, in double precision:
 * deterministic, and at least as exact as the device's. */
#include "emulator/cublas/blas/cublas_vector.h"
#include "emulator/cublas/blas/cublas_matrix.h"
#include "emulator/shared/round.h"

#include <complex.h>
#include <math.h>

#define AT_X(i) x[emu_at(i, n, v->incx)]
#define AT_Y(i) y[emu_at(i, n, v->incy)]

/* Elements are T; `get` makes an A, double or complex, of one, and `set` one of
 * an A. R, set_real: the type of a norm. */
#define UPDATES(L, T, A, get, set, times, conjugate)                      \
static void                                                               \
axpy_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	const T *x = v->x;                                                \
	T *y = (T *)(uintptr_t)v->y;                                      \
	for (int64_t i = 0; i < n; i++) {                                 \
		const A sum = times(&t->alpha, get(AT_X(i))) + get(AT_Y(i)); \
		AT_Y(i) = set(sum);                                       \
	}                                                                 \
}                                                                         \
static void                                                               \
scal_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	T *x = (T *)(uintptr_t)v->x;                                      \
	for (int64_t i = 0; i < n; i++)                                   \
		AT_X(i) = set(times(&t->alpha, get(AT_X(i))));            \
}                                                                         \
static void                                                               \
copy_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	const T *x = v->x;                                                \
	T *y = (T *)(uintptr_t)v->y;                                      \
	for (int64_t i = 0; i < n; i++)                                   \
		AT_Y(i) = AT_X(i);                                        \
}                                                                         \
static void                                                               \
swap_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	T *x = (T *)(uintptr_t)v->x, *y = (T *)(uintptr_t)v->y;           \
	for (int64_t i = 0; i < n; i++) {                                 \
		const T old = AT_Y(i);                                    \
		AT_Y(i) = AT_X(i);                                        \
		AT_X(i) = old;                                            \
	}                                                                 \
}                                                                         \
/* x = c x + s y, y = c y - conj(s) x */                                  \
static void                                                               \
rot_##L(const struct emu_vector_task *t)                                  \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const struct emu_scalar other = { .value = t->s.value,            \
	    .imaginary = -t->s.imaginary };                               \
	const int64_t n = v->n;                                           \
	T *x = (T *)(uintptr_t)v->x, *y = (T *)(uintptr_t)v->y;           \
	for (int64_t i = 0; i < n; i++) {                                 \
		const A one = get(AT_X(i)), two = get(AT_Y(i));           \
		const A to_x = times(&t->alpha, one) + times(&t->s, two); \
		const A to_y = times(&t->alpha, two) - times(&other, one); \
		AT_X(i) = set(to_x);                                      \
		AT_Y(i) = set(to_y);                                      \
	}                                                                 \
}                                                                         \
static void                                                               \
dot_##L(const struct emu_vector_task *t)                                  \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	const T *x = v->x, *y = v->y;                                     \
	A sum = 0;                                                        \
	for (int64_t i = 0; i < n; i++)                                   \
		sum += get(AT_X(i)) * get(AT_Y(i));                       \
	*(T *)v->result = set(sum);                                       \
}                                                                         \
static void                                                               \
dotc_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	const T *x = v->x, *y = v->y;                                     \
	A sum = 0;                                                        \
	for (int64_t i = 0; i < n; i++)                                   \
		sum += conjugate(get(AT_X(i))) * get(AT_Y(i));            \
	*(T *)v->result = set(sum);                                       \
}

#define NORMS(L, T, get, size, square, R, set)                            \
static void                                                               \
asum_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	const T *x = v->x;                                                \
	double sum = 0;                                                   \
	for (int64_t i = 0; i < n; i++)                                   \
		sum += size(get(AT_X(i)));                                \
	*(R *)v->result = set(sum);                                       \
}                                                                         \
static void                                                               \
nrm2_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	const struct emu_vectors *v = &t->v;                              \
	const int64_t n = v->n;                                           \
	const T *x = v->x;                                                \
	long double sum = 0;                                              \
	for (int64_t i = 0; i < n; i++)                                   \
		sum += square(get(AT_X(i)));                              \
	*(R *)v->result = set((double)sqrtl(sum));                        \
}                                                                         \
static void                                                               \
extreme_##L(const struct emu_vectors *v, bool smallest)                   \
{                                                                         \
	const int64_t n = v->n;                                           \
	const T *x = v->x;                                                \
	int64_t at = n > 0 ? 1 : 0;                                       \
	double best = smallest ? (double)INFINITY : 0;                    \
	for (int64_t i = 0; i < n; i++) {                                 \
		const double found = size(get(AT_X(i)));                  \
		if (smallest ? found < best : found > best) {             \
			best = found;                                     \
			at = i + 1;                                       \
		}                                                         \
	}                                                                 \
	if (v->result_bytes == 8)                                         \
		*(int64_t *)v->result = at;                               \
	else                                                              \
		*(int *)v->result = (int)at;                              \
}                                                                         \
static void                                                               \
amax_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	extreme_##L(&t->v, false);                                        \
}                                                                         \
static void                                                               \
amin_##L(const struct emu_vector_task *t)                                 \
{                                                                         \
	extreme_##L(&t->v, true);                                         \
}

static inline double
times_real(const struct emu_scalar *alpha, double x)
{
	return alpha->value * x;
}

/* A real scalar leaves the parts apart. */
static inline double complex
times_complex(const struct emu_scalar *alpha, double complex x)
{
	return alpha->imaginary == 0 ? alpha->value * x :
	    __builtin_complex(alpha->value, alpha->imaginary) * x;
}

#define WIDEN(x) ((double)(x))
#define WIDEN_COMPLEX(x) ((double complex)(x))
#define SAME(x) (x)
#define SQUARE(x) ((long double)(x) * (long double)(x))
#define SIZE_COMPLEX(x) (fabs(creal(x)) + fabs(cimag(x)))
#define SQUARE_COMPLEX(x) (SQUARE(creal(x)) + SQUARE(cimag(x)))
#define FROM_HALF(x) ((double)emu_from_fp16(x))
#define FROM_BFLOAT(x) ((double)emu_from_bf16(x))
#define TO_HALF(x) emu_to_fp16((float)(x))
#define TO_BFLOAT(x) emu_to_bf16((float)(x))
#define TO_FLOAT(x) ((float)(x))
#define TO_COMPLEX(x) ((float complex)(x))

#define REAL(L, T, get, set)                                              \
	UPDATES(L, T, double, get, set, times_real, SAME)                 \
	NORMS(L, T, get, fabs, SQUARE, T, set)
#define COMPLEX(L, T, set, R, set_real)                                   \
	UPDATES(L, T, double complex, WIDEN_COMPLEX, set, times_complex,  \
	    conj)                                                         \
	NORMS(L, T, WIDEN_COMPLEX, SIZE_COMPLEX, SQUARE_COMPLEX, R, set_real)

REAL(FLOAT, float, WIDEN, TO_FLOAT)
REAL(DOUBLE, double, WIDEN, SAME)
REAL(HALF, uint16_t, FROM_HALF, TO_HALF)
REAL(BFLOAT, uint16_t, FROM_BFLOAT, TO_BFLOAT)
COMPLEX(COMPLEX, float complex, TO_COMPLEX, float, TO_FLOAT)
COMPLEX(DOUBLE_COMPLEX, double complex, SAME, double, SAME)

emu_vector_run
emu_vector_find(enum emu_vector_call call, enum emu_real type)
{
#define ROW(L) [EMU_##L] = { axpy_##L, scal_##L, copy_##L, swap_##L,      \
	rot_##L, dot_##L, dotc_##L, asum_##L, nrm2_##L, amax_##L, amin_##L }
	static const emu_vector_run all[EMU_REALS][EMU_VECTOR_CALLS] = {
		ROW(FLOAT), ROW(DOUBLE), ROW(HALF), ROW(BFLOAT), ROW(COMPLEX),
		ROW(DOUBLE_COMPLEX)
	};
#undef ROW
	return all[type][call];
}
