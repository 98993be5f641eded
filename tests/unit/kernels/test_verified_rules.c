/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_verified_rules.c -- each rule of a verified product
 * on data of its own: one that is dropped fails here, by name. Each was broken
 * once, in the text that the twins compile, and failed:
 *   marks dropped, or heeded only if guarded: test_marked, ..._unguarded
 *   a correction added to what was there: test_recomputed, test_batch
 *   the number of the call in the seed: test_seed
 *   signs for weights: test_weights
 *   flagged lines held against the whole: test_one_token, test_line
 *   a line's limit times 4, or by 4: test_line, test_all
 *   the loss of a line unheeded: test_own_loss
 *   a loss whose square is nothing taken for none: test_copies
 *   what nothing was seen of taken as good: test_pairs
 *   a batch judged as one matrix: test_one_of_a_batch
 *   squares not scaled: test_left_alone of test_verified.c */
#include "tests/unit/cases.h"
#include "tests/unit/kernels/verified_cases.h"

#include "kernels/verified/verified_judge.h"

#include <math.h>

enum { NORMAL, BOS_TOKEN = 8, CANCEL = 14, TINY_CANCEL = 16, PAIR = 18 };

static void
make(int family, int m, int n, int k, uint64_t seed,
    struct verified_problem *p, struct verified_data *d)
{
	static const struct verified_case plain;

	verified_problem_make(family, m, n, k, seed, p);
	verified_data_make(&plain, p, d);
}

static void
drop(struct verified_problem *p, struct verified_data *d)
{
	verified_data_free(d);
	verified_problem_free(p);
}

static void
run_until(const char *last, struct verified_data *d)
{
	verified_run("ac_verified_probe", d);
	verified_run("ac_verified_cast", d);
	verified_multiply(d);
	if (!strcmp(last, "ac_verified_verify"))
		verified_run(last, d);
}

/* A line that the probe does not look at. */
static int64_t
unprobed(const struct verified_data *d, int side)
{
	const int64_t lines = d->v.operand[side].lines;

	for (int64_t l = 0; l < lines; l++) {
		bool seen = false;

		for (int g = 0; g < ac_verified_groups(lines); g++) {
			const int64_t first = ac_verified_group(
			    d->state.seed, (uint32_t)side, g, lines);

			seen |= l >= first && l < first + AC_VERIFIED_GROUP;
		}
		if (!seen)
			return l;
	}
	fail();
	return 0;
}

/* Clamped, inf, NaN: seen by one output only, which the probe does not look at.
 * The line is FP32's; nothing else is touched. */
CASE(test_marked)
{
	static const float bad[] = { 1e9f, -1e30f, INFINITY, -INFINITY, NAN };

	for (int i = 0; i < 10; i++) {
		const int side = i / 5;
		struct verified_problem p;
		struct verified_data d;
		int64_t line;

		make(NORMAL, 200, 180, 96, 3, &p, &d);
		verified_run("ac_verified_probe", &d);
		line = unprobed(&d, side);
		for (int64_t l = 0; l < (side ? 200 : 180); l++)
			*verified_at(&d, !side, 0, l, 5) = 0;
		*verified_at(&d, !side, 0, 2, 5) = 1;
		*verified_at(&d, side, 0, line, 5) = bad[i % 5];
		memset(&d.state, 0, sizeof d.state);
		verified_whole(&d);
		if (unprobed(&d, side) == line || i % 5 > 1)
			assert_true(verified_is_flagged(&d, side, 0, line));
		assert_int_equal(d.state.all, 0);
		assert_true(d.state.flagged[0] + d.state.flagged[1] <= 2);
		for (int64_t l = 0; l < (side ? 200 : 180); l++) {
			const int64_t row = side ? l : line;
			const int64_t col = side ? line : l;
			const float x = *verified_c_at(&d, 0, row, col);
			const float y = verified_fp32(&d, 0, row, col);

			assert_true(x == y || (isnan(x) && isnan(y))
			    || !verified_is_flagged(&d, side, 0, line));
		}
		drop(&p, &d);
	}
}

