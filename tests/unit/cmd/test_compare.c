/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_compare.c -- verdicts on simulated runs whose truth is
 * known: how often a slow-down is found, and how often one is found that is
 * none. The runs come in the order in which compare makes them. */
#include "cmd/compare/compare_judge.c"
#include "tests/unit/cases.h"

enum { SERIES = 2000 };

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
	{ .name = "1 %", .deviation = 0.01 },
	{ .name = "1 % and more", .deviation = 0.01, .outliers = 0.1,
	    .drift = 0.003, .cold = 0.3 },
	{ .name = "3 %", .deviation = 0.03 },
	{ .name = "3 % and more", .deviation = 0.03, .outliers = 0.1,
	    .drift = 0.003, .cold = 0.3 },
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
	double risk;           /* of a verdict on equal programs */
};

static struct counts
judge_many(const struct noise *noise, double ratio, size_t n, double limit)
{
	struct counts counts = { 0, 0, 0, 0, 0 };

	for (int i = 0; i < SERIES; i++) {
		struct ac_judgement j;

		simulate(noise, ratio, n, limit, &j);
		counts.too_slow += j.speed == AC_SPEED_TOO_SLOW;
		counts.slower += j.speed >= AC_SPEED_SLOWER;
		counts.faster += j.speed == AC_SPEED_FASTER;
		counts.covered += j.low <= ratio && ratio <= j.high;
		counts.risk = 2 * j.risk;
	}
	return counts;
}

/* ---- Tests ------------------------------------------------------------- */

/* No more than one verdict in twenty is about equal programs; that it is so
 * many is chance: so far off are three standard deviations of a binomial. */
static void
check_false(int verdicts, double risk)
{
	assert_true(risk <= 0.05);
	assert_true(verdicts <= SERIES * risk +
	    3 * sqrt(SERIES * risk * (1 - risk)));
}

CASE(test_equal_programs)
{
	static const size_t sizes[] = { 6, 7, 10, 20 };

	seed = 20261121;
	for (int i = 0; i < NOISES; i++) {
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			const struct counts c = judge_many(&noises[i], 1,
			    sizes[k], 0);

			print_message("%s, n = %zu: %d slower, %d faster of "
			    "%d\n", noises[i].name, sizes[k], c.too_slow,
			    c.faster, SERIES);
			check_false(c.too_slow + c.faster, c.risk);
			assert_int_equal(c.covered,
			    SERIES - c.too_slow - c.faster);
		}
	}
}

/* Several policies in turn: none is harmed by its place, next to the plain run
 * or far from it. */
CASE(test_equal_columns)
{
	static const struct { size_t columns, judged, n; } rows[] = {
		{ 3, 1, 6 }, { 3, 2, 8 }, { AC_COMPARE_COLUMNS, 1, 6 },
		{ AC_COMPARE_COLUMNS, AC_COMPARE_POLICIES, 6 },
		{ AC_COMPARE_COLUMNS, AC_COMPARE_POLICIES, 8 }
	};

	seed = 20261123;
	for (int i = 0; i < NOISES; i++) {
		for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
			int slower = 0, faster = 0;
			struct ac_judgement j;

			for (int s = 0; s < SERIES; s++) {
				simulate_columns(&noises[i], 1, rows[k].n, 0,
				    rows[k].columns, rows[k].judged, &j);
				slower += j.speed == AC_SPEED_TOO_SLOW;
				faster += j.speed == AC_SPEED_FASTER;
			}
			print_message("%s, %zu of %zu, n = %zu: %d slower, "
			    "%d faster of %d\n", noises[i].name,
			    rows[k].judged, rows[k].columns, rows[k].n, slower,
			    faster, SERIES);
			check_false(slower + faster, 2 * j.risk);
		}
	}
}

