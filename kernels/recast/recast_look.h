/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_look.h -- what sampled outputs of a product have lost,
 * once for both sides: one by one, and of many.
 *
 * An output is compared with alpha times its dot product, in FP64, plus beta C:
 * where that is inf or NaN in FP32, an output of the same kind is right and any
 * other has error inf. What is kept of it is in FP32. Two ratios are taken of
 * many outputs, the worse one is their error: what was lost over the result,
 * and over what alpha A B adds, where C does not hide that (it is larger by
 * 2^12).
 *
 * Behind an epilogue both are D. A bias counts as a part of beta C. What was
 * lost is measured at D, and so is what is added: times the slope of the
 * activation there, for that is how much of a loss arrives. Where the slope is
 * below 2^-8 the product does not show: inactive outputs are 0 and add nothing
 * to any sum, and a sample of them alone has nothing in it. An output that RELU
 * passes on one side only is active. What is lost of a GELU left of 0 counts
 * against slope times y where that is more than D, for D vanishes faster than
 * its error does; and the first 2^-20 |y| are FP32's own.
 *
 * Exactness: a reference that is an FP32 number counts as exact, subnormal ones
 * and 0 do not. FP64 rounds a dot of FP32 numbers beyond 53 bits; such a one
 * looks exact only if its terms cancel to 2^-29 of them, which `error` finds
 * first. Outputs are exact together if 7 of 8 references are that are not 0.
 * Those of a line are if all are whole numbers: the first row of a causal
 * attention is a copy of real ones, and that is no promise. Fewer than four say
 * nothing. Behind an epilogue it is D that has to be such a number: 0 is none,
 * and of GELU only large ones are. */
#ifndef AC_KERNELS_RECAST_LOOK_H
#define AC_KERNELS_RECAST_LOOK_H

#include "kernels/recast/recast_epilogue.h"
#include "kernels/recast/recast_spots.h"

enum {
	AC_RECAST_HIDES  = 1 << 12,
	AC_RECAST_FEW    = 4,
	AC_RECAST_MANY   = 12,
	AC_RECAST_NORMAL = 0x00800000 /* bits of the least normal float */
};

/* Behind an activation: a slope from which on a loss of the product is seen at
 * all; what FP32's own way to D may lose of y (recast_epilogue.h). */
#define AC_RECAST_FLAT 0x1p-8f
#define AC_RECAST_BLUR 0x1p-20f

/* ---- One output -------------------------------------------------------- */

struct ac_recast_look {
	float lost;     /* its distance from the reference */
	float near;     /* the reference; 0 if inf or NaN in FP32 */
	float added;    /* alpha times the dot; 0 with such a reference */
	bool  hidden;   /* C is larger than `added` by 2^12 */
	bool  exact;    /* FP32 has the reference */
};

/* Whether C hides what is added to it. */
AC_CAST_BODY bool
ac_recast_hides(double c, float added)
{
	const double size = (double)ac_recast_absolute(added)
	    * AC_RECAST_HIDES;

	return !ac_recast_is_finite(added) || !(c <= size && -c <= size);
}

/* An output against what it should be, and what of that was added. */
AC_CAST_BODY struct ac_recast_look
ac_recast_look_of(float c, double wanted, double added)
{
	struct ac_recast_look look;

	look.near = (float)wanted;
	look.added = (float)added;
	look.lost = ac_recast_absolute((float)((double)c - wanted));
	look.exact = (double)look.near == wanted && ac_cast_bits(
	    ac_recast_absolute(look.near)) >= AC_RECAST_NORMAL;
	if (!ac_recast_is_finite(look.near)) {
		const bool same = ac_cast_bits(look.near) == ac_cast_bits(c)
		    || (look.near != look.near && c != c);

		look.near = look.added = 0;
		look.exact = false;
		look.lost = same ? 0 : ac_cast_float(AC_CAST_INF);
	} else if (!ac_recast_is_finite(c)) {
		look.lost = ac_cast_float(AC_CAST_INF);
	}
	look.hidden = false;
	return look;
}

/* An output's place, what it is made of, and what C held there. */
struct ac_recast_place {
	const float *from, *old;  /* `old` is not read with beta 0 */
	float    alpha, beta;
	uint32_t apart;           /* from + beta old is what will be in C */
	struct ac_recast_follower after;
};

AC_CAST_BODY struct ac_recast_place
ac_recast_place_of(const struct ac_recast *r, const struct ac_recast_spot *spot,
    const float *old)
{
	struct ac_recast_place place;

	place.alpha = ac_cast_scalar_read(&r->alpha);
	place.beta = ac_cast_scalar_read(&r->beta);
	place.old = old;
	place.apart = r->output.result != NULL;
	place.after = ac_recast_follower_of(r, spot->matrix, spot->row,
	    spot->col);
	place.from = place.apart
	    ? ac_recast_result(r, spot->matrix, spot->row, spot->col)
	    : ac_recast_c(r, spot->matrix, spot->row, spot->col);
	return place;
}

