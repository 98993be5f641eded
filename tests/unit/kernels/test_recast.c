/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast.c -- cast and settle: whatever is remembered,
 * the bits and the statistics of a cast in two passes; the statistics against
 * double. */
#include "tests/unit/kernels/recast_cases.h"

#include "kernels/recast/recast_body.h"
#include "kernels/twins/twins.h"
#include "tests/unit/kernels/cast_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The cast with that exponent: 0 outside, and for what is not finite. */
static void
assert_cast(const struct ac_recast_operand *o, int exponent, uint32_t format)
{
	for (int64_t b = 0; b < o->batch; b++)
		for (int64_t j = 0; j < o->cols_to; j++)
			for (int64_t i = 0; i < o->ld_to; i++) {
				const bool in = i < o->rows && j < o->cols;
				const float x = in ? o->from[b * o->stride
				    + j * o->ld + i] : 0;
				const uint16_t want = !isfinite(x) ? 0
				    : cast_reference_element(ldexp((double)x,
				    exponent), format);
				const uint16_t got = o->to[(b * o->cols_to + j)
				    * o->ld_to + i];

				if (got != want)
					fail_msg("element %d,%d of matrix %d: "
					    "%04x, not %04x", (int)i, (int)j,
					    (int)b, got, want);
			}
}

struct truth {
	double amax[2];
	bool   nonfinite[2];
	struct cast_expected two_pass;
	float  rho, tile_rho; /* of two passes; as the first call has it */
};

static struct truth
truth_of(const struct recast_data *d)
{
	struct truth truth = {0};

	for (int i = 0; i < 2; i++)
		truth.amax[i] = cast_reference_amax(&d->recast.operand[i],
		    &truth.nonfinite[i]);
	truth.two_pass = cast_reference_scale(truth.amax, d->recast.scaled,
	    d->recast.alpha.value);
	return truth;
}

static void
assert_two_pass(const struct recast_data *d, const struct truth *truth)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(d->state.exponent[i],
		    truth->two_pass.exponent[i]);
		assert_cast(&d->recast.operand[i],
		    truth->two_pass.exponent[i], d->recast.format);
	}
	assert_int_equal(ac_cast_bits(d->state.alpha),
	    ac_cast_bits(truth->two_pass.alpha));
	assert_int_equal(ac_cast_bits(d->state.beta),
	    ac_cast_bits(d->recast.beta.value));
}

static uint32_t
expected_verdict(const struct recast_data *d, const struct truth *truth)
{
	const double most = d->recast.format == AC_FORMAT_FP16 ? 65520
	    : 0x1.ffp127;
	uint32_t verdict = truth->two_pass.verdict;

	for (int i = 0; i < 2; i++) {
		if (truth->nonfinite[i])
			verdict |= AC_VERDICT_NONFINITE;
		if (!d->recast.scaled && truth->amax[i] >= most)
			verdict |= AC_VERDICT_OVERFLOW;
	}
	return verdict;
}

static struct recast_case
case_of(enum cast_fill a, enum cast_fill b, enum ac_format format, bool scaled)
{
	return (struct recast_case){ .m = 37, .n = 21, .k = 45, .batch = 2,
		.trans = { true, false }, .fill = { a, b }, .extra = 3,
		.alpha = 1.5f, .beta = 0.5f, .format = format,
		.scaled = scaled };
}

static const enum cast_fill fills[][2] = {
	{ FILL_NORMAL, FILL_NORMAL }, { FILL_EDGES, FILL_FINITE },
	{ FILL_ANY, FILL_ANY }, { FILL_GRADIENT, FILL_NORMAL },
	{ FILL_SUBNORMAL, FILL_NORMAL }, { FILL_SUBNORMAL, FILL_SUBNORMAL },
	{ FILL_LARGE, FILL_LARGE }, { FILL_LARGE, FILL_TINY },
	{ FILL_TINY, FILL_TINY }, { FILL_LARGE, FILL_ZERO },
	{ FILL_ZERO, FILL_MINUS_ZERO }, { FILL_NAN, FILL_NORMAL },
};

