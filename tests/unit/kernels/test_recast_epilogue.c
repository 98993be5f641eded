/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_epilogue.c -- a product that the library works
 * on before it is D: its sample against a model in double that uses libm, good
 * ones and bad ones told apart, its estimate, and what proves nothing. */
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/recast/recast_estimate.h"
#include "kernels/recast/recast_sample.h"

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

static double
any_real(void)
{
	return (double)any(1u << 31) * 0x1p-30 - 1;
}

static struct recast_case
case_of(uint32_t activation)
{
	return (struct recast_case){ .m = 40, .n = 36, .k = 24, .batch = 1,
		.trans = { any(2), any(2) }, .extra = (int)any(4),
		.fill = { FILL_NORMAL, FILL_NORMAL }, .alpha = 1,
		.format = AC_FORMAT_FP16, .scaled = true,
		.activation = activation };
}

/* Outputs x of about `size`; what else there is, too. */
static void
make(const struct recast_case *c, double size, struct recast_data *d)
{
	const double each = sqrt(size / sqrt((double)c->k));

	recast_data_make(c, seed++, d);
	d->recast.sampled = 1;
	d->recast.judge = AC_JUDGE_EXACT;
	recast_judge((float)TOL, d);
	for (int o = 0; o < 2; o++)
		for (int64_t b = 0; b < d->recast.operand[o].batch; b++)
			for (int i = 0; i < (o ? c->n : c->m); i++)
				for (int k = 0; k < c->k; k++)
					*recast_at(d, o, b, i, k) =
					    (float)(any_normal() * each);
	for (int b = 0; b < c->batch; b++)
		for (int i = 0; i < c->m; i++)
			*recast_bias_at(d, b, i) = (float)(any_normal() * size);
	for (int b = 0; b < c->batch; b++)
		for (int j = 0; j < c->n; j++)
			for (int i = 0; i < c->m; i++)
				*recast_old_at(d, b, i, j) =
				    (float)(any_normal() * size);
}

/* x + bias of an output, as it should be. `old` as recast_copy_old() has it. */
static double
reference(struct recast_data *d, int64_t b, int64_t i, int64_t j,
    const float *old)
{
	const double x = recast_exact(d, b, i, j, old);

	return d->recast.epilogue.bias ? x + (double)*recast_bias_at(d, b, i)
	    : x;
}

/* The library makes D of an x that is off by `off` times its own size, or by
 * random numbers of that relative size. */
static void
plant(struct recast_data *d, const float *old, double off)
{
	const struct ac_recast *r = &d->recast;

	for (int64_t b = 0; b < r->batch; b++)
		for (int64_t j = 0; j < r->n; j++)
			for (int64_t i = 0; i < r->m; i++) {
				const double beta = (double)r->beta.value
				    * (double)old[(b * r->n + j) * r->m + i];
				double x = recast_exact(d, b, i, j, old);

				x += (x - (beta != 0 ? beta : 0))
				    * any_real() * sqrt(3) * off;
				if (r->output.result)
					*recast_out_at(d, b, i, j) =
					    (float)(x - beta);
				else
					*recast_c_at(d, b, i, j) = (float)
					    recast_follow(d, b, i, j, x);
			}
}

/* A call whose product is off by `off`; 0: that of the casts. */
static void
call(struct recast_data *d, const float *old, double off)
{
	recast_cast(d);
	recast_settle(d);
	if (off > 0)
		plant(d, old, off);
	else
		recast_multiply(d);
	recast_finish(d);
}

/* ---- The sample -------------------------------------------------------- */

/* gelu' by its definition: the slope of gelu between two points. */
static double
slope_at(struct recast_data *d, double y)
{
	struct ac_recast_epilogue kept = d->recast.epilogue;
	double slope;

	d->recast.epilogue.bias = NULL;
	slope = (recast_follow(d, 0, 0, 0, y + 1e-5)
	    - recast_follow(d, 0, 0, 0, y - 1e-5)) / 2e-5;
	d->recast.epilogue = kept;
	return slope;
}

