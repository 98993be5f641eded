/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_judge.h -- what verify makes of what it measured:
 * a line's verdict, and that on the whole, once for both sides. */
#ifndef AC_KERNELS_VERIFIED_JUDGE_H
#define AC_KERNELS_VERIFIED_JUDGE_H

#include "kernels/verified/verified_cancelled.h"

/* A line as measured: d2 and e2 are mean squares of the difference and of the
 * product over what was judged, in units of the exponents. */
struct ac_verified_line {
	float d2, e2;
	float product2;             /* of the product alone; 0 without beta */
	float energy, loss, reach;
};

/* How a side is judged. */
struct ac_verified_judge {
	float    line2, loss2;      /* (2 tol)^2, (tol / 2)^2 */
	uint32_t own, other;        /* bits of its operand and of the other */
	int32_t  group;             /* lines that are judged together */
	bool     judges, live;      /* live: alpha is not 0 */
};

AC_CAST_BODY struct ac_verified_judge
ac_verified_judge_of(const struct ac_verified *v, int side)
{
	const int64_t others = side ? v->m : v->n;
	struct ac_verified_judge judge;

	judge.line2 = 4 * v->tol * v->tol;
	/* TF32 has a wider range than what its loss is measured by. */
	judge.loss2 = v->format == AC_FORMAT_TF32 ? ac_cast_float(AC_CAST_INF)
	    : 0.25f * v->tol * v->tol;
	judge.own = side ? v->state->bits[1] : v->state->bits[0];
	judge.other = side ? v->state->bits[0] : v->state->bits[1];
	judge.group = others < 64 ? (int32_t)((63 + others) / others) : 1;
	judge.judges = v->tol > 0;
	judge.live = ac_cast_scalar_read(&v->alpha) != 0;
	return judge;
}

/* Of the squares of a line of the product, and of product + beta C + bias, if
 * it adds: what its error is held against. */
AC_CAST_BODY float
ac_verified_e2(bool adds, float product, float sum)
{
	return adds && sum < product ? sum : product;
}

enum {
	AC_VERIFIED_FLAGGED = 1,    /* mend it */
	AC_VERIFIED_WRONG = 2,      /* for its error */
	AC_VERIFIED_JUDGED = 4,     /* there was something to see */
	AC_VERIFIED_CANCELS = 8     /* with what C held */
};

AC_CAST_BODY bool
ac_verified_is_exact(const struct ac_verified_line *line,
    const struct ac_verified_judge *judge)
{
	const bool whole = ac_cast_is_finite(line->reach)
	    && !(judge->other & AC_VERIFIED_FRACTION);
	const bool copies = line->reach * line->reach == line->energy
	    && ac_verified_is_power(line->reach);

	return (whole && (line->loss != 0 || judge->other & AC_VERIFIED_LOSSY
	    || judge->own & judge->other & AC_VERIFIED_PARTED))
	    || (copies && judge->other & AC_VERIFIED_LOSSY);
}

/* What the lines of a group have together: with few outputs each, one by itself
 * says little. */
struct ac_verified_lines {
	float d2, e2, product2;
};

AC_CAST_BODY uint32_t
ac_verified_verdict(const struct ac_verified_line *line,
    const struct ac_verified_lines *group,
    const struct ac_verified_judge *judge)
{
	/* What is so small next to the largest number has squares of 0. */
	const bool marked = !(line->loss < AC_VERIFIED_UNMARKED)
	    || (line->energy == 0 && line->reach > 0);
	const bool wrong = !(group->d2 <= judge->line2 * group->e2)
	    || !ac_cast_is_finite(line->d2)
	    || !ac_cast_is_finite(line->e2);
	const bool unseen = line->e2 == 0 && line->energy > 0
	    && judge->other & AC_VERIFIED_SOME;
	uint32_t verdict = 0;

	if (!judge->live)
		return 0;
	if (marked || (judge->judges && (wrong || unseen
	    || line->loss > judge->loss2 * line->energy
	    || ac_verified_is_exact(line, judge))))
		verdict = AC_VERIFIED_FLAGGED;
	if (judge->judges && wrong && !marked)
		verdict |= AC_VERIFIED_WRONG;
	if (line->d2 > 0 || line->e2 > 0 || verdict)
		verdict |= AC_VERIFIED_JUDGED;
	if (judge->judges && group->product2 > 16 * group->e2)
		verdict |= AC_VERIFIED_CANCELS;
	return verdict;
}

