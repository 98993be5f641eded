/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_body.h -- the arithmetic of a verified product,
 * once, for the GPU (*.cu here) and the CPU (kernels/twins/).
 *
 * As cast.h: no libm, no flush to zero. A multiply and an add are fused only
 * where ac_verified_fma() says so, on both sides. The order of every
 * floating-point sum is fixed by the sizes:
 *
 *   Eight chains: of a slice of K, chain c adds the k with k / 4 % 8 == c; of
 * the probe's groups of 8 lines, it adds groups c and c + 8. Chains of a slice
 * are added as a tree of neighbours, those of groups from 0 on, slices from 0
 * on. Mend adds each span of K from its begin on, then the spans. */
#ifndef AC_KERNELS_VERIFIED_BODY_H
#define AC_KERNELS_VERIFIED_BODY_H

#include "kernels/recast/cast.h"
#include "kernels/verified/verified_rung.h"

static_assert(sizeof(struct ac_verified_operand) == 96, "operand layout");
static_assert(sizeof(struct ac_verified_word) == 40, "word layout");
static_assert(sizeof(struct ac_verified_tail) == 80, "tail layout");
static_assert(sizeof(struct ac_verified_output) == 192, "output layout");
static_assert(sizeof(struct ac_verified_state) == 56, "state layout");
static_assert(sizeof(struct ac_verified_record) == 56, "record layout");
static_assert(sizeof(struct ac_verified) == 512, "parameter layout");

enum {
	AC_VERIFIED_CHAINS = 8,
	AC_VERIFIED_GROUP = 8,      /* lines side by side: 32 bytes */
	AC_VERIFIED_GROUPS = 16,    /* of the probe; 4 where a side is short */
	AC_VERIFIED_SHORT = 512,
	AC_VERIFIED_TARGET = 10,    /* amax lands in [2^10, 2^11) */
	AC_VERIFIED_LEAST = -23     /* below, 2^e may make 2^-126 a 0 */
};

/* A line has lost less unless it is marked: 2^8 of a number, 2^23 of them. */
#define AC_VERIFIED_UNMARKED 0x1p31f

/* ---- Numbers ----------------------------------------------------------- */

/* a b + c, rounded once. On the CPU rounded to odd in FP64 first: exact but for
 * what does not matter, since 53 >= 2 * 24 + 2. */
AC_CAST_BODY float
ac_verified_fma(float a, float b, float c)
{
#ifdef __CUDACC__
	return __fmaf_rn(a, b, c);
#else
	const double p = (double)a * (double)b, s = p + (double)c;
	const double back = s - p, rest = (p - (s - back)) + ((double)c - back);
	uint64_t bits;
	double odd;

	if (!(rest != 0)) /* exact, or not finite */
		return (float)s;
	memcpy(&bits, &s, sizeof bits);
	if (rest - rest == 0 && !(bits & 1))
		bits += (rest > 0) == (s > 0) ? 1 : (uint64_t)-1;
	memcpy(&odd, &bits, sizeof odd);
	return (float)odd;
#endif
}

/* sum + w x; w is a float, and the product of two is exact in FP64, so it is
 * all one whether it is fused. */
AC_CAST_BODY double
ac_verified_add(double w, float x, double sum)
{
#ifdef __CUDACC__
	return __fma_rn(w, (double)x, sum);
#else
	return sum + w * (double)x;
#endif
}

/* 2^e, -126 <= e <= 127. */
AC_CAST_BODY float
ac_verified_power(int32_t e)
{
	return ac_cast_float((uint32_t)(e + 127) << 23);
}

/* x 2^e for any |e| <= 252. */
AC_CAST_BODY float
ac_verified_scale(float x, int32_t e)
{
	const int32_t half = e / 2;

	return x * ac_verified_power(half) * ac_verified_power(e - half);
}

/* Whether x is whole; inf and NaN are marked anyway. */
AC_CAST_BODY bool
ac_verified_is_whole(float x)
{
	const float size = ac_cast_absolute(x);

	return size >= 0x1p23f || (size + 0x1p23f) - 0x1p23f == size;
}

/* Whether x has more bits than FP16; inf and NaN are marked anyway. */
AC_CAST_BODY bool
ac_verified_is_long(float x)
{
	return (ac_cast_bits(x) & 0x1fff) != 0;
}

/* What the probe sees of a number, AC_VERIFIED_*. */
AC_CAST_BODY uint32_t
ac_verified_seen(float x)
{
	return (ac_verified_is_whole(x) ? 0 : AC_VERIFIED_FRACTION
	    | AC_VERIFIED_PROBED)
	    | (ac_verified_is_long(x) ? AC_VERIFIED_LONG : 0);
}