/* An output's part in both ratios. */
static void
add_output(struct recast_data *d, const struct ac_recast_spot *s,
    const float *old, double sums[5])
{
	const uint32_t activation = d->recast.epilogue.activation;
	const double bias = d->recast.epilogue.bias
	    ? (double)*recast_bias_at(d, s->matrix, s->row) : 0;
	const double y = reference(d, s->matrix, s->row, s->col, old);
	const double want = recast_follow(d, s->matrix, s->row, s->col,
	    y - bias);
	const double beta = (double)d->recast.beta.value;
	const double before = beta != 0 ? beta * (double)old[(s->matrix
	    * d->recast.n + s->col) * d->recast.m + s->row] : 0;
	double c = (double)*recast_out_at(d, s->matrix, s->row, s->col);
	double slope = want != 0 ? want / y : 0, near = fabs(want), lost;

	if (d->recast.output.result)
		c = recast_follow(d, s->matrix, s->row, s->col, c + before);
	lost = fabs(c - want);
	if (activation == AC_ACTIVATION_GELU)
		slope = slope_at(d, y);
	if (activation == AC_ACTIVATION_GELU && y < 0)
		near = fmax(near, fabs(slope * y));
	if (activation == AC_ACTIVATION_GELU
	    || activation == AC_ACTIVATION_DGELU)
		lost = fmax(lost - fabs(y) * 0x1p-20, 0);
	if (activation == AC_ACTIVATION_RELU && c != 0)
		slope = 1;
	sums[0] += lost * lost;
	sums[1] += near * near;
	sums[4] += near != 0 || lost != 0;
	if (fabs(slope) < 0x1p-8 || fabs(bias + before) > 4096 * fabs(y - bias
	    - before))
		return;
	sums[2] += lost * lost;
	sums[3] += slope * (y - bias - before) * slope * (y - bias - before);
}

/* The model rounds nothing. The sample keeps of an output what was lost, the
 * reference and what was added, each rounded once to FP32; of what it compares
 * itself, where the product lies apart, the output is rounded twice before
 * that, each by 2^-24 of some D, of which 1e-4 is lost: 2^-23 / 1e-4 = 1.2e-3.
 * GELU's own 2e-7 |y| are 2e-3 of 1e-4 |y|. */
static void
assert_model(const struct recast_case *c, double size)
{
	double sums[5] = {0}, want;
	struct recast_data d;
	float *old;

	make(c, size, &d);
	old = recast_copy_old(&d);
	call(&d, old, 0);
	for (int at = 0; at < AC_RECAST_SAMPLE; at++) {
		const struct ac_recast_spot s =
		    ac_recast_spot_of(&d.recast, at);

		add_output(&d, &s, old, sums);
	}
	want = sqrt(fmax(sums[0] / sums[1] * (c->activation
	    ? pow(fmin(1, sums[4] / (sums[4] + 12) * 268 / 256), 4) : 1),
	    sums[2] / sums[3]));
	assert_int_equal(d.history.samples, 1);
	assert_true(fabs((double)d.history.error - want) <= 4e-3 * want);
	assert_true(want > 1e-4 && want < 0.8 * TOL);
	assert_int_equal(d.history.bad, 0);
	free(old);
	recast_data_free(&d);
}

/* Every activation, with a bias and without, onto C, another matrix, one column
 * of one, and nothing; in C and apart from it. */
static void
test_model(void **state)
{
	(void)state;
	for (int turn = 0; turn < 5 * 2 * 4 * 2 * 2; turn++) {
		struct recast_case c = case_of((uint32_t)turn % 5);

		c.bias = turn / 5 % 2;
		c.added = turn / 10 % 4 % 3;
		c.beta = turn / 10 % 4 < 3 ? -0.5f : 0;
		c.output = turn / 40 % 2 ? OUT_APART : OUT_C;
		c.alpha = turn / 80 ? -0.75f : 1;
		assert_model(&c, 2);
	}
}

/* ---- Good and bad ------------------------------------------------------ */

/* How many of TURNS calls are found wanting. A batch has a product per matrix;
 * with `converts` nothing is cast, and cuBLAS made a product that is off by
 * 3e-4. */
enum { TURNS = 10 };
static int
count_wanting(const struct recast_case *c, double size, double bias, double off,
    bool converts)
{
	int wanting = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		struct recast_data d;
		float *old;

		make(c, size, &d);
		for (int i = 0; i < c->m && bias < 0; i++)
			*recast_bias_at(&d, 0, i) = (float)bias;
		old = recast_copy_old(&d);
		for (int o = 0; o < 2 && converts; o++)
			d.recast.operand[o].to = NULL;
		if (converts) {
			recast_settle(&d);
			plant(&d, old, off > 0 ? off : 3e-4);
			recast_finish(&d);
		} else {
			call(&d, old, off);
		}
		wanting += d.history.bad != 0;
		assert_true(d.history.samples == 1 || bias < 0);
		free(old);
		recast_data_free(&d);
	}
	return wanting;
}

