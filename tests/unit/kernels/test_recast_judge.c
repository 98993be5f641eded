/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_judge.c -- what a sample says of its call: the
 * rule is the policy's; what is exact has to stay so; a line is looked at again
 * before it counts, and each matrix of a batch is looked at. */
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/recast/recast_sample.h"
#include "policy/guard.h"

static uint64_t seed = 1;

static uint32_t
any(uint32_t count)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % count;
}

/* ---- The rule ---------------------------------------------------------- */

/* Around a limit, mostly. */
static float
any_fact(float limit)
{
	static const float far[] = { 0, 1, INFINITY, NAN, 0x1p-149f };

	switch (any(4)) {
	case 0: return far[any(5)];
	case 1: return limit;
	case 2: return nextafterf(limit, any(2) ? 0 : 1);
	default: return limit * (float)any(1000) / 500;
	}
}

static void
test_rule(void **state)
{
	int wanting = 0;

	(void)state;
	for (int turn = 0; turn < 200000; turn++) {
		const float tol = (float)(1 + any(1000)) * (any(2) ? 1e-5f
		    : 0x1p-20f);
		const struct ac_recast r = { .tol = tol };
		const float error = any_fact(0.8f * tol);
		const float line = any_fact(3 * tol), exact = any_fact(1e-6f);
		const struct ac_guard_facts facts = { .error = (double)error,
			.line_error = (double)line, .exact = (double)exact };
		const bool judged = ac_guard_judge(&facts, (double)tol)
		    != AC_FINDING_NONE;

		assert_int_equal(ac_recast_is_wanting(&r, error, line, exact),
		    judged);
		wanting += judged;
	}
	assert_in_range(wanting, 50000, 190000);
}

/* ---- Exact numbers ----------------------------------------------------- */

enum { TOL_PAIR = 37 };
static void
make(const struct recast_case *c, struct recast_data *d)
{
	recast_data_make(c, seed++, d);
	d->recast.sampled = 1;
	d->recast.tol = 1e-3f;
	d->recast.judge = AC_JUDGE_EXACT;
	d->recast.pair = TOL_PAIR;
}

static struct recast_case
case_of(int m, int n, int k)
{
	return (struct recast_case){ .m = m, .n = n, .k = k, .batch = 1,
		.fill = { FILL_ZERO, FILL_NORMAL }, .alpha = 1, .scaled = true,
		.output = (enum recast_output)any(3) };
}

/* Each row of A picks a row of B, which holds whole numbers; `real` columns of
 * 16 do not. */
static void
pick_rows(struct recast_data *d, int most, uint32_t real)
{
	const struct ac_recast *r = &d->recast;

	for (int64_t i = 0; i < r->m; i++)
		*recast_at(d, 0, 0, i, any((uint32_t)r->k)) = 1;
	for (int64_t j = 0; j < r->n; j++)
		for (int64_t k = 0; k < r->k; k++)
			if (j % 16 >= real)
				*recast_at(d, 1, 0, j, k) =
				    (float)(1 + any((uint32_t)most));
}

/* The worst relative error of the outputs whose reference FP32 has. */
static double
worst_exact(struct recast_data *d, bool whole_only)
{
	const struct ac_recast *r = &d->recast;
	double worst = 0;

	for (int64_t j = 0; j < r->n; j++)
		for (int64_t i = 0; i < r->m; i++) {
			const double x = recast_exact(d, 0, i, j, NULL);
			const double c = (double)*recast_out_at(d, 0, i, j);

			if (x != 0 && (double)(float)x == x
			    && (!whole_only || rint(x) == x))
				worst = fmax(worst, fabs(c - x) / fabs(x));
		}
	return worst;
}

/* The history's `exact` of a product of 16 x 16, all of which is sampled. */
static void
assert_exact(struct recast_data *d, double expected)
{
	recast_whole(d);
	assert_true(fabs((double)d->history.exact - expected)
	    <= 0x1p-20 * expected);
	assert_int_equal(d->history.bad >> TOL_PAIR & 1, expected > 1e-6
	    || d->history.error > 0.8e-3f || d->history.line_error > 3e-3f);
	assert_int_equal(d->history.bad & ~(UINT64_C(1) << TOL_PAIR), 0);
}

