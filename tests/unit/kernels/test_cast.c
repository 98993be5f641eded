/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_cast.c -- cast.h against an independent reference,
 * bit for bit: exponents, what they make of alpha, factors, numbers; and casts
 * of every small shape. */
#include "tests/unit/kernels/cast_reference.h"
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Every pair of binades of the operands, with alphas of every kind. */
static void
test_exponents(void **state)
{
	static const float alphas[] = { 1, -1.75f, 0x1p-126f, -0x1.8p-140f,
		0x1p-149f, 0x1.fffffep127f, 0, -0.0f, INFINITY, 3e-20f, 7e15f };

	(void)state;
	for (int a = -149; a < 128; a += 3)
		for (int b = -149; b < 128; b += 3)
			for (size_t i = 0; i < COUNT(alphas); i++) {
				const double amax[] = { ldexp(1, a),
				    ldexp(1, b) };
				const struct cast_expected e =
				    cast_reference_scale(amax, true, alphas[i]);
				const struct ac_cast_scale s = ac_cast_scale_of(
				    ac_cast_bits((float)amax[0]),
				    ac_cast_bits((float)amax[1]), 1, alphas[i]);

				assert_int_equal(s.exponent[0], e.exponent[0]);
				assert_int_equal(s.exponent[1], e.exponent[1]);
				assert_int_equal(s.verdict, e.verdict);
				assert_int_equal(ac_cast_bits(s.alpha),
				    ac_cast_bits(e.alpha));
			}
}

/* Both factors stay normal over the whole reach of the exponents. */
static void
test_factors(void **state)
{
	(void)state;
	for (int e = -150; e <= 163; e++) {
		const struct ac_cast_factor f = ac_cast_factor_of(e);
		assert_true(isnormal(f.first) && isnormal(f.second));
		assert_true((double)f.first * (double)f.second == ldexp(1, e));
	}
}

/* Corners of both formats, inf and NaN too. */
static void
test_numbers(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const float x = cast_number(i % 2 ? FILL_EDGES : FILL_ANY,
		    &seed);

		assert_int_equal(ac_cast_fp16(x),
		    cast_reference_element((double)x, AC_FORMAT_FP16));
		assert_int_equal(ac_cast_bf16(x),
		    cast_reference_element((double)x, AC_FORMAT_BF16));
	}
}

/* The casts of the first call; past the matrix there is zero. */
static void
assert_shape(const struct recast_case *c)
{
	struct recast_data d;

	recast_data_make(c, 5, &d);
	recast_cast(&d);
	recast_settle(&d);
	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &d.recast.operand[i];
		const size_t rows = (size_t)o->ld_to;

		for (size_t k = 0; k < d.to_count[i]; k++) {
			const int64_t row = (int64_t)(k % rows);
			const int64_t col = (int64_t)(k / rows) % o->cols_to;
			const int64_t b = (int64_t)(k / rows) / o->cols_to;
			const double x = row < o->rows && col < o->cols
			    ? (double)o->from[b * o->stride + col * o->ld + row]
			    : 0;

			assert_int_equal(d.to[i][k], cast_reference_element(
			    isfinite(x) ? ldexp(x, d.state.exponent[i]) : 0,
			    c->format));
		}
		for (size_t k = 0; k < RECAST_FENCE; k++)
			assert_int_equal(d.to[i][d.to_count[i] + k], 0);
	}
	recast_data_free(&d);
}

static void
test_shapes(void **state)
{
	struct recast_case c = { .alpha = 1.5f, .scaled = true,
		.fill = { FILL_EDGES, FILL_NORMAL } };

	(void)state;
	for (c.m = 0; c.m < 19; c.m++)
		for (c.k = 0; c.k < 5; c.k++)
			for (int i = 0; i < 3; i++) {
				c.n = c.m + c.k;
				c.extra = i;
				c.batch = 1 + i;
				c.format = (enum ac_format)(i % 2);
				c.trans[0] = i / 2;
				c.trans[1] = c.m % 2;
				assert_shape(&c);
			}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		{ "T40: ld > m, every remainder by 8", test_shapes, NULL, NULL,
		    NULL },
		{ "T40: signed zeros, subnormals, inf, NaN", test_numbers, NULL,
		    NULL, NULL },
		cmocka_unit_test(test_exponents),
		cmocka_unit_test(test_factors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