/* The same under guard=off: tol 0. An error alone is nobody's business then. */
CASE(test_marked_unguarded)
{
	struct verified_problem p;
	struct verified_data d;

	make(CANCEL, 100, 90, 64, 3, &p, &d);
	*verified_at(&d, 0, 0, 7, 5) = NAN;
	d.v.tol = 0;
	verified_whole(&d);
	assert_true(verified_is_flagged(&d, 0, 0, 7));
	assert_int_equal(d.state.flagged[0], 1);
	assert_int_equal(d.state.flagged[1], 0);
	assert_int_equal(d.state.all, 0);
	drop(&p, &d);
}

/* One token with a massive activation: its row, never all. Where the probe has
 * it, columns in which it cancels are bad in truth. */
CASE(test_one_token)
{
	for (uint64_t seed = 1; seed < 20; seed++) {
		struct verified_problem p;
		struct verified_data d;

		make(BOS_TOKEN, 600, 130, 130, seed, &p, &d);
		verified_whole(&d);
		assert_int_equal(d.state.all, 0);
		assert_true(d.state.flagged[0] <= 1);
		assert_true(d.state.flagged[1] * 10 <= 130);
		drop(&p, &d);
	}
}

/* Squares of results of 1e-28 are nothing in FP32. */
CASE(test_tiny)
{
	struct verified_problem p;
	struct verified_data d;

	make(TINY_CANCEL, 100, 90, 64, 1, &p, &d);
	run_until("ac_verified_verify", &d);
	assert_true(d.state.all);
	assert_int_equal(d.state.flagged[0], 100);
	drop(&p, &d);
}

/* What was there does not matter, and one line has the bits that all have. */
CASE(test_recomputed)
{
	struct verified_problem p;
	struct verified_data d;

	make(NORMAL, 70, 66, 2300, 1, &p, &d);
	run_until("ac_verified_verify", &d);
	assert_int_equal(d.state.flagged[0] + d.state.flagged[1], 0);
	d.v.operand[0].flags[1] = 1u << 7; /* row 39 */
	d.v.operand[1].flags[2] = 1u << 1; /* column 65 */
	d.state.flagged[0] = d.state.flagged[1] = 1;
	for (int64_t j = 0; j < 66; j++)
		*verified_c_at(&d, 0, 39, j) = NAN;
	for (int64_t i = 0; i < 70; i++)
		*verified_c_at(&d, 0, i, 65) = NAN;
	verified_run("ac_verified_mend", &d);
	for (int64_t j = 0; j < 66; j++)
		assert_true(*verified_c_at(&d, 0, 39, j)
		    == verified_fp32(&d, 0, 39, j));
	for (int64_t i = 0; i < 70; i++)
		assert_true(*verified_c_at(&d, 0, i, 65)
		    == verified_fp32(&d, 0, i, 65));
	d.state.all = 1;
	verified_run("ac_verified_mend", &d);
	for (int64_t j = 0; j < 66; j++)
		for (int64_t i = 0; i < 70; i++)
			assert_true(*verified_c_at(&d, 0, i, j)
			    == verified_fp32(&d, 0, i, j));
	drop(&p, &d);
}

/* The seed: contents and sizes, nothing else; one element that is drawn changes
 * it. Calls after one another leave nothing behind. */
CASE(test_seed)
{
	struct verified_problem p;
	struct verified_data d;
	uint32_t first;
	float c;

	make(NORMAL, 600, 70, 64, 1, &p, &d);
	verified_whole(&d);
	first = d.state.seed;
	c = *verified_c_at(&d, 0, 3, 4);
	for (int i = 0; i < 3; i++) {
		verified_whole(&d);
		assert_int_equal(d.state.seed, first);
		assert_true(*verified_c_at(&d, 0, 3, 4) == c);
	}
	for (int64_t l = 0; l < 600; l++)
		for (int64_t k = 0; k < 64; k++)
			*verified_at(&d, 0, 0, l, k) *= 1.5f;
	verified_whole(&d);
	assert_int_not_equal(d.state.seed, first);
	assert_int_equal(d.record.calls, 5);
	drop(&p, &d);
}

