/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_compare.c -- verdicts on simulated runs whose truth is
 * known: how often a slow-down is found, and how often one is found that is
 * none. The runs come in the order in which compare makes them. */
#include "cmd/compare/compare_judge.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

enum { SERIES = 4000 };

/* ---- Noise ------------------------------------------------------------- */

static uint64_t seed;

static double
uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* How long runs take besides what the program needs. */
struct noise {
	const char *name;
	double deviation;      /* of each run */
	double outliers;       /* part of the runs that take 30 % longer */
	double drift;          /* more from each run to the next */
	double cold;           /* more in the first run, halved in each next */
	double walk;           /* of a random walk from run to run */
	double skew;           /* exponential: only ever slower */
};

static const struct noise noises[] = {
	{ .name = "quiet", .deviation = 0.005 },
	{ .name = "loud", .deviation = 0.08 },
	{ .name = "outliers", .deviation = 0.005, .outliers = 0.1 },
	{ .name = "drift up", .deviation = 0.005, .drift = 0.01 },
	{ .name = "drift down", .deviation = 0.002, .drift = -0.02 },
	{ .name = "slow first run", .deviation = 0.005, .cold = 0.5 },
	{ .name = "random walk", .deviation = 0.001, .walk = 0.01 },
	{ .name = "skewed", .skew = 0.03 },
	{ .name = "everything", .deviation = 0.01, .outliers = 0.05,
	    .drift = 0.002, .cold = 0.02, .walk = 0.005, .skew = 0.01 },
};
enum { NOISES = sizeof noises / sizeof *noises };

struct machine {
	const struct noise *noise;
	int    runs;
	double place;
	double steady;         /* what drifts, by run */
};

static double
run_for(struct machine *m, double seconds)
{
	const struct noise *noise = m->noise;
	const double cold = noise->cold * pow(0.5, m->runs);
	double more = cold + m->runs * m->steady;

	m->place += noise->walk * normal();
	m->runs++;
	more += m->place - noise->skew * log(uniform());
	if (uniform() < noise->outliers)
		more += 0.3;
	return seconds * (1 + more) * exp(noise->deviation * normal());
}

/* Rounds as compare runs them, the first one for nothing; `judged` is the
 * column that is judged. A round of many columns drifts as a pair does. */
static void
simulate_columns(const struct noise *noise, double ratio, size_t n,
    double limit, size_t columns, size_t judged, struct ac_judgement *out)
{
	struct machine machine = { .noise = noise,
		.steady = noise->drift * 2 / (double)columns };
	double times[AC_COMPARE_COLUMNS][AC_COMPARE_PAIRS];

	for (size_t pair = 0; pair <= n; pair++) {
		for (size_t k = 0; k < columns; k++) {
			const size_t column = ac_compare_turn(columns, pair, k);
			const double time = run_for(&machine,
			    column ? ratio : 1);

			if (pair)
				times[column][pair - 1] = time;
		}
	}
	ac_compare_judge(times[0], times[judged], n, limit, out);
}

static void
simulate(const struct noise *noise, double ratio, size_t n, double limit,
    struct ac_judgement *out)
{
	simulate_columns(noise, ratio, n, limit, 2, 1, out);
}

struct counts {
	int too_slow, slower, faster, covered;
};

static struct counts
judge_many(const struct noise *noise, double ratio, size_t n, double limit)
{
	struct counts counts = { 0, 0, 0, 0 };

	for (int i = 0; i < SERIES; i++) {
		struct ac_judgement j;

		simulate(noise, ratio, n, limit, &j);
		counts.too_slow += j.speed == AC_SPEED_TOO_SLOW;
		counts.slower += j.speed >= AC_SPEED_SLOWER;
		counts.faster += j.speed == AC_SPEED_FASTER;
		counts.covered += j.low <= ratio && ratio <= j.high;
	}
	return counts;
}

/* ---- Tests ------------------------------------------------------------- */

static void
test_equal_programs(void **state)
{
	/* Their exact risks leave room for chance: 3.1, 3.9, 3.9, 4.2 %. */
	static const size_t sizes[] = { 5, 7, 8, 10 };

	(void)state;
	seed = 20261121;
	for (int i = 0; i < NOISES; i++) {
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			const struct counts c = judge_many(&noises[i], 1,
			    sizes[k], 0);

			print_message("%s, n = %zu: %d slower, %d faster of "
			    "%d\n", noises[i].name, sizes[k], c.too_slow,
			    c.faster, SERIES);
			assert_true(c.too_slow <= SERIES / 20);
			assert_true(c.faster <= SERIES / 20);
			assert_true(c.covered >= SERIES / 10 * 9);
		}
	}
}

