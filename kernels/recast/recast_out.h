/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_out.h -- what settle and finish do to the outputs, once
 * for both sides: places, repair, the post. The sample is recast_sample.h's.
 *
 * Rules where the contract leaves room. With an alpha of inf, a repaired output
 * is alpha times what the products with a non-finite factor add up to (plus
 * beta C where finish writes through). NaN is always written as 0x7fffffff, as
 * the GPU makes it. */
#ifndef AC_KERNELS_RECAST_OUT_H
#define AC_KERNELS_RECAST_OUT_H

#include "kernels/recast/recast_decide.h"

enum {
	AC_RECAST_NAN    = 0x7fffffff,
	AC_RECAST_LINES  = 16     /* lines in a word of marks */
};

/* ---- Places ------------------------------------------------------------ */

AC_CAST_BODY const float *
ac_recast_matrix(const struct ac_recast_operand *o, int64_t matrix)
{
	if (matrix >= o->batch)
		matrix = 0; /* stride 0: one for all */
	return o->array ? o->array[matrix] : o->from + matrix * o->stride;
}

/* Element (i, k) of op(A), or (k, i) of op(B): `line` is what an inf spoils. */
AC_CAST_BODY int64_t
ac_recast_offset(const struct ac_recast_operand *o, int64_t line, int64_t k)
{
	return o->lines_are_cols ? line * o->ld + k : k * o->ld + line;
}

AC_CAST_BODY int64_t
ac_recast_lines(const struct ac_recast_operand *o)
{
	return o->lines_are_cols ? o->cols : o->rows;
}

AC_CAST_BODY int64_t
ac_recast_mark_words(const struct ac_recast_operand *o)
{
	return (o->batch * ac_recast_lines(o) + AC_RECAST_LINES - 1)
	    / AC_RECAST_LINES;
}

/* A line's two bits. */
AC_CAST_BODY uint32_t
ac_recast_mark_of(const struct ac_recast_operand *o, int64_t matrix,
    int64_t line)
{
	const int64_t number = (matrix < o->batch ? matrix : 0)
	    * ac_recast_lines(o) + line;

	return o->marks[number / AC_RECAST_LINES]
	    >> (2 * (number % AC_RECAST_LINES)) & 3;
}

AC_CAST_BODY float *
ac_recast_c(const struct ac_recast *r, int64_t matrix, int64_t row, int64_t col)
{
	const struct ac_recast_output *o = &r->output;
	float *c = o->array ? o->array[matrix] : o->c + matrix * o->stride;

	return c + col * o->ld + row;
}

/* What beta scales there. */
AC_CAST_BODY const float *
ac_recast_old(const struct ac_recast *r, int64_t matrix, int64_t row,
    int64_t col)
{
	const struct ac_recast_added *added = &r->added;

	return added->from ? added->from + matrix * added->stride
	    + col * added->ld + row : ac_recast_c(r, matrix, row, col);
}

AC_CAST_BODY float *
ac_recast_result(const struct ac_recast *r, int64_t matrix, int64_t row,
    int64_t col)
{
	return r->output.result + (matrix * r->n + col) * r->m + row;
}

/* ---- What there is to do ----------------------------------------------- */

/* `kept`: settle has filled the scratch of that name, or had no need to.
 * `each`: the sample has outputs of each matrix. */
struct ac_recast_duty {
	bool repair, write, sample, kept, each, clear;
};

AC_CAST_BODY struct ac_recast_duty
ac_recast_duty_of(const struct ac_recast *r, uint32_t todo)
{
	const bool any = r->m > 0 && r->n > 0 && r->batch > 0;
	const bool due = r->operand[0].to ? (todo & AC_TODO_SAMPLE) != 0
	    : r->sampled != 0;
	struct ac_recast_duty duty;

	duty.write = any && r->output.write_through && r->output.result;
	duty.clear = (todo & AC_TODO_REPAIR) != 0;
	duty.repair = any && duty.clear && (duty.write || !r->output.result)
	    && !r->epilogue.is_set && ac_cast_scalar_read(&r->alpha) != 0;
	duty.sample = any && due && r->before;
	duty.kept = duty.sample && r->kept;
	duty.each = duty.sample && r->batch > 1
	    && (r->kept || ac_cast_scalar_read(&r->beta) == 0);
	return duty;
}