AC_CAST_BODY bool
ac_verified_is_power(float x)
{
	return x != 0 && !(ac_cast_bits(x) & 0x7fffff);
}

/* ---- Lines and weights ------------------------------------------------- */

AC_CAST_BODY uint32_t
ac_verified_mix(uint32_t h)
{
	h ^= h >> 16;
	h *= 0x7feb352du;
	h ^= h >> 15;
	h *= 0x846ca68bu;
	return h ^ h >> 16;
}

/* Element `index` of the 128 that the seed is made of, 64 of each operand: its
 * matrix, line and k. */
struct ac_verified_element {
	int64_t matrix, line, k;
};

AC_CAST_BODY struct ac_verified_element
ac_verified_element_of(const struct ac_verified *v, uint32_t index)
{
	const uint32_t lines = (uint32_t)(index & 1 ? v->n : v->m);
	const uint32_t h = ac_verified_mix(index * 2654435761u
	    + (uint32_t)v->m * 31 + (uint32_t)v->n * 17 + (uint32_t)v->k);
	struct ac_verified_element element;

	element.matrix = ac_verified_mix(h ^ 0x5bd1e995u) % (uint32_t)v->batch;
	element.line = h % lines;
	element.k = ac_verified_mix(h) % (uint32_t)v->k;
	return element;
}

/* What an element adds to the seed: the order does not matter. */
AC_CAST_BODY uint32_t
ac_verified_seed_of(uint32_t index, float x)
{
	return ac_verified_mix(ac_cast_bits(x) + index * 0x9e3779b9u);
}

/* In 32 bits: a division of 64 takes a GPU as long as a load. */
AC_CAST_BODY int32_t
ac_verified_groups(int64_t lines)
{
	if (lines >= AC_VERIFIED_SHORT)
		return AC_VERIFIED_GROUPS;
	return lines > 24 ? 4 : (int32_t)((lines + 7) / 8);
}

/* The first line of a group. Side 0: lines of op(A). All lines if there are 32
 * at most; else one group of each of as many parts. */
AC_CAST_BODY int64_t
ac_verified_group(uint32_t seed, uint32_t side, int32_t group, int64_t lines)
{
	const uint32_t have = (uint32_t)((lines + 7) / 8);
	const uint32_t shift = lines >= AC_VERIFIED_SHORT ? 4 : 2;
	const uint32_t from = have * (uint32_t)group >> shift;
	const uint32_t to = have * (uint32_t)(group + 1) >> shift;
	int64_t first;

	if (lines <= 32)
		return group * AC_VERIFIED_GROUP;
	first = (int64_t)(from + ac_verified_mix(seed + side
	    + 77 * (uint32_t)group) % (to - from)) * AC_VERIFIED_GROUP;
	return first < lines - AC_VERIFIED_GROUP ? first
	    : lines - AC_VERIFIED_GROUP;
}

AC_CAST_BODY int32_t
ac_verified_group_size(int64_t first, int64_t lines)
{
	return lines - first < AC_VERIFIED_GROUP ? (int32_t)(lines - first)
	    : AC_VERIFIED_GROUP;
}

/* The weight of line `index` of the probe in vector `t`: +-(0.74 ... 1.24),
 * mean square 1. With signs alone, equal errors in two outputs would cancel in
 * all vectors at once too often. */
AC_CAST_BODY float
ac_verified_weight(uint32_t seed, uint32_t side, uint32_t index, uint32_t t)
{
	const uint32_t h = ac_verified_mix((seed + side)
	    ^ 0x9e3779b9u * (index + 1));
	const float size = 0.7413f
	    + (float)(ac_verified_mix(h + t) >> 9 & 15) * 0.0329466f;

	return h >> t & 1 ? size : -size;
}

/* ---- Exponents --------------------------------------------------------- */

AC_CAST_BODY int32_t
ac_verified_exponent(uint32_t amax)
{
	const int32_t e = amax ? AC_VERIFIED_TARGET - ac_cast_log2(amax) : 0;

	return e > 126 ? 126 : e;
}

AC_CAST_BODY struct ac_cast_scale
ac_verified_scale_of(const struct ac_verified *v)
{
	const float alpha = ac_cast_scalar_read(&v->alpha);
	struct ac_cast_scale scale = ac_cast_scale_from(
	    ac_verified_exponent(v->state->amax[0]),
	    ac_verified_exponent(v->state->amax[1]), alpha);

	if (!v->operand[0].to)
		scale.alpha = alpha;
	return scale;
}