/* A loss of three times the tolerance is always seen; of good products one in a
 * hundred may be accused. */
static void
test_told_apart(void **state)
{
	int calls = 0, accused = 0;

	(void)state;
	for (int turn = 0; turn < 5 * 8 * 2; turn++) {
		struct recast_case c = case_of((uint32_t)turn % 5);

		c.bias = turn / 5 % 2;
		c.beta = turn / 10 % 2 ? 0.5f : 0;
		c.output = turn / 20 % 2 ? OUT_APART : OUT_C;
		c.added = any(3);
		c.batch = turn % 3 ? 1 : 6;
		accused += count_wanting(&c, 2, 0, 0, turn / 40);
		calls += TURNS;
		if (count_wanting(&c, 2, 0, 3 * TOL, turn / 40) < TURNS)
			fail_msg("turn %d, activation %u: not seen", turn,
			    c.activation);
	}
	print_message("# %d of %d accused\n", accused, calls);
	assert_true(accused <= calls / 100);
}

/* Of x with a deviation of 2 a bias of -2.6 leaves a tenth, one of -5.5 three
 * of a thousand, so mostly less than four of a sample. The root of D's mean
 * square is about 1 and 0.8 where it is active, x about 3.5 and 6.2: an x off
 * by 3e-5 is no more than 1e-4 and 2.4e-4 of D, and must not be accused, though
 * one active output in four is below a third of that root. Three times the
 * tolerance of x is seen at once where a tenth is active. */
static void
test_few_active(void **state)
{
	struct recast_case c = case_of(AC_ACTIVATION_RELU);

	(void)state;
	c.bias = true;
	c.fixed[0] = true;
	for (int turn = 0; turn < 2; turn++) {
		c.output = turn ? OUT_APART : OUT_C;
		assert_int_equal(count_wanting(&c, 2, -2.6, 3e-5, false), 0);
		assert_int_equal(count_wanting(&c, 2, -2.6, 3 * TOL, false),
		    TURNS);
		for (int more = 0; more < 8; more++)
			assert_int_equal(count_wanting(&c, 2, -5.5, 3e-5,
			    false), 0);
	}
}

/* ---- What proves nothing ----------------------------------------------- */

/* Units that are dead, by RELU, by the mask, by either gradient: D says nothing
 * of its product. */
static void
test_nothing_in_it(void **state)
{
	(void)state;
	for (uint32_t a = AC_ACTIVATION_RELU; a <= AC_ACTIVATION_DGELU; a++)
		for (int batch = 1; batch < 4; batch += 2) {
			struct recast_case c = case_of(a);
			struct recast_data d;
			float *old;

			c.bias = true;
			c.batch = batch;
			make(&c, 0.25, &d);
			for (int i = 0; i < c.m * batch; i++)
				*recast_bias_at(&d, i / c.m, i % c.m) = -6;
			for (int64_t at = 0; at < d.recast.epilogue.aux_stride
			    * batch; at++)
				if (a == AC_ACTIVATION_DGELU)
					((float *)d.aux)[at] = -5;
				else
					((uint8_t *)d.aux)[at] = 0;
			old = recast_copy_old(&d);
			call(&d, old, 0);
			assert_int_equal(d.history.samples, 0);
			assert_true(d.history.error == 0
			    && d.history.line_error == 0);
			assert_int_equal(d.history.bad, 0);
			free(old);
			recast_data_free(&d);
		}
}

/* As a library in FP32 has it. */
static float
gelu_in_fp32(float x, bool gradient)
{
	const float root = 0.79788456f;
	const float t = tanhf(root * (x + 0.044715f * x * x * x));

	if (!gradient)
		return 0.5f * x * (1 + t);
	return 0.5f * (1 + t) + 0.5f * x * (1 - t * t) * root
	    * (1 + 3 * 0.044715f * x * x);
}

/* Rows whose units are more or less dead: FP32 itself has nothing of them, and
 * no line is accused of that. */
