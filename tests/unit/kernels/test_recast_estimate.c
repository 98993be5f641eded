/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_estimate.c -- the estimate of a call's error:
 * against a plain model in double, and against what calls really lose; what it
 * asks for, and what it leaves in the history. */
#include "tests/unit/kernels/estimate_draws.h"

#include "kernels/recast/recast_estimate.h"
#include "tests/unit/kernels/cast_reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { DRAWS = 3000 };

static float
tol_of(const struct recast_data *d)
{
	return d->recast.format == AC_FORMAT_FP16 ? 1e-3f : 8e-3f;
}

/* A second call on the same numbers: its casts stay, so it is estimated. C is
 * again what it was. */
static void
call_again(struct recast_data *d, const float *c)
{
	const struct ac_recast *r = &d->recast;

	for (int64_t j = 0; j < r->n; j++)
		for (int64_t i = 0; i < r->m; i++)
			*recast_c_at(d, 0, i, j) = c[j * r->m + i];
	d->history.verdict = d->history.suspects = d->history.judged = 0;
	d->history.shrunk = 0;
	d->history.error = d->history.estimate = 0;
	d->history.bad = 0;
	d->recast.seed++;
	draw_call(d);
}

/* ---- The formula ------------------------------------------------------- */

/* Energy and loss of an operand's k of a band, of all lines, in double. */
static void
band_of(struct recast_data *d, int operand, int64_t first, double sums[2])
{
	const struct ac_recast *r = &d->recast;
	const struct ac_recast_operand *o = &r->operand[operand];
	const int undone = -d->state.exponent[operand];

	sums[0] = sums[1] = 0;
	for (int64_t k = first; k < first + 8 && k < r->k; k++)
		for (int64_t i = 0; i < (operand ? r->n : r->m); i++) {
			const double x = (double)*recast_at(d, operand, 0, i,
			    k);
			const double y = ldexp(cast_reference_value(
			    o->to[o->lines_are_cols ? i * o->ld_to + k
			    : k * o->ld_to + i], r->format), undone);

			sums[0] += x * x;
			sums[1] += (x - y) * (x - y);
		}
}

/* The estimate of the last call, by the formula, at the outputs it looked
 * at. */
static double
model(struct recast_data *d, const float *c)
{
	const struct ac_recast *r = &d->recast;
	const double alpha = (double)r->alpha.value;
	double lost = 0, product = 0, result = 0;

	for (int64_t k = 0; k < r->k; k += 8) {
		double a[2], b[2];

		band_of(d, 0, k, a);
		band_of(d, 1, k, b);
		lost += (a[1] * b[0] + a[0] * b[1])
		    / (double)(r->k - k < 8 ? r->k - k : 8);
	}
	for (int at = 0; at < AC_RECAST_PROBES; at++) {
		const struct ac_recast_spot spot =
		    ac_recast_probe_spot(r, 0, at);
		const double added = (double)r->beta.value
		    * (double)c[spot.col * r->m + spot.row];
		const double out = (double)*recast_c_at(d, 0, spot.row,
		    spot.col);

		result += out * out;
		product += (out - added) * (out - added);
	}
	return sqrt(alpha * alpha * lost / (double)(r->m * r->n)
	    / (fmin(product, result) / AC_RECAST_PROBES));
}

/* A tile's sum is off by 14 roundings of FP32 at most (test_recast.c), lost has
 * two of them as factors, of which one is a loss and a loss is a difference
 * that is exact; the root halves that. What is written through has one more
 * rounding. */
static void
test_formula(void **state)
{
	static const enum draw_family families[] = { DRAW_NORMAL,
		DRAW_LOGNORMAL, DRAW_GRADED_ALIKE, DRAW_TOKENS, DRAW_CHANNEL,
		DRAW_CHAIN };

	int compared = 0;

	(void)state;
	for (int turn = 0; turn < 120; turn++) {
		struct recast_data d;
		double want;
		float *c;

		draw_make(families[turn % 6], (uint64_t)turn, &d);
		recast_judge(1e-3f, &d);
		c = recast_copy_c(&d);
		draw_call(&d);
		call_again(&d, c);
		want = model(&d, c);
		assert_int_equal(d.history.judged, 1);
		/* The model reads the product in C, and no inf. */
		if (!d.recast.output.result && !d.history.verdict) {
			compared++;
			assert_true(fabs((double)d.history.estimate - want)
			    <= 16 * 0x1p-24 * want);
		}
		free(c);
		recast_data_free(&d);
	}
	assert_true(compared > 90);
}