/* In what units a line is measured: the product times 2^up, the cast's values
 * times this part of alpha. */
struct ac_verified_unit {
	int32_t up;
	float   alpha;
};

AC_CAST_BODY struct ac_verified_unit
ac_verified_unit_of(const struct ac_verified *v)
{
	const float alpha = ac_cast_scalar_read(&v->alpha);
	const uint32_t magnitude = ac_cast_bits(alpha) & 0x7fffffff;
	const int32_t log2 = magnitude && magnitude < AC_CAST_INF
	    ? ac_cast_log2(magnitude) : 0;
	const int32_t up = v->state->exponent[0] + v->state->exponent[1]
	    - log2;
	struct ac_verified_unit unit;

	unit.up = up < -252 ? -252 : up > 252 ? 252 : up;
	unit.alpha = ac_verified_scale(alpha, -log2);
	return unit;
}

AC_CAST_BODY float
ac_verified_root(float x)
{
#ifdef __CUDACC__
	return __fsqrt_rn(x);
#else
	return __builtin_sqrtf(x);
#endif
}

AC_CAST_BODY float
ac_verified_most(float a, float b)
{
	return a > b ? a : b;
}

/* 0 of what is not a number. */
AC_CAST_BODY float
ac_verified_ratio(float part, float all)
{
	const float ratio = all > 0 ? part / all : 0;

	return ratio > 0 && ac_cast_is_finite(ratio) ? ratio : 0;
}

/* What a line adds to its word. */
AC_CAST_BODY struct ac_verified_word
ac_verified_word_of(const struct ac_verified_line *line, uint32_t verdict)
{
	const bool flagged = verdict & AC_VERIFIED_FLAGGED;
	struct ac_verified_word word;

	word.d2 = flagged ? 0 : (double)line->d2;
	word.e2 = flagged ? 0 : (double)line->e2;
	word.line = flagged ? 0 : ac_verified_ratio(line->d2, line->e2);
	word.loss = flagged ? 0 : ac_verified_ratio(line->loss, line->energy);
	word.flagged = flagged;
	word.wrong = !!(verdict & AC_VERIFIED_WRONG);
	word.judged = !!(verdict & AC_VERIFIED_JUDGED);
	word.cancels = !!(verdict & AC_VERIFIED_CANCELS);
	return word;
}

/* What words have together. */
AC_CAST_BODY void
ac_verified_join(const struct ac_verified_word *word,
    struct ac_verified_word *sum)
{
	sum->d2 += word->d2;
	sum->e2 += word->e2;
	sum->line = ac_verified_most(sum->line, word->line);
	sum->loss = ac_verified_most(sum->loss, word->loss);
	sum->flagged += word->flagged;
	sum->wrong += word->wrong;
	sum->judged += word->judged;
	sum->cancels += word->cancels;
}

/* Whether lines are off by more than they may be together: 0.7 tol. */
AC_CAST_BODY bool
ac_verified_is_off(const struct ac_verified *v, double d2, double e2)
{
	return v->tol > 0 && d2 > 0.49 * (double)v->tol * (double)v->tol * e2;
}

/* Whether everything is recomputed for this side's sake. */
AC_CAST_BODY bool
ac_verified_is_all(const struct ac_verified *v, int side,
    const struct ac_verified_word *sum)
{
	const uint64_t lines = (uint64_t)((side ? v->n : v->m) * v->batch);

	return (uint64_t)sum->flagged * 2 > lines
	    || ac_verified_is_off(v, sum->d2, sum->e2)
	    || (v->tol > 0 && (uint64_t)sum->wrong * 8 > sum->judged);
}

/* Whether alpha may make an infinity of the sum of one chunk, where it would
 * not of all: casts are up to 2^16, a chunk's sum of their products 2^45. */
