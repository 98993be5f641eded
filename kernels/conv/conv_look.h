/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/conv/conv_look.h -- what sampled outputs of a convolution have lost,
 * once for both sides: one by one, and of many.
 *
 * An output is compared with what FP64 makes of the inputs: where that is inf
 * or NaN in FP32, an output of the same kind is right and any other has error
 * inf. What is kept of it is in FP32. Two ratios are taken of many outputs, the
 * worse one is their error: what was lost over the result, and over what the
 * convolution adds, where z and bias do not hide that (they are larger by
 * 2^12).
 *
 * Exactness: a reference that is an FP32 number counts as exact, subnormal ones
 * and 0 do not. FP64 rounds a sum of products beyond 53 bits; such a one looks
 * exact only if its terms cancel to 2^-29 of them, which `error` finds first.
 * Outputs are exact together if 7 of 8 references are that are not 0. Those of
 * a line are if all are whole numbers: one that is a copy of real ones is no
 * promise. Fewer than four say nothing. */
#ifndef AC_KERNELS_CONV_LOOK_H
#define AC_KERNELS_CONV_LOOK_H

#include "kernels/conv/conv_check.h"
#include "kernels/recast/cast.h"

enum {
	AC_CONV_HIDES  = 1 << 12,
	AC_CONV_FEW    = 4,
	AC_CONV_MANY   = 12,
	AC_CONV_NORMAL = 0x00800000 /* bits of the least normal float */
};

AC_CAST_BODY void
ac_conv_raise(float value, float *worst)
{
	if (value > *worst)
		*worst = value;
}

/* ---- One output -------------------------------------------------------- */

struct ac_conv_look {
	float lost;     /* its distance from the reference */
	float near;     /* the reference; 0 if inf or NaN in FP32 */
	float added;    /* alpha times the sum; 0 with such a reference */
	bool  hidden;   /* what it is added to is larger by 2^12 */
	bool  exact;    /* FP32 has the reference */
};

/* Whether `z`, with the bias, hides what is added to it. */
AC_CAST_BODY bool
ac_conv_hides(double z, float added)
{
	const double size = (double)ac_cast_absolute(added)
	    * AC_CONV_HIDES;

	return !ac_cast_is_finite(added) || !(z <= size && -z <= size);
}

/* An output against what it should be, and what of that was added. */
AC_CAST_BODY struct ac_conv_look
ac_conv_look_of(float c, double wanted, double added)
{
	struct ac_conv_look look;

	look.near = (float)wanted;
	look.added = (float)added;
	look.lost = ac_cast_absolute((float)((double)c - wanted));
	look.exact = (double)look.near == wanted && ac_cast_bits(
	    ac_cast_absolute(look.near)) >= AC_CONV_NORMAL;
	if (!ac_cast_is_finite(look.near)) {
		const bool same = ac_cast_bits(look.near) == ac_cast_bits(c)
		    || (look.near != look.near && c != c);

		look.near = look.added = 0;
		look.exact = false;
		look.lost = same ? 0 : ac_cast_float(AC_CAST_INF);
	} else if (!ac_cast_is_finite(c)) {
		look.lost = ac_cast_float(AC_CAST_INF);
	}
	look.hidden = false;
	return look;
}

/* What is kept of 256 of them, by each. The sign of what was lost says `exact`,
 * that of what is added says `hidden`. */
typedef float ac_conv_looks[3][AC_CONV_SIDE * AC_CONV_SIDE];

AC_CAST_BODY void
ac_conv_look_store(ac_conv_looks to, const struct ac_conv_look *look,
    int at)
{
	const float added = ac_cast_absolute(look->added);

	to[0][at] = look->exact ? -look->lost : look->lost;
	to[1][at] = look->near;
	to[2][at] = look->hidden ? -added : added;
}

AC_CAST_BODY struct ac_conv_look
ac_conv_look_load(ac_conv_looks from, int at)
{
	const volatile float *lost = from[0], *near = from[1];
	const volatile float *added = from[2];
	struct ac_conv_look look;

	look.lost = lost[at];
	look.near = near[at];
	look.added = added[at];
	look.exact = ac_cast_bits(look.lost) >> 31;
	look.hidden = ac_cast_bits(look.added) >> 31;
	look.lost = ac_cast_absolute(look.lost);
	look.added = ac_cast_absolute(look.added);
	return look;
}

/* ---- Many outputs ------------------------------------------------------ */

struct ac_conv_norm {
	double   lost, all;       /* sums of squares, of the result */
	double   bare_lost, bare; /* of what is added, where not hidden */
	float    off;             /* worst relative error of an exact one */
	uint32_t added;           /* outputs to which something is added */
	uint32_t shown;           /* that are not 0, or should not be */
	uint32_t filled;          /* whose reference is not 0; of those: */
	uint32_t exact, whole;    /* FP32 has them; and they are whole */
};