/* Mean square 1, and no two alike: what is equal in two outputs does not cancel
 * in all vectors. */
CASE(test_weights)
{
	double square = 0;
	int equal = 0;

	for (uint32_t i = 0; i < 1000; i++)
		for (uint32_t t = 0; t < AC_VERIFIED_VECTORS; t++) {
			const float w = ac_verified_weight(9, 0, i, t);
			const float other = ac_verified_weight(9, 0, i + 1, t);

			assert_true(fabsf(w) > 0.74f && fabsf(w) < 1.25f);
			square += (double)w * (double)w;
			equal += fabsf(w) == fabsf(other);
		}
	/* 8000 draws of 16 sizes: 3 deviations. */
	assert_true(fabs(square / 8000 - 1) < 3 * 0.31 / sqrt(8000));
	assert_true(equal < 8000 / 16 + 3 * 22);
}

/* Equal errors in two equal columns, all others zero. */
CASE(test_pairs)
{
	int missed = 0, bad = 0;

	for (uint64_t seed = 1; seed < 300; seed++) {
		struct verified_problem p;
		struct verified_data d;

		make(PAIR, 90, 64, 64, seed, &p, &d);
		run_until("ac_verified_verify", &d);
		for (int64_t i = 0; i < 90; i += 3) {
			const double off = (double)*verified_c_at(&d, 0, i, 0)
			    - verified_exact(&d, 0, i, 0);

			if (fabs(off) < 6e-3 * fabs(verified_exact(&d, 0, i,
			    0)))
				continue;
			bad++;
			missed += !d.state.all
			    && !verified_is_flagged(&d, 0, 0, i);
		}
		drop(&p, &d);
	}
	assert_true(bad > 3000);
	assert_true(missed * 100 <= bad);
}

/* A diagonal times a diagonal: of most lines the probe sees nothing. */
CASE(test_unseen)
{
	struct verified_problem p;
	struct verified_data d;

	make(NORMAL, 600, 600, 600, 1, &p, &d);
	for (int64_t l = 0; l < 600; l++)
		for (int64_t k = 0; k < 600; k++) {
			*verified_at(&d, 0, 0, l, k) *= l == k;
			*verified_at(&d, 1, 0, l, k) *= l == k;
		}
	run_until("", &d);
	for (int64_t i = 0; i < 600; i++)
		*verified_c_at(&d, 0, i, i) = 0;
	verified_run("ac_verified_verify", &d);
	for (int64_t i = 0; i < 600; i++)
		assert_true(d.state.all
		    || verified_is_flagged(&d, 0, 0, i));
	drop(&p, &d);
}

/* Rows of one output are judged together, or a fifth would look bad. */
CASE(test_short_lines)
{
	for (int n = 1; n < 12; n += 3) {
		struct verified_problem p;
		struct verified_data d;

		make(NORMAL, 300, n, 200, 1, &p, &d);
		run_until("ac_verified_verify", &d);
		assert_int_equal(d.state.flagged[0] + d.state.flagged[1], 0);
		drop(&p, &d);
	}
}

static void
shift_row(struct verified_data *d, int b, int64_t i, float by)
{
	for (int64_t j = 0; j < d->v.n; j++)
		*verified_c_at(d, b, i, j) *= 1 + (j % 2 ? by : -by);
}

/* One line of 600 that is off by more than twice tol, or less: the whole is not
 * its business. */
CASE(test_line)
{
	static const float by[] = { 1e-4f, 6e-3f, -1, NAN };

	for (int i = 0; i < 4; i++) {
		struct verified_problem p;
		struct verified_data d;

		make(NORMAL, 600, 520, 64, 1, &p, &d);
		run_until("", &d);
		shift_row(&d, 0, 77, by[i]);
		verified_run("ac_verified_verify", &d);
		assert_int_equal(verified_is_flagged(&d, 0, 0, 77), i > 0);
		assert_int_equal(d.state.flagged[0], i > 0);
		assert_true(i == 3 || !d.state.all);
		drop(&p, &d);
	}
}

