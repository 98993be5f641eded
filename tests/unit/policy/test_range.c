/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/policy/test_range.c -- what is predicted from exponents against
 * what casts really lose, for the kinds of data that products are made of. */
#include "policy/decide/range.h"
#include "tests/unit/cases.h"

#include <math.h>

enum { ROWS = 256, COLS = 1024, ELEMENTS = ROWS * COLS };

static float data[ELEMENTS];
static uint64_t counts[AC_EXPONENTS];

/* ---- Data, as prototypes of matrices have it --------------------------- */

static uint64_t seed = 88172645463325252u;

static double
uniform(double from, double to)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return from + (to - from) * ((double)(seed >> 11) * 0x1p-53);
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform(0x1p-53, 1)))
	    * cos(6.283185307179586 * uniform(0, 1));
}

static double
wide(double from, double to)
{
	return (uniform(0, 1) < 0.5 ? -1 : 1) * exp2(uniform(from, to));
}

static double of_uniform01(int i) { (void)i; return uniform(0, 1); }
static double of_uniform11(int i) { (void)i; return uniform(-1, 1); }
static double of_normal(int i) { (void)i; return normal(); }
static double of_weights(int i) { (void)i; return 0.02 * normal(); }
static double of_relu(int i) { (void)i; return fmax(normal(), 0); }
static double of_wide(int i) { (void)i; return wide(-20, 10); }
static double of_vwide(int i) { (void)i; return wide(-60, -10); }
static double of_grad5(int i) { (void)i; return 1e-5 * normal(); }
static double of_grad6(int i) { (void)i; return 1e-6 * normal(); }
static double of_grad7(int i) { (void)i; return 1e-7 * normal(); }
static double of_grad8(int i) { (void)i; return 1e-8 * normal(); }
static double of_grad9(int i) { (void)i; return 1e-9 * normal(); }
static double of_big(int i) { (void)i; return 1e6 * normal(); }
static double of_tiny(int i) { (void)i; return 1e-30 * normal(); }

static double
of_channels(int i)
{
	return normal() * (i % COLS % 200 == 7 ? 1000 : 1);
}

static double
of_heavy_tails(int i)
{
	return 1e-8 * normal() * exp(normal());
}

/* Probabilities: each row sums to one. */
static double
of_softmax(int i)
{
	static double row[COLS];
	double sum = 0;

	if (i % COLS == 0) {
		for (int j = 0; j < COLS; j++)
			sum += row[j] = exp(3 * normal());
		for (int j = 0; j < COLS; j++)
			row[j] /= sum;
	}
	return row[i % COLS];
}

/* The same grade for all of a row, in whatever order. */
static double
of_graded_rows(int i)
{
	return normal() * exp2(-30.0 * (i / COLS * 37 % ROWS) / ROWS);
}

static double
of_graded_columns(int i)
{
	return normal() / exp2(-30.0 * (i % COLS * 37 % COLS) / COLS);
}

/* Not in the table: outliers and very heavy tails, where the rounding of one
 * element or two is nearly all of the loss, and integers, which lose nothing.
 * policy/decide/range.h says so. */
static const struct {
	const char *name;
	double    (*of)(int i);
} kinds[] = {
	{ "uniform(0,1)", of_uniform01 }, { "uniform(-1,1)", of_uniform11 },
	{ "normal", of_normal }, { "weights", of_weights }, { "relu", of_relu },
	{ "softmax", of_softmax }, { "wide", of_wide }, { "vwide", of_vwide },
	{ "gradients 1e-5", of_grad5 }, { "gradients 1e-6", of_grad6 },
	{ "gradients 1e-7", of_grad7 }, { "gradients 1e-8", of_grad8 },
	{ "gradients 1e-9", of_grad9 }, { "heavy tails", of_heavy_tails },
	{ "channels", of_channels }, { "graded rows", of_graded_rows },
	{ "graded columns", of_graded_columns }, { "big", of_big },
	{ "tiny", of_tiny },
};