/* Whether an output of 0, or NaN, is as right as what `y` makes of it: of a NaN
 * RELU's maximum is 0; a mask may be a factor, or a choice; half of -inf times
 * 1 + tanh is NaN. Nobody's business is what an aux of inf or NaN makes. */
AC_CAST_BODY bool
ac_recast_is_moot(uint32_t activation, float aux, float c, double y)
{
	const bool finite = ac_recast_is_finite((float)y);

	switch (activation) {
	case AC_ACTIVATION_RELU:
		return y != y && !(c < 0 || c > 0);
	case AC_ACTIVATION_DRELU:
		return (y != y || (!finite && aux == 0)) && !(c < 0 || c > 0);
	case AC_ACTIVATION_GELU:
		return !finite && y < 0 && !(c < 0 || c > 0);
	default:
		return !ac_recast_is_finite(aux);
	}
}

/* An output behind an activation, of a reference `y` before it. */
AC_CAST_BODY struct ac_recast_look
ac_recast_look_through(uint32_t activation, float aux, float c, double y,
    double added)
{
	struct ac_recast_outcome outcome = ac_recast_activate(activation, aux,
	    y);
	const float size = ac_recast_absolute((float)y);
	const float reach = ac_recast_absolute(outcome.slope) * size;
	struct ac_recast_look look;

	if (ac_recast_is_moot(activation, aux, c, y))
		return ac_recast_look_of(0, 0, 0);
	if (activation == AC_ACTIVATION_RELU && c != 0)
		outcome.slope = 1;
	look = ac_recast_look_of(c, outcome.value, 0);
	look.hidden = ac_recast_absolute(outcome.slope) < AC_RECAST_FLAT;
	if (!look.hidden && ac_recast_is_finite((float)outcome.value))
		look.added = (float)((double)outcome.slope * added);
	if (!ac_recast_is_finite(size))
		return look;
	if (activation == AC_ACTIVATION_GELU && y < 0
	    && reach > ac_recast_absolute(look.near))
		look.near = reach;
	if (activation == AC_ACTIVATION_GELU
	    || activation == AC_ACTIVATION_DGELU)
		look.lost = look.lost > AC_RECAST_BLUR * size
		    ? look.lost - AC_RECAST_BLUR * size : 0;
	return look;
}

/* An output and its `dot` in FP64. */
AC_CAST_BODY struct ac_recast_look
ac_recast_look_at(const struct ac_recast_place *place, double dot)
{
	const struct ac_recast_follower *after = &place->after;
	const float old = place->beta != 0 ? *place->old : 0;
	const float aux = ac_recast_aux(after);
	const double bias = ac_recast_bias(after);
	const double added = place->alpha != 0 ? (double)place->alpha * dot : 0;
	double hides = place->beta != 0
	    ? (double)place->beta * (double)old : 0;
	float c = place->apart ? ac_recast_sum(*place->from, place->beta,
	    &old) : *place->from;
	struct ac_recast_look look;

	if (after->bias) /* -0 + 0 is not -0 */
		hides = hides + bias;
	if (place->apart && (after->bias || after->activation))
		c = (float)ac_recast_activate(after->activation, aux,
		    (double)c + bias).value;
	look = after->activation ? ac_recast_look_through(after->activation,
	    aux, c, added + hides, added)
	    : ac_recast_look_of(c, added + hides, added);
	look.hidden |= ac_recast_hides(hides, look.added);
	return look;
}

/* What is kept of 256 of them, by each. The sign of what was lost says `exact`,
 * that of what is added says `hidden`. */
typedef float ac_recast_looks[3][AC_RECAST_SAMPLE];

AC_CAST_BODY void
ac_recast_look_store(ac_recast_looks to, const struct ac_recast_look *look,
    int at)
{
	const float added = ac_recast_absolute(look->added);

	to[0][at] = look->exact ? -look->lost : look->lost;
	to[1][at] = look->near;
	to[2][at] = look->hidden ? -added : added;
}

AC_CAST_BODY struct ac_recast_look
ac_recast_look_load(ac_recast_looks from, int at)
{
	const volatile float *lost = from[0], *near = from[1];
	const volatile float *added = from[2];
	struct ac_recast_look look;

	look.lost = lost[at];
	look.near = near[at];
	look.added = added[at];
	look.exact = ac_cast_bits(look.lost) >> 31;
	look.hidden = ac_cast_bits(look.added) >> 31;
	look.lost = ac_recast_absolute(look.lost);
	look.added = ac_recast_absolute(look.added);
	return look;
}

/* ---- Many outputs ------------------------------------------------------ */

struct ac_recast_norm {
	double   lost, all;       /* sums of squares, of the result */
	double   bare_lost, bare; /* of what is added, where not hidden */
	float    off;             /* worst relative error of an exact one */
	uint32_t added;           /* outputs to which something is added */
	uint32_t shown;           /* that are not 0, or should not be */
	uint32_t filled;          /* whose reference is not 0; of those: */
	uint32_t exact, whole;    /* FP32 has them; and they are whole */
};