/* All lines a little off, none by twice tol: the whole is. An eighth of them is
 * enough, if it is off by more; those are small, so that no column sees it. */
CASE(test_all)
{
	for (int i = 0; i < 4; i++) {
		struct verified_problem p;
		struct verified_data d;

		make(NORMAL, 600, 520, 64, 1, &p, &d);
		for (int64_t l = 0; l < 600 && i > 1; l++)
			for (int64_t k = 0; k < 64 && l % 10 < i - 1; k++)
				*verified_at(&d, 0, 0, l, k) *= 1e-2f;
		run_until("", &d);
		for (int64_t l = 0; l < 600; l++)
			if (i < 2 || l % 10 < i - 1)
				shift_row(&d, 0, l, i > 1 ? 1e-2f : i ? 1.1e-3f
				    : 2e-4f);
		verified_run("ac_verified_verify", &d);
		assert_int_equal(d.state.all, i == 1 || i == 3);
		assert_int_equal(d.record.alls, i == 1 || i == 3);
		assert_int_equal(d.record.lines, i == 2 ? 60 : 0);
		drop(&p, &d);
	}
}

/* A line whose casts lost more than tol / 2 of it, though it hits the probe
 * well. */
CASE(test_own_loss)
{
	struct verified_problem p;
	struct verified_data d;

	make(NORMAL, 100, 90, 64, 1, &p, &d);
	for (int64_t k = 0; k < 64; k++)
		*verified_at(&d, 0, 0, 5, k) *= 1e-8f;
	run_until("", &d);
	for (int64_t j = 0; j < 90; j++)
		*verified_c_at(&d, 0, 5, j) = (float)verified_exact(&d, 0, 5,
		    j);
	verified_run("ac_verified_verify", &d);
	assert_true(verified_is_flagged(&d, 0, 0, 5));
	assert_int_equal(d.state.flagged[0], 1);
	drop(&p, &d);
}

/* Whole numbers, and rows that copy, come out as FP32 has them: by line. */
CASE(test_exact)
{
	for (int i = 0; i < 4; i++) {
		struct verified_problem p;
		struct verified_data d;

		make(NORMAL, 100, 90, 64, 1, &p, &d);
		for (int64_t l = 0; l < 100; l++)
			for (int64_t k = 0; k < 64; k++)
				*verified_at(&d, 0, 0, l, k) = i < 2
				    ? (float)((l + k) % 3) : k == l % 64
				    ? i == 2 ? 0.25f : 0.3f : 0;
		for (int64_t l = 0; l < 90 && i < 2; l++)
			for (int64_t k = 0; k < 64; k++)
				if (l % 2 || !i)
					*verified_at(&d, 1, 0, l, k) =
					    (float)((l * k) % 70 * 1001);
		run_until("ac_verified_verify", &d);
		for (int64_t l = 0; l < 90 && i == 1; l++)
			assert_int_equal(verified_is_flagged(&d, 1, 0, l),
			    l % 2);
		assert_int_equal(d.state.all, i % 2 == 0);
		drop(&p, &d);
	}
}

/* Copies of whole numbers next to 2^120: what the cast loses of ones has a
 * square of 0, and no line is of ones alone. */
CASE(test_copies)
{
	struct verified_problem p;
	struct verified_data d;

	make(NORMAL, 48, 24, 64, 1, &p, &d);
	for (int64_t k = 0; k < 64; k++) {
		for (int64_t i = 0; i < 48; i++)
			*verified_at(&d, 0, 0, i, k) = k == i;
		for (int64_t j = 0; j < 24; j++)
			*verified_at(&d, 1, 0, j, k) = !j ? 0x1p120f
			    : !k ? 0x1p100f : 1;
	}
	verified_whole(&d);
	for (int64_t i = 0; i < 48; i++)
		for (int64_t j = 0; j < 24; j++)
			assert_true(*verified_c_at(&d, 0, i, j)
			    == (!j ? 0x1p120f : !i ? 0x1p100f : 1));
	drop(&p, &d);
}