static void
test_exact(void **state)
{
	static const struct {
		int most; uint32_t real; float alpha; bool asked, found;
	} rows[] = {
		{ 1 << 24, 0, 1, true, true },
		{ 1 << 24, 0, 1, false, false },   /* nobody asks */
		{ 1 << 11, 0, 1, true, false },    /* FP16 has them */
		{ 1 << 24, 0, 0.125f, true, true },
		{ 1 << 24, 0, 0.1f, true, false }, /* FP32 has not */
		{ 1 << 20, 0, 0x1p-149f, true, false }, /* nearly 0 */
		{ 1 << 24, 8, 1, true, true },     /* by columns */
		{ 1 << 24, 16, 1, true, true },    /* copies of real ones */
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int turn = 0; turn < 20; turn++) {
			struct recast_case c = case_of(16, 16, 40);
			struct recast_data d;

			c.alpha = rows[i].alpha;
			make(&c, &d);
			d.recast.judge = rows[i].asked ? AC_JUDGE_EXACT : 0;
			pick_rows(&d, rows[i].most, rows[i].real);
			recast_whole(&d);
			memset(&d.history, 0, sizeof d.history);
			if (rows[i].found)
				assert_exact(&d, worst_exact(&d, false));
			else
				assert_exact(&d, 0);
			assert_int_equal(d.history.samples, 1);
			recast_data_free(&d);
		}
}

/* Prefix sums, whole numbers in half of the columns; or an attention with a
 * causal mask, whose first row copies real numbers: no promise. */
static void
test_lines_of_whole_numbers(void **state)
{
	(void)state;
	for (int turn = 0; turn < 60; turn++) {
		const struct recast_case c = case_of(16, 16, 16);
		const bool counts = turn % 2;
		struct recast_data d;

		make(&c, &d);
		for (int64_t i = 0; i < 16; i++)
			for (int64_t k = 0; k <= i; k++)
				*recast_at(&d, 0, 0, i, k) = counts ? 1
				    : 1 / (float)(i + 1);
		for (int64_t j = 1; j < 16 && counts; j += 2)
			for (int64_t k = 0; k < 16; k++)
				*recast_at(&d, 1, 0, j, k) =
				    (float)(1 + any(1 << 18));
		recast_whole(&d);
		if (counts)
			assert_true(d.history.exact > 1e-6f
			    && (double)d.history.exact
			    <= worst_exact(&d, true) * (1 + 0x1p-20));
		else
			assert_true(d.history.exact == 0);
		recast_data_free(&d);
	}
}

/* Three outputs say nothing. */
static void
test_few(void **state)
{
	(void)state;
	for (int rows = 1; rows < 8; rows++) {
		const struct recast_case c = case_of(16, 16, 8);
		struct recast_data d;

		make(&c, &d);
		for (int i = 0; i < rows; i++)
			*recast_at(&d, 0, 0, i, 0) = 4097;
		for (int64_t j = 0; j < 16; j++)
			for (int64_t k = 0; k < 8; k++)
				*recast_at(&d, 1, 0, j, k) = j == 5;
		recast_whole(&d);
		assert_int_equal(d.history.exact > 1e-6f, rows >= 4);
		recast_data_free(&d);
	}
}

/* ---- Lines ------------------------------------------------------------- */

static float
any_real(void)
{
	return (float)any(1 << 24) * 0x1p-23f - 1;
}

/* Half of the rows are zero, the others of all sizes: most of a column rests on
 * few of its outputs. */
static void
make_unequal(struct recast_data *d, int64_t b)
{
	const struct ac_recast *r = &d->recast;

	for (int64_t i = 0; i < r->m; i++) {
		const int down = (int)any(11), none = any(2);

		for (int64_t k = 0; k < r->k; k++)
			*recast_at(d, 0, b, i, k) = none ? 0
			    : ldexpf(any_real(), -down);
	}
	for (int64_t j = 0; j < r->n; j++)
		for (int64_t k = 0; k < r->k; k++)
			*recast_at(d, 1, b, j, k) = any_real();
}

/* Of 200 good products, at most 1 % may be found wanting; the sample alone
 * would accuse more than that. One column of each is spoilt next: seen wherever
 * it is sampled. */