AC_CAST_BODY struct ac_recast_norm
ac_recast_norm_none(void)
{
	struct ac_recast_norm norm;

	norm.lost = norm.all = norm.bare_lost = norm.bare = 0;
	norm.off = 0;
	norm.added = norm.shown = norm.filled = norm.exact = norm.whole = 0;
	return norm;
}

AC_CAST_BODY bool
ac_recast_is_whole(float x)
{
	return ac_recast_absolute(x) >= 0x1p23f || x == (float)(int32_t)x;
}

AC_CAST_BODY void
ac_recast_norm_add(struct ac_recast_norm *norm,
    const struct ac_recast_look *look)
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
	norm->whole += ac_recast_is_whole(look->near);
	ac_recast_raise((float)(lost / (near < 0 ? -near : near)), &norm->off);
}

AC_CAST_BODY void
ac_recast_norm_join(struct ac_recast_norm *norm,
    const struct ac_recast_norm *more)
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
	ac_recast_raise(more->off, &norm->off);
}

AC_CAST_BODY float
ac_recast_relative(double lost, double all)
{
	if (!(lost > 0))
		return 0;
	if (!(all > 0))
		return ac_cast_float(AC_CAST_INF);
	return (float)ac_recast_sqrt(lost / all);
}

/* What is lost of the result. Behind an activation most outputs may be 0, and
 * the others nearly so: fewer than four say nothing, and what n say counts as
 * the square of n / (n + many) of it, next to that of `whole`. */
AC_CAST_BODY float
ac_recast_norm_shown(const struct ac_recast_norm *norm, float whole, float many)
{
	const float shown = (float)norm->shown;
	const float share = shown >= whole ? 1 : shown / (shown + many)
	    * ((whole + many) / whole);

	if (norm->shown < AC_RECAST_FEW && norm->lost - norm->lost == 0)
		return 0;
	return ac_recast_relative(norm->lost, norm->all) * (share * share);
}

/* With 12, where sizes are distributed exponentially and the error is 0.57 tol,
 * four to 128 outputs are over 0.8 tol by chance in three of 10,000 samples at
 * most, not in a third of them. */
AC_CAST_BODY float
ac_recast_norm_result(uint32_t activation, const struct ac_recast_norm *norm)
{
	return activation ? ac_recast_norm_shown(norm, AC_SAMPLE_SIDE
	    * AC_SAMPLE_SIDE, AC_RECAST_MANY)
	    : ac_recast_relative(norm->lost, norm->all);
}

/* The worse ratio, of the result or of what is added. */
AC_CAST_BODY float
ac_recast_norm_worse(const struct ac_recast_norm *norm, float result)
{
	ac_recast_raise(ac_recast_relative(norm->bare_lost, norm->bare),
	    &result);
	return result;
}

/* Their error, if few are as good as many. */
AC_CAST_BODY float
ac_recast_norm_error(const struct ac_recast_norm *norm)
{
	return ac_recast_norm_worse(norm, ac_recast_relative(norm->lost,
	    norm->all));
}

AC_CAST_BODY float
ac_recast_norm_final(uint32_t activation, const struct ac_recast_norm *norm)
{
	return ac_recast_norm_worse(norm, ac_recast_norm_result(activation,
	    norm));
}

/* By how much numbers that FP32 has exactly came out changed; 0 where there are
 * none, or nobody asks. */
AC_CAST_BODY float
ac_recast_norm_exact(uint32_t judge, const struct ac_recast_norm *norm)
{
	return judge & AC_JUDGE_EXACT && norm->filled >= AC_RECAST_FEW
	    && 8 * norm->exact >= 7 * norm->filled ? norm->off : 0;
}

/* As for a line: whole numbers only. */
AC_CAST_BODY float
ac_recast_norm_whole(uint32_t judge, const struct ac_recast_norm *norm)
{
	return judge & AC_JUDGE_EXACT && norm->filled >= AC_RECAST_FEW
	    && norm->whole == norm->filled ? norm->off : 0;
}

/* Of `count` outputs from `first` on, `step` apart. */
AC_CAST_BODY struct ac_recast_norm
ac_recast_norm_of(ac_recast_looks looks, int first, int step, int count)
{
	struct ac_recast_norm norm = ac_recast_norm_none();

	AC_CAST_ROLLED
	for (int i = 0; i < count; i++) {
		const struct ac_recast_look look = ac_recast_look_load(looks,
		    first + i * step);

		ac_recast_norm_add(&norm, &look);
	}
	return norm;
}

/* A row of 16 x 16 (0 .. 15) or a column (16 .. 31); `count` outputs of it. */
AC_CAST_BODY struct ac_recast_norm
ac_recast_norm_line(ac_recast_looks looks, int line, int count)
{
	const bool is_row = line < AC_SAMPLE_SIDE;

	return ac_recast_norm_of(looks, is_row ? line
	    : (line - AC_SAMPLE_SIDE) * AC_SAMPLE_SIDE, is_row ? AC_SAMPLE_SIDE
	    : 1, count);
}

#endif
