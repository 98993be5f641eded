/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/number.h -- the number formats of PTX, as bits.
 *
 * A NaN that arithmetic makes is 0x7fffffff in FP32 and 0x7fff in 16 bits, as
 * the ISA says, and 0x7ff8000000000000 in FP64, where it says nothing. */
#ifndef AC_EMULATOR_PTX_NUMBER_H
#define AC_EMULATOR_PTX_NUMBER_H

#include "emulator/ptx/inside.h"

#include <math.h>

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static const union { uint32_t bits; float x; } nan32 = { 0x7fffffff };
static const union { uint64_t bits; double x; } nan64 =
    { 0x7ff8000000000000 };

/* Canonical. */
static inline float
c32(float x)
{
	return x == x ? x : nan32.x;
}

static inline double
c64(double x)
{
	return x == x ? x : nan64.x;
}

static inline float
f32_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline uint32_t
bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline double
f64_of(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline uint64_t
bits_of64(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float
f16_to(uint16_t half)
{
	const uint32_t sign = (half & 0x8000u) << 16;
	const uint32_t rest = (half & 0x7fffu) << 13;

	if (rest >= 0x0f800000) /* inf, NaN */
		return f32_of(sign | rest | 0x7f800000);
	return f32_of(sign | bits_of(f32_of(rest) * 0x1p112f));
}

/* To nearest, ties to even. A subnormal is rounded by adding 0.5, whose last
 * bit has the weight of the smallest half. */
static inline uint16_t
f16_from32(float x)
{
	const uint32_t sign = bits_of(x) >> 16 & 0x8000, a = bits_of(x) &
	    0x7fffffff;

	if (a > 0x7f800000)
		return 0x7fff;
	if (a >= 0x477ff000) /* 65520 */
		return (uint16_t)(sign | 0x7c00);
	if (a < 0x38800000) /* 2^-14 */
		return (uint16_t)(sign | (bits_of(f32_of(a) + .5f) -
		    0x3f000000));
	return (uint16_t)(sign | (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >>
	    13);
}

static inline uint16_t
f16_from(double x)
{
	const double a = fabs(x);
	const unsigned sign = signbit(x) ? 0x8000 : 0;
	int exponent;

	if (x != x)
		return 0x7fff;
	if (a >= 65520)
		return (uint16_t)(sign | 0x7c00);
	if (a < 0x1p-14)
		return (uint16_t)(sign | (unsigned)nearbyint(a * 0x1p24));
	(void)frexp(a, &exponent);
	return (uint16_t)(sign | (((unsigned)(exponent + 13) << 10) +
	    (unsigned)nearbyint(ldexp(a, 11 - exponent))));
}

static inline float
bf16_to(uint16_t bits)
{
	return f32_of((uint32_t)bits << 16);
}

static inline uint16_t
bf16_from(float x)
{
	const uint32_t bits = bits_of(x);

	if (x != x)
		return 0x7fff;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Rounded to odd: what is inexact gets an odd last bit, so that it rounds once
 * more, to a format with two bits less, as the exact number would. */
static inline float
odd32(double x)
{
	const float near = (float)x;
	uint32_t bits = bits_of(near);

	if ((double)near == x || x != x || bits & 1)
		return near;
	return f32_of(fabs((double)near) < fabs(x) ? bits + 1 : bits - 1);
}

/* x + y, rounded to odd. */
static inline double
odd_sum(double x, double y)
{
	const double sum = x + y, back = sum - x;
	const double lost = (x - (sum - back)) + (y - back);
	uint64_t bits = bits_of64(sum);

	if (lost == 0 || lost != lost || bits & 1)
		return sum;
	return f64_of((lost > 0) == !(bits >> 63) ? bits + 1 : bits - 1);
}

/* Subnormals become zero. */
static inline float
flush(float x)
{
	return (bits_of(x) & 0x7f800000) ? x : f32_of(bits_of(x) & 0x80000000);
}

static inline float
min32(float x, float y)
{
	const float same = f32_of(bits_of(x) | bits_of(y)); /* -0 below +0 */

	return x == y ? same : x != x ? c32(y) : y != y || x < y ? x : y;
}

static inline float
max32(float x, float y)
{
	const float same = f32_of(bits_of(x) & bits_of(y));

	return x == y ? same : x != x ? c32(y) : y != y || x > y ? x : y;
}

static inline double
min64(double x, double y)
{
	const double same = f64_of(bits_of64(x) | bits_of64(y));

	return x == y ? same : x != x ? c64(y) : y != y || x < y ? x : y;
}

static inline double
max64(double x, double y)
{
	const double same = f64_of(bits_of64(x) & bits_of64(y));

	return x == y ? same : x != x ? c64(y) : y != y || x > y ? x : y;
}

static inline float
saturated32(float x)
{
	return x > 0 ? x < 1 ? x : 1 : 0;
}

static inline uint64_t
high64(uint64_t x, uint64_t y)
{
	return (uint64_t)((uint128)x * y >> 64);
}

static inline int64_t
high64s(int64_t x, int64_t y)
{
	return (int64_t)((int128)x * y >> 64);
}

static inline bool
is_float(int type)
{
	return type == T_F16 || type == T_BF16 || type == T_F32 ||
	    type == T_F64 || type == T_TF32;
}

static inline bool
is_signed(int type)
{
	return type == T_S8 || type == T_S16 || type == T_S32 || type == T_S64;
}

static inline double
as_double(int type, uint64_t bits)
{
	switch (type) {
	case T_F16: return (double)f16_to((uint16_t)bits);
	case T_BF16: return (double)bf16_to((uint16_t)bits);
	case T_F32: return (double)f32_of((uint32_t)bits);
	default: return f64_of(bits);
	}
}

#endif
