/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_recast_sample.c -- the sample against FP64, when one
 * is due, what the post says and when it is cleared, the range histogram. */
#include "tests/unit/kernels/recast_cases.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels/recast/recast_sample.h"
#include "kernels/twins/twins.h"

static struct recast_case
case_of(int m, int n, enum recast_output output)
{
	return (struct recast_case){ .m = m, .n = n, .k = 100, .batch = 1,
		.fill = { FILL_NORMAL, FILL_NORMAL }, .trans = { true, true },
		.extra = 1, .alpha = -1.5f, .beta = 0.5f, .scaled = true,
		.output = output };
}

struct errors {
	double whole, line;
};

struct reference {
	double lost[32], all[32], lost_all, all_all, lost_bare, all_bare;
};

/* Output i, j, and where C does not hide what was added, that. */
static void
add_output(struct recast_data *d, const float *before, int i, int j,
    struct reference *sums)
{
	const struct ac_recast *r = &d->recast;
	const double old = r->beta.value != 0
	    ? (double)r->beta.value * (double)before[j * 16 + i] : 0;
	const double exact = recast_exact(d, 0, i, j, before);
	const float out = *recast_out_at(d, 0, i, j);
	const double c = (double)(r->output.result && r->beta.value != 0
	    ? out + r->beta.value * before[j * 16 + i] : out);
	const double miss = (c - exact) * (c - exact), added = exact - old;

	sums->lost[i] += miss;
	sums->lost[16 + j] += miss;
	sums->lost_all += miss;
	sums->all[i] += exact * exact;
	sums->all[16 + j] += exact * exact;
	sums->all_all += exact * exact;
	if (fabs(old) <= 4096 * fabs(added)) {
		sums->lost_bare += miss;
		sums->all_bare += added * added;
	}
}

/* Of all outputs, so of the sample too where m and n are 16. */
static struct errors
reference_errors(struct recast_data *d, const float *before)
{
	struct reference sums = {0};
	struct errors e = {0};

	for (int j = 0; j < 16; j++)
		for (int i = 0; i < 16; i++)
			add_output(d, before, i, j, &sums);
	for (int line = 0; line < 32; line++)
		e.line = fmax(e.line, sqrt(sums.lost[line] / sums.all[line]));
	e.whole = sqrt(fmax(sums.lost_all / sums.all_all,
	    sums.lost_bare / sums.all_bare));
	return e;
}

/* Differences and references are kept in FP32, so each is off by 2^-24 of
 * itself, and the result by 2^-24 for its own rounding. */
static void
assert_near(float value, double exact)
{
	assert_true(fabs((double)value - exact) <= 4 * 0x1p-24 * exact);
}

static void
test_error(void **state)
{
	(void)state;
	for (int turn = 0; turn < 36; turn++) {
		struct recast_case c = case_of(16, 16,
		    (enum recast_output)(turn % 3));
		struct recast_data d;
		struct errors e;
		float *before;

		c.format = turn / 3 % 2;
		c.beta = turn / 6 % 2 ? 0.5f : 0;
		c.trans[0] = c.trans[1] = turn / 12 % 2;
		c.array = turn / 24;
		recast_data_make(&c, (uint64_t)turn, &d);
		d.recast.sampled = 1;
		before = recast_copy_c(&d);
		recast_cast(&d);
		recast_settle(&d);
		recast_multiply(&d);
		if (turn % 2) /* somebody's mistake, in one column */
			*recast_out_at(&d, 0, 7, turn % 16) *= 1.01f;
		e = reference_errors(&d, before);
		recast_finish(&d);
		assert_near(d.history.error, e.whole);
		assert_near(d.history.line_error, e.line);
		assert_int_equal(d.history.samples, 1);
		assert_true(e.whole > 1e-6 && e.whole < 0.02);
		free(before);
		recast_data_free(&d);
	}
}