AC_CAST_BODY bool
ac_verified_may_overflow(const struct ac_verified *v)
{
	return ac_verified_terms(v->format) > 1 && v->k > v->chunk
	    && !(ac_cast_absolute(v->state->alpha) < 0x1p82f);
}

/* Matrices of a batch are held against that one by one, too, where a side has
 * lines enough to say so: with fewer a good one would be off by chance. */
AC_CAST_BODY bool
ac_verified_is_by_matrix(const struct ac_verified *v, int side)
{
	return v->batch > 1 && (side ? v->n : v->m) >= 16;
}

/* How many of a side's 128 threads join the words of a matrix: a power of two,
 * of one warp; of one matrix all do. */
AC_CAST_BODY int
ac_verified_abreast(const struct ac_verified *v, int64_t words)
{
	int threads = 1;

	while (threads < 32 && threads < words)
		threads *= 2;
	return v->batch == 1 ? 128 : threads;
}

/* A word that the host may read meanwhile. */
#ifdef __CUDACC__
#define AC_VERIFIED_POST(to, from) ((to) = (from))
#else
#define AC_VERIFIED_POST(to, from) \
	__atomic_store(&(to), &(from), __ATOMIC_RELAXED)
#endif

/* Who sees a new number of calls sees the rest, too. */
AC_CAST_BODY void
ac_verified_hand_over(struct ac_verified_record *r,
    struct ac_verified_record *post)
{
	AC_VERIFIED_POST(post->lines, r->lines);
	AC_VERIFIED_POST(post->alls, r->alls);
	AC_VERIFIED_POST(post->cancels, r->cancels);
	AC_VERIFIED_POST(post->shorts, r->shorts);
	AC_VERIFIED_POST(post->whole, r->whole);
	AC_VERIFIED_POST(post->line, r->line);
	AC_VERIFIED_POST(post->loss[0], r->loss[0]);
	AC_VERIFIED_POST(post->loss[1], r->loss[1]);
#ifdef __CUDACC__
	__threadfence_system();
	*(volatile uint64_t *)&post->calls = r->calls;
#else
	__atomic_store_n(&post->calls, r->calls, __ATOMIC_RELEASE);
#endif
}

/* What the last block makes of both sides; `off`: a matrix is, by itself;
 * `found` by ac_verified_look_up(). Notes it, and leaves the state as the next
 * call wants it. */
AC_CAST_BODY void
ac_verified_conclude(const struct ac_verified *v,
    const struct ac_verified_word *sum, bool off, uint32_t found)
{
	struct ac_verified_state *s = v->state;
	struct ac_verified_record r = *v->record;
	const bool heeds = v->tol > 0 && found & AC_VERIFIED_HEEDS;
	const bool cancels = sum[0].cancels + sum[1].cancels;
	const bool all = off || heeds || ac_verified_is_all(v, 0, &sum[0])
	    || ac_verified_is_all(v, 1, &sum[1])
	    || ac_verified_may_overflow(v);

	s->all = all;
	r.calls++;
	if (all)
		r.alls++;
	else
		r.lines += sum[0].flagged + sum[1].flagged;
	if (cancels)
		r.cancels++;
	if (v->cancelled && (cancels || heeds) && !(found & AC_VERIFIED_KNOWN))
		ac_verified_note(v);
	if (!(s->bits[0] & s->bits[1] & AC_VERIFIED_LONG))
		r.shorts++;
	for (int i = 0; i < 2; i++) {
		s->flagged[i] = sum[i].flagged;
		s->amax[i] = s->bits[i] = 0;
		r.loss[i] = ac_verified_most(r.loss[i],
		    ac_verified_root(sum[i].loss));
		if (all)
			continue;
		r.line = ac_verified_most(r.line,
		    ac_verified_root(sum[i].line));
		r.whole = ac_verified_most(r.whole, ac_verified_root(
		    ac_verified_ratio((float)sum[i].d2, (float)sum[i].e2)));
	}
	*v->record = r;
	if (v->post)
		ac_verified_hand_over(&r, v->post);
}

#endif