static void
test_lines(void **state)
{
	enum { TURNS = 200 };
	int accused = 0, wanting = 0, missed = 0;
	struct recast_case c = case_of(300, 20, 24);

	(void)state;
	for (int turn = 0; turn < TURNS; turn++) {
		struct ac_recast_norm norms[AC_RECAST_SIDES];
		struct recast_data d;
		float worst = 0;

		c.output = (enum recast_output)(turn % 3);
		c.beta = turn % 2;
		make(&c, &d);
		make_unequal(&d, 0);
		memset(d.c, 0, d.c_count * sizeof *d.c);
		recast_whole(&d);
		wanting += d.history.bad != 0;
		d.recast.tol = 0; /* then nothing is looked at again */
		memset(&d.history, 0, sizeof d.history);
		memset(d.c, 0, d.c_count * sizeof *d.c);
		recast_whole(&d);
		for (int line = 0; line < AC_RECAST_SIDES; line++) {
			norms[line] = ac_recast_norm_line(
			    d.state.sample, line, AC_SAMPLE_SIDE);
			worst = fmaxf(worst, ac_recast_relative(
			    norms[line].lost, norms[line].all));
		}
		accused += worst > 3e-3f;
		d.recast.tol = 1e-3f;
		memset(&d.history, 0, sizeof d.history);
		memset(d.c, 0, d.c_count * sizeof *d.c);
		recast_cast(&d);
		recast_settle(&d);
		recast_multiply(&d);
		for (int64_t i = 0; i < c.m; i++)
			*recast_out_at(&d, 0, i, ac_recast_sample_line(
			    &d.recast, 1, 7, c.n)) *= 1.01f;
		recast_finish(&d);
		missed += !d.history.bad;
		recast_data_free(&d);
	}
	print_message("# %d accused, %d wanting, %d missed of %d\n", accused,
	    wanting, missed, TURNS);
	assert_true(accused > TURNS / 100);
	assert_true(wanting <= TURNS / 100);
	assert_int_equal(missed, 0);
}

/* Whether the i-th row and the fourth column of the sample meet at an output
 * that is in neither's second look. */
static bool
is_seen_once(const struct ac_recast *r, int i)
{
	const int64_t row = ac_recast_sample_line(r, 0, i, r->m);
	const int64_t col = ac_recast_sample_line(r, 1, 4, r->n);
	bool once = true;

	for (int at = 0; at < AC_SAMPLE_LINE; at++)
		once &= ac_recast_spot_on(r, i, at).col != col
		    && ac_recast_spot_on(r, AC_SAMPLE_SIDE + 4, at).row != row;
	return once;
}

/* Where C counts and nobody has kept it, the first look is the only one. */
static void
test_nothing_kept(void **state)
{
	const struct recast_case c = { .m = 300, .n = 300, .k = 24, .batch = 1,
		.fill = { FILL_NORMAL, FILL_NORMAL }, .alpha = 1, .beta = 1,
		.scaled = true };

	(void)state;
	for (int kept = 0; kept < 2; kept++) {
		struct recast_data d;
		int row = 0;

		make(&c, &d);
		if (!kept)
			d.recast.kept = NULL;
		recast_cast(&d);
		recast_settle(&d);
		recast_multiply(&d);
		while (!is_seen_once(&d.recast, row))
			row++;
		*recast_out_at(&d, 0, ac_recast_sample_line(&d.recast, 0, row,
		    c.m), ac_recast_sample_line(&d.recast, 1, 4, c.n)) *= 1000;
		recast_finish(&d);
		assert_int_equal(d.history.line_error > 3e-3f, !kept);
		recast_data_free(&d);
	}
}

/* ---- Batches ----------------------------------------------------------- */

static void
fill_batch(struct recast_data *d, int64_t cancelling)
{
	const struct ac_recast *r = &d->recast;
	const int64_t b = cancelling, half = r->k / 2;

	for (int64_t k = half; k < 2 * half; k++) {
		for (int64_t i = 0; i < r->m; i++)
			*recast_at(d, 0, b, i, k) =
			    -*recast_at(d, 0, b, i, k - half);
		for (int64_t j = 0; j < r->n; j++)
			*recast_at(d, 1, b, j, k) = 1.001f
			    * *recast_at(d, 1, b, j, k - half);
	}
}