static void
test_dead_rows(void **state)
{
	(void)state;
	for (int turn = 0; turn < 60; turn++) {
		const bool gradient = turn % 2;
		struct recast_case c = case_of(gradient ? AC_ACTIVATION_DGELU
		    : AC_ACTIVATION_GELU);
		struct recast_data d;
		float *old;

		c.bias = true;
		make(&c, 0.5, &d);
		for (int i = 0; i < c.m; i++) {
			const float dead = -8 * (float)(i % 16) / 15;

			*recast_bias_at(&d, 0, i) = gradient ? 0 : dead;
			for (int j = 0; j < c.n && gradient; j++)
				((float *)d.aux)[j * d.recast.epilogue.aux_ld
				    + i] = dead + (float)any_real() / 4;
		}
		old = recast_copy_old(&d);
		recast_cast(&d);
		recast_settle(&d);
		for (int j = 0; j < c.n; j++)
			for (int i = 0; i < c.m; i++) {
				const float y = (float)reference(&d, 0, i, j,
				    old) * (1 + 6e-4f * (float)any_real());

				*recast_c_at(&d, 0, i, j) = gradient ? y
				    * gelu_in_fp32(((float *)d.aux)[j
				    * d.recast.epilogue.aux_ld + i], true)
				    : gelu_in_fp32(y, false);
			}
		recast_finish(&d);
		assert_int_equal(d.history.bad, 0);
		assert_true((double)d.history.line_error < 3 * TOL);
		free(old);
		recast_data_free(&d);
	}
}

/* One active output of a sample, a wrong one in its place: there is no relative
 * error of D, and none of what was added. */
static void
test_crossing(void **state)
{
	struct recast_case c = case_of(AC_ACTIVATION_RELU);
	struct recast_data d;

	(void)state;
	c.m = c.n = 16;
	c.bias = true;
	for (int turn = 0; turn < 2; turn++) {
		float *old;
		double x;

		make(&c, 1, &d);
		for (int i = 0; i < c.m; i++)
			*recast_bias_at(&d, 0, i) = -20;
		old = recast_copy_old(&d);
		x = recast_exact(&d, 0, 3, 4, old);
		*recast_bias_at(&d, 0, 3) = (float)-fabs(x);
		for (int j = 0; j < c.n; j++)
			if (recast_exact(&d, 0, 3, j, old) >= fabs(x) && j != 4)
				for (int k = 0; k < c.k; k++)
					*recast_at(&d, 1, 0, j, k) = 0;
		recast_cast(&d);
		recast_settle(&d);
		recast_multiply(&d);
		for (int j = 0; j < c.n; j++)
			*recast_c_at(&d, 0, 3, j) = 0;
		*recast_c_at(&d, 0, 3, 4) = (float)fabs(x) * (turn ? 0.01f
		    : 1e-5f);
		recast_finish(&d);
		assert_int_equal(d.history.bad != 0, turn);
		assert_int_equal(d.history.samples, 1);
		free(old);
		recast_data_free(&d);
	}
}

/* ---- Exact numbers, and lines ------------------------------------------ */

/* Rows of B are picked and a bias is added, all of them whole: of half of the
 * outputs 0 is left, or nothing. FP16 has numbers below 2^11. */
static void
test_exact(void **state)
{
	(void)state;
	for (int turn = 0; turn < 3 * 5 * 4; turn++) {
		struct recast_case c = case_of((uint32_t)turn % 5);
		const int most = turn / 5 % 3 ? 1 << 22 : 1 << 10;
		const bool asked = turn / 5 % 3 < 2;
		struct recast_data d;
		float *old;

		c.bias = true;
		make(&c, 1, &d);
		d.recast.judge = asked ? AC_JUDGE_EXACT : 0;
		for (int i = 0; i < c.m; i++) {
			for (int k = 0; k < c.k; k++)
				*recast_at(&d, 0, 0, i, k) = k == i % c.k;
			*recast_bias_at(&d, 0, i) = (float)any(64);
		}
		for (int j = 0; j < c.n; j++)
			for (int k = 0; k < c.k; k++)
				*recast_at(&d, 1, 0, j, k) = (float)
				    ((int)any(2 * (uint32_t)most) - most);
		for (int64_t at = 0; at < d.recast.epilogue.aux_stride
		    && c.activation == AC_ACTIVATION_DGELU; at++)
			((float *)d.aux)[at] = 9; /* a slope of 1 */
		old = recast_copy_old(&d);
		call(&d, old, 0);
		assert_int_equal(d.history.exact > 1e-6f, asked
		    && turn / 5 % 3);
		free(old);
		recast_data_free(&d);
	}
}