/* Every column has its turn, once in a round. */
CASE(test_turns)
{
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

CASE(test_planted)
{
	static const struct noise drifting = { .deviation = 0.002,
		.drift = 0.002 };
	struct counts c;

	seed = 42;
	c = judge_many(&noises[0], 1.02, AC_COMPARE_DEFAULT, AC_COMPARE_LIMIT);
	print_message("2 %% at 0.5 %% noise: found %d, faster %d\n",
	    c.too_slow, c.faster);
	assert_true(c.too_slow >= SERIES / 100 * 95);
	assert_int_equal(c.faster, 0);
	c = judge_many(&noises[0], 1 / 1.02, AC_COMPARE_DEFAULT, 0);
	assert_true(c.faster >= SERIES / 100 * 95);
	c = judge_many(&drifting, 1.02, AC_COMPARE_DEFAULT, AC_COMPARE_LIMIT);
	assert_true(c.too_slow >= SERIES / 100 * 95);
	/* With an outlier in every fifth pair it takes more pairs. */
	c = judge_many(&noises[2], 1.02, 17, AC_COMPARE_LIMIT);
	print_message("with outliers, 17 pairs: %d\n", c.too_slow);
	assert_true(c.too_slow >= SERIES / 100 * 75);
}

/* What the manual promises of 2 %, by the noise of each run. */
CASE(test_promised)
{
	static const struct {
		struct noise noise;
		size_t n;
		int percent;
	} rows[] = {
		{ { .deviation = 0.01 }, AC_COMPARE_FEWEST, 50 },
		{ { .deviation = 0.01 }, AC_COMPARE_DEFAULT, 80 },
		{ { .deviation = 0.01 }, 10, 90 },
		{ { .deviation = 0.01 }, 20, 99 },
		{ { .deviation = 0.01, .cold = 0.3, .drift = 0.003 }, 10, 90 },
		{ { .deviation = 0.03 }, AC_COMPARE_DEFAULT, 0 },
		{ { .deviation = 0.03 }, 20, 45 },
		{ { .deviation = 0.03 }, 41, 80 }
	};

	seed = 20261124;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct counts c = judge_many(&rows[i].noise, 1.02,
		    rows[i].n, AC_COMPARE_LIMIT);

		print_message("2 %% at %g %% noise, n = %zu: slower %d, "
		    "faster %d of %d\n", 100 * rows[i].noise.deviation,
		    rows[i].n, c.slower, c.faster, SERIES);
		assert_true(c.slower >= SERIES / 100 * rows[i].percent);
		assert_true(c.faster <= SERIES / 40);
	}
}

static int
ascending_sizes(const void *a, const void *b)
{
	const size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/* How many pairs it says it takes, and whether so many find it. */
CASE(test_pairs_needed)
{
	static const struct noise tenth = { .deviation = 0.001 },
		half = { .deviation = 0.005 }, one = { .deviation = 0.01 },
		two = { .deviation = 0.02 }, three = { .deviation = 0.03 };
	static const struct noise *const all[] = { &tenth, &half, &one, &two,
		&three };
	static size_t needed[SERIES];

	seed = 20261125;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct counts c;
		struct ac_judgement j;

		/* Of many pairs: few do not know the noise well. */
		for (int s = 0; s < SERIES / 10; s++) {
			simulate(all[i], 1, 100, 0, &j);
			needed[s] = j.needed;
		}
		qsort(needed, SERIES / 10, sizeof *needed, ascending_sizes);
		c = judge_many(all[i], 1.02, needed[SERIES / 20], 0);
		print_message("%g %%: %zu pairs find 2 %% %d of %d times\n",
		    100 * all[i]->deviation, needed[SERIES / 20], c.slower,
		    SERIES);
		assert_true(needed[SERIES / 20] == AC_COMPARE_FEWEST ||
		    c.slower <= SERIES / 100 * 90);
		assert_true(c.slower >= SERIES / 100 * 78);
	}
}

CASE(test_limit)
{
	struct counts c;

	seed = 7;
	/* What the library itself costs is no verdict. */
	c = judge_many(&noises[0], 1 + AC_COMPARE_LIMIT, 7, AC_COMPARE_LIMIT);
	assert_true(c.too_slow <= SERIES / 20);
	c = judge_many(&noises[0], 1.02, 7, 0.02);
	assert_true(c.too_slow <= SERIES / 20);
	assert_true(c.slower >= SERIES / 100 * 95);
	c = judge_many(&noises[0], 1.04, 7, 0.02);
	assert_true(c.too_slow >= SERIES / 100 * 95);
	c = judge_many(&noises[0], 1.01, 10, 0.02);
	assert_int_equal(c.too_slow, 0);
}

