/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_body.h -- the arithmetic of the one-pass cast, once,
 * for both sides: recast.cu (GPU) and twins_recast.c (CPU).
 *
 * As cast.h: no libm, no fused multiply-add, no flush to zero, so the same bits
 * on both. The order of every floating-point sum is fixed by the matrix, never
 * by the launch:
 *
 *   A tile is 32 x 32 elements of the cast, padding included; its sums are
 * those of its four bands, each 8 along K. Lane l of 32 takes rows 8 (l % 4)
 * to 8 (l % 4) + 7 of columns l / 4 + 8 j, j = 0..3. It adds the eight of a
 * column as ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7)), and lane l to l ^ 16.
 * Where K runs along the rows, it then adds its columns as (0 + 1) + (2 + 3),
 * and l to l ^ 8, ^ 4: that is band l % 4. Where K runs along the columns, band
 * j is the sum over all lanes of column j: l and l ^ 2, ^ 1, ^ 8, ^ 4. A tile's
 * sum is (0 + 1) + (2 + 3) of its bands. The tiles' sums are added in fixed
 * point, each rounded down to 2^-32.
 *
 *   What a call makes depends on that call alone: a pass whose exponents are
 * not those of this call's own amax pair is done again, casts and sums. Nothing
 * overflows in the one that stays: 2^14 <= amax 2^e < 2^15, so each finite |s|
 * is below 2^15 and rounds to 2^15 at most; FP16 holds 65504. An exponent that
 * is lowered for alpha makes less of it. An element of |s| >= 65520 is taken
 * for zero; it is there only in a pass that is done again. */
#ifndef AC_KERNELS_RECAST_BODY_H
#define AC_KERNELS_RECAST_BODY_H

#include "kernels/recast/cast.h"
#include "kernels/recast/recast.h"

/* The host compiler writes these, the GPU reads them. */
static_assert(sizeof(struct ac_recast_operand) == 96, "operand layout");
static_assert(sizeof(struct ac_recast_output) == 48, "output layout");
static_assert(sizeof(struct ac_recast_epilogue) == 48, "epilogue layout");
static_assert(sizeof(struct ac_recast_added) == 24, "added layout");
static_assert(sizeof(struct ac_recast) == 496, "parameter layout");
static_assert(sizeof(struct ac_recast_state) == 3248, "state layout");
static_assert(sizeof(struct ac_recast_history) == 128, "history layout");
static_assert(sizeof(struct ac_recast_post) == 96, "post layout");

enum {
	AC_RECAST_LANES  = 32,
	AC_RECAST_COLS   = 4,     /* columns of a lane, 8 apart */
	AC_RECAST_BAND   = 8,     /* of K in a band */
	AC_RECAST_BANDS  = AC_TILE_SIDE / AC_RECAST_BAND,
	AC_RECAST_JUMP   = 2,     /* binades that an amax may move unsampled */
	/* What a tile leaves in bands[]: their energies, then their losses. */
	AC_RECAST_WORDS  = 2 * AC_RECAST_BANDS
};

/* How one operand is cast in one pass. */
struct ac_recast_way {
	struct ac_cast_factor factor; /* of the statistics; scaled: also of
	                               * what is cast */
	uint32_t limit;               /* bits of |x|: from here on zero */
	uint32_t format, scaled;
};

/* What becomes of an element below the limit. */
struct ac_recast_cell {
	uint16_t to;
	float    energy, loss;    /* s^2 and (s - cast(s))^2 */
};

/* FP16 to FP32, exactly. */
AC_CAST_BODY float
ac_recast_widen_fp16(uint16_t from)
{
#ifdef __CUDACC__
	float to;

	asm("cvt.f32.f16 %0, %1;" : "=f"(to) : "h"(from));
	return to;
#else
	const uint32_t sign = (uint32_t)(from & 0x8000) << 16;
	const uint32_t m = from & 0x7fff;

	if (m >= 0x7c00)
		return ac_cast_float(sign | AC_CAST_INF | (m & 0x3ff) << 13);
	if (m >= 0x400)
		return ac_cast_float(sign | ((m << 13) + (112u << 23)));
	return ac_cast_float(sign | ac_cast_bits((float)m * 0x1p-24f));
#endif
}

AC_CAST_BODY bool
ac_recast_is_finite(float x)
{
	return (ac_cast_bits(x) & AC_CAST_INF) != AC_CAST_INF;
}

AC_CAST_BODY float
ac_recast_absolute(float x)
{
	return ac_cast_float(ac_cast_bits(x) & 0x7fffffff);
}