/* alpha 0: nothing of A and B matters. */
CASE(test_alpha_zero)
{
	struct verified_problem p;
	struct verified_data d;

	make(NORMAL, 100, 90, 64, 1, &p, &d);
	*verified_at(&d, 0, 0, 5, 5) = NAN;
	d.v.alpha.value = 0;
	verified_whole(&d);
	assert_int_equal(d.state.flagged[0] + d.state.flagged[1], 0);
	assert_int_equal(d.state.all, 0);
	for (int64_t j = 0; j < 90; j++)
		assert_true(*verified_c_at(&d, 0, 5, j) == 0);
	drop(&p, &d);
}

/* One bad matrix among good ones, by stride and by pointers, in both formats,
 * alpha on the device: its lines, and no others. */
CASE(test_batch)
{
	for (int i = 0; i < 8; i++) {
		const struct verified_case c = { .batch = 3, .array = i & 1,
			.on_device = true,
			.extra = i % 3, .trans = { i & 2, i & 4 },
			.format = i & 4 ? AC_FORMAT_BF16 : AC_FORMAT_FP16,
			.tol = i & 4 ? 1e-2f : 1e-3f };
		struct verified_problem p[3];
		struct verified_data d;

		for (int b = 0; b < 3; b++)
			verified_problem_make(b == 1 ? CANCEL : NORMAL, 150,
			    140, 60, (uint64_t)(b + i), &p[b]);
		verified_data_make(&c, p, &d);
		d.scalars[0] = -3;
		verified_whole(&d);
		for (int b = 0; b < 3; b++)
			for (int64_t l = 0; l < 150; l++)
				assert_int_equal(d.state.all
				    || verified_is_flagged(&d, 0, b, l),
				    d.state.all || b == 1);
		for (int64_t l = 0; l < 140; l++)
			assert_true(*verified_c_at(&d, 1, 77, l)
			    == verified_fp32(&d, 1, 77, l));
		for (int b = 0; b < 3; b++)
			verified_problem_free(&p[b]);
		verified_data_free(&d);
	}
}

/* All lines of one matrix of many are a little off, none by twice tol: that one
 * is, though all together are not; of few lines nobody could tell. A thread
 * joins its words, some do, or a warp. */
CASE(test_one_of_a_batch)
{
	static const int m[] = { 12, 24, 70, 1100 };

	for (int i = 0; i < 8; i++) {
		const struct verified_case c = { .batch = 7 };
		struct verified_problem p[7];
		struct verified_data d;

		for (int b = 0; b < 7; b++)
			verified_problem_make(NORMAL, m[i / 2], 12, 64,
			    (uint64_t)(b + i), &p[b]);
		verified_data_make(&c, p, &d);
		run_until("", &d);
		for (int64_t l = 0; l < m[i / 2]; l++)
			shift_row(&d, 6, l, i % 2 ? 1.1e-3f : 2e-4f);
		verified_run("ac_verified_verify", &d);
		assert_int_equal(d.state.all, i % 2 && i > 1);
		assert_int_equal(d.record.lines, 0);
		for (int b = 0; b < 7; b++)
			verified_problem_free(&p[b]);
		verified_data_free(&d);
	}
}

/* The fused multiply-add of the CPU is the processor's. */
CASE(test_fma)
{
	uint64_t seed = 1;

	for (int i = 0; i < 3000000; i++) {
		float x[3], one, two;

		for (int j = 0; j < 3; j++) {
			uint32_t bits;

			seed = seed * 6364136223846793005u
			    + 1442695040888963407u;
			bits = (uint32_t)(seed >> 32);
			if (i % 2) /* near each other: they cancel */
				bits = (bits & 0x80ffffff) | (i % 3 ? 0x3f000000
				    : j == 2 ? 0x01000000 : 0x20000000);
			memcpy(&x[j], &bits, sizeof bits);
		}
		one = ac_verified_fma(x[0], x[1], x[2]);
		two = fmaf(x[0], x[1], x[2]);
		assert_true(!memcmp(&one, &two, sizeof one)
		    || (isnan(one) && isnan(two)));
	}
}

CASES_RUN(NULL, NULL)
