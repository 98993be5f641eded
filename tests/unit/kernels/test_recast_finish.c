/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_finish.c -- finish and write: what has an inf
 * or NaN factor is of the class that FP32 with room enough would give, in all
 * shapes; everything else keeps its bits; C = result + beta C. */
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t seed;
static bool without_nan; /* what spoil() puts in */

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

/* Numbers that matter next to an inf. */
static const float factors[] = { 1, -2, 0, -0.0f, 0x1p-149f, -0x1p-149f,
	0x1p-126f, 3, -1e-20f, 1e9f };
static const float bad[] = { INFINITY, -INFINITY, INFINITY, -INFINITY, NAN };

/* Some of the operand's elements are bad: one in `seldom`. */
static void
spoil(struct recast_data *d, int operand, uint32_t seldom)
{
	const struct ac_recast *r = &d->recast;
	const int64_t lines = operand ? r->n : r->m;

	for (int64_t b = 0; b < r->batch; b++)
		for (int64_t i = 0; i < lines; i++)
			for (int64_t k = 0; k < r->k; k++)
				*recast_at(d, operand, b, i, k) = any(seldom)
				    ? factors[any(COUNT(factors))]
				    : bad[any(COUNT(bad) - without_nan)];
}

static float
expected_through(float result, float beta, float c)
{
	return beta != 0 ? result + beta * c : result;
}

/* Each output's class; the bits of those that need no repair. `before` is C
 * ahead of the product, `made` what the product left. */
static void
assert_outputs(struct recast_data *d, const float *before, const float *made)
{
	const struct ac_recast *r = &d->recast;

	for (int64_t b = 0; b < r->batch; b++)
		for (int64_t j = 0; j < r->n; j++)
			for (int64_t i = 0; i < r->m; i++) {
				const int64_t at = (b * r->n + j) * r->m + i;
				const float c = *recast_c_at(d, b, i, j);
				const double exact = recast_exact(d, b, i, j,
				    before);
				const float kept = r->output.write_through
				    ? expected_through(made[at],
				    r->beta.value, before[at]) : made[at];

				if (class_of(exact) != class_of((double)c))
					fail_msg("output %d,%d of %d: %g, not "
					    "%g", (int)i, (int)j, (int)b,
					    (double)c, exact);
				if (class_of(exact) == FINITE)
					assert_memory_equal(&c, &kept,
					    sizeof c);
			}
}

static void
assert_gaps(const struct recast_data *d)
{
	const struct ac_recast_output *o = &d->recast.output;

	for (int64_t at = 0; at < (int64_t)d->c_count; at++)
		if (at % o->stride >= o->ld * d->recast.n
		    || at % o->stride % o->ld >= d->recast.m)
			assert_true(d->c[at] == RECAST_GAP);
}

/* A product with one element in `seldom` bad, of A and of B; 0: as filled. */
static void
assert_repair(const struct recast_case *c, uint32_t seldom_a,
    uint32_t seldom_b)
{
	struct recast_data d;
	float *before, *made;

	recast_data_make(c, seed, &d);
	if (seldom_a)
		spoil(&d, 0, seldom_a);
	if (seldom_b)
		spoil(&d, 1, seldom_b);
	before = recast_copy_c(&d);
	recast_cast(&d);
	recast_settle(&d);
	recast_multiply(&d);
	made = c->output == OUT_C ? recast_copy_c(&d)
	    : memcpy(malloc(d.result_count * sizeof *made + 1), d.result,
	    d.result_count * sizeof *made);
	recast_finish(&d);
	if (c->output != OUT_APART) {
		assert_outputs(&d, before, made);
	} else {
		float *after = recast_copy_c(&d);

		assert_memory_equal(after, before,
		    d.result_count * sizeof *after);
		assert_memory_equal(made, d.result,
		    d.result_count * sizeof *made);
		free(after);
	}
	assert_gaps(&d);
	for (int i = 0; i < 2; i++)
		for (size_t w = 0; w < d.mark_count[i]; w++)
			assert_int_equal(d.marks[i][w], 0);
	assert_int_equal(d.state.todo, 0);
	free(before);
	free(made);
	recast_data_free(&d);
}