/* Several policies in turn: none is harmed by its place, next to the plain run
 * or far from it. */
static void
test_equal_columns(void **state)
{
	static const struct { size_t columns, judged, n; } rows[] = {
		{ 3, 1, 5 }, { 3, 2, 8 }, { AC_COMPARE_COLUMNS, 1, 5 },
		{ AC_COMPARE_COLUMNS, AC_COMPARE_POLICIES, 5 },
		{ AC_COMPARE_COLUMNS, AC_COMPARE_POLICIES, 8 }
	};

	(void)state;
	seed = 20261123;
	for (int i = 0; i < NOISES; i++) {
		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
			int slower = 0, faster = 0;

			for (int s = 0; s < SERIES; s++) {
				struct ac_judgement j;

				simulate_columns(&noises[i], 1, rows[k].n, 0,
				    rows[k].columns, rows[k].judged, &j);
				slower += j.speed == AC_SPEED_TOO_SLOW;
				faster += j.speed == AC_SPEED_FASTER;
			}
			print_message("%s, %zu of %zu, n = %zu: %d slower, "
			    "%d faster of %d\n", noises[i].name,
			    rows[k].judged, rows[k].columns, rows[k].n, slower,
			    faster, SERIES);
			assert_true(slower <= SERIES / 20);
			assert_true(faster <= SERIES / 20);
		}
	}
}

/* Every column has its turn, once in a round. */
static void
test_turns(void **state)
{
	(void)state;
	for (size_t columns = 2; columns <= AC_COMPARE_COLUMNS; columns++) {
		for (size_t pair = 0; pair < 4; pair++) {
			unsigned seen = 0;

			for (size_t k = 0; k < columns; k++)
				seen |= 1u << ac_compare_turn(columns, pair, k);
			assert_int_equal(seen, (1u << columns) - 1);
		}
		assert_int_equal(ac_compare_turn(columns, 0, 0), AC_PLAIN);
		assert_int_equal(ac_compare_turn(columns, 1, columns - 1),
		    AC_PLAIN);
	}
}

static void
test_planted(void **state)
{
	static const struct noise drifting = { .deviation = 0.002,
		.drift = 0.002 };
	struct counts c;

	(void)state;
	seed = 42;
	c = judge_many(&noises[0], 1.02, 5, AC_COMPARE_LIMIT);
	print_message("2 %% at 0.5 %% noise: found %d, faster %d\n",
	    c.too_slow, c.faster);
	assert_true(c.too_slow >= SERIES / 100 * 95);
	assert_int_equal(c.faster, 0);
	c = judge_many(&noises[0], 1 / 1.02, 5, 0);
	assert_true(c.faster >= SERIES / 100 * 95);
	c = judge_many(&drifting, 1.02, 5, AC_COMPARE_LIMIT);
	assert_true(c.too_slow >= SERIES / 100 * 95);
	/* With an outlier in every fifth pair it takes more pairs. */
	c = judge_many(&noises[2], 1.02, 15, AC_COMPARE_LIMIT);
	print_message("with outliers, 15 pairs: %d\n", c.too_slow);
	assert_true(c.too_slow >= SERIES / 100 * 75);
}

static void
test_limit(void **state)
{
	struct counts c;

	(void)state;
	seed = 7;
	/* What the library itself costs is no verdict. */
	c = judge_many(&noises[0], 1 + AC_COMPARE_LIMIT, 5, AC_COMPARE_LIMIT);
	assert_true(c.too_slow <= SERIES / 20);
	c = judge_many(&noises[0], 1.02, 5, 0.02);
	assert_true(c.too_slow <= SERIES / 20);
	assert_true(c.slower >= SERIES / 100 * 95);
	c = judge_many(&noises[0], 1.04, 5, 0.02);
	assert_true(c.too_slow >= SERIES / 100 * 95);
	c = judge_many(&noises[0], 1.01, 10, 0.02);
	assert_int_equal(c.too_slow, 0);
}

