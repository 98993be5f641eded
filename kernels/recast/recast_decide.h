/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_decide.h -- what the last block makes of the statistics
 * of a pass, once for both sides: what the history learns, what this call was
 * worth, and what is still to do for it. */
#ifndef AC_KERNELS_RECAST_DECIDE_H
#define AC_KERNELS_RECAST_DECIDE_H

#include "kernels/recast/recast_body.h"

AC_CAST_BODY void
ac_recast_raise(float value, float *worst)
{
	if (value > *worst)
		*worst = value;
}

/* 2^exponent, which is a normal double. */
AC_CAST_BODY double
ac_recast_power(int32_t exponent)
{
	const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
	double power;

	memcpy(&power, &bits, sizeof power);
	return power;
}

AC_CAST_BODY double
ac_recast_fixed(const volatile uint64_t sum[2])
{
	return (double)sum[1] + (double)sum[0] * 0x1p-32;
}

/* A positive sum of squares of what was multiplied by 2^exponent, as it is
 * without: what no normal float can say is the largest or the smallest. */
AC_CAST_BODY float
ac_recast_unscaled(double energy, int32_t exponent)
{
	const double plain = energy * ac_recast_power(-2 * exponent);

	if (!(energy > 0))
		return 0;
	if (plain < 0x1p-126)
		return 0x1p-126f;
	return plain < 0x1p127 ? (float)plain : 0x1p127f;
}

/* All that a post tells of. */
AC_CAST_BODY void
ac_recast_forget(struct ac_recast_history *history)
{
	history->verdict = history->samples = history->settled = 0;
	history->rho = history->tile_rho = 0;
	history->error = history->line_error = 0;
	history->estimate = history->exact = 0;
	history->judged = history->suspects = history->shrunk = 0;
	history->bad = 0;
}

/* This call is not good enough, whatever the next ones are. */
AC_CAST_BODY void
ac_recast_condemn(const struct ac_recast *r)
{
	r->state->wanting = 1;
	r->history->bad |= (uint64_t)1 << (r->pair & 63);
}

/* As policy/guard.c judges a cast. */
AC_CAST_BODY void
ac_recast_judge_cast(const struct ac_recast *r, float rho, float tile_rho)
{
	const float most = r->batch > 1 ? r->tol / 2 : r->tol;

	if (r->tol > 0 && (rho > r->tol / 2 || tile_rho > most))
		ac_recast_condemn(r);
}

/* What the statistics of a pass say about this call. */
AC_CAST_BODY void
ac_recast_note_cast(const struct ac_recast *r)
{
	volatile struct ac_recast_state *state = r->state;
	const uint32_t tile0 = state->tile[0], tile1 = state->tile[1];
	const float tile_rho = (float)ac_recast_sqrt((double)ac_cast_float(
	    tile0 > tile1 ? tile0 : tile1));
	double lost = 0;
	float rho;

	AC_CAST_ROLLED
	for (int i = 0; i < 2; i++) {
		const double energy = ac_recast_fixed(state->energy[i]);
		const double loss = ac_recast_fixed(state->loss[i]);

		lost = lost + (energy > 0 ? loss / energy : 0);
		r->history->energy[i] = ac_recast_unscaled(energy,
		    state->measured[i]);
	}
	rho = (float)ac_recast_sqrt(lost);
	ac_recast_raise(rho, &r->history->rho);
	ac_recast_raise(tile_rho, &r->history->tile_rho);
	ac_recast_judge_cast(r, rho, tile_rho);
}

/* The statistics leave the state; if valid, for the history. */
AC_CAST_BODY void
ac_recast_account(const struct ac_recast *r, bool valid)
{
	volatile struct ac_recast_state *state = r->state;

	if (valid)
		ac_recast_note_cast(r);
	AC_CAST_ROLLED
	for (int i = 0; i < 2; i++) {
		state->tile[i] = 0;
		state->energy[i][0] = state->energy[i][1] = 0;
		state->loss[i][0] = state->loss[i][1] = 0;
	}
}

/* Unscaled: the largest finite input became an inf. */
AC_CAST_BODY bool
ac_recast_overflows(const struct ac_recast *r, uint32_t amax)
{
	const float x = ac_cast_float(amax);

	if (r->scaled)
		return false;
	return r->format == AC_FORMAT_FP16 ? ac_cast_fp16(x) == 0x7c00
	    : ac_cast_bf16(x) == 0x7f80;
}

/* Keeps the exponent for the next call; whether it moved too far. */
AC_CAST_BODY bool
ac_recast_learn(const struct ac_recast *r, int i, uint32_t amax)
{
	const int32_t last = r->history->sampled_exponent[i];
	int32_t now;

	if (!amax)
		return false; /* zeros teach nothing */
	now = ac_cast_exponent(amax, 1);
	r->history->exponent[i] = now;
	return r->history->sampled_known >> i & 1
	    && (now - last > AC_RECAST_JUMP || last - now > AC_RECAST_JUMP);
}

