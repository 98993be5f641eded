/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_cast.c -- cast.h against an independent reference,
 * bit for bit: exponents, what they make of alpha, numbers. */
#include "tests/unit/kernels/cast_reference.h"
#include "tests/unit/cases.h"

#include "kernels/recast/cast.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Positive corners; each is taken with both signs and both neighbours. */
static const float corners[] = {
	0, 0x1p-149f, 0x1p-133f, 0x1.8p-133f, 0x1p-134f, 0x1p-126f,
	0x1p-25f, 0x1.8p-25f, 0x1p-24f, 0x1.8p-24f, 0x1.4p-23f, 0x1.ffcp-15f,
	0x1.ffep-15f, 0x1p-14f, 1, 0x1.002p0f, 0x1.006p0f, 0x1.01p0f, 0x1.03p0f,
	65503, 65504, 65519, 65520, 65535, 65536, 0x1.fep127f, 0x1.ffp127f,
	0x1.fffffep127f, INFINITY, NAN,
};

/* Every pair of binades of the operands, with alphas of every kind. */
static void
test_exponents(void **state)
{
	static const float alphas[] = { 1, -1.75f, 0x1p-126f, -0x1.8p-140f,
		0x1p-149f, 0x1.fffffep127f, 0, -0.0f, INFINITY, 3e-20f, 7e15f };

	for (int a = -149; a < 128; a += 3)
		for (int b = -149; b < 128; b += 3)
			for (size_t i = 0; i < COUNT(alphas); i++) {
				const double amax[] = { ldexp(1, a),
				    ldexp(1, b) };
				const struct cast_expected e =
				    cast_reference_scale(amax, true, alphas[i]);
				const struct ac_cast_scale s =
				    ac_cast_scale_from(14 - ac_cast_log2(
				    ac_cast_bits((float)amax[0])),
				    14 - ac_cast_log2(ac_cast_bits(
				    (float)amax[1])), alphas[i]);

				assert_int_equal(s.exponent[0], e.exponent[0]);
				assert_int_equal(s.exponent[1], e.exponent[1]);
				assert_int_equal(ac_cast_bits(s.alpha),
				    ac_cast_bits(e.alpha));
			}
}

static void
assert_number(float x)
{
	const uint16_t bits = ac_cast_fp16(x);
	const float wide = ac_cast_widen_fp16(bits);

	assert_int_equal(bits, cast_reference_element((double)x,
	    AC_FORMAT_FP16));
	assert_int_equal(ac_cast_bf16(x), cast_reference_element((double)x,
	    AC_FORMAT_BF16));
	assert_true(isnan(x) ? isnan(wide) : (double)wide
	    == cast_reference_value(bits, AC_FORMAT_FP16));
}

/* Corners of both formats, inf and NaN too; and any bits. */
static void
test_numbers(void **state)
{
	uint64_t seed = 1;

	for (size_t i = 0; i < COUNT(corners); i++)
		for (int sign = -1; sign <= 1; sign += 2) {
			const float x = copysignf(corners[i], (float)sign);

			assert_number(x);
			assert_number(nextafterf(x, 0));
			assert_number(nextafterf(x, copysignf(INFINITY, x)));
		}
	for (int i = 0; i < 10000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		assert_number(ac_cast_float((uint32_t)(seed >> 32)));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		{ "T40: signed zeros, subnormals, inf, NaN", test_numbers, NULL,
		    NULL, NULL },
		cmocka_unit_test(test_exponents),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