AC_CAST_BODY struct ac_conv_norm
ac_conv_norm_none(void)
{
	struct ac_conv_norm norm;

	norm.lost = norm.all = norm.bare_lost = norm.bare = 0;
	norm.off = 0;
	norm.added = norm.shown = norm.filled = norm.exact = norm.whole = 0;
	return norm;
}

AC_CAST_BODY bool
ac_conv_is_whole(float x)
{
	return ac_cast_absolute(x) >= 0x1p23f || x == (float)(int32_t)x;
}

AC_CAST_BODY void
ac_conv_norm_add(struct ac_conv_norm *norm,
    const struct ac_conv_look *look)
{
	const double lost = (double)look->lost, near = (double)look->near;
	const double added = (double)look->added;

	norm->lost = norm->lost + lost * lost;
	norm->all = norm->all + near * near;
	if (!look->hidden) {
		norm->bare_lost = norm->bare_lost + lost * lost;
		norm->bare = norm->bare + added * added;
	}
	norm->added += added != 0;
	norm->shown += near != 0 || lost != 0;
	norm->filled += near != 0;
	if (!look->exact)
		return;
	norm->exact++;
	norm->whole += ac_conv_is_whole(look->near);
	ac_conv_raise((float)(lost / (near < 0 ? -near : near)), &norm->off);
}

AC_CAST_BODY void
ac_conv_norm_join(struct ac_conv_norm *norm,
    const struct ac_conv_norm *more)
{
	norm->lost = norm->lost + more->lost;
	norm->all = norm->all + more->all;
	norm->bare_lost = norm->bare_lost + more->bare_lost;
	norm->bare = norm->bare + more->bare;
	norm->added += more->added;
	norm->shown += more->shown;
	norm->filled += more->filled;
	norm->exact += more->exact;
	norm->whole += more->whole;
	ac_conv_raise(more->off, &norm->off);
}

AC_CAST_BODY float
ac_conv_relative(double lost, double all)
{
	if (!(lost > 0))
		return 0;
	if (!(all > 0))
		return ac_cast_float(AC_CAST_INF);
	return (float)ac_cast_sqrt(lost / all);
}

/* What is lost of the result. Behind an activation most outputs may be 0, and
 * the others nearly so: fewer than four say nothing, and what n say counts as
 * the square of n / (n + many) of it, next to that of `whole`. */
AC_CAST_BODY float
ac_conv_norm_shown(const struct ac_conv_norm *norm, float whole, float many)
{
	const float shown = (float)norm->shown;
	const float share = shown >= whole ? 1 : shown / (shown + many)
	    * ((whole + many) / whole);

	if (norm->shown < AC_CONV_FEW && norm->lost - norm->lost == 0)
		return 0;
	return ac_conv_relative(norm->lost, norm->all) * (share * share);
}

/* Of all sampled outputs. With 12, where sizes are distributed exponentially
 * and the error is 0.57 tol, four to 128 outputs are over 0.8 tol by chance in
 * three of 10,000 samples at most, not in a third of them. */
AC_CAST_BODY float
ac_conv_norm_final(uint32_t relu, const struct ac_conv_norm *norm)
{
	float worst = relu ? ac_conv_norm_shown(norm, AC_CONV_SIDE
	    * AC_CONV_SIDE, AC_CONV_MANY)
	    : ac_conv_relative(norm->lost, norm->all);

	ac_conv_raise(ac_conv_relative(norm->bare_lost, norm->bare), &worst);
	return worst;
}

/* By how much numbers that FP32 has exactly came out changed; 0 where there are
 * none. */
AC_CAST_BODY float
ac_conv_norm_exact(const struct ac_conv_norm *norm)
{
	return norm->filled >= AC_CONV_FEW
	    && 8 * norm->exact >= 7 * norm->filled ? norm->off : 0;
}

/* As for a line: whole numbers only. */
AC_CAST_BODY float
ac_conv_norm_whole(const struct ac_conv_norm *norm)
{
	return norm->filled >= AC_CONV_FEW
	    && norm->whole == norm->filled ? norm->off : 0;
}

/* A row of 16 x 16 (0 .. 15) or a column (16 .. 31); `count` outputs of it. */
AC_CAST_BODY struct ac_conv_norm
ac_conv_norm_line(ac_conv_looks looks, int line, int count)
{
	const bool is_row = line < AC_CONV_SIDE;
	const int first = is_row ? line : (line - AC_CONV_SIDE) * AC_CONV_SIDE;
	const int step = is_row ? AC_CONV_SIDE : 1;
	struct ac_conv_norm norm = ac_conv_norm_none();

	AC_CAST_ROLLED
	for (int i = 0; i < count; i++) {
		const struct ac_conv_look look = ac_conv_look_load(looks,
		    first + i * step);

		ac_conv_norm_add(&norm, &look);
	}
	return norm;
}

#endif