/* The outputs looked at: one of each 256th of the rows, and of the columns. */
static void
test_spots(void **state)
{
	struct ac_recast r = { .m = 256, .n = 512 };
	int pairs = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		bool rows[256] = {0}, cols[256] = {0};

		r.seed = seed;
		for (int at = 0; at < 256; at++) {
			const struct ac_recast_spot spot =
			    ac_recast_probe_spot(&r, 0, at);

			assert_in_range(spot.row, 0, 255);
			assert_in_range(spot.col, 0, 511);
			assert_false(rows[spot.row] || cols[spot.col / 2]);
			rows[spot.row] = cols[spot.col / 2] = true;
			pairs += spot.row == spot.col / 2;
		}
	}
	/* No diagonal: a random place has one such pair in 256, so 50 in all,
	 * give or take 7 times 7. */
	assert_in_range(pairs, 1, 100);
	r.m = INT64_C(1) << 40;
	r.n = 1;
	for (int at = 0; at < 256; at++)
		assert_int_equal(ac_recast_probe_spot(&r, 0, at).row >> 32, at);
}

/* ---- What calls really lose -------------------------------------------- */

static void
test_draws(void **state)
{
	int missed = 0, bad = 0, good = 0, alarms = 0;

	(void)state;
	for (int draw = 0; draw < DRAWS; draw++) {
		const enum draw_family family =
		    (enum draw_family)(draw % DRAW_FAMILIES);
		struct recast_data d;
		double error;
		float *c;

		draw_make(family, (uint64_t)draw, &d);
		recast_judge(tol_of(&d), &d);
		c = recast_copy_c(&d);
		draw_call(&d);
		call_again(&d, c);
		error = draw_error(&d, c, 0x1p-150) / (double)tol_of(&d);
		if (!(error <= 1)) {
			bad++;
			if (!d.history.suspects && !d.history.bad) {
				missed++;
				print_message("# missed: %s, draw %d, %g of "
				    "tol\n", draw_names[family], draw, error);
			}
		} else if (draw_error(&d, c, 0) <= 0.5 * (double)tol_of(&d)) {
			good++;
			alarms += d.history.suspects != 0;
		}
		free(c);
		recast_data_free(&d);
	}
	print_message("# %d bad, %d missed; %d good, %d suspected\n", bad,
	    missed, good, alarms);
	assert_int_equal(missed, 0);
	assert_true(alarms * 20 <= good);
	assert_true(bad > DRAWS / 5 && good > DRAWS / 2);
}

/* ---- Rules ------------------------------------------------------------- */

static struct recast_data
plain(float beta)
{
	const struct recast_case c = { .m = 40, .n = 50, .k = 60, .batch = 1,
		.fill = { FILL_NORMAL, FILL_NORMAL }, .alpha = 1, .beta = beta,
		.format = AC_FORMAT_FP16, .scaled = true };
	struct recast_data d;

	recast_data_make(&c, 1, &d);
	return d;
}

/* d moves: the pointers into it have to follow. */
static void
rebind(struct recast_data *d)
{
	d->recast.state = &d->state;
	d->recast.history = &d->history;
	d->recast.before = d->before;
	d->recast.kept = d->kept;
	recast_judge(1e-3f, d);
}

/* A first call is sampled, for its casts are done again; from then on calls are
 * estimated, whether they are sampled or not. */
static void
test_each_call(void **state)
{
	struct recast_data d = plain(0);

	(void)state;
	rebind(&d);
	draw_call(&d);
	assert_int_equal(d.history.judged, 1);
	assert_int_equal(d.history.samples, 1);
	assert_true(d.history.estimate == 0);
	for (uint32_t call = 2; call < 6; call++) {
		d.recast.sampled = call == 3;
		d.history.estimate = 0;
		draw_call(&d);
		assert_int_equal(d.history.judged, call);
		assert_int_equal(d.history.samples, call < 3 ? 1 : 2);
		assert_true(d.history.estimate > 1e-4f);
		assert_true(d.history.estimate < 5e-4f);
	}
	assert_int_equal(d.history.suspects, 0);
	assert_int_equal(d.history.bad, 0);
	for (int i = 0; i < 2; i++) {
		double sum = 0;

		for (int64_t l = 0; l < (i ? d.recast.n : d.recast.m); l++)
			for (int64_t k = 0; k < d.recast.k; k++)
				sum += (double)*recast_at(&d, i, 0, l, k)
				    * (double)*recast_at(&d, i, 0, l, k);
		assert_true(fabs((double)d.history.energy[i] - sum)
		    <= 16 * 0x1p-24 * sum);
	}
	recast_data_free(&d);
}

