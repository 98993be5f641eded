/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/cast_cases.h -- numbers that casts are tried on. */
#ifndef AC_TESTS_CAST_CASES_H
#define AC_TESTS_CAST_CASES_H

#include "kernels/recast/cast.h"

/* What an operand holds. FILL_COUNT is none. */
enum cast_fill {
	FILL_NORMAL,     /* both signs, within 2^-10 .. 2^3 */
	FILL_EDGES,      /* every corner of both formats, finite and not */
	FILL_FINITE,     /* the same corners, without inf and NaN */
	FILL_ZERO, FILL_MINUS_ZERO, FILL_NAN,
	FILL_SUBNORMAL,  /* FP32 subnormals */
	FILL_GRADIENT,   /* around 1e-9 */
	FILL_LARGE,      /* around 1e30 */
	FILL_TINY,       /* around 1e-30 */
	FILL_WHOLE,      /* whole numbers, some of 12 bits */
	FILL_ANY,        /* any bits */
	FILL_COUNT
};

/* The next number of a fill. */
float cast_number(enum cast_fill fill, uint64_t *seed);
/* One of deviation 1, as good as normal: a sum of twelve. */
double cast_near_normal(uint64_t *seed);

#endif