/* One bad matrix of many, wherever it is; and none. */
static void
test_batch(void **state)
{
	(void)state;
	for (int turn = 0; turn < 130; turn++) {
		struct recast_case c = case_of(10, 9, 16);
		struct recast_data d;

		c.fill[0] = FILL_NORMAL;
		c.batch = 64;
		c.array = turn % 2;
		c.beta = turn % 3 == 1;
		make(&c, &d);
		recast_whole(&d);
		assert_int_equal(d.history.bad, 0);
		assert_int_equal(d.history.samples, 1);
		assert_true(d.history.error > 1e-4f);
		if (turn < 64) {
			fill_batch(&d, turn);
			memset(d.c, 0, d.c_count * sizeof *d.c);
			recast_whole(&d);
			assert_true(d.history.bad == UINT64_C(1) << TOL_PAIR);
			assert_true(d.history.error > 0.01f);
		}
		assert_int_equal(d.state.matrix_error, 0);
		assert_int_equal(d.state.matrix_seen, 0);
		recast_data_free(&d);
	}
}

/* Good batches with rows of all sizes: at most 1 % may be found wanting. */
static void
test_unequal_batch(void **state)
{
	enum { TURNS = 100 };
	int wanting = 0;

	(void)state;
	for (int turn = 0; turn < TURNS; turn++) {
		struct recast_case c = case_of(100, 20, 8);
		struct recast_data d;

		c.batch = 20;
		make(&c, &d);
		for (int64_t b = 0; b < c.batch; b++)
			make_unequal(&d, b);
		recast_whole(&d);
		wanting += d.history.error > 0.8e-3f;
		recast_data_free(&d);
	}
	assert_in_range(wanting, 0, TURNS / 100);
}

/* Numbers that are exact in one matrix alone; something in one alone. */
static void
test_one_of_a_batch(void **state)
{
	(void)state;
	for (int turn = 0; turn < 40; turn++) {
		struct recast_case c = case_of(20, 24, 32);
		struct recast_data d;
		const int64_t b = turn % 20;

		c.fill[0] = turn % 2 ? FILL_NORMAL : FILL_ZERO;
		c.batch = 20;
		make(&c, &d);
		recast_whole(&d);
		assert_int_equal(d.history.samples, turn % 2);
		for (int64_t i = 0; i < c.m; i++)
			for (int64_t k = 0; k < c.k; k++)
				*recast_at(&d, 0, b, i, k) = k == i;
		for (int64_t j = 0; j < c.n; j++)
			for (int64_t k = 0; k < c.k; k++)
				*recast_at(&d, 1, b, j, k) =
				    (float)(4097 + 2 * any(2000));
		recast_whole(&d);
		assert_true(d.history.exact > 1e-6f);
		assert_true(d.history.bad == UINT64_C(1) << TOL_PAIR);
		assert_int_equal(d.history.samples, 1 + turn % 2);
		recast_data_free(&d);
	}
}

/* Beyond 4,096 each has its turn, and none comes twice. */
static void
test_many_matrices(void **state)
{
	enum { BATCH = 10000 };
	struct ac_recast r = { .m = 50, .n = 3, .batch = BATCH };
	static bool seen[BATCH];

	(void)state;
	for (r.seed = 0; r.seed < 60; r.seed++) {
		int64_t last = -1;

		assert_int_equal(ac_recast_matrices(&r), AC_SAMPLE_MATRICES);
		for (int64_t i = 0; i < AC_SAMPLE_MATRICES; i++) {
			const int64_t at = ac_recast_matrix_at(&r, i);

			assert_true(at > last && at < BATCH);
			last = at;
			seen[at] = true;
		}
	}
	/* One in 2 or 3: (2/3)^60 is never. */
	for (int i = 0; i < BATCH; i++)
		assert_true(seen[i]);
	for (int i = 0; i < AC_SAMPLE_DEEP; i++) {
		const struct ac_recast_spot spot = ac_recast_spot_in(&r, 9, i);

		assert_true(spot.row >= 0 && spot.row < 50);
		assert_true(spot.col >= 0 && spot.col < 3);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_lines_of_whole_numbers),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_nothing_kept),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_unequal_batch),
		cmocka_unit_test(test_one_of_a_batch),
		cmocka_unit_test(test_many_matrices),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
