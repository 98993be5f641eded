/* SPDX-License-Identifier: Apache-2.0 */
/* policy/decide/range.c -- what a cast loses, told from exponents. Pure; needs
 * no mathematics library, since policy/ is part of the preload. */
#include "policy/decide/range.h"
#include "policy/language/names.h"

enum {
	ZERO = 0, BIAS = 127, NONFINITE = 255,
	TOP = 14,                /* binade where two-pass scaling puts amax */
	FP32_BITS = 24
};

const struct ac_range_row ac_range_rows[AC_RANGE_COUNT] = {
	[AC_RANGE_FP16] = { "fp16", AC_RUNG_FP16, 11, -14, 15, true },
	[AC_RANGE_FP16_UNSCALED] = { "fp16 unscaled", AC_RUNG_FP16, 11, -14,
	    15, false },
	[AC_RANGE_BF16] = { "bf16", AC_RUNG_BF16, 8, -126, 127, false },
	[AC_RANGE_TF32] = { "tf32", AC_RUNG_TF32, 11, -126, 127, false },
};

const char *const ac_range_verdict_names[AC_RANGE_VERDICTS] = {
	[AC_RANGE_FITS] = "fits",
	[AC_RANGE_LOSES] = "loses too much",
	[AC_RANGE_OVERFLOWS] = "overflows",
	[AC_RANGE_ROUGH] = "too rough",
};

/* ---- Numbers ----------------------------------------------------------- */

/* 4^e, for any e that occurs here. */
static double
power4(int e)
{
	double power = 1, base = e < 0 ? 0.25 : 4;

	for (unsigned n = (unsigned)(e < 0 ? -e : e); n; n >>= 1) {
		if (n & 1)
			power *= base;
		base *= base;
	}
	return power;
}

/* Newton, from a power of two that is off by less than a factor of two. */
static double
root(double x)
{
	double guess = 1;
	int e = 0;

	if (!(x > 0) || x > 1e300)
		return x > 0 ? x : 0;
	while (e < 600 && power4(e) < x)
		e++;
	while (e > -600 && power4(e) > x)
		e--;
	for (int i = e; i; i += i < 0 ? 1 : -1)
		guess *= i < 0 ? 0.5 : 2;
	for (int i = 0; i < 8; i++)
		guess = (guess + x / guess) / 2;
	return guess;
}

/* ---- One binade -------------------------------------------------------- */

/* Mean square of |x| in [2^q, 2^(q+1)), spread evenly. */
static double
energy(int q)
{
	return power4(q) * 7 / 3;
}

/* Mean square of what a cast leaves of such an x, a multiple of 2^grain. Exact
 * for a multiple, ties included. */
static double
loss_of(const struct ac_range_row *f, int q, int grain)
{
	const int last = (q > f->least ? q : f->least) - (f->bits - 1);

	if (last <= grain)
		return 0;
	if (q < last - 1)
		return energy(q);
	return (power4(last) + 2 * power4(grain)) / 12;
}

/* The binade from which on nothing underflows: what is left is always the same
 * part of x. */
static int
level_from(const struct ac_range_row *f)
{
	return f->least - (f->bits - 1) + FP32_BITS - 1;
}

/* ---- The door ---------------------------------------------------------- */

void
ac_range_measure(const uint64_t counts[AC_EXPONENTS],
    struct ac_range_extent *extent_out)
{
	struct ac_range_extent x = {
		.elements = counts[ZERO] + counts[NONFINITE],
		.zeros = counts[ZERO], .nonfinite = counts[NONFINITE]
	};
	bool seen = false;

	for (int e = ZERO + 1; e < NONFINITE; e++) {
		x.elements += counts[e];
		if (!counts[e])
			continue;
		if (!seen)
			x.lowest = e - BIAS;
		x.highest = e - BIAS;
		seen = true;
	}
	*extent_out = x;
}

void
ac_range_predict(const uint64_t counts[AC_EXPONENTS], enum ac_range_way way,
    struct ac_range_loss *loss_out)
{
	const struct ac_range_row *f = &ac_range_rows[way];
	const int quantum = f->least - (f->bits - 1);
	double all = 0, whole = 0, lost = 0;
	double flushed = 0, subnormal = 0, overflowed = 0;
	const int level = level_from(f);
	const double part = loss_of(f, level, level - (FP32_BITS - 1))
	    / power4(level);
	struct ac_range_extent x;
	int shift;

	ac_range_measure(counts, &x);
	shift = f->scaled ? TOP - x.highest : 0;
	for (int e = x.lowest; e <= x.highest; e++) {
		const double count = (double)counts[e + BIAS];
		const int q = e + shift;

		if (!counts[e + BIAS])
			continue;
		all += count;
		whole += count * energy(e);
		flushed += q < quantum - 1 ? count : 0;
		subnormal += q >= quantum - 1 && q < f->least ? count : 0;
		if (q > f->most)
			overflowed += count;
		else if (q >= level)
			lost += count * part * power4(e);
		else
			lost += count * loss_of(f, q, q - (FP32_BITS - 1))
			    * power4(-shift);
	}
	*loss_out = (struct ac_range_loss){ 0 };
	if (all <= 0)
		return;
	loss_out->rho = overflowed > 0 ? __builtin_inf() : root(lost / whole);
	loss_out->flushed = flushed / all;
	loss_out->subnormal = subnormal / all;
	loss_out->overflowed = overflowed / all;
}

/* As the guard would judge it (policy/guard.h). */
static enum ac_range_verdict
judge(const struct ac_range_rank *rank, double tol)
{
	const struct ac_rung_row *rung =
	    &ac_rung_rows[ac_range_rows[rank->way].rung];

	if (tol <= 0)
		tol = rung->tol;
	if (rank->loss[0].overflowed > 0 || rank->loss[1].overflowed > 0)
		return AC_RANGE_OVERFLOWS;
	if (!(rank->error <= tol / 2))
		return AC_RANGE_LOSES;
	return rung->error > tol ? AC_RANGE_ROUGH : AC_RANGE_FITS;
}

void
ac_range_order(const uint64_t a[AC_EXPONENTS], const uint64_t b[AC_EXPONENTS],
    double tol, struct ac_range_rank ranks_out[AC_RANGE_COUNT])
{
	struct ac_range_rank ranks[AC_RANGE_COUNT];
	unsigned filled = 0;

	for (int i = 0; i < AC_RANGE_COUNT; i++) {
		struct ac_range_rank *r = &ranks[i];

		r->way = (enum ac_range_way)i;
		ac_range_predict(a, r->way, &r->loss[0]);
		ac_range_predict(b, r->way, &r->loss[1]);
		r->error = root(r->loss[0].rho * r->loss[0].rho
		    + r->loss[1].rho * r->loss[1].rho);
		r->verdict = judge(r, tol);
	}
	for (int i = 0; i < AC_RANGE_COUNT; i++)
		if (ranks[i].verdict == AC_RANGE_FITS)
			ranks_out[filled++] = ranks[i];
	for (int i = 0; i < AC_RANGE_COUNT; i++)
		if (ranks[i].verdict != AC_RANGE_FITS)
			ranks_out[filled++] = ranks[i];
}