CASE(test_few_pairs)
{
	const double plain[] = { 1, 1, 1, 1, 1, 1 };
	const double recast[] = { 1.5, 1.5, 1.4, 1.6, 1.5, 1.5 };
	struct ac_judgement j;

	for (size_t n = 1; n < AC_COMPARE_FEWEST; n++) {
		ac_compare_judge(plain, recast, n, 0, &j);
		assert_int_equal(j.speed, AC_SPEED_UNKNOWN);
		assert_int_equal(j.needed, 0);
		assert_true(j.ratio > 1.39 && j.ratio < 1.61);
	}
	ac_compare_judge(plain, recast, 6, 0, &j);
	assert_int_equal(j.speed, AC_SPEED_TOO_SLOW);
	assert_true(fabs(j.ratio - 1.5) < 1e-9);
	assert_true(fabs(j.low - 1.4) < 1e-9 && fabs(j.high - 1.6) < 1e-9);
	assert_true(fabs(j.risk - 1.0 / 64) < 1e-12);
	ac_compare_judge(plain, recast, 6, 0.4, &j);
	assert_int_equal(j.speed, AC_SPEED_SLOWER);
	ac_compare_judge(recast, plain, 6, 0, &j);
	assert_int_equal(j.speed, AC_SPEED_FASTER);
	ac_compare_judge(plain, plain, 6, 0, &j);
	assert_int_equal(j.speed, AC_SPEED_SAME);
	assert_int_equal(j.needed, AC_COMPARE_FEWEST);
	assert_true(fabs(j.ratio - 1) < 1e-12);
}

/* Which side is called plain makes no difference. */
CASE(test_sides)
{
	const double plain[] = { 1, 1.2, 1.1, 0.9, 1, 1.3, 1 };
	const double recast[] = { 1.1, 1.1, 1.3, 1.2, 1.05, 1.6, 0.8 };
	struct ac_judgement one, other;

	for (size_t n = 6; n <= 7; n++) {
		ac_compare_judge(plain, recast, n, 0, &one);
		ac_compare_judge(recast, plain, n, 0, &other);
		assert_true(fabs(one.low * other.high - 1) < 1e-12);
		assert_true(fabs(one.high * other.low - 1) < 1e-12);
		assert_true(fabs(one.ratio * other.ratio - 1) < 1e-12);
	}
}

/* The table that every textbook has: two-sided, 5 %. */
CASE(test_critical)
{
	static const struct { size_t n; int c; } rows[] = {
		{ 1, -1 }, { 5, -1 }, { 6, 0 }, { 7, 2 }, { 8, 3 }, { 9, 5 },
		{ 10, 8 }, { 12, 13 }, { 15, 25 }, { 20, 52 }, { 25, 89 },
		{ 30, 137 }, { 50, 434 }
	};
	double risk;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(critical(rows[i].n, &risk), rows[i].c);
	assert_true(critical(AC_COMPARE_PAIRS, &risk) > 8000);
	assert_true(risk > 0.0249 && risk <= 0.025);
}

CASE(test_middle)
{
	const double odd[] = { 3, 1, 100 }, even[] = { 4, 1, 3, 2 };

	assert_true(ac_compare_median(odd, 3) == 3);
	assert_true(ac_compare_median(even, 4) == 2.5);
	assert_true(ac_compare_median(odd, 1) == 3);
	assert_true(fabs(ac_compare_spread(odd, 3) - 2 * 1.4826) < 1e-9);
	assert_true(ac_compare_spread(odd, 1) == 0);
}

CASE(test_outliers)
{
	/* Their median is 3, their spread 1.4826: 3 + 3 * 1.4826 = 7.4478. */
	const double inside[] = { 1, 2, 3, 4, 7.44 };
	const double outside[] = { 1, 2, 3, 4, 7.45 };
	const double low[] = { -1.45, 2, 3, 4, 5 };
	const double equal[] = { 3, 3, 3, 3, 3 };

	assert_int_equal(ac_compare_outliers(inside, 5), 0);
	assert_int_equal(ac_compare_outliers(outside, 5), 1);
	assert_int_equal(ac_compare_outliers(low, 5), 1);
	assert_int_equal(ac_compare_outliers(equal, 5), 0);
	assert_int_equal(ac_compare_outliers(outside + 1, 4), 0);
}

CASES_RUN(NULL, NULL)
