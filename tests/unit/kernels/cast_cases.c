/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/cast_cases.c -- numbers that casts are tried on. The same
 * numbers every time. */
#include "tests/unit/kernels/cast_cases.h"

#include <math.h>

/* Positive corners; each is taken with both signs and both neighbours. */
static const float corners[] = {
	0, 0x1p-149f, 0x1p-133f, 0x1.8p-133f, 0x1p-134f, 0x1p-126f,
	0x1p-25f, 0x1.8p-25f, 0x1p-24f, 0x1.8p-24f, 0x1.4p-23f, 0x1.ffcp-15f,
	0x1.ffep-15f, 0x1p-14f, 1, 0x1.002p0f, 0x1.006p0f, 0x1.01p0f, 0x1.03p0f,
	65503, 65504, 65519, 65520, 65535, 65536, 0x1.fep127f, 0x1.ffp127f,
	0x1.fffffep127f, INFINITY, NAN,
};

static uint32_t
next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 32);
}

static float
corner(uint32_t bits, bool finite)
{
	const uint32_t count = sizeof corners / sizeof *corners;
	float x = corners[bits % (finite ? count - 2 : count)];

	if (bits >> 8 & 1)
		x = nextafterf(x, 0);
	else if (bits >> 9 & 1 && x < 0x1.fffffep127f)
		x = nextafterf(x, INFINITY);
	return bits >> 10 & 1 ? -x : x;
}

static float
number(enum cast_fill fill, uint32_t bits)
{
	const float sign = bits & 1 ? -1 : 1;
	const float one = sign * (1 + (float)(bits >> 8) * 0x1p-24f);
	const float wide = ldexpf(one, (int)(bits >> 1 & 15) % 13 - 10);

	switch (fill) {
	case FILL_NORMAL:
		return wide;
	case FILL_EDGES:
		return corner(bits >> 4, false);
	case FILL_FINITE:
		return corner(bits >> 4, true);
	case FILL_ZERO:
		return 0;
	case FILL_MINUS_ZERO:
		return -0.0f;
	case FILL_NAN:
		return ac_cast_float(0x7f800001 | bits);
	case FILL_SUBNORMAL:
		return ac_cast_float(bits & 0x800fffff);
	case FILL_GRADIENT:
		return wide * 1e-9f;
	case FILL_LARGE:
		return wide * 1e30f;
	case FILL_TINY:
		return wide * 1e-30f;
	case FILL_WHOLE:
		return (float)(bits >> 28 ? bits >> 20 & 15 : bits >> 8 & 4095);
	case FILL_ANY:
	case FILL_COUNT:
		break;
	}
	return ac_cast_float(bits);
}

float
cast_number(enum cast_fill fill, uint64_t *seed)
{
	return number(fill, next(seed));
}

double
cast_near_normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)next(seed) * 0x1p-32;
	return sum;
}
