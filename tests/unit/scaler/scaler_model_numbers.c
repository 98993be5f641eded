/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/scaler_model_numbers.c -- the numbers of the model of the
 * scaler: what the bits of a gradient stand for, and products as they are
 * rounded. */
#include "tests/unit/scaler/scaler_model.h"

#include <math.h>
#include <string.h>

static float
single(uint64_t bits)
{
	const uint32_t narrow = (uint32_t)bits;
	float value;

	memcpy(&value, &narrow, sizeof value);
	return value;
}

static uint32_t
bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* FP16 and BF16 as FP32 and back, to nearest, ties to even. */
static float
widen(uint64_t bits, char kind)
{
	const int exponent = bits >> 10 & 31, fraction = bits & 1023;
	float value;

	if (kind == 'b')
		return single(bits << 16);
	value = exponent == 31 ? (fraction ? NAN : INFINITY)
	    : exponent ? ldexpf((float)(1024 + fraction), exponent - 25)
	    : ldexpf((float)fraction, -24);
	return bits & 0x8000 ? -value : value;
}

static uint64_t
narrow_half(float value)
{
	const uint64_t sign = signbit(value) ? 0x8000 : 0;
	const float size = fabsf(value);
	uint64_t low = 0, high = 0x7c00;

	if (isnan(value))
		return sign | 0x7e00;
	if (size >= 65520)
		return sign | 0x7c00;
	while (high - low > 1) {    /* the largest half that is not above */
		const uint64_t middle = (low + high) / 2;

		*(widen(middle, 'h') <= size ? &low : &high) = middle;
	}
	if (low < 0x7bff) {
		const double down = (double)size - (double)widen(low, 'h');
		const double up = (double)widen(low + 1, 'h') - (double)size;

		low += up < down || (up == down && low % 2);
	}
	return sign | low;
}

static uint64_t
narrow_brain(float value)
{
	const uint32_t bits = bits_of(value);

	return isnan(value) ? 0x7fc0
	    : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static double
wide(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

uint64_t
model_times(uint64_t word, char kind, double factor)
{
	const double value = wide(word) * factor;

	if (kind == 'h')
		return narrow_half(widen(word, kind) * (float)factor);
	if (kind == 'b')
		return narrow_brain(widen(word, kind) * (float)factor);
	if (kind == 'f' || kind == '2')
		return bits_of(single(word) * (float)factor);
	memcpy(&word, &value, sizeof word);
	return word;
}

double
model_number(uint64_t word, char kind)
{
	return kind == 'd' ? wide(word) : (double)(kind == 'h' || kind == 'b'
	    ? widen(word, kind) : single(word));
}