/* Where there are more than 16 lines each has its turn, none twice a time. */
static void
test_choice(void **state)
{
	enum { M = 50, N = 33, BATCH = 3 };
	const struct ac_recast none = { .m = M, .n = N, .batch = BATCH };
	int rows[M] = {0}, cols[N] = {0}, matrices[BATCH] = {0};

	(void)state;
	for (uint64_t seed = 0; seed < 500; seed++) {
		struct ac_recast r = none;
		int64_t last = -1;

		r.seed = seed;
		matrices[ac_recast_sample_matrix(&r)]++;
		for (int i = 0; i < 16; i++) {
			const int64_t row = ac_recast_sample_line(&r, 0, i, M);

			assert_true(row > last && row < M);
			last = row;
			rows[row]++;
			cols[ac_recast_sample_line(&r, 1, i, N)]++;
		}
	}
	/* One in 3 or 4, in 2 or 3, in 3: seldom beyond a factor of 1.5. */
	for (int i = 0; i < M; i++)
		assert_in_range(rows[i], 83, 250);
	for (int i = 0; i < N; i++)
		assert_in_range(cols[i], 111, 375);
	for (int i = 0; i < BATCH; i++)
		assert_in_range(matrices[i], 111, 250);
}

/* What a sample says of outputs without an ordinary error. */
static void
assert_verdict(enum cast_fill fill, float written, bool write, float alpha,
    float expected)
{
	struct recast_case c = case_of(20, 18, OUT_C);
	struct recast_data d;

	c.fill[0] = c.fill[1] = fill;
	c.beta = 0;
	c.alpha = alpha;
	recast_data_make(&c, 1, &d);
	d.recast.sampled = 1;
	recast_cast(&d);
	recast_settle(&d);
	recast_multiply(&d);
	for (int j = 0; j < c.n && write; j++)
		for (int i = 0; i < c.m; i++)
			*recast_c_at(&d, 0, i, j) = written;
	recast_finish(&d);
	assert_true(d.history.error == expected);
	assert_true(d.history.line_error == expected);
	/* What adds nothing proves nothing; nor does what FP32 does not
	 * have. */
	assert_int_equal(d.history.samples, fill == FILL_NORMAL && alpha == 1);
	recast_data_free(&d);
}

static void
test_corners(void **state)
{
	(void)state;
	/* 0 expected: right, or infinitely wrong. */
	assert_verdict(FILL_ZERO, 0, true, 1, 0);
	assert_verdict(FILL_ZERO, 0x1p-149f, true, 1, INFINITY);
	assert_verdict(FILL_NORMAL, 0, true, 0, 0);
	assert_verdict(FILL_NORMAL, 1, true, 0, INFINITY);
	/* 1e-60 is 0 in FP32, 1e60 is inf. */
	assert_verdict(FILL_TINY, 0, true, 1, 0);
	assert_verdict(FILL_ZERO, NAN, true, 1, INFINITY);
	assert_verdict(FILL_NORMAL, NAN, true, 1, INFINITY);
	assert_verdict(FILL_NORMAL, INFINITY, true, 1, INFINITY);
	assert_verdict(FILL_NORMAL, NAN, true, NAN, 0);
	assert_verdict(FILL_NORMAL, 1, true, NAN, INFINITY);
}

/* 1e30 times 1e30: FP32 has an inf of the sign of each output. */
static void
test_overflow(void **state)
{
	struct recast_case c = case_of(16, 16, OUT_C);
	struct recast_data d;

	(void)state;
	c.fill[0] = c.fill[1] = FILL_LARGE;
	c.beta = 0;
	recast_data_make(&c, 1, &d);
	d.recast.sampled = 1;
	recast_cast(&d);
	recast_settle(&d);
	for (int wrong = 0; wrong < 2; wrong++) {
		d.state.todo |= AC_TODO_SAMPLE;
		for (int j = 0; j < 16; j++)
			for (int i = 0; i < 16; i++)
				*recast_c_at(&d, 0, i, j) = (float)
				    recast_exact(&d, 0, i, j, NULL);
		if (wrong)
			*recast_c_at(&d, 0, 3, 4) *= -1;
		recast_finish(&d);
		assert_true(d.history.error == (wrong ? INFINITY : 0));
	}
	recast_data_free(&d);
}