/* One column that is sampled is off by a hundredth. */
static void
test_bad_line(void **state)
{
	(void)state;
	for (int turn = 0; turn < 5 * 8; turn++) {
		struct recast_case c = case_of((uint32_t)turn % 5);
		struct recast_data d;
		int64_t col;

		c.m = 300;
		make(&c, 2, &d);
		col = ac_recast_sample_line(&d.recast, 1, 7, c.n);
		recast_cast(&d);
		recast_settle(&d);
		recast_multiply(&d);
		for (int i = 0; i < c.m; i++)
			*recast_c_at(&d, 0, i, col) *= 1.01f;
		recast_finish(&d);
		assert_true((double)d.history.line_error > 3 * TOL);
		assert_true(d.history.bad != 0);
		recast_data_free(&d);
	}
}

/* ---- Inf and NaN ------------------------------------------------------- */

/* What an output of C may be where C held an inf or a NaN, of which the
 * reference makes its own. */
static void
test_kinds(void **state)
{
	static const struct {
		uint32_t activation; float old, aux, out; bool right;
	} rows[] = {
		{ AC_ACTIVATION_RELU, NAN, 0, 0, true },
		{ AC_ACTIVATION_RELU, NAN, 0, NAN, true },
		{ AC_ACTIVATION_RELU, NAN, 0, 1, false },
		{ AC_ACTIVATION_RELU, INFINITY, 0, INFINITY, true },
		{ AC_ACTIVATION_RELU, INFINITY, 0, 0, false },
		{ AC_ACTIVATION_RELU, -INFINITY, 0, 0, true },
		{ AC_ACTIVATION_RELU, -INFINITY, 0, -INFINITY, false },
		{ AC_ACTIVATION_RELU, -INFINITY, 0, NAN, false },
		{ AC_ACTIVATION_GELU, INFINITY, 0, INFINITY, true },
		{ AC_ACTIVATION_GELU, INFINITY, 0, NAN, false },
		{ AC_ACTIVATION_GELU, NAN, 0, NAN, true },
		{ AC_ACTIVATION_GELU, NAN, 0, 0, false },
		{ AC_ACTIVATION_GELU, -INFINITY, 0, NAN, true },
		{ AC_ACTIVATION_GELU, -INFINITY, 0, -0.0f, true },
		{ AC_ACTIVATION_GELU, -INFINITY, 0, -1, false },
		{ AC_ACTIVATION_DRELU, NAN, 1, NAN, true },
		{ AC_ACTIVATION_DRELU, NAN, 0, 0, true },
		{ AC_ACTIVATION_DRELU, INFINITY, 1, INFINITY, true },
		{ AC_ACTIVATION_DRELU, INFINITY, 1, 0, false },
		{ AC_ACTIVATION_DRELU, INFINITY, 0, 0, true },
		{ AC_ACTIVATION_DRELU, INFINITY, 0, NAN, true },
		{ AC_ACTIVATION_DRELU, INFINITY, 0, INFINITY, false },
		{ AC_ACTIVATION_DGELU, INFINITY, 1, INFINITY, true },
		{ AC_ACTIVATION_DGELU, INFINITY, -1, -INFINITY, true },
		{ AC_ACTIVATION_DGELU, INFINITY, 1, 0, false },
		{ AC_ACTIVATION_DGELU, NAN, 1, NAN, true },
		{ AC_ACTIVATION_DGELU, NAN, 1, 0, false },
		{ AC_ACTIVATION_DGELU, 1, NAN, 7, true },
		{ AC_ACTIVATION_DGELU, 1, INFINITY, NAN, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct recast_case c = case_of(rows[i].activation);
		struct recast_data d;

		c.m = c.n = 16;
		c.beta = 1;
		make(&c, 1, &d);
		*recast_c_at(&d, 0, 5, 6) = rows[i].old;
		if (rows[i].activation == AC_ACTIVATION_DGELU)
			((float *)d.aux)[6 * d.recast.epilogue.aux_ld + 5] =
			    rows[i].aux;
		else
			((uint8_t *)d.aux)[(6 * d.recast.epilogue.aux_ld + 5)
			    / 8] = rows[i].aux != 0 ? 255 : 0;
		recast_cast(&d);
		recast_settle(&d);
		recast_multiply(&d);
		*recast_c_at(&d, 0, 5, 6) = rows[i].out;
		recast_finish(&d);
		if (((double)d.history.error < 0.8 * TOL) != rows[i].right)
			fail_msg("row %zu: error %g", i,
			    (double)d.history.error);
		recast_data_free(&d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_told_apart),
		cmocka_unit_test(test_few_active),
		cmocka_unit_test(test_nothing_in_it),
		cmocka_unit_test(test_dead_rows),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_bad_line),
		cmocka_unit_test(test_kinds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
