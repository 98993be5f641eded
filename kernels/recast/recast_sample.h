/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_sample.h -- what a sample says of its call, once for
 * both sides.
 *
 * A line that looks bad, or lost its whole numbers, is looked at again, with up
 * to AC_SAMPLE_LINE outputs of its own: 16 may rest on one that is nearly 0
 * while the error is that of its large neighbours. The worst go first; four are
 * enough, for a truly bad line is among the worst four unless four others look
 * so by chance.
 *
 * Of a batch, one matrix has the 16 x 16, all have 2 x 2 outputs. Those four
 * tell little: where the error of a matrix is r, the square of their ratio is
 * r^2 F, F of Fisher's distribution with (4, 4) degrees, P(F > x) = y^2 (3 - 2
 * y), y = 1 / (1 + x). So one whose ratio is over half of the tolerance has 8 x
 * 8 outputs looked at: that are 17 % of the matrices with an error of 0.3 tol,
 * as a 16-bit product has, and 90 % of those at the tolerance, 99.8 % of those
 * beyond 3 tol. Where few rows are large, 64 outputs are no more than five: 2.5
 * % of such matrices would be over 0.8 tol. So 256 have the last word.
 *
 * The terms of a dot are added by lanes, lane k % 256 of the 16 x 16 sample and
 * k % 32 elsewhere; 32 lanes are added l with l ^ 16, ^ 8, ^ 4, ^ 2, ^ 1, eight
 * such sums from the first to the last. */
#ifndef AC_KERNELS_RECAST_SAMPLE_H
#define AC_KERNELS_RECAST_SAMPLE_H

#include "kernels/recast/recast_look.h"

/* Lines that are looked at again, for each reason. */
enum { AC_RECAST_AGAIN = 4 };

/* ---- The rule: policy/guard.h's ---------------------------------------- */

/* Not `>`: a NaN compares false and must not pass. */
AC_CAST_BODY bool
ac_recast_exceeds(float value, double limit)
{
	return !((double)value <= limit);
}

AC_CAST_BODY bool
ac_recast_is_bad_line(const struct ac_recast *r, float line_error)
{
	return r->tol > 0 && ac_recast_exceeds(line_error, 3 * (double)r->tol);
}

AC_CAST_BODY bool
ac_recast_is_inexact(float exact)
{
	return ac_recast_exceeds(exact, 1e-6);
}

AC_CAST_BODY bool
ac_recast_is_wanting(const struct ac_recast *r, float error, float line_error,
    float exact)
{
	return r->tol > 0 && (ac_recast_exceeds(error, 0.8 * (double)r->tol)
	    || ac_recast_is_bad_line(r, line_error)
	    || ac_recast_is_inexact(exact));
}

/* 2 x 2 or 8 x 8 outputs of a matrix: whether more shall be looked at. */
AC_CAST_BODY bool
ac_recast_is_suspect(const struct ac_recast *r, int side,
    const struct ac_recast_norm *norm)
{
	return ac_recast_exceeds(ac_recast_norm_error(norm), (double)r->tol
	    * (side < 8 ? 0.5 : 0.8)) || (r->judge & AC_JUDGE_EXACT
	    && norm->exact == norm->filled && ac_recast_is_inexact(norm->off));
}

/* From 2 to 8 to 16. */
AC_CAST_BODY int
ac_recast_next_side(int side)
{
	return side < 8 ? 8 : AC_RECAST_DEEP;
}

/* ---- The call ---------------------------------------------------------- */

/* What the 16 x 16 say. Lines that are suspect, of being bad [0] and of having
 * lost whole numbers [1], count for nothing until they are looked at again. */
struct ac_recast_facts {
	float    error, line_error, exact;
	uint32_t seen;            /* something was added */
	uint32_t shrunk;          /* and most of it cancelled */
	uint32_t suspect[2];      /* bits of lines */
	uint32_t left[2];         /* that many may be looked at again */
};

/* `kept`: C's values of before the product are there, should beta need them. */
AC_CAST_BODY struct ac_recast_facts
ac_recast_facts_of(const struct ac_recast *r,
    const struct ac_recast_norm *norms, bool kept)
{
	const bool again = kept || ac_cast_scalar_read(&r->beta) == 0;
	struct ac_recast_norm whole = ac_recast_norm_none();
	struct ac_recast_facts facts;

	facts.line_error = facts.exact = 0;
	facts.suspect[0] = facts.suspect[1] = 0;
	facts.left[0] = facts.left[1] = again ? AC_RECAST_AGAIN : 0;
	AC_CAST_ROLLED
	for (int line = 0; line < AC_RECAST_SIDES; line++) {
		const float error = ac_recast_relative(norms[line].lost,
		    norms[line].all);
		const float off = ac_recast_norm_whole(r->judge, &norms[line]);

		if (again && ac_recast_is_bad_line(r, error))
			facts.suspect[0] |= 1u << line;
		else
			ac_recast_raise(ac_recast_norm_result(
			    r->epilogue.activation, &norms[line]),
			    &facts.line_error);
		if (again && ac_recast_is_inexact(off))
			facts.suspect[1] |= 1u << line;
		else
			ac_recast_raise(off, &facts.exact);
		if (line < AC_SAMPLE_SIDE)
			ac_recast_norm_join(&whole, &norms[line]);
	}
	facts.error = ac_recast_norm_final(r->epilogue.activation, &whole);
	facts.seen = whole.added != 0;
	facts.shrunk = ac_cast_scalar_read(&r->beta) != 0
	    && 16 * whole.all < whole.bare;
	ac_recast_raise(ac_recast_norm_exact(r->judge, &whole), &facts.exact);
	return facts;
}