/* FP16 is scaled: else 1e9 itself would be an inf. */
static struct recast_case
random_case(int turn)
{
	static const float alphas[] = { 1, -1, 2.5f, -1e-10f };
	static const float betas[] = { 0, 1, -0.5f };
	const enum ac_format format = any(2);

	return (struct recast_case){
		.m = 1 + (int)any(12), .n = 1 + (int)any(12),
		.k = 1 + (int)any(9), .batch = 1 + turn % 3,
		.trans = { any(2), any(2) }, .extra = (int)any(4),
		.fixed = { !any(3), !any(3) }, .array = !any(3),
		.alpha = alphas[any(COUNT(alphas))],
		.beta = betas[any(COUNT(betas))],
		.format = format, .scaled = format == AC_FORMAT_FP16 || any(2),
		.output = (enum recast_output)any(3),
	};
}

/* Single, strided, one matrix for all, by pointers; all transposes; inf and
 * NaN in either operand or both, seldom and often. */
static void
test_classes(void **state)
{
	(void)state;
	seed = 1;
	for (int turn = 0; turn < 4000; turn++) {
		const struct recast_case c = random_case(turn);
		const uint32_t a = any(3) ? 2 + any(30) : 0;

		assert_repair(&c, a, any(3) || !a ? 2 + any(30) : 0);
	}
}

/* Larger than what a block or a list of the GPU holds. */
static void
test_large(void **state)
{
	struct recast_case c = { .m = 70, .n = 130, .k = 1100, .batch = 1,
		.alpha = -2, .beta = 1, .scaled = true, .extra = 1 };

	(void)state;
	seed = 2;
	for (int turn = 0; turn < 3; turn++) {
		c.output = (enum recast_output)turn;
		assert_repair(&c, 20000, 30000);
		without_nan = true; /* lines with many an inf */
		assert_repair(&c, 900, 20);
		without_nan = false;
	}
}

/* alpha 0: cuBLAS looks at neither A nor B; beta 0: not at C. */
static void
test_scalars_of_zero(void **state)
{
	(void)state;
	seed = 3;
	for (int turn = 0; turn < 300; turn++) {
		struct recast_case c = random_case(turn);

		c.alpha = turn % 2 ? 0 : -0.0f;
		assert_repair(&c, 3, 3);
	}
	for (int output = 0; output < 2; output++) {
		struct recast_case c = { .m = 5, .n = 6, .k = 7, .batch = 1,
			.alpha = 1, .fill = { FILL_NORMAL, FILL_NORMAL },
			.output = (enum recast_output)output };
		struct recast_data d;

		recast_data_make(&c, 1, &d);
		d.recast.sampled = 1;
		for (int64_t j = 0; j < c.n; j++)
			for (int64_t i = 0; i < c.m; i++)
				*recast_c_at(&d, 0, i, j) = NAN;
		recast_whole(&d);
		for (int64_t j = 0; j < c.n; j++)
			for (int64_t i = 0; i < c.m; i++)
				assert_true(isfinite(*recast_c_at(&d, 0, i,
				    j)));
		assert_true(d.history.error < 1e-3f);
		recast_data_free(&d);
	}
}

/* Outputs with a product that is not finite, when alpha is not either. */
static void
assert_infinite(struct recast_data *d, const float *before)
{
	struct ac_recast *r = &d->recast;

	for (int64_t b = 0; b < r->batch; b++)
		for (int64_t j = 0; j < r->n; j++)
			for (int64_t i = 0; i < r->m; i++) {
				const struct ac_recast kept = *r;
				const double exact = recast_exact(d, b, i, j,
				    before);
				double products;

				r->alpha.value = 1;
				r->beta.value = 0;
				products = recast_exact(d, b, i, j, before);
				*r = kept;
				if (isfinite(products))
					continue;
				assert_int_equal(class_of((double)
				    *recast_c_at(d, b, i, j)),
				    class_of(exact));
			}
}