/* Outputs of a bad call are sampled in that very call, and it is found wanting;
 * the next one is judged by itself. */
static void
test_suspect(void **state)
{
	struct recast_data d = plain(0);

	(void)state;
	rebind(&d);
	d.recast.pair = 5;
	d.recast.judge = AC_JUDGE_POST_IF_BAD;
	d.recast.post = &d.post;
	d.recast.number = 3;
	draw_call(&d);
	assert_int_equal(d.post.number, 0);
	for (int64_t j = 0; j < d.recast.n; j++)
		for (int64_t k = 0; k < d.recast.k / 2; k++)
			*recast_at(&d, 1, 0, j, k) = -*recast_at(&d, 1, 0, j,
			    d.recast.k / 2 + k);
	for (int64_t i = 0; i < d.recast.m; i++)
		for (int64_t k = 0; k < d.recast.k / 2; k++)
			*recast_at(&d, 0, 0, i, k) = 1.0001f
			    * *recast_at(&d, 0, 0, i, d.recast.k / 2 + k);
	draw_call(&d); /* casts twice: sampled anyhow */
	assert_int_equal(d.post.number, 3);
	assert_true(d.post.bad == UINT64_C(1) << 5);
	d.recast.number = 4;
	draw_call(&d);
	assert_int_equal(d.post.number, 4);
	assert_int_equal(d.post.samples, 1);
	assert_int_equal(d.post.suspects, 1);
	assert_int_equal(d.post.judged, 1);
	assert_true(d.post.bad == UINT64_C(1) << 5);
	assert_true(d.post.error > 0.01f && d.post.estimate > 0.01f);
	d.recast.number = 5;
	d.recast.judge = 0;
	recast_data_fill(&(struct recast_case){ .fill = { FILL_NORMAL,
	    FILL_NORMAL } }, 1, &d);
	draw_call(&d);
	assert_int_equal(d.post.number, 5);
	assert_true(d.post.bad == 0);
	assert_int_equal(d.post.suspects, 0);
	recast_data_free(&d);
}

/* Outputs of zeros from operands that are none; the cast alone; what is not
 * judged. */
static void
test_corners(void **state)
{
	struct recast_data d = plain(0);

	(void)state;
	rebind(&d);
	draw_call(&d);
	recast_cast(&d); /* and a product that is nothing */
	recast_settle(&d);
	memset(d.c, 0, d.c_count * sizeof *d.c);
	recast_finish(&d);
	assert_int_equal(d.history.suspects, 1);
	assert_true(isinf(d.history.estimate));
	assert_int_equal(d.history.bad, 1);

	recast_judge(1e-4f, &d); /* rho is above half of that */
	d.history.bad = 0;
	d.recast.pair = 63;
	recast_cast(&d);
	assert_true(d.history.bad == UINT64_C(1) << 63);
	recast_finish(&d);

	memset(&d.history, 0, sizeof d.history);
	recast_judge(1e-3f, &d);
	*recast_at(&d, 0, 0, 3, 3) = INFINITY;
	draw_call(&d);
	draw_call(&d);
	assert_int_equal(d.history.judged, 0);
	*recast_at(&d, 0, 0, 3, 3) = 1;
	d.recast.alpha.value = 0;
	draw_call(&d);
	assert_int_equal(d.history.judged, 0);
	d.recast.alpha.value = 1;
	recast_judge(0, &d);
	draw_call(&d);
	draw_call(&d);
	assert_int_equal(d.history.judged, 0);
	assert_true(d.history.bad == 0);
	recast_data_free(&d);
}

/* A mask of -inf or of large numbers says nothing about the product; what takes
 * most of it away is seen. */