/* The worst of the lines in `lines`, or -1. */
AC_CAST_BODY int
ac_recast_worst_line(const struct ac_recast_norm *norms, uint32_t lines,
    bool by_exact)
{
	float worst = 0;
	int found = -1;

	AC_CAST_ROLLED
	for (int line = 0; line < AC_RECAST_SIDES; line++) {
		const float error = by_exact ? norms[line].off
		    : ac_recast_relative(norms[line].lost, norms[line].all);

		if (!(lines >> line & 1) || (found >= 0 && error <= worst))
			continue;
		worst = error;
		found = line;
	}
	return found;
}

/* The line that is to be looked at next, or -1: enough is known. */
AC_CAST_BODY int
ac_recast_next_line(const struct ac_recast *r, struct ac_recast_facts *facts,
    const struct ac_recast_norm *norms)
{
	AC_CAST_ROLLED
	for (int why = 0; why < 2; why++) {
		const bool known = why ? ac_recast_is_inexact(facts->exact)
		    : ac_recast_is_bad_line(r, facts->line_error);
		const int line = known || !facts->left[why] ? -1
		    : ac_recast_worst_line(norms, facts->suspect[why], why);

		if (line < 0)
			continue;
		facts->left[why]--;
		return line;
	}
	return -1;
}

/* It was looked at again: the state's scratch has its outputs. */
AC_CAST_BODY void
ac_recast_line_again(const struct ac_recast *r, int line,
    struct ac_recast_facts *facts)
{
	const struct ac_recast_norm norm = ac_recast_norm_of(r->state->sample,
	    0, 1, ac_recast_line_count(r, line));

	facts->suspect[0] &= ~(1u << line);
	facts->suspect[1] &= ~(1u << line);
	ac_recast_raise(ac_recast_norm_result(r->epilogue.activation, &norm),
	    &facts->line_error);
	ac_recast_raise(ac_recast_norm_whole(r->judge, &norm), &facts->exact);
}

/* What calls with other data have another one of: of the same 32 elements
 * always, whatever the seed. Where nothing is cast, nobody reads all of
 * them. */
AC_CAST_BODY float
ac_recast_probe(const struct ac_recast *r, int operand)
{
	const struct ac_recast_operand *o = &r->operand[operand];
	const float *matrix = ac_recast_matrix(o, 0);
	const int64_t lines = operand ? r->n : r->m;
	float sum = 0;

	AC_CAST_ROLLED
	for (int i = 0; i < AC_RECAST_LANES; i++) {
		const float x = matrix[ac_recast_offset(o, i * lines
		    / AC_RECAST_LANES, i * 7 % AC_RECAST_LANES * r->k
		    / AC_RECAST_LANES)];

		if (ac_recast_is_finite(x))
			sum = sum + x * x;
	}
	return sum;
}

/* By one thread, when all is compared: into the history, with what was found
 * in the matrices one by one. */
AC_CAST_BODY void
ac_recast_sample_close(const struct ac_recast *r,
    const struct ac_recast_facts *facts)
{
	volatile struct ac_recast_state *state = r->state;
	struct ac_recast_history *history = r->history;
	float error = facts->error, exact = facts->exact;

	ac_recast_raise(ac_cast_float(state->matrix_error), &error);
	ac_recast_raise(ac_cast_float(state->matrix_exact), &exact);
	history->samples += (facts->seen | state->matrix_seen) != 0;
	if (!r->operand[0].to) {
		history->energy[0] = ac_recast_probe(r, 0);
		history->energy[1] = ac_recast_probe(r, 1);
		history->shrunk += facts->shrunk;
	}
	ac_recast_raise(error, &history->error);
	ac_recast_raise(facts->line_error, &history->line_error);
	ac_recast_raise(exact, &history->exact);
	if (ac_recast_is_wanting(r, error, facts->line_error, exact))
		ac_recast_condemn(r);
	state->matrix_error = state->matrix_exact = state->matrix_seen = 0;
}

/* The same, where only matrices were looked at. */
AC_CAST_BODY void
ac_recast_matrices_close(const struct ac_recast *r)
{
	struct ac_recast_facts facts;

	facts.error = facts.line_error = facts.exact = 0;
	facts.seen = facts.shrunk = 0;
	ac_recast_sample_close(r, &facts);
}

#endif