static void
assert_first_call(const struct recast_case *c)
{
	struct recast_data d;
	struct truth truth;

	recast_data_make(c, 7, &d);
	truth = truth_of(&d);
	recast_cast(&d);
	assert_int_equal(d.state.todo & AC_TODO_SETTLE, AC_TODO_SETTLE);
	recast_settle(&d);
	assert_two_pass(&d, &truth);
	assert_int_equal(d.history.verdict, expected_verdict(&d, &truth));
	assert_int_equal(d.history.known, 3);
	assert_int_equal(d.history.settled, 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(d.history.exponent[i], truth.amax[i] > 0
		    ? 14 - ilogb(truth.amax[i]) : 0);
	recast_data_free(&d);
}

static void
test_first_call(void **state)
{
	static const float alphas[] = { 1.5f, -1e-30f, 1e30f, 0, -INFINITY,
		0x1p-149f, 0x1.fffffep127f };

	(void)state;
	for (size_t i = 0; i < COUNT(fills); i++)
		for (int mode = 0; mode < 3; mode++) {
			struct recast_case c = case_of(fills[i][0],
			    fills[i][1], mode / 2, mode % 2);

			for (size_t a = 0; a < COUNT(alphas); a++) {
				c.alpha = alphas[a];
				assert_first_call(&c);
			}
		}
}

/* After a history of those exponents: the bits and the statistics of two
 * passes, settled unless they are what this call wants. Returns whether it
 * was. */
static bool
assert_memory(struct recast_data *d, const struct truth *truth, int first,
    int second)
{
	struct ac_cast_scale scale;
	bool stays;

	memset(&d->history, 0, sizeof d->history);
	d->history.exponent[0] = first;
	d->history.exponent[1] = second;
	d->history.known = 3;
	scale = ac_cast_scale_from(first, second, 1, d->recast.alpha.value);
	stays = scale.exponent[0] == truth->two_pass.exponent[0]
	    && scale.exponent[1] == truth->two_pass.exponent[1];
	recast_cast(d);
	assert_int_equal(!(d->state.todo & AC_TODO_SETTLE), stays);
	recast_settle(d);
	assert_int_equal(d->state.todo & AC_TODO_SETTLE, 0);
	assert_int_equal(d->history.settled, !stays);
	assert_two_pass(d, truth);
	assert_int_equal(d->history.verdict, expected_verdict(d, truth));
	assert_true(d->history.rho == truth->rho);
	assert_true(d->history.tile_rho == truth->tile_rho);
	recast_finish(d);
	return !stays;
}

/* Every wrong pair, far and near, and what no call leaves behind. */
static void
test_memories(void **state)
{
	static const int wrong[] = { -113, -60, -14, -5, -4, -1, 0, 1, 8, 11,
		12, 13, 14, 15, 16, 17, 24, 41, 90, 163 };
	int settled = 0, stayed = 0;

	(void)state;
	for (size_t f = 0; f < COUNT(fills); f++) {
		struct recast_case c = case_of(fills[f][0], fills[f][1],
		    AC_FORMAT_FP16, true);
		struct recast_data d;
		struct truth truth;
		int own[2];

		c.m = c.n = 9;
		recast_data_make(&c, f, &d);
		truth = truth_of(&d);
		recast_whole(&d);
		truth.rho = d.history.rho;
		truth.tile_rho = d.history.tile_rho;
		own[0] = d.history.exponent[0];
		own[1] = d.history.exponent[1];
		assert_false(assert_memory(&d, &truth, own[0], own[1]));
		for (size_t i = 0; i < COUNT(wrong); i++) {
			settled += assert_memory(&d, &truth, own[0], wrong[i]);
			settled += assert_memory(&d, &truth, wrong[i], own[1]);
			for (size_t j = 0; j < COUNT(wrong); j++)
				if (assert_memory(&d, &truth, wrong[i],
				    wrong[j]))
					settled++;
				else
					stayed++;
		}
		recast_data_free(&d);
	}
	assert_true(settled > 1000 && stayed > 0);
}

static void
times(struct recast_data *d, float factor)
{
	for (size_t i = 0; i < d->from_count[0]; i++)
		d->from[0][i + 1] *= factor;
}

/* Equal calls, equal bits, with others in between, which settle; so does the
 * next one like those before, and only that. */
static void
test_equal_calls(void **state)
{
	static const float factors[] = { 1, 1, 2, 0.5f, 1, 0x1p-30f, 0x1p30f,
		1, 0, 1 };
	static const int settles[] = { 1, 0, 1, 1, 0, 1, 1, 0, 1, 0 };

	(void)state;
	for (int mode = 0; mode < 3; mode++) {
		struct recast_case c = case_of(FILL_GRADIENT, FILL_NORMAL,
		    mode / 2, mode % 2);
		struct recast_data d;
		struct truth truth;

		c.extra = 1; /* from[0] begins one later */
		recast_data_make(&c, 1, &d);
		for (size_t call = 0; call < COUNT(factors); call++) {
			float *kept = d.from[0];

			if (factors[call] == 0) /* nothing, this time */
				d.from[0] = calloc(d.from_count[0] + 1,
				    sizeof *kept);
			else
				times(&d, factors[call]);
			d.recast.operand[0].from = d.from[0] + 1;
			d.history.settled = 0;
			truth = truth_of(&d);
			recast_whole(&d);
			assert_two_pass(&d, &truth);
			assert_int_equal(d.history.settled, settles[call]);
			if (d.from[0] != kept)
				free(d.from[0]);
			d.from[0] = kept;
		}
		recast_data_free(&d);
	}
}

/* S, R of all and of the worst tile in double, from the casts themselves. */
static void
reference_losses(const struct ac_recast_operand *o, int cast_exponent,
    int exponent, uint32_t format, double whole_out[2], double *worst_out)
{
	whole_out[0] = whole_out[1] = *worst_out = 0;
	for (int64_t t = 0; t < o->batch * ((o->cols_to + 31) / 32)
	    * ((o->ld_to + 31) / 32); t++) {
		const int64_t down = (o->ld_to + 31) / 32;
		const int64_t row = t % down * 32;
		const int64_t col = t / down % ((o->cols_to + 31) / 32) * 32;
		const int64_t b = t / down / ((o->cols_to + 31) / 32);
		double energy = 0, loss = 0;

		for (int64_t j = col; j < col + 32 && j < o->cols; j++)
			for (int64_t i = row; i < row + 32 && i < o->rows;
			     i++) {
				const double x = (double)o->from[b * o->stride
				    + j * o->ld + i];
				const double to = cast_reference_value(o->to[
				    (b * o->cols_to + j) * o->ld_to + i],
				    format);
				const double s = ldexp(x, exponent);
				const double q = isinf(to) ? 0
				    : ldexp(to, exponent - cast_exponent);

				if (!isfinite(x))
					continue;
				energy += s * s;
				loss += (s - q) * (s - q);
			}
		whole_out[0] += energy;
		whole_out[1] += loss;
		if (energy > 0 && loss / energy > *worst_out)
			*worst_out = loss / energy;
	}
}

/* A tile's sum has 1 product and 2 + 3 + 5 additions on any way, each rounded
 * by 2^-24 of the result at most, but for sums that are subnormal; R / S has
 * twice that, the root half, and is rounded to FP32. Of R and S each tile may
 * lose 2^-32. */
static void
assert_statistics(const struct recast_data *d, int first, int second)
{
	const bool scaled = d->recast.scaled;
	const int exponent[2] = {
		scaled ? d->state.exponent[0] : first,
		scaled ? d->state.exponent[1] : second,
	};
	double ratio = 0, worst = 0, slack = 0;

	for (int i = 0; i < 2; i++) {
		const struct ac_recast_operand *o = &d->recast.operand[i];
		const double tiles = (double)(o->batch * ((o->ld_to + 31) / 32)
		    * ((o->cols_to + 31) / 32));
		double sums[2], tile;

		reference_losses(o, d->state.exponent[i], exponent[i],
		    d->recast.format, sums, &tile);
		if (sums[0] > 0) {
			ratio += sums[1] / sums[0];
			slack += tiles * 0x1p-32 / sums[0]
			    * (1 + sums[1] / sums[0]);
		}
		if (tile > worst)
			worst = tile;
	}
	const double rho = sqrt(ratio), rounding = 14 * 0x1p-24;

	assert_true((double)d->history.rho <= sqrt(ratio + slack)
	    * (1 + rounding));
	assert_true((double)d->history.rho >= sqrt(ratio > slack
	    ? ratio - slack : 0) * (1 - rounding));
	assert_true(rho == 0 || slack < ratio); /* the bound says something */
	assert_true(fabs((double)d->history.tile_rho - sqrt(worst))
	    <= sqrt(worst) * rounding);
}

static void
test_statistics(void **state)
{
	static const enum cast_fill some[][2] = {
		{ FILL_NORMAL, FILL_NORMAL }, { FILL_GRADIENT, FILL_LARGE },
		{ FILL_ZERO, FILL_NORMAL }, { FILL_EDGES, FILL_NORMAL },
		{ FILL_TINY, FILL_GRADIENT }, { FILL_ZERO, FILL_ZERO },
	};

	(void)state;
	for (size_t f = 0; f < COUNT(some); f++)
		for (int mode = 0; mode < 4; mode++) {
			struct recast_case c = case_of(some[f][0], some[f][1],
			    mode / 2, mode % 2);
			struct recast_data d;
			struct truth truth;
			int e[2];

			c.m = 70;
			recast_data_make(&c, f, &d);
			truth = truth_of(&d);
			for (int i = 0; i < 2; i++)
				e[i] = truth.amax[i] > 0
				    ? 14 - ilogb(truth.amax[i]) : 0;
			recast_cast(&d);
			recast_settle(&d);
			assert_statistics(&d, e[0], e[1]);
			recast_data_free(&d);
		}
}

/* The first magnitude that is too much for an exponent, by definition. */
static void
test_limit(void **state)
{
	(void)state;
	for (int e = -150; e <= 163; e++) {
		const uint32_t limit = ac_recast_limit(e);

		assert_true(ldexp((double)ac_cast_float(limit - 1), e) < 65520);
		assert_true(limit == AC_CAST_INF
		    || ldexp((double)ac_cast_float(limit), e) >= 65520);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_call),
		cmocka_unit_test(test_memories),
		cmocka_unit_test(test_equal_calls),
		cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_limit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
