/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_undone.c -- the estimate of a call behind an
 * epilogue: the functions it undoes against libm; the estimate against that of
 * the bare product, at the outputs that tell; and what it asks for. */
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/recast/recast_estimate.h"

#define TOL 1e-3

static uint64_t seed = 1;

static uint32_t
any(uint32_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
}

static double
any_normal(void)
{
	return cast_near_normal(&seed);
}

/* ---- The functions ----------------------------------------------------- */

static double
gelu(double x)
{
	return x / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x
	    * x)));
}

static double
slope(double x)
{
	return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
}

/* Five roundings of numbers about 1, the series, and its argument, which is off
 * by 2^-24 of itself and is 2 where the slope is largest: what was found is
 * half of these bounds. The slope by differences is good to 1e-10. */
static void
test_gelu(void **state)
{
	(void)state;
	for (double y = -12; y < 12; y += 1e-3) {
		const float x = (float)y;
		const struct ac_recast_gelu at = ac_recast_gelu(x);

		assert_true(fabs((double)x * (double)at.share
		    - gelu((double)x)) <= 2e-7 * fabs((double)x));
		assert_true(fabs((double)at.slope - slope((double)x)) <= 4e-7);
	}
	assert_true(ac_recast_gelu(INFINITY).share == 1);
	assert_true(isnan(ac_recast_gelu(NAN).share));
}

/* D is rounded once; y is off by that over its slope, a half at least, and by
 * the functions' own errors. */
static void
test_undone(void **state)
{
	(void)state;
	for (double log = -40; log < 40; log += 1e-2) {
		const double y = exp2(log);
		float d = (float)gelu(y), minus = (float)gelu(-y);

		assert_true(ac_recast_deactivate(AC_ACTIVATION_GELU, 0, &d));
		assert_true(fabs((double)d - y) <= 4e-7 * y);
		assert_false(ac_recast_deactivate(AC_ACTIVATION_GELU, 0,
		    &minus));
		d = (float)y;
		assert_true(ac_recast_deactivate(AC_ACTIVATION_RELU, 0, &d)
		    && d == (float)y);
		assert_true(ac_recast_deactivate(AC_ACTIVATION_DRELU, 1, &d)
		    && d == (float)y);
		assert_false(ac_recast_deactivate(AC_ACTIVATION_DRELU, 0, &d));
		d = 0;
		assert_false(ac_recast_deactivate(AC_ACTIVATION_RELU, 0, &d));
	}
	for (double aux = -4; aux < 4; aux += 1e-3) {
		const double g = slope((double)(float)aux);
		float d = (float)(3 * g);
		const bool tells = ac_recast_deactivate(AC_ACTIVATION_DGELU,
		    (float)aux, &d);

		if (fabs(fabs(g) - 0.25) > 1e-6)
			assert_int_equal(tells, fabs(g) > 0.25);
		if (tells)
			assert_true(fabs((double)d - 3) < 1e-5);
	}
	for (uint32_t a = AC_ACTIVATION_RELU; a <= AC_ACTIVATION_GELU; a++) {
		float d = NAN;

		assert_true(ac_recast_deactivate(a, 0, &d) && isnan(d));
	}
}

/* ---- Calls ------------------------------------------------------------- */

/* Of each x about 2 large, made of terms that are `terms` times as large and
 * cancel. */
static void
make(const struct recast_case *c, double terms, struct recast_data *d)
{
	const double each = sqrt(2 / sqrt((double)c->k));

	recast_data_make(c, seed, d);
	recast_judge((float)TOL, d);
	for (int o = 0; o < 2; o++)
		for (int b = 0; b < c->batch; b++)
			for (int i = 0; i < (o ? c->n : c->m); i++)
				for (int k = 0; k < c->k; k++)
					*recast_at(d, o, b, i, k) =
					    (float)(any_normal() * each);
	for (int b = 0; b < c->batch && terms > 1; b++)
		for (int k = 0; k < c->k; k++) {
			for (int i = 0; i < c->m; i++)
				*recast_at(d, 0, b, i, k) += (float)(terms
				    * each * (k % 2 ? 1 : -1));
			for (int i = 0; i < c->n && k % 2; i++)
				*recast_at(d, 1, b, i, k) =
				    *recast_at(d, 1, b, i, k - 1);
		}
	for (int b = 0; b < c->batch; b++)
		for (int i = 0; i < c->m; i++)
			*recast_bias_at(d, b, i) = (float)(2 * any_normal());
	for (int b = 0; b < c->batch; b++)
		for (int j = 0; j < c->n; j++)
			for (int i = 0; i < c->m; i++)
				*recast_old_at(d, b, i, j) =
				    (float)any_normal();
}

