/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cublas/blas/cublas_matrix.h -- elements of float or double matrices
 * and vectors, for calls that compute in double precision. */
#ifndef AC_EMULATOR_CUBLAS_MATRIX_H
#define AC_EMULATOR_CUBLAS_MATRIX_H

#include "emulator/cublas/cublas.h"

/* `wide`: double, else float. */
static inline double
emu_get(const void *p, bool wide, int64_t i)
{
	return wide ? ((const double *)p)[i] : (double)((const float *)p)[i];
}

static inline void
emu_put(void *p, bool wide, int64_t i, double value)
{
	if (wide)
		((double *)p)[i] = value;
	else
		((float *)p)[i] = (float)value;
}

/* Where element i of a vector of n is; it starts at the far end if the
 * increment is negative. */
static inline int64_t
emu_at(int64_t i, int64_t n, int64_t increment)
{
	return increment < 0 ? (i + 1 - n) * increment : i * increment;
}

static inline int
emu_check_matrix(const void *pointer, int64_t rows, int64_t cols, int64_t ld,
    bool wide, const char *argument)
{
	const struct emu_shape shape = { rows, cols, ld, 1, 0, wide ? 8 : 4 };

	return emu_memory_check_matrix(pointer, &shape, argument);
}

static inline int
emu_check_vector(const void *pointer, int64_t n, int64_t increment, bool wide,
    const char *argument)
{
	return emu_check_matrix(pointer, 1, n,
	    increment < 0 ? -increment : increment, wide, argument);
}

#endif