static void
make(double (*of)(int i))
{
	memset(counts, 0, sizeof counts);
	for (int i = 0; i < ELEMENTS; i++) {
		uint32_t bits;

		data[i] = (float)of(i);
		memcpy(&bits, &data[i], sizeof bits);
		counts[bits >> 23 & 0xff]++;
	}
}

/* ---- Casts as they are ------------------------------------------------- */

/* `x` rounded to nearest even with `bits` significand bits, gradual underflow
 * below 2^least. */
static double
cast(double x, int bits, int least)
{
	int e;
	double unit;

	if (x == 0)
		return 0;
	e = ilogb(x);
	unit = ldexp(1, (e > least ? e : least) - (bits - 1));
	return nearbyint(x / unit) * unit;
}

static const struct { int bits, least; bool half, scaled; }
    casts[AC_RANGE_COUNT] = {
	[AC_RANGE_FP16] = { 11, -14, true, true },
	[AC_RANGE_FP16_UNSCALED] = { 11, -14, true, false },
	[AC_RANGE_BF16] = { 8, -126, false, false },
	[AC_RANGE_TF32] = { 11, -126, false, false },
};

static struct ac_range_loss
lose(enum ac_range_way way)
{
	double amax = 0, whole = 0, lost = 0, scale;
	struct ac_range_loss loss = { 0 };
	double all = 0;

	for (int i = 0; i < ELEMENTS; i++)
		amax = fmax(amax, fabs((double)data[i]));
	scale = casts[way].scaled ? exp2(14 - ilogb(amax)) : 1;
	for (int i = 0; i < ELEMENTS; i++) {
		const double x = (double)data[i] * scale;
		const double y = cast(x, casts[way].bits, casts[way].least);

		all += x != 0;
		whole += x * x;
		lost += (x - y) * (x - y);
		loss.flushed += x != 0 && y == 0;
		loss.subnormal += y != 0 &&
		    fabs(x) < ldexp(1, casts[way].least);
		loss.overflowed += casts[way].half && fabs(y) > 65504;
	}
	loss.rho = sqrt(lost / whole);
	loss.flushed /= all;
	loss.subnormal /= all;
	loss.overflowed /= all;
	return loss;
}

/* ---- Cases ------------------------------------------------------------- */

static void
compare(const char *name, enum ac_range_way way)
{
	const struct ac_range_loss truth = lose(way);
	struct ac_range_loss told;
	double ratio;

	ac_range_predict(counts, way, &told);
	/* One binade is the grain of what can be told. */
	if (fabs(told.flushed - truth.flushed) > 0.02 ||
	    fabs(told.subnormal - truth.subnormal) > 0.02)
		fail_msg("%s, %s: flushed %g, is %g; subnormal %g, is %g",
		    name, ac_range_rows[way].name, told.flushed, truth.flushed,
		    told.subnormal, truth.subnormal);
	assert_true((told.overflowed > 0) == (truth.overflowed > 0));
	if (truth.overflowed > 0) {
		assert_true(isinf(told.rho));
		return;
	}
	ratio = told.rho / truth.rho;
	if (truth.rho > 0 ? ratio < 0.8 || ratio > 1.05 : told.rho > 1e-8)
		fail_msg("%s, %s: rho %g, is %g: %.3f of it", name,
		    ac_range_rows[way].name, told.rho, truth.rho, ratio);
}

CASE(test_kinds)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		make(kinds[i].of);
		for (int way = 0; way < AC_RANGE_COUNT; way++)
			compare(kinds[i].name, (enum ac_range_way)way);
	}
}