static void
test_before(void **state)
{
	static const float masks[] = { 0, -1e9f, -INFINITY };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct recast_data d = plain(1);
		const int64_t rows = d.recast.m;

		rebind(&d);
		for (int call = 0; call < 2; call++) {
			for (int64_t j = 0; j < d.recast.n; j++)
				for (int64_t row = 0; row < rows; row++)
					*recast_c_at(&d, 0, row, j) = j > row
					    ? masks[i] : 0;
			d.history.estimate = 0;
			draw_call(&d);
		}
		assert_int_equal(d.history.judged, 2);
		assert_int_equal(d.history.suspects, 0);
		assert_int_equal(d.history.shrunk, 0);
		assert_true(d.history.estimate > 1e-4f);
		assert_true(d.history.estimate < 5e-4f);
		d.recast.beta.value = 0;
		draw_call(&d);
		d.recast.beta.value = -0.9f; /* of what was found */
		draw_call(&d);
		assert_int_equal(d.history.shrunk, 1);
		recast_data_free(&d);
	}
}

/* Two calls of a batch; in matrix `bad`, if it is one, columns cancel all but
 * 1e-4 of each other. Sizes and where C is by the turn. */
static struct recast_data
call_batch(int turn, int bad)
{
	const struct recast_case c = { .m = 20 + turn, .n = 30 - turn,
		.k = 40 + 5 * turn, .batch = 23, .extra = turn % 3,
		.fill = { FILL_NORMAL, FILL_NORMAL }, .array = turn % 2,
		.fixed = { turn % 3 == 0 && bad < 0, false }, .alpha = -2,
		.beta = turn % 4 < 2 ? 0 : 0.25f, .format = AC_FORMAT_FP16,
		.scaled = true, .output = (enum recast_output)(turn % 3) };
	struct recast_data d;

	recast_data_make(&c, (uint64_t)turn, &d);
	rebind(&d);
	for (int64_t k = 0; bad >= 0 && k < c.k / 2; k++) {
		for (int64_t i = 0; i < c.m; i++)
			*recast_at(&d, 0, bad, i, k) = 1.0001f
			    * *recast_at(&d, 0, bad, i, c.k - 1 - k);
		for (int64_t j = 0; j < c.n; j++)
			*recast_at(&d, 1, bad, j, k) = -*recast_at(&d, 1, bad,
			    j, c.k - 1 - k);
	}
	for (int64_t i = 0; bad >= 0 && c.k % 2 && i < c.m; i++)
		*recast_at(&d, 0, bad, i, c.k / 2) = 0;
	recast_whole(&d);
	d.history.samples = d.history.judged = 0;
	d.history.error = 0;
	d.history.bad = 0;
	recast_whole(&d);
	return d;
}

/* One bad matrix of a batch is found in every call, and sampled in that call; a
 * batch of good ones is neither. */
static void
test_batch(void **state)
{
	(void)state;
	for (int turn = 0; turn < 12; turn++)
		for (int bad = -1; bad < 23; bad += 6) {
			struct recast_data d = call_batch(turn, bad);

			assert_int_equal(d.history.judged, 1);
			assert_int_equal(d.history.suspects, bad >= 0);
			assert_int_equal(d.history.samples, bad >= 0);
			assert_int_equal(d.history.bad, bad >= 0);
			assert_int_equal(d.history.error > 1e-3f, bad >= 0);
			assert_int_equal(d.history.estimate > 1e-3f, bad >= 0);
			assert_true(d.history.estimate > 2e-4f);
			recast_data_free(&d);
		}
}

/* Another epoch: nothing is known of the calls before. */
static void
test_epoch(void **state)
{
	struct recast_data d = plain(0);

	(void)state;
	rebind(&d);
	draw_call(&d);
	d.history.error = 1;
	d.history.bad = 9;
	draw_call(&d);
	assert_true(d.history.error == 1 && d.history.bad == 9);
	d.recast.epoch = 7;
	draw_call(&d);
	assert_true(d.history.error == 0 && d.history.bad == 0);
	assert_int_equal(d.history.judged, 1);
	draw_call(&d);
	assert_int_equal(d.history.judged, 2);
	recast_data_free(&d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_spots),
		cmocka_unit_test(test_each_call),
		cmocka_unit_test(test_suspect),
		cmocka_unit_test(test_corners),
		cmocka_unit_test(test_before),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_epoch),
		cmocka_unit_test(test_draws),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