static struct recast_case
case_of(uint32_t activation)
{
	return (struct recast_case){ .m = 70, .n = 50, .k = 48, .batch = 1,
		.trans = { any(2), any(2) }, .alpha = -1.5f,
		.format = AC_FORMAT_FP16, .scaled = true, .follows = true,
		.activation = activation };
}

/* Two calls on the same numbers: of the second the casts stay. The second's
 * history is its own. `old` gets what beta scaled. */
static void
call_twice(struct recast_data *d, float *old)
{
	const struct ac_recast *r = &d->recast;

	for (int call = 0; call < 2; call++) {
		for (int64_t at = 0; at < (int64_t)d->result_count; at++) {
			float *from = recast_old_at(d, at / (r->m * r->n),
			    at % r->m, at / r->m % r->n);

			if (call)
				*from = old[at];
			else
				old[at] = *from;
		}
		memset(&d->history.verdict, 0,
		    offsetof(struct ac_recast_history, epoch)
		    - offsetof(struct ac_recast_history, verdict));
		recast_whole(d);
	}
}

/* y of an output D, by halving; NAN where it does not tell. */
static double
undo(struct recast_data *d, const struct ac_recast_spot *s)
{
	const struct ac_recast_epilogue *e = &d->recast.epilogue;
	const double out = (double)*recast_c_at(d, s->matrix, s->row, s->col);
	const int64_t at = s->matrix * e->aux_stride + s->col * e->aux_ld
	    + s->row;
	double low = 0, high = 100;

	switch (e->activation) {
	case AC_ACTIVATION_RELU:
		return out > 0 ? out : NAN;
	case AC_ACTIVATION_DRELU:
		return ((uint8_t *)d->aux)[at / 8] >> at % 8 & 1 ? out : NAN;
	case AC_ACTIVATION_DGELU:
		high = slope((double)((float *)d->aux)[at]);
		return fabs(high) >= 0.25 ? out / high : NAN;
	case AC_ACTIVATION_GELU:
		for (int i = 0; i < 60; i++)
			if (gelu((low + high) / 2) < out)
				low = (low + high) / 2;
			else
				high = (low + high) / 2;
		return out > 0 ? low : NAN;
	default:
		return out;
	}
}

/* The smaller mean square, of the product or of y, at the outputs that the
 * estimate looked at. */
static double
least(struct recast_data *d, const float *old)
{
	const struct ac_recast *r = &d->recast;
	double y2 = 0, x2 = 0;
	int count = 0;

	for (int at = 0; at < AC_RECAST_PROBES; at++) {
		const struct ac_recast_spot s = ac_recast_probe_spot(r, 0, at);
		double added = (double)r->beta.value
		    * (double)old[s.col * r->m + s.row];
		double y;

		if (r->epilogue.bias)
			added += (double)*recast_bias_at(d, 0, s.row);
		y = r->output.result ? added + (double)*recast_out_at(d, 0,
		    s.row, s.col) : undo(d, &s);
		if (isnan(y))
			continue;
		count++;
		y2 += y * y;
		x2 += (y - added) * (y - added);
	}
	return fmin(x2, y2) / count;
}

/* What is lost is the bare product's; so the estimates are as the roots of what
 * it counts against. Both have FP32's rounding once, and y is off by 4e-7. A
 * product apart is estimated as if nothing followed, but for a bias. */