CASE(test_extent)
{
	struct ac_range_extent x;

	memset(counts, 0, sizeof counts);
	ac_range_measure(counts, &x);
	assert_int_equal(x.elements, 0);
	counts[0] = 5;
	counts[255] = 2;
	ac_range_measure(counts, &x);
	assert_int_equal(x.elements, 7);
	assert_int_equal(x.lowest, 0);
	assert_int_equal(x.highest, 0);
	counts[1] = 1;
	counts[130] = 1;
	counts[254] = 1;
	ac_range_measure(counts, &x);
	assert_int_equal(x.elements, 10);
	assert_int_equal(x.zeros, 5);
	assert_int_equal(x.nonfinite, 2);
	assert_int_equal(x.lowest, -126);
	assert_int_equal(x.highest, 127);
}

/* Nothing, zeros only, and every count there can be. */
CASE(test_corners)
{
	for (int kind = 0; kind < 3; kind++) {
		memset(counts, kind == 2 ? 0xff : 0, sizeof counts);
		counts[0] = 9;
		counts[255] = kind == 1;
		for (int way = 0; way < AC_RANGE_COUNT; way++) {
			struct ac_range_loss loss;

			ac_range_predict(counts, (enum ac_range_way)way, &loss);
			assert_true(kind == 2 ? loss.rho > 0 : loss.rho == 0);
			assert_true(loss.flushed >= 0 && loss.flushed <= 1);
			assert_true(loss.subnormal >= 0 && loss.subnormal <= 1);
			assert_true(loss.overflowed >= 0 &&
			    loss.overflowed <= 1);
		}
	}
}

static enum ac_range_verdict
verdict_of(const struct ac_range_rank *ranks, enum ac_range_way way)
{
	int i = 0;

	while (ranks[i].way != way)
		i++;
	return ranks[i].verdict;
}

/* The cheapest that fits comes first, and it is the guard's rule that says. */
CASE(test_order)
{
	static uint64_t small[AC_EXPONENTS], large[AC_EXPONENTS];
	struct ac_range_rank ranks[AC_RANGE_COUNT];

	make(of_grad8);
	memcpy(small, counts, sizeof small);
	make(of_normal);
	ac_range_order(small, counts, 1e-3, ranks);
	assert_int_equal(ranks[0].way, AC_RANGE_FP16);
	assert_true(fabs(ranks[0].error - 2.9e-4) < 0.5e-4);
	assert_int_equal(ranks[1].way, AC_RANGE_TF32);
	assert_int_equal(verdict_of(ranks, AC_RANGE_FP16_UNSCALED),
	    AC_RANGE_LOSES);
	assert_int_equal(verdict_of(ranks, AC_RANGE_BF16), AC_RANGE_LOSES);
	/* Half of it is for the casts. */
	ac_range_order(small, counts, 5e-4, ranks);
	assert_int_equal(verdict_of(ranks, AC_RANGE_FP16), AC_RANGE_LOSES);
	/* BF16's own tolerance is eight times that. */
	ac_range_order(small, counts, 8e-3, ranks);
	assert_int_equal(verdict_of(ranks, AC_RANGE_BF16), AC_RANGE_FITS);
	ac_range_order(small, counts, 0, ranks);
	assert_int_equal(verdict_of(ranks, AC_RANGE_BF16), AC_RANGE_FITS);
	/* Graded over fifty binades: only what has FP32's range. */
	make(of_big);
	memcpy(large, counts, sizeof large);
	ac_range_order(large, small, 1e-3, ranks);
	assert_int_equal(verdict_of(ranks, AC_RANGE_FP16_UNSCALED),
	    AC_RANGE_OVERFLOWS);
	assert_true(isinf(ranks[AC_RANGE_COUNT - 1].error) ||
	    isinf(ranks[AC_RANGE_COUNT - 2].error));
	/* The casts of zeros lose nothing; the rung is known to. */
	memset(small, 0, sizeof small);
	small[0] = 1;
	ac_range_order(small, small, 1e-4, ranks);
	assert_int_equal(verdict_of(ranks, AC_RANGE_TF32), AC_RANGE_ROUGH);
}

CASES_RUN(NULL, NULL)