/* One call; how many samples there have been since. */
static uint32_t
samples_after(struct recast_data *d, float times)
{
	for (int64_t k = 0; k < d->recast.k; k++)
		for (int64_t i = 0; i < d->recast.m; i++)
			*recast_at(d, 0, 0, i, k) *= times;
	recast_whole(d);
	return d->history.samples;
}

/* Asked for, or an amax that moved by more than two binades since the last;
 * not with an inf in an operand. */
static void
test_due(void **state)
{
	const struct recast_case c = case_of(20, 20, OUT_C);
	struct recast_data d;
	float kept;

	(void)state;
	recast_data_make(&c, 1, &d);
	assert_int_equal(samples_after(&d, 1), 0); /* nothing to compare with */
	assert_int_equal(samples_after(&d, 64), 0);
	d.recast.sampled = 1;
	assert_int_equal(samples_after(&d, 1), 1);
	assert_int_equal(samples_after(&d, 1), 2);
	d.recast.sampled = 0;
	assert_int_equal(samples_after(&d, 1), 2);
	assert_int_equal(samples_after(&d, 4), 2);
	assert_int_equal(samples_after(&d, 2), 3); /* 2^3 */
	assert_int_equal(samples_after(&d, 0.25f), 3);
	assert_int_equal(samples_after(&d, 0.5f), 4);
	assert_int_equal(samples_after(&d, 0), 4); /* zeros have no amax */
	recast_data_free(&d);

	recast_data_make(&c, 1, &d);
	d.recast.sampled = 1;
	kept = *recast_at(&d, 1, 0, 3, 3);
	*recast_at(&d, 1, 0, 3, 3) = INFINITY;
	assert_int_equal(samples_after(&d, 1), 0);
	assert_int_equal(d.history.sampled_known, 0);
	*recast_at(&d, 1, 0, 3, 3) = kept;
	assert_int_equal(samples_after(&d, 1), 1);
	d.recast.before = NULL; /* no room: no sample */
	assert_int_equal(samples_after(&d, 64), 1);
	recast_data_free(&d);
}

/* Tactic library: nothing is cast, only sampled calls are looked at. */
static void
test_library(void **state)
{
	struct recast_case c = case_of(16, 16, OUT_C);
	struct recast_data d;
	struct errors e;
	float *before;

	(void)state;
	recast_data_make(&c, 1, &d);
	recast_cast(&d);
	recast_settle(&d);
	memset(&d.history, 0, sizeof d.history);
	before = recast_copy_c(&d);
	recast_multiply(&d);
	e = reference_errors(&d, before);
	for (int i = 0; i < 2; i++) {
		d.recast.operand[i].to = NULL;
		d.recast.operand[i].marks = NULL;
	}
	for (int sampled = 0; sampled < 2; sampled++) {
		float *after = recast_copy_c(&d);

		d.recast.sampled = (uint32_t)sampled;
		for (int at = 0; at < 256; at++)
			*recast_c_at(&d, 0, at % 16, at / 16) = before[at];
		recast_settle(&d);
		for (int at = 0; at < 256; at++)
			*recast_c_at(&d, 0, at % 16, at / 16) = after[at];
		recast_finish(&d);
		assert_int_equal(d.history.samples, sampled);
		free(after);
	}
	assert_near(d.history.error, e.whole);
	assert_int_equal(d.history.known, 0);
	free(before);
	recast_data_free(&d);
}

