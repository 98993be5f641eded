/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_format.h -- numbers in the formats of matrices,
 * by means that share nothing with the emulator. */
#ifndef AC_TEST_EMU_FORMAT_H
#define AC_TEST_EMU_FORMAT_H

#include "test_emu.h"

#include <float.h>
#include <math.h>

/* x to `bits` significant bits, ties to even, no smaller than 2^least. */
static inline double
nearest(double x, int bits, int least, double largest)
{
	int exponent;
	double unit, rounded;

	if (x == 0 || !isfinite(x))
		return x;
	frexp(x, &exponent);
	exponent -= bits;
	unit = ldexp(1, exponent < least ? least : exponent);
	rounded = nearbyint(x / unit) * unit;
	return fabs(rounded) > largest ? copysign(INFINITY, x) : rounded;
}

enum format { FP32, TF32, BF16, FP16 };
static inline double
to_format(double x, enum format f)
{
	switch (f) {
	case TF32:
		return nearest(x, 11, -136, FLT_MAX);
	case BF16:
		return nearest(x, 8, -133, FLT_MAX);
	case FP16:
		return nearest(x, 11, -24, 65504);
	default:
		return x;
	}
}

static inline uint16_t
encode(double x, enum format f)
{
	float single = (float)x;
	uint32_t bits;
	int exponent;
	double fraction;

	if (f == BF16) {
		memcpy(&bits, &single, sizeof bits);
		return (uint16_t)(bits >> 16);
	}
	fraction = frexp(fabs(x), &exponent);
	if (x == 0)
		return 0;
	bits = exponent < -13 ? (uint32_t)ldexp(fabs(x), 24) :
	    (uint32_t)((exponent + 14) << 10) +
	    (uint32_t)ldexp(fraction - 0.5, 11);
	return (uint16_t)(bits | (x < 0 ? 0x8000 : 0));
}

static inline double
decode(uint16_t x, enum format f)
{
	const uint32_t wide = (uint32_t)x << 16;
	const int exponent = x >> 10 & 31, mantissa = x & 1023;
	double value;
	float single;

	if (f == BF16) {
		memcpy(&single, &wide, sizeof single);
		return (double)single;
	}
	if (exponent == 31)
		value = mantissa ? NAN : INFINITY;
	else
		value = exponent ? ldexp(1024 + mantissa, exponent - 25) :
		    ldexp(mantissa, -24);
	return x & 0x8000 ? -value : value;
}

static inline size_t
width(cudaDataType type)
{
	return type == CUDA_R_32F ? 4 : 2;
}

static inline enum format
format_of(cudaDataType type)
{
	return type == CUDA_R_16F ? FP16 : type == CUDA_R_16BF ? BF16 : FP32;
}

static inline void
put(void *at, size_t i, double x, cudaDataType type)
{
	if (type == CUDA_R_32F)
		((float *)at)[i] = (float)x;
	else
		((uint16_t *)at)[i] = encode(x, format_of(type));
}

#endif