/* What finish will look at. An estimate needs the bands of the casts that stay,
 * and those of a second pass nobody would add up in time: such a call is
 * sampled instead. An alpha of inf or NaN has no error that is one. */
AC_CAST_BODY uint32_t
ac_recast_probe_kind(const struct ac_recast *r, uint32_t amax0, uint32_t amax1,
    bool stays)
{
	const uint32_t alpha = ac_cast_bits(ac_cast_scalar_read(&r->alpha))
	    & 0x7fffffff;

	if (!(r->tol > 0) || !r->before || !amax0 || !amax1 || !alpha
	    || alpha >= AC_CAST_INF || r->m <= 0 || r->n <= 0)
		return AC_PROBE_NONE;
	if (r->batch > 1 && !r->kept && ac_cast_scalar_read(&r->beta) != 0)
		return AC_PROBE_NONE;
	return stays && r->bands[0] && r->bands[1] && r->parts
	    ? AC_PROBE_ESTIMATE : AC_PROBE_SHRUNK;
}

/* `unsure`: a sample has to say what nothing else does. */
AC_CAST_BODY uint32_t
ac_recast_learn_both(const struct ac_recast *r, uint32_t amax0, uint32_t amax1,
    uint32_t nonfinite, bool unsure)
{
	struct ac_recast_history *history = r->history;
	const bool first = ac_recast_learn(r, 0, amax0);
	const bool second = ac_recast_learn(r, 1, amax1);

	history->known = 3;
	if (nonfinite)
		return AC_TODO_REPAIR;
	if (!r->before || (!r->sampled && !first && !second && !unsure))
		return 0;
	history->sampled_exponent[0] = history->exponent[0];
	history->sampled_exponent[1] = history->exponent[1];
	history->sampled_known = 3;
	return AC_TODO_SAMPLE;
}

/* Whether inf and NaN have to come out of the product itself: the library works
 * on, so finish would come too late. With alpha 0 FP32 has none. */
AC_CAST_BODY bool
ac_recast_lets_through(const struct ac_recast *r)
{
	return r->epilogue.is_set && ac_cast_scalar_read(&r->alpha) != 0;
}

/* The last block's work after the first pass. */
AC_CAST_BODY void
ac_recast_decide(const struct ac_recast *r, const struct ac_recast_plan *plan)
{
	volatile struct ac_recast_state *state = r->state;
	const uint32_t amax0 = state->amax[0], amax1 = state->amax[1];
	const uint32_t nonfinite = state->nonfinite;
	const struct ac_recast_plan own = ac_recast_own(r, amax0, amax1);
	const bool stays = plan->known
	    && plan->exponent[0] == own.exponent[0]
	    && plan->exponent[1] == own.exponent[1];
	const uint32_t probe = ac_recast_probe_kind(r, amax0, amax1, stays);
	const bool through = nonfinite && ac_recast_lets_through(r);
	uint32_t verdict = own.scale.verdict;

	state->wanting = 0;
	if (r->history->epoch != r->epoch)
		ac_recast_forget(r->history);
	r->history->epoch = r->epoch;
	if (nonfinite)
		verdict |= AC_VERDICT_NONFINITE;
	if (ac_recast_overflows(r, amax0) || ac_recast_overflows(r, amax1))
		verdict |= AC_VERDICT_OVERFLOW;
	r->history->verdict |= verdict;
	if (r->tol > 0 && verdict & AC_VERDICT_OVERFLOW)
		ac_recast_condemn(r);
	state->measured[0] = own.exponent[0];
	state->measured[1] = own.exponent[1];
	state->exponent[0] = own.scale.exponent[0];
	state->exponent[1] = own.scale.exponent[1];
	ac_recast_account(r, stays);
	state->alpha = own.scale.alpha;
	state->beta = ac_cast_scalar_read(&r->beta);
	state->probe = nonfinite ? AC_PROBE_NONE : probe;
	state->todo = ac_recast_learn_both(r, amax0, amax1, nonfinite,
	    probe && (!stays || verdict)) | (through ? AC_TODO_THROUGH
	    : stays ? 0 : AC_TODO_SETTLE);
	if (stays || through) /* else the second pass needs them */
		state->amax[0] = state->amax[1] = 0;
	state->nonfinite = 0;
	state->arrived = 0;
}

/* And after the second. */
AC_CAST_BODY void
ac_recast_decide_again(const struct ac_recast *r)
{
	volatile struct ac_recast_state *state = r->state;

	ac_recast_account(r, true);
	r->history->settled++;
	state->amax[0] = state->amax[1] = 0;
	state->todo = state->todo & ~(uint32_t)AC_TODO_SETTLE;
	state->arrived = 0;
}

#endif
