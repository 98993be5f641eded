/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_numbers.h -- numbers of each type of cuBLAS, as
 * double complex, for tests whose references are plain loops. */
#ifndef AC_TEST_EMU_NUMBERS_H
#define AC_TEST_EMU_NUMBERS_H

#include "test_emu.h"

#include <complex.h>
#include <math.h>

typedef double complex number;

/* `bits` of significand, the first one included. */
struct test_type {
	cudaDataType type;
	int parts, bits;
};
enum { T_HALF, T_BFLOAT, T_FLOAT, T_DOUBLE, T_COMPLEX, T_DOUBLE_COMPLEX,
	T_TYPES };
static const struct test_type test_types[T_TYPES] = {
	{ CUDA_R_16F, 1, 11 }, { CUDA_R_16BF, 1, 8 }, { CUDA_R_32F, 1, 24 },
	{ CUDA_R_64F, 1, 53 }, { CUDA_C_32F, 2, 24 }, { CUDA_C_64F, 2, 53 }
};

static inline number
test_number(double re, double im)
{
	number x = re;

	__imag__ x = im;
	return x;
}

static inline size_t
test_part_bytes(const struct test_type *t)
{
	return t->bits <= 11 ? 2 : t->bits == 24 ? 4 : 8;
}

static inline size_t
test_bytes(const struct test_type *t)
{
	return test_part_bytes(t) * (size_t)t->parts;
}

/* By the definition of the two formats; no infinities or NaNs. */
static inline double
test_narrow(uint16_t bits, int significand)
{
	const int fraction = bits & ((1 << (significand - 1)) - 1);
	const int exponent = (bits & 0x7fff) >> (significand - 1);
	const int bias = significand == 11 ? 15 : 127;
	const double size = exponent ? ldexp(1 + ldexp(fraction,
	    1 - significand), exponent - bias) : ldexp(fraction,
	    2 - significand - bias);

	return bits & 0x8000 ? -size : size;
}

static inline double
test_part(const struct test_type *t, const void *p, int64_t i)
{
	if (t->bits <= 11)
		return test_narrow(((const uint16_t *)p)[i], t->bits);
	return t->bits == 24 ? (double)((const float *)p)[i] :
	    ((const double *)p)[i];
}

static inline number
test_get(const struct test_type *t, const void *p, int64_t i)
{
	return test_number(test_part(t, p, i * t->parts), t->parts == 2 ?
	    test_part(t, p, i * t->parts + 1) : 0);
}

/* `count` numbers below 2, of no small exponents. */
static inline void
test_draw(const struct test_type *t, void *p, int64_t count, uint64_t *seed)
{
	for (int64_t i = 0; i < count * t->parts; i++) {
		const float x = test_random(seed);
		const uint16_t any = (uint16_t)(*seed >> 32);
		const uint16_t fraction = (uint16_t)((UINT64_C(1) <<
		    (t->bits - 1)) - 1);

		if (t->bits == 24)
			((float *)p)[i] = x;
		else if (t->bits == 53)
			((double *)p)[i] = (double)x + (double)test_random(
			    seed) * 0x1p-25;
		else
			((uint16_t *)p)[i] = (uint16_t)((any & (0x8000 |
			    fraction)) | (t->bits == 11 ? 13 + any / 8192 % 3 :
			    125 + any / 8192 % 3) << (t->bits - 1));
	}
}

#endif