/* The worst of all calls since the last post, handed over once. */
static void
test_post(void **state)
{
	const struct recast_case c = case_of(20, 20, OUT_C);
	struct ac_recast_history kept;
	struct recast_data d;

	(void)state;
	recast_data_make(&c, 1, &d);
	memset(&d.post, 0xa5, sizeof d.post);
	d.recast.sampled = 1;
	recast_whole(&d);
	*recast_at(&d, 1, 0, 3, 3) = INFINITY;
	recast_whole(&d);
	kept = d.history;
	assert_true(kept.rho > 1e-4f && kept.tile_rho > 1e-4f);
	assert_true(kept.error > 1e-5f && kept.line_error >= kept.error);
	d.recast.post = &d.post;
	d.recast.number = UINT64_C(0x123456789a);
	recast_finish(&d); /* idle, but for the post */
	assert_true(d.post.number == d.recast.number);
	assert_int_equal(d.post.verdict, AC_VERDICT_NONFINITE);
	assert_int_equal(d.post.samples, 1);
	assert_int_equal(d.post.settled, 1);
	assert_true(d.post.rho == kept.rho && d.post.error == kept.error);
	assert_true(d.post.tile_rho == kept.tile_rho);
	assert_true(d.post.line_error == kept.line_error);
	for (int i = 0; i < 6; i++)
		assert_int_equal(d.post.reserved[i], 0);

	kept.verdict = kept.samples = kept.settled = 0;
	kept.rho = kept.tile_rho = kept.error = kept.line_error = 0;
	assert_memory_equal(&kept, &d.history, sizeof kept);
	d.recast.number++;
	*recast_at(&d, 1, 0, 3, 3) = 1;
	recast_whole(&d);
	assert_true(d.post.number == d.recast.number);
	assert_int_equal(d.post.verdict, 0);
	assert_int_equal(d.post.samples, 1);
	assert_int_equal(d.post.settled, 0);
	assert_true(d.post.error > 0 && d.history.error == 0);
	recast_data_free(&d);
}

/* Exponents of what is read, once each; added to what was there. */
static void
test_ranges(void **state)
{
	struct recast_case c = case_of(37, 41, OUT_C);
	uint64_t want[2][AC_RANGE_BINS], counts[2][AC_RANGE_BINS];
	uint64_t copy[2][AC_RANGE_BINS];
	uint64_t *to_counts = counts[0], *to_copy = copy[0];
	const struct ac_twin_launch launch = { { 3, 2, 1 }, { 256, 1, 1 } };
	struct recast_data d;

	(void)state;
	c.fill[0] = FILL_ANY;
	c.fixed[1] = true;
	c.batch = 2;
	recast_data_make(&c, 1, &d);
	for (int i = 0; i < 2; i++) {
		for (int bin = 0; bin < AC_RANGE_BINS; bin++)
			want[i][bin] = counts[i][bin] = (uint64_t)bin << 32;
		for (int64_t b = 0; b < d.recast.operand[i].batch; b++)
			for (int64_t line = 0; line < (i ? c.n : c.m); line++)
				for (int64_t k = 0; k < c.k; k++)
					want[i][ac_cast_bits(*recast_at(&d, i,
					    b, line, k)) >> 23 & 255]++;
	}
	void *arguments[] = { &d.recast, &to_counts, &to_copy };

	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, "ac_recast_ranges"))
			ac_twins[i].run(&launch, arguments);
	assert_memory_equal(counts, want, sizeof want);
	assert_memory_equal(copy, want, sizeof want);
	recast_data_free(&d);
}

/* Most of what was added is gone, whatever the scale; with beta 0 nothing was
 * there that could take it. */
static void
test_shrunk(void **state)
{
	static const double scales[] = { 0x1p-40, 1e-3, 1, 1e4, 0x1p40 };

	(void)state;
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
		for (int percent = 5; percent <= 300; percent += 5) {
			struct ac_recast r = { .tol = 1e-3f };
			struct ac_recast_norm norms[AC_RECAST_SIDES];
			const double result = scales[i] * percent / 100;

			for (int line = 0; line < AC_RECAST_SIDES; line++)
				norms[line] = (struct ac_recast_norm){
					.all = 16 * result * result,
					.bare = 16 * scales[i] * scales[i],
					.added = 16, .filled = 16,
				};
			assert_false(
			    ac_recast_facts_of(&r, norms, true).shrunk);
			r.beta.value = 1;
			if (percent != 25)
				assert_int_equal(ac_recast_facts_of(&r, norms,
				    true).shrunk, percent < 25);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shrunk),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_choice),
		cmocka_unit_test(test_corners),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_post),
		cmocka_unit_test(test_ranges),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