/* What cast leaves for the product, and for verify. */
AC_CAST_BODY void
ac_verified_begin(const struct ac_cast_scale *scale,
    struct ac_verified_state *s)
{
	s->alpha = scale->alpha;
	s->zero = 0;
	s->one = 1;
	for (int i = 0; i < 2; i++)
		s->exponent[i] = scale->exponent[i];
}

/* ---- Cast -------------------------------------------------------------- */

/* What a number adds to its line but for the projections. `exact`: also whether
 * it is whole; a reach of inf says that one was not. */
AC_CAST_BODY void
ac_verified_count(float x, float y, float lost, bool exact, float *sum)
{
	sum[AC_VERIFIED_ENERGY] = ac_verified_fma(y, y,
	    sum[AC_VERIFIED_ENERGY]);
	sum[AC_VERIFIED_LOSS] = ac_verified_fma(lost, lost,
	    sum[AC_VERIFIED_LOSS]);
	if (exact)
		sum[AC_VERIFIED_TRACE] = ac_cast_float(
		    ac_cast_bits(sum[AC_VERIFIED_TRACE])
		    | (ac_cast_bits(lost) & 0x7fffffff));
	sum[AC_VERIFIED_REACH] += exact && !ac_verified_is_whole(x)
	    ? ac_cast_float(AC_CAST_INF) : ac_cast_absolute(y);
}

/* Whether that is asked for: a fraction on both sides decides it, where there
 * is one part and 2^e leaves something of every normal number. Else a line may
 * be all 0 in y, as if it were 0 itself: its reach of inf tells. */
AC_CAST_BODY bool
ac_verified_is_counted(const struct ac_verified *v,
    const struct ac_cast_scale *scale)
{
	return ac_verified_terms(v->format) > 1
	    || scale->exponent[0] < AC_VERIFIED_LEAST
	    || scale->exponent[1] < AC_VERIFIED_LEAST
	    || !(v->state->bits[0] & v->state->bits[1] & AC_VERIFIED_PROBED);
}

/* At the end of a chain: what has lost anything has lost something. */
AC_CAST_BODY float
ac_verified_loss(float loss, float trace)
{
	return loss == 0 && ac_cast_bits(trace) ? 0x1p-126f : loss;
}

/* Of a slice's chains; -0, which does not outlive numbers past K, becomes 0. */
AC_CAST_BODY float
ac_verified_tree(const float *c)
{
	return (((c[0] + c[1]) + (c[2] + c[3]))
	    + ((c[4] + c[5]) + (c[6] + c[7]))) + 0.f;
}

/* What a value of a line and slice says of its operand. */
AC_CAST_BODY uint32_t
ac_verified_bits(int value, float sum)
{
	if (value == AC_VERIFIED_ENERGY)
		return sum != 0 ? AC_VERIFIED_SOME : 0;
	if (value == AC_VERIFIED_LOSS)
		return sum != 0 ? AC_VERIFIED_LOSSY : 0;
	return value == AC_VERIFIED_REACH && !ac_cast_is_finite(sum)
	    ? AC_VERIFIED_FRACTION : 0;
}

/* ---- Mend -------------------------------------------------------------- */

/* How much of K is added apart: a multiple of 256, the same for one line and
 * for all. In it slices of 64, each from its begin on, then added in order:
 * long chains are less accurate than a library's SGEMM. */
enum { AC_VERIFIED_CHAIN = 64 };

AC_CAST_BODY int64_t
ac_verified_span(int64_t k)
{
	const int64_t least = 256 * AC_VERIFIED_SPANS;

	return 256 * ((k + least - 1) / least);
}

/* ---- Places ------------------------------------------------------------ */

AC_CAST_BODY const float *
ac_verified_matrix(const struct ac_verified_operand *o, int64_t matrix)
{
	return o->from ? o->from + matrix * o->stride : o->array[matrix];
}

AC_CAST_BODY float *
ac_verified_product(const struct ac_verified *v, int64_t matrix)
{
	return v->output.product ? v->output.product
	    + matrix * v->output.stride : v->output.array[matrix];
}

/* From one line, and from one k, to the next. */
AC_CAST_BODY int64_t
ac_verified_line_step(const struct ac_verified_operand *o)
{
	return o->lines_are_cols ? o->ld : 1;
}

AC_CAST_BODY int64_t
ac_verified_k_step(const struct ac_verified_operand *o)
{
	return o->lines_are_cols ? 1 : o->ld;
}

AC_CAST_BODY float *
ac_verified_part(const struct ac_verified *v,
    const struct ac_verified_operand *o, int64_t matrix, int64_t slice,
    int64_t value)
{
	return o->parts + ((matrix * ac_verified_slices(v) + slice)
	    * AC_VERIFIED_VALUES + value) * o->lines;
}

#endif