/* With alpha inf or NaN what is repaired is of FP32's class too, given that
 * beta C has no class of its own. */
static void
test_infinite_alpha(void **state)
{
	static const float alphas[] = { INFINITY, -INFINITY, NAN };

	(void)state;
	seed = 4;
	for (int turn = 0; turn < 600; turn++) {
		struct recast_case c = random_case(turn);
		struct recast_data d;
		float *before;

		c.alpha = alphas[any(COUNT(alphas))];
		c.output = turn % 2 ? OUT_C : OUT_THROUGH;
		recast_data_make(&c, seed, &d);
		spoil(&d, 0, 4);
		spoil(&d, 1, 4);
		before = recast_copy_c(&d);
		recast_whole(&d);
		assert_infinite(&d, before);
		free(before);
		recast_data_free(&d);
	}
}

/* Nothing inside, nothing along K, nothing at all. */
static void
test_empty(void **state)
{
	struct recast_case c = { .m = 3, .n = 4, .k = 0, .batch = 2,
		.alpha = 1, .beta = 1, .scaled = true };
	struct recast_data d;

	(void)state;
	for (int turn = 0; turn < 4; turn++) {
		c.m = turn == 1 ? 0 : 3;
		c.n = turn == 2 ? 0 : 4;
		c.k = turn == 3 || turn == 0 ? 0 : 5;
		recast_data_make(&c, 1, &d);
		d.recast.sampled = 1;
		float *before = recast_copy_c(&d);

		recast_whole(&d);
		float *after = recast_copy_c(&d);

		assert_memory_equal(before, after,
		    d.result_count * sizeof *after);
		assert_true(d.history.error == 0 && d.state.todo == 0);
		free(before);
		free(after);
		recast_data_free(&d);
	}
}

/* Every odd size there is up to 40, with padding, through to C. */
static void
test_sizes(void **state)
{
	(void)state;
	for (int m = 1; m <= 40; m += 3)
		for (int n = 1; n <= 40; n += 3) {
			struct recast_case c = { .m = m, .n = n,
				.k = 41 - m, .batch = 1 + m % 2,
				.fill = { FILL_NORMAL, FILL_NORMAL },
				.trans = { n % 2, m % 2 }, .extra = n % 4,
				.alpha = 0.5f, .beta = m % 2 ? 2 : 0,
				.scaled = true, .array = n % 5 == 0,
				.output = OUT_THROUGH };

			seed = (uint64_t)(m * 41 + n);
			assert_repair(&c, 0, 0);
			assert_repair(&c, 50, 0);
		}
}

/* guard=strict: write does it later, and only it. */
static void
test_write(void **state)
{
	struct recast_case c = { .m = 70, .n = 5, .k = 6, .batch = 2,
		.fill = { FILL_NORMAL, FILL_NORMAL }, .extra = 1,
		.alpha = 1, .beta = -3, .scaled = true, .output = OUT_APART };
	struct recast_data d;

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		c.beta = turn ? 0 : -3;
		recast_data_make(&c, 1, &d);
		float *before = recast_copy_c(&d);

		recast_whole(&d);
		recast_run("ac_recast_write", &d, 3);
		for (int64_t at = 0; at < c.m * c.n * c.batch; at++) {
			const float want = expected_through(d.result[at],
			    c.beta, before[at]);

			assert_true(*recast_c_at(&d, at / (c.m * c.n),
			    at % c.m, at / c.m % c.n) == want);
		}
		assert_gaps(&d);
		free(before);
		recast_data_free(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_scalars_of_zero),
		cmocka_unit_test(test_infinite_alpha),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_write),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