static void
test_few_pairs(void **state)
{
	const double plain[] = { 1, 1, 1, 1, 1 };
	const double recast[] = { 1.5, 1.5, 1.4, 1.6, 1.5 };
	struct ac_judgement j;

	(void)state;
	for (size_t n = 1; n <= 4; n++) {
		ac_compare_judge(plain, recast, n, 0, &j);
		assert_int_equal(j.speed, AC_SPEED_UNKNOWN);
		assert_true(j.ratio > 1.39 && j.ratio < 1.61);
	}
	ac_compare_judge(plain, recast, 5, 0, &j);
	assert_int_equal(j.speed, AC_SPEED_TOO_SLOW);
	assert_true(fabs(j.ratio - 1.5) < 1e-9);
	assert_true(fabs(j.low - 1.4) < 1e-9 && fabs(j.high - 1.6) < 1e-9);
	assert_true(fabs(j.risk - 1.0 / 32) < 1e-12);
	ac_compare_judge(plain, recast, 5, 0.4, &j);
	assert_int_equal(j.speed, AC_SPEED_SLOWER);
	ac_compare_judge(recast, plain, 5, 0, &j);
	assert_int_equal(j.speed, AC_SPEED_FASTER);
	ac_compare_judge(plain, plain, 5, 0, &j);
	assert_int_equal(j.speed, AC_SPEED_SAME);
	assert_true(fabs(j.ratio - 1) < 1e-12);
}

/* Which side is called plain makes no difference. */
static void
test_sides(void **state)
{
	const double plain[] = { 1, 1.2, 1.1, 0.9, 1, 1.3, 1 };
	const double recast[] = { 1.1, 1.1, 1.3, 1.2, 1.05, 1.6, 0.8 };
	struct ac_judgement one, other;

	(void)state;
	for (size_t n = 5; n <= 7; n++) {
		ac_compare_judge(plain, recast, n, 0, &one);
		ac_compare_judge(recast, plain, n, 0, &other);
		assert_true(fabs(one.low * other.high - 1) < 1e-12);
		assert_true(fabs(one.high * other.low - 1) < 1e-12);
		assert_true(fabs(one.ratio * other.ratio - 1) < 1e-12);
	}
}

/* The table that every textbook has: one-sided, 5 %. */
static void
test_critical(void **state)
{
	static const struct { size_t n; int c; } rows[] = {
		{ 1, -1 }, { 4, -1 }, { 5, 0 }, { 6, 2 }, { 7, 3 }, { 8, 5 },
		{ 9, 8 }, { 10, 10 }, { 12, 17 }, { 15, 30 }, { 20, 60 },
		{ 25, 100 }, { 30, 151 }, { 50, 466 }
	};
	double risk;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(critical(rows[i].n, &risk), rows[i].c);
	assert_true(critical(AC_COMPARE_PAIRS, &risk) > 8000);
	assert_true(risk > 0.0499 && risk <= 0.05);
}

static void
test_middle(void **state)
{
	const double odd[] = { 3, 1, 100 }, even[] = { 4, 1, 3, 2 };

	(void)state;
	assert_true(ac_compare_median(odd, 3) == 3);
	assert_true(ac_compare_median(even, 4) == 2.5);
	assert_true(ac_compare_median(odd, 1) == 3);
	assert_true(fabs(ac_compare_spread(odd, 3) - 2 * 1.4826) < 1e-9);
	assert_true(ac_compare_spread(odd, 1) == 0);
}

static void
test_outliers(void **state)
{
	/* Their median is 3, their spread 1.4826: 3 + 3 * 1.4826 = 7.4478. */
	const double inside[] = { 1, 2, 3, 4, 7.44 };
	const double outside[] = { 1, 2, 3, 4, 7.45 };
	const double low[] = { -1.45, 2, 3, 4, 5 };
	const double equal[] = { 3, 3, 3, 3, 3 };

	(void)state;
	assert_int_equal(ac_compare_outliers(inside, 5), 0);
	assert_int_equal(ac_compare_outliers(outside, 5), 1);
	assert_int_equal(ac_compare_outliers(low, 5), 1);
	assert_int_equal(ac_compare_outliers(equal, 5), 0);
	assert_int_equal(ac_compare_outliers(outside + 1, 4), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_programs),
		cmocka_unit_test(test_equal_columns),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_planted),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_few_pairs),
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_critical),
		cmocka_unit_test(test_middle),
		cmocka_unit_test(test_outliers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
