/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_round.c -- the emulated device's roundings, at
 * every boundary of FP16 and at random for the others. */
#include "emulator/shared/round.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

static double
half(unsigned bits)
{
	const unsigned exponent = bits >> 10 & 31, mantissa = bits & 1023;

	return exponent ? ldexp(1024 + mantissa, (int)exponent - 25) :
	    ldexp(mantissa, -24);
}

/* Every half is itself; the middle between two neighbours goes to the even one,
 * and the numbers next to it to the nearer one. */
static void
fp16(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 0x7c00; i++) {
		const double low = half(i), high = half(i + 1);
		const float middle = (float)((low + high) / 2);

		assert_true((double)emu_from_fp16((uint16_t)i) == low);
		assert_int_equal(emu_to_fp16((float)low), i);
		assert_int_equal(emu_to_fp16(-(float)low), i | 0x8000);
		assert_int_equal(emu_to_fp16(middle), i + (i & 1));
		assert_int_equal(emu_to_fp16(nextafterf(middle, 0)), i);
		assert_int_equal(emu_to_fp16(nextafterf(middle, INFINITY)),
		    i + 1);
	}
	assert_int_equal(emu_to_fp16(INFINITY), 0x7c00);
	assert_int_equal(emu_to_fp16(-1e30f), 0xfc00);
	assert_int_equal(emu_to_fp16(NAN), 0x7fff);
	assert_true(isinf(emu_from_fp16(0xfc00)));
	assert_true(isnan(emu_from_fp16(0x7c01)));
}

static float
nearest(float x, int bits)
{
	int exponent;
	double unit;

	frexp((double)x, &exponent);
	unit = ldexp(1, exponent - bits < -125 - bits ? -125 - bits :
	    exponent - bits);
	return (float)(nearbyint((double)x / unit) * unit);
}

/* Random bit patterns, subnormal and huge ones among them; ties are made by
 * clearing the bits below the dropped half. */
static void
tf32_and_bf16(void **state)
{
	uint32_t bits = 1;

	(void)state;
	for (int i = 0; i < 1000000; i++) {
		float x;

		bits = bits * 1664525 + 1013904223;
		x = emu_from_bits(i % 4 ? bits : i % 8 ? bits & ~0xfffu :
		    bits & ~0x7fffu);
		if (!isfinite(x)) {
			assert_true(isnan(x) ? isnan(emu_round_tf32(x)) :
			    emu_round_tf32(x) == x);
			continue;
		}
		assert_true(emu_round_tf32(x) == nearest(x, 11));
		assert_true(emu_round_bf16(x) == nearest(x, 8));
		assert_true(emu_from_bf16(emu_to_bf16(x)) ==
		    emu_round_bf16(x));
	}
	assert_int_equal(emu_to_bf16(NAN), 0x7fff);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fp16),
		cmocka_unit_test(tf32_and_bf16),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
