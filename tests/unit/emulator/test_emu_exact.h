/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_exact.h -- a second implementation of a Tensor
 * Core's sums, in integers only, for the tests to compare with. Shares nothing
 * with the emulator. */
#ifndef AC_TEST_EMU_EXACT_H
#define AC_TEST_EMU_EXACT_H

#include "test_emu.h"

#include "emulator/driver/emu.h"

#include <math.h>

__extension__ typedef __int128 test_wide;

static inline uint32_t
test_bits(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	return bits;
}

static inline float
test_from_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

/* x to the nearest number of the format, ties to even. */
static inline float
test_to_format(float x, enum emu_rate format)
{
	const int bits = format == EMU_BF16 ? 8 : 11;
	const int least = format == EMU_FP16 ? -24 : -125 - bits;
	int exponent;
	double unit;

	if (format == EMU_FP32 || x == 0 || !isfinite(x))
		return x;
	frexp((double)x, &exponent);
	unit = ldexp(1, exponent - bits < least ? least : exponent - bits);
	return (float)(nearbyint((double)x / unit) * unit);
}

/* A float is mantissa 2^(exponent - 23); 0 has the smallest exponent. */
struct test_number {
	test_wide mantissa; /* with its sign */
	int exponent;
};

static inline struct test_number
test_take_apart(float x, int least)
{
	const uint32_t bits = test_bits(x);
	const int field = (int)(bits >> 23 & 255);
	struct test_number n = { bits & 0x7fffff, field ? field - 127 : -126 };

	if (field)
		n.mantissa |= 0x800000;
	/* Below the format's normal numbers the point stays where it is. */
	for (; n.exponent < least; n.exponent++)
		n.mantissa /= 2; /* the format has no such bits: exact */
	if (bits >> 31)
		n.mantissa = -n.mantissa;
	return n;
}

/* value 2^unit as FP32, toward zero, all in integers. */
static inline float
test_put_together(test_wide value, int unit)
{
	const uint32_t sign = value < 0 ? 0x80000000 : 0;
	test_wide size = value < 0 ? -value : value;
	int exponent = unit + 23; /* of a 24-bit mantissa's first bit */

	if (!size)
		return 0;
	for (; size >= 1 << 24; exponent++)
		size >>= 1;
	for (; size < 1 << 23 && exponent > -126; exponent--)
		size <<= 1;
	for (; exponent < -126; exponent++)
		size >>= 1;
	if (exponent > 127)
		return test_from_bits(sign | 0x7f800000);
	if (size < 1 << 23)
		return test_from_bits(sign | (uint32_t)size);
	return test_from_bits(sign | (uint32_t)(exponent + 127) << 23 |
	    ((uint32_t)size & 0x7fffff));
}

/* value 2^from in units of 2^to, toward zero. */
static inline test_wide
test_align(test_wide value, int from, int to)
{
	const int down = to - from;

	if (down <= 0)
		return value * ((test_wide)1 << -down);
	return down > 120 ? 0 : value / ((test_wide)1 << down);
}

struct test_blocks {
	int length, fraction, least;
};

/* The sum of a block with an inf or a NaN; 0 if it has none. */
static inline float
test_odd_sum(float sum, int count, const float *a, const float *b)
{
	const bool endless = isinf(sum);
	bool up = endless && sum > 0, down = endless && sum < 0,
	     nan = isnan(sum);

	for (int l = 0; l < count; l++) {
		const bool odd = !isfinite(a[l]) || !isfinite(b[l]);
		const bool minus = !signbit(a[l]) != !signbit(b[l]);

		nan |= isnan(a[l]) || isnan(b[l]) ||
		    (odd && (a[l] == 0 || b[l] == 0));
		up |= odd && !minus;
		down |= odd && minus;
	}
	if (nan || (up && down))
		return test_from_bits(0x7fffffff);
	return up ? INFINITY : down ? -INFINITY : 0;
}

static inline float
test_block_sum(const struct test_blocks *rules, float sum, int count,
    const float *a, const float *b)
{
	struct test_number x[16], y[16], c = test_take_apart(sum, -126);
	int top = c.exponent;
	test_wide total;

	for (int l = 0; l < count; l++) {
		x[l] = test_take_apart(a[l], rules->least);
		y[l] = test_take_apart(b[l], rules->least);
		if (x[l].mantissa && y[l].mantissa &&
		    x[l].exponent + y[l].exponent > top)
			top = x[l].exponent + y[l].exponent;
	}
	total = test_align(c.mantissa, c.exponent - 23, top - rules->fraction);
	for (int l = 0; l < count; l++)
		if (x[l].mantissa && y[l].mantissa)
			total += test_align(x[l].mantissa * y[l].mantissa,
			    x[l].exponent + y[l].exponent - 46,
			    top - rules->fraction);
	return test_put_together(total, top - rules->fraction);
}

static inline float
test_sum(const struct test_blocks *rules, int k, const float *a,
    const float *b)
{
	float sum = 0;

	for (int l = 0; l < k; l += rules->length) {
		const int count = k - l < rules->length ? k - l :
		    rules->length;
		const float odd = test_odd_sum(sum, count, a + l, b + l);

		sum = odd != 0 ? odd : test_block_sum(rules, sum, count, a + l,
		    b + l);
	}
	return sum;
}

/* FP32 as cublasSgemm adds it up. */
static inline float
test_chain(int k, const float *a, const float *b)
{
	float sum = 0;

	for (int l = 0; l < k; l++)
		sum = fmaf(a[l], b[l], sum);
	return isnan(sum) ? test_from_bits(0x7fffffff) : sum;
}

#endif