static void
test_estimate(void **state)
{
	(void)state;
	for (int turn = 0; turn < 5 * 16; turn++) {
		struct recast_case c = case_of((uint32_t)turn % 5);
		struct recast_data d, bare;
		float *old;
		double want;

		c.bias = turn / 5 % 2;
		c.beta = turn / 10 % 2 ? 0.5f : 0;
		c.added = turn / 20 % 2 ? 1 + any(2) : ADDED_C;
		c.output = turn / 40 ? OUT_APART : OUT_C;
		make(&c, 1, &d);
		old = calloc(d.result_count, sizeof *old);
		recast_data_make(&c, seed, &bare);
		bare.recast.operand[0].from = d.recast.operand[0].from;
		bare.recast.operand[1].from = d.recast.operand[1].from;
		recast_judge((float)TOL, &bare);
		memset(&bare.recast.epilogue, 0, sizeof bare.recast.epilogue);
		bare.recast.beta.value = 0;
		call_twice(&bare, old);
		want = (double)bare.history.estimate * sqrt(least(&bare, old));
		call_twice(&d, old);
		want /= sqrt(least(&d, old));
		assert_int_equal(d.history.judged, 1);
		if (fabs((double)d.history.estimate - want) > 1e-5 * want)
			fail_msg("activation %u, bias %d, beta %g: %g, not %g",
			    c.activation, c.bias, (double)c.beta,
			    (double)d.history.estimate, want);
		assert_int_equal(d.history.suspects, want > 0.7 * TOL);
		free(old);
		recast_data_free(&d);
		recast_data_free(&bare);
	}
}

/* Good products are not suspected; those that cancel are, and are found bad,
 * though no sample is due. */
static void
test_suspects(void **state)
{
	int suspected = 0;

	(void)state;
	for (int turn = 0; turn < 5 * 16; turn++)
		for (int bad = 0; bad < 2; bad++) {
			struct recast_case c = case_of((uint32_t)turn % 5);
			struct recast_data d;
			float *old;

			c.beta = turn / 5 % 2 ? 0.5f : 0;
			c.added = any(3);
			c.batch = turn / 10 % 2 ? 3 : 1;
			c.output = turn / 20 % 2 ? OUT_APART : OUT_C;
			make(&c, bad ? 100 : 1, &d);
			old = calloc(d.result_count, sizeof *old);
			call_twice(&d, old);
			assert_int_equal(d.history.judged, 1);
			assert_int_equal(d.history.bad, bad);
			if (bad)
				assert_int_equal(d.history.suspects, 1);
			else
				suspected += d.history.suspects != 0;
			assert_true(d.history.samples <= d.history.suspects);
			free(old);
			recast_data_free(&d);
		}
	assert_true(suspected <= 2); /* of 80 */
}

/* How many outputs of C tell. */
static int
count_telling(struct recast_data *d)
{
	int count = 0;

	for (int at = 0; at < AC_RECAST_PROBES; at++) {
		const struct ac_recast_spot s = ac_recast_probe_spot(&d->recast,
		    0, at);

		count += !isnan(undo(d, &s));
	}
	return count;
}

/* Where fewer than 16 tell, there is a sample and no estimate. */
static void
test_few(void **state)
{
	int few = 0, many = 0;

	(void)state;
	for (int turn = 0; turn < 60; turn++) {
		struct recast_case c = case_of(AC_ACTIVATION_RELU
		    + (uint32_t)turn % 2);
		struct recast_data d;
		float *old;
		int count;

		c.bias = true;
		make(&c, 1, &d);
		for (int i = 0; i < c.m; i++)
			*recast_bias_at(&d, 0, i) = -(float)turn / 5;
		old = calloc(d.result_count, sizeof *old);
		call_twice(&d, old);
		count = count_telling(&d);
		assert_int_equal(d.history.judged, 1);
		if (count < 16) {
			few++;
			assert_int_equal(d.history.suspects, 1);
			assert_true(d.history.estimate == 0);
		} else {
			many++;
			assert_true(d.history.estimate > 1e-4f);
		}
		/* A bias is nothing that a chain of products has written. */
		assert_int_equal(d.history.shrunk, 0);
		free(old);
		recast_data_free(&d);
	}
	assert_true(few > 10 && many > 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gelu),
		cmocka_unit_test(test_undone),
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_suspects),
		cmocka_unit_test(test_few),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
