/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_rung.h -- a number as the 16-bit parts that a rung
 * writes of it, and where they go: once, for the GPU and its CPU twins. */
#ifndef AC_KERNELS_VERIFIED_RUNG_H
#define AC_KERNELS_VERIFIED_RUNG_H

#include "kernels/recast/cast.h"
#include "kernels/verified/verified.h"

/* What the casts hold; beyond, they are 0 and the line is marked. */
#define AC_VERIFIED_HOLDS 65504.f

AC_CAST_BODY float
ac_verified_widen(uint16_t from, uint32_t format)
{
	return format == AC_FORMAT_FP16 ? ac_cast_widen_fp16(from)
	    : ac_cast_float((uint32_t)from << 16);
}

/* What is written of the numbers of one side: parts, each in `format` and of
 * what those before it have left, and which of them is each term's: two bits a
 * term, the first one's the lowest. */
struct ac_verified_rung {
	uint32_t format, parts, order;
};

/* Which side has two parts where the other one is FP16 without. */
AC_CAST_BODY int
ac_verified_parted(const struct ac_verified_state *s)
{
	return !(s->bits[0] & AC_VERIFIED_LONG)
	    && s->bits[1] & AC_VERIFIED_LONG;
}

/* Terms, with l the last part and h the first:
 *   X2   l h                     h h              (or the other way round)
 *   X3   l h,  h l               h h
 *   X6   l h,  m m,  h l,  m h,  h m,  h h */
AC_CAST_BODY struct ac_verified_rung
ac_verified_rung_in(const struct ac_verified *v, int side)
{
	struct ac_verified_rung rung;

	rung.format = v->format == AC_FORMAT_BF16
	    || v->format == AC_FORMAT_BF16X3 || v->format == AC_FORMAT_BF16X6
	    ? AC_FORMAT_BF16 : AC_FORMAT_FP16;
	rung.parts = 1;
	rung.order = 0;
	switch (ac_verified_terms(v->format)) {
	case 2:
		rung.parts = side == ac_verified_parted(v->state) ? 2 : 1;
		rung.order = rung.parts - 1;
		break;
	case 3:
		rung.parts = 2;
		rung.order = side ? 1 << 2 : 1;
		break;
	case 6:
		rung.parts = 3;
		rung.order = side ? 1 << 2 | 2 << 4 | 1 << 8
		    : 2 | 1 << 2 | 1 << 6;
		break;
	}
	return rung;
}

/* Where the first term of a k is, in stored k; and from term to term. */
AC_CAST_BODY int64_t
ac_verified_at(const struct ac_verified *v, int64_t k, int64_t *step_out)
{
	const int64_t terms = ac_verified_terms(v->format);
	int64_t begin;

	*step_out = 0;
	if (terms == 1)
		return k;
	begin = k / v->chunk * v->chunk;
	*step_out = ac_verified_length(v, begin);
	return terms * begin + (k - begin);
}

/* What there is to be written of y. */
AC_CAST_BODY float
ac_verified_rest(float y)
{
	return ac_cast_absolute(y) <= AC_VERIFIED_HOLDS ? y : 0;
}

/* The next part of a number, of what the parts before it have left: of what was
 * to be written, and of the number. */
AC_CAST_BODY uint16_t
ac_verified_part_of(float *rest, float *lost, uint32_t format)
{
	const uint16_t part = format == AC_FORMAT_FP16 ? ac_cast_fp16(*rest)
	    : ac_cast_finite_bf16(*rest);
	const float wide = ac_verified_widen(part, format);

	*rest -= wide;
	*lost -= wide;
	return part;
}

#endif
