/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_through.c -- inf and NaN of a product that the
 * library works on: they come out of the product itself, of the class that FP32
 * has, and finish adds nothing; a call without them has the bits it had; and
 * what beta scales may lie elsewhere. */
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t seed = 1;

static uint32_t
any(uint32_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
}

enum class { FINITE, PLUS, MINUS, NEITHER };

static enum class
class_of(double x)
{
	if (isnan(x))
		return NEITHER;
	if (isinf(x))
		return x > 0 ? PLUS : MINUS;
	return FINITE;
}

/* Numbers that matter next to an inf: of either sign, nothing, and what a cast
 * would make nothing of. */
static const float factors[] = { 1, -2, 0, -0.0f, 0x1p-149f, -0x1p-149f,
	0x1p-126f, -0x1p-126f, 3, -1e-20f, 1e9f, 0x1p-12f };
static const float bad[] = { INFINITY, -INFINITY, INFINITY, -INFINITY, NAN };

/* One element in `seldom` is bad; 0: none. */
static void
spoil(struct recast_data *d, int operand, uint32_t seldom)
{
	const struct ac_recast *r = &d->recast;
	const int64_t lines = operand ? r->n : r->m;

	for (int64_t b = 0; b < r->batch; b++)
		for (int64_t i = 0; i < lines; i++)
			for (int64_t k = 0; k < r->k; k++)
				*recast_at(d, operand, b, i, k) =
				    !seldom || any(seldom)
				    ? factors[any(COUNT(factors))]
				    : bad[any(COUNT(bad))];
}

/* FP16 is scaled: else 1e9 itself would be an inf. */
static struct recast_case
random_case(void)
{
	static const float alphas[] = { 1, -1, 2.5f, -1e-10f, 0, -0.0f };
	static const float betas[] = { 0, 1, -0.5f };
	const enum ac_format format = any(2);

	return (struct recast_case){
		.m = 1 + (int)any(12), .n = 1 + (int)any(12),
		.k = 1 + (int)any(9), .batch = 1 + (int)any(3),
		.trans = { any(2), any(2) }, .extra = (int)any(4),
		.fixed = { !any(3), !any(3) }, .array = !any(3),
		.fill = { FILL_NORMAL, FILL_NORMAL },
		.alpha = alphas[any(COUNT(alphas))],
		.beta = betas[any(COUNT(betas))],
		.format = format, .scaled = format == AC_FORMAT_FP16 || any(2),
		.activation = any(5), .bias = any(2), .follows = true,
		.added = any(3),
	};
}

/* Nothing is left of the call but what recast.h says. */
static void
assert_clear(const struct recast_data *d)
{
	const struct ac_recast_state *s = &d->state;

	for (int i = 0; i < 2; i++) {
		for (size_t w = 0; w < d->mark_count[i]; w++)
			assert_int_equal(d->marks[i][w], 0);
		assert_int_equal(s->amax[i] | s->tile[i], 0);
		for (int half = 0; half < 2; half++)
			assert_int_equal(s->energy[i][half]
			    | s->loss[i][half], 0);
	}
	assert_int_equal(s->todo | s->arrived | s->nonfinite | s->wanting, 0);
}

/* A call: each output's class, and no output that finish has touched. */
static void
assert_call(struct recast_data *d)
{
	const struct ac_recast *r = &d->recast;
	float *old = recast_copy_old(d), *made;

	recast_cast(d);
	recast_settle(d);
	recast_multiply(d);
	made = recast_copy_c(d);
	recast_finish(d);
	for (int64_t at = 0; at < (int64_t)d->result_count; at++) {
		const int64_t b = at / (r->m * r->n), i = at % r->m;
		const int64_t j = at / r->m % r->n;
		const double exact = recast_follow(d, b, i, j,
		    recast_exact(d, b, i, j, old));
		const float c = *recast_c_at(d, b, i, j);

		assert_memory_equal(&c, &made[at], sizeof c);
		if (class_of(exact) != class_of((double)c))
			fail_msg("output %d,%d of %d: %g, not %g", (int)i,
			    (int)j, (int)b, (double)c, exact);
	}
	assert_clear(d);
	free(old);
	free(made);
}