AC_CAST_BODY struct ac_recast_cell
ac_recast_cell_of(float x, struct ac_recast_way way)
{
	const float s = x * way.factor.first * way.factor.second;
	const float y = way.scaled ? s : x;
	struct ac_recast_cell cell;
	float wide, lost;

	if (way.format == AC_FORMAT_FP16) {
		cell.to = ac_cast_fp16(y);
		wide = ac_recast_widen_fp16(cell.to);
	} else {
		cell.to = ac_cast_bf16(y);
		wide = ac_cast_float((uint32_t)cell.to << 16);
	}
	lost = y - wide;
	if (!way.scaled) { /* what overflowed is lost whole */
		lost = ac_recast_is_finite(wide) ? lost : y;
		lost = lost * way.factor.first * way.factor.second;
	}
	cell.energy = s * s;
	cell.loss = lost * lost;
	return cell;
}

/* The cast of an element where inf and NaN have to come out of the product:
 * they stay what they are, and what is not 0 stays so: inf times it is inf. */
AC_CAST_BODY uint16_t
ac_recast_through(float x, struct ac_recast_way way)
{
	const uint32_t bits = ac_cast_bits(x), m = bits & 0x7fffffff;
	const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
	uint16_t to;

	if (m == AC_CAST_INF)
		return (uint16_t)(sign | (way.format == AC_FORMAT_FP16 ? 0x7c00
		    : 0x7f80));
	if (m > AC_CAST_INF)
		return AC_CAST_NAN16;
	to = ac_recast_cell_of(x, way).to;
	return m && !(to & 0x7fff) ? (uint16_t)(sign | 1) : to;
}

/* A pass over both operands. */
struct ac_recast_plan {
	struct ac_cast_scale scale; /* of the casts */
	int32_t  exponent[2];       /* of the statistics */
	uint32_t known;             /* 0: nothing to cast with yet */
};

AC_CAST_BODY struct ac_recast_plan
ac_recast_plan_from(const struct ac_recast *r, int32_t e0, int32_t e1)
{
	struct ac_recast_plan plan;

	plan.known = 1;
	plan.scale = ac_cast_scale_from(e0, e1, r->scaled,
	    ac_cast_scalar_read(&r->alpha));
	plan.exponent[0] = r->scaled ? plan.scale.exponent[0] : e0;
	plan.exponent[1] = r->scaled ? plan.scale.exponent[1] : e1;
	return plan;
}

/* The first pass: as for the last call's amax pair. */
AC_CAST_BODY struct ac_recast_plan
ac_recast_remembered(const struct ac_recast *r)
{
	struct ac_recast_plan plan = ac_recast_plan_from(r,
	    r->history->exponent[0], r->history->exponent[1]);

	plan.known = (r->history->known & 3) == 3;
	return plan;
}

/* The second, and the only one that stays: as for this call's. */
AC_CAST_BODY struct ac_recast_plan
ac_recast_own(const struct ac_recast *r, uint32_t amax0, uint32_t amax1)
{
	return ac_recast_plan_from(r, ac_cast_exponent(amax0, 1),
	    ac_cast_exponent(amax1, 1));
}

/* The least |x| that 2^exponent brings to 65520 or more, as bits; inf if that
 * is no float. */
AC_CAST_BODY uint32_t
ac_recast_limit(int32_t exponent)
{
	const int32_t biased = 127 + 15 - exponent;

	if (biased >= 255)
		return AC_CAST_INF;
	if (biased >= 1)
		return (uint32_t)biased << 23 | 0x7ff000;
	/* Subnormal: rounded up. */
	return ((0xfff000u - 1) >> (1 - biased)) + 1;
}

AC_CAST_BODY struct ac_recast_way
ac_recast_way_of(uint32_t format, uint32_t scaled, int32_t exponent)
{
	struct ac_recast_way way;

	way.factor = ac_cast_factor_of(exponent);
	way.limit = ac_recast_limit(exponent);
	way.format = format;
	way.scaled = scaled;
	return way;
}

/* A tile's sum in fixed point: whole ones, and parts of 2^-32. Below 2^42. */
AC_CAST_BODY uint64_t
ac_recast_whole(float sum)
{
	return (uint64_t)sum;
}

AC_CAST_BODY uint64_t
ac_recast_parts(float sum)
{
	return (uint64_t)((sum - (float)(uint64_t)sum) * 0x1p32f);
}

/* R / S of a tile as the bits that are compared; 0 for a tile of zeros. */
AC_CAST_BODY uint32_t
ac_recast_ratio(float energy, float loss)
{
	return energy > 0 ? ac_cast_bits(loss / energy) : 0;
}

AC_CAST_BODY double
ac_recast_sqrt(double x)
{
#ifdef __CUDACC__
	return __dsqrt_rn(x);
#else
	return __builtin_sqrt(x);
#endif
}

#endif