/* ---- Repair ------------------------------------------------------------ */

/* What the products with a non-finite factor are, together. */
enum { AC_RECAST_PLUS = 1, AC_RECAST_MINUS = 2, AC_RECAST_NEITHER = 4 };

/* a * b, one of which is not finite. */
AC_CAST_BODY uint32_t
ac_recast_product(float a, float b)
{
	const uint32_t x = ac_cast_bits(a), y = ac_cast_bits(b);
	const uint32_t m = x & 0x7fffffff, n = y & 0x7fffffff;

	if (m > AC_CAST_INF || n > AC_CAST_INF || !m || !n)
		return AC_RECAST_NEITHER;
	return (x ^ y) >> 31 ? AC_RECAST_MINUS : AC_RECAST_PLUS;
}

/* c + alpha * (the products), c being what the finite ones gave. */
AC_CAST_BODY float
ac_recast_repaired(float c, uint32_t products, float alpha)
{
	const uint32_t bits = ac_cast_bits(alpha), old = ac_cast_bits(c);
	const uint32_t m = bits & 0x7fffffff, sign = (bits & 0x80000000)
	    ^ (products & AC_RECAST_MINUS ? 0x80000000 : 0);

	if (!products || !m)
		return c;
	if ((products != AC_RECAST_PLUS && products != AC_RECAST_MINUS)
	    || m > AC_CAST_INF)
		return ac_cast_float(AC_RECAST_NAN);
	if (m < AC_CAST_INF && ((old & 0x7fffffff) > AC_CAST_INF
	    || old == ((sign | AC_CAST_INF) ^ 0x80000000)))
		return ac_cast_float(AC_RECAST_NAN); /* NaN, or inf - inf */
	return ac_cast_float(sign | AC_CAST_INF);
}

/* result + beta c; `c` is not read with a beta of 0. */
AC_CAST_BODY float
ac_recast_sum(float result, float beta, const float *c)
{
	if (beta != 0)
		result = result + beta * *c;
	return (ac_cast_bits(result) & 0x7fffffff) > AC_CAST_INF && beta != 0
	    ? ac_cast_float(AC_RECAST_NAN) : result;
}

/* ---- The post ---------------------------------------------------------- */

AC_CAST_BODY void
ac_recast_release(uint64_t number, uint64_t *to)
{
#ifdef __CUDACC__
	__threadfence_system();
	*(volatile uint64_t *)to = number;
#else
	__atomic_store_n(to, number, __ATOMIC_RELEASE);
#endif
}

AC_CAST_BODY void
ac_recast_hand_over(const struct ac_recast *r)
{
	struct ac_recast_history *history = r->history;
	volatile struct ac_recast_post *post = r->post;

	post->verdict = history->verdict;
	post->samples = history->samples;
	post->settled = history->settled;
	post->rho = history->rho;
	post->tile_rho = history->tile_rho;
	post->error = history->error;
	post->line_error = history->line_error;
	post->estimate = history->estimate;
	post->exact = history->exact;
	post->judged = history->judged;
	post->suspects = history->suspects;
	post->shrunk = history->shrunk;
	post->bad = history->bad;
	post->energy[0] = history->energy[0];
	post->energy[1] = history->energy[1];
	AC_CAST_ROLLED
	for (int i = 0; i < 6; i++)
		post->reserved[i] = 0;
	ac_recast_forget(history);
	ac_recast_release(r->number, &r->post->number);
}

/* The end of a call: it is judged, marks are clear. */
AC_CAST_BODY void
ac_recast_end(const struct ac_recast *r)
{
	volatile struct ac_recast_state *state = r->state;

	if (r->post && (state->wanting || !(r->judge & AC_JUDGE_POST_IF_BAD)))
		ac_recast_hand_over(r);
	state->todo = 0;
	state->arrived = 0;
	state->wanting = 0;
}

#endif