/* The first call casts twice, the second not; the third has other exponents,
 * the last is finite. */
static void
test_classes(void **state)
{
	(void)state;
	for (int turn = 0; turn < 3000; turn++) {
		const struct recast_case c = random_case();
		const uint32_t seldom[] = { any(3) ? 2 + any(30) : 0,
			2 + any(30) };
		struct recast_data d;

		recast_data_make(&c, seed, &d);
		for (int call = 0; call < 4; call++) {
			for (int i = 0; i < 2 && call != 1; i++)
				spoil(&d, i, call < 3 ? seldom[i] : 0);
			d.recast.sampled = any(2);
			if (call == 2)
				d.history.exponent[any(2)] = (int)any(60);
			assert_call(&d);
			assert_int_equal(d.history.verdict
			    & AC_VERDICT_NONFINITE && call == 3, 0);
			d.history.verdict = 0;
		}
		recast_data_free(&d);
	}
}

/* Finite numbers, then some that are not: the casts of both calls, with what
 * follows and without. They differ where FP32 has an inf or a NaN, and where a
 * number would have become 0. */
static void
test_bits(void **state)
{
	(void)state;
	for (int turn = 0; turn < 600; turn++) {
		struct recast_case c = random_case();
		struct recast_data with, without;

		c.activation = AC_ACTIVATION_NONE;
		c.bias = false;
		c.extra = 0;
		recast_data_make(&c, 1, &with);
		c.follows = false;
		recast_data_make(&c, 1, &without);
		recast_whole(&with);
		recast_whole(&without);
		assert_memory_equal(with.c, without.c,
		    with.c_count * sizeof *with.c);
		assert_memory_equal(&with.history, &without.history,
		    sizeof with.history);
		for (int i = 0; i < 2; i++)
			assert_memory_equal(with.to[i], without.to[i],
			    with.to_count[i] * sizeof *with.to[i]);
		*recast_at(&with, 0, 0, 0, 0) = INFINITY;
		*recast_at(&without, 0, 0, 0, 0) = INFINITY;
		recast_cast(&with);
		recast_settle(&with);
		recast_cast(&without);
		recast_settle(&without);
		for (int i = 0; i < 2; i++)
			for (size_t at = 0; at < with.to_count[i]; at++) {
				const uint16_t to = with.to[i][at];

				if (to == without.to[i][at])
					continue;
				assert_true(c.alpha != 0);
				assert_int_equal(without.to[i][at] & 0x7fff,
				    0);
				assert_true((to & 0x7fff) == 1 || to == (
				    c.format == AC_FORMAT_FP16 ? 0x7c00
				    : 0x7f80));
			}
		recast_data_free(&with);
		recast_data_free(&without);
	}
}

/* Without an epilogue finish repairs as ever, whatever beta scales; and what is
 * written through is that. */
static void
test_added(void **state)
{
	(void)state;
	for (int turn = 0; turn < 1500; turn++) {
		struct recast_case c = random_case();
		struct recast_data d;
		float *old;

		c.activation = AC_ACTIVATION_NONE;
		c.bias = c.follows = false;
		c.output = turn % 2 ? OUT_THROUGH : OUT_C;
		recast_data_make(&c, seed, &d);
		if (turn % 3)
			spoil(&d, turn % 2, 10);
		d.recast.sampled = 1;
		old = recast_copy_old(&d);
		recast_whole(&d);
		for (int64_t at = 0; at < (int64_t)d.result_count; at++) {
			const int64_t b = at / (c.m * c.n), i = at % c.m;
			const int64_t j = at / c.m % c.n;
			const double want = recast_exact(&d, b, i, j, old);
			const double c_is = (double)*recast_c_at(&d, b, i, j);

			assert_int_equal(class_of(c_is), class_of(want));
			if (turn % 3 == 0 && c.alpha == 0)
				assert_true(c_is == want);
		}
		assert_clear(&d);
		free(old);
		recast_data_free(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_added),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
