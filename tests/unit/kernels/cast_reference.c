/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/cast_reference.c -- the reference of the cast tests. Works
 * in double, where FP32 products with powers of two down to 2^-150 are exact,
 * and rounds once with rint(). */
#include "tests/unit/kernels/cast_reference.h"

#include <math.h>

uint16_t
cast_reference_element(double x, enum ac_format format)
{
	const int bits = format == AC_FORMAT_FP16 ? 10 : 7;
	const int bias = format == AC_FORMAT_FP16 ? 15 : 127;
	const uint16_t sign = signbit(x) ? 0x8000 : 0;
	int exponent;
	double q;

	if (isnan(x))
		return 0x7fff;
	x = fabs(x);
	exponent = 1 - bias;
	if (x > 0 && ilogb(x) > exponent)
		exponent = ilogb(x);
	if (exponent > bias)
		return (uint16_t)(sign | (2 * bias + 1) << bits);
	/* In units of the last place; a carry runs into the exponent. */
	q = isinf(x) ? INFINITY : rint(ldexp(x, bits - exponent));
	if (isinf(q))
		return (uint16_t)(sign | (2 * bias + 1) << bits);
	return (uint16_t)(sign + ((exponent + bias - 1) << bits) + (int)q);
}

struct cast_expected
cast_reference_scale(const double amax[2], bool scaled, float alpha)
{
	struct cast_expected e = { .alpha = alpha };
	double product;

	if (!scaled)
		return e;
	for (int i = 0; i < 2; i++)
		while (amax[i] && ldexp(amax[i], e.exponent[i]) < 16384)
			e.exponent[i]++;
	for (int i = 0; i < 2; i++)
		while (ldexp(amax[i], e.exponent[i]) >= 32768)
			e.exponent[i]--;
	if (!isfinite(alpha) || alpha == 0)
		return e;
	for (int turn = 0;; turn++) {
		product = ldexp((double)alpha, -e.exponent[0] - e.exponent[1]);
		if (fabs(product) >= 0x1p-126)
			break;
		e.exponent[turn % 2]--;
	}
	if (fabs(product) > (double)0x1.fffffep127f)
		product = copysign((double)0x1.fffffep127f, product);
	e.alpha = (float)product;
	return e;
}

double
cast_reference_value(uint16_t bits, enum ac_format format)
{
	const int fraction = format == AC_FORMAT_FP16 ? 10 : 7;
	const int bias = format == AC_FORMAT_FP16 ? 15 : 127;
	const int exponent = (bits & 0x7fff) >> fraction;
	const int rest = bits & ((1 << fraction) - 1);
	double x = ldexp(rest + (exponent ? 1 << fraction : 0),
	    (exponent ? exponent : 1) - bias - fraction);

	if (exponent == 2 * bias + 1)
		x = rest ? NAN : INFINITY;
	return bits & 0x8000 ? -x : x;
}
