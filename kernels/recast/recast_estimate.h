/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_estimate.h -- how far off a call is likely to be,
 * without a product in FP64; once for both sides.
 *
 * The casts' roundings a' - a and b' - b are as good as independent, so the
 * squared error of a product is, summed over all outputs,
 *
 *   sum over k of  LA_k Q_k + P_k LB_k,   P_k = sum over i of a_ik^2,
 *   Q_k = sum over j of b_kj^2, LA_k and LB_k the same of the roundings.
 *
 * It is known by bands of eight k. Where a band is flat, eight x_k y_k are
 * (sum of x)(sum of y) / 8; where both its factors lie in one k they are eight
 * times that, so the estimate is low by sqrt(8) at most; where they lie in
 * different ones it is high. Bands end at K: the last may be narrower than
 * eight.
 *
 * What is lost counts against the smaller of two: the product, and what is in
 * C. Their squares' means are those of 256 outputs, one of each 256th of the
 * rows and one of each 256th of the columns, so no row or column of large ones
 * is met by chance twice as often as it should. What was in C drowns the
 * product where it is more than 2^12 times as large as the terms of the product
 * let expect: FP32 has nothing left of it there, and such outputs say nothing
 * about it. An inf or a NaN of C stays one and says nothing at all.
 *
 * Behind an epilogue the outputs that count are those from which y can be told,
 * and a bias is a part of what was in C: RELU shows y where it is more than 0,
 * and of those alone D consists. Fewer than 16 of them are no estimate.
 *
 * Each matrix of a batch has an estimate of its own, of 64 outputs. Of more
 * than AC_SAMPLE_MATRICES, those have that a sample would look at one by one.
 *
 * Order of the sums. A band: thread t of 256 takes word t % 8 of line tiles
 * t / 8, t / 8 + 32, ...; t is added to t ^ 8, ^ 16; then the eight warps one
 * after the other. Four bands: (0 + 1) + (2 + 3). Over K, and over outputs: a
 * thread's own one after the other, t to t ^ 16, ^ 8, ^ 4, ^ 2, ^ 1, the warps
 * one after the other. For a matrix of a batch there is one warp, of 32
 * threads. All in double. */
#ifndef AC_KERNELS_RECAST_ESTIMATE_H
#define AC_KERNELS_RECAST_ESTIMATE_H

#include "kernels/recast/recast_epilogue.h"
#include "kernels/recast/recast_spots.h"

enum {
	AC_RECAST_PROBES = AC_BEFORE - AC_RECAST_SAMPLE,
	AC_RECAST_GROUPS = AC_CAST_BLOCK / AC_RECAST_WORDS
};
static_assert((int)AC_RECAST_PROBES == (int)AC_CAST_BLOCK, "a thread's each");

/* ---- What was lost ----------------------------------------------------- */

/* Tiles across the lines of an operand, and along K. */
AC_CAST_BODY int64_t
ac_recast_tiles(int64_t count)
{
	return (count + AC_TILE_SIDE - 1) / AC_TILE_SIDE;
}

AC_CAST_BODY int64_t
ac_recast_line_tiles(const struct ac_recast_operand *o)
{
	return ac_recast_tiles(o->lines_are_cols ? o->cols_to : o->ld_to);
}

/* Where a tile's words are: those of a stretch of K are together. */
AC_CAST_BODY int64_t
ac_recast_bands_at(const struct ac_recast_operand *o, int64_t matrix,
    int64_t along, int64_t line)
{
	const int64_t all = ac_recast_tiles(o->lines_are_cols ? o->ld_to
	    : o->cols_to);

	if (matrix >= o->batch)
		matrix = 0;
	return ((matrix * all + along) * ac_recast_line_tiles(o) + line)
	    * AC_RECAST_WORDS;
}

/* Over some of K: the error's square, and the terms' squares. */
struct ac_recast_part {
	double lost, all;
};

/* How many k are in band `band` of stretch `along`; none are zeros. */
AC_CAST_BODY double
ac_recast_width(const struct ac_recast *r, int64_t along, int band)
{
	const int64_t left = r->k - along * AC_TILE_SIDE
	    - band * AC_RECAST_BAND;

	return left < AC_RECAST_BAND && left > 0 ? (double)left
	    : AC_RECAST_BAND;
}

/* ---- What there is ----------------------------------------------------- */

/* Outputs of a matrix that are looked at: 2^this. */
AC_CAST_BODY int
ac_recast_probe_bits(const struct ac_recast *r)
{
	return r->batch > 1 ? 6 : 8;
}

/* x of 2^bits scattered over them: one to one. */
AC_CAST_BODY uint32_t
ac_recast_scatter(uint32_t x, int bits, uint64_t random)
{
	const uint32_t all = (1u << bits) - 1;

	x = ((x ^ (uint32_t)random) * ((uint32_t)(random >> 8) | 1)) & all;
	x = ((x ^ x >> 4) * ((uint32_t)(random >> 16) | 1)) & all;
	return ((x ^ x >> 3) + (uint32_t)(random >> 24)) & all;
}

/* One of the `count` lines, in part number `part` of 2^bits. */
AC_CAST_BODY int64_t
ac_recast_line_in(uint32_t part, int bits, uint64_t random, int64_t count)
{
	const uint64_t at = (uint64_t)part << (32 - bits)
	    | random >> (32 + bits); /* of 2^32 */
	const uint64_t low = (uint32_t)count;

	return (int64_t)(at * ((uint64_t)count >> 32) + (at * low >> 32));
}

/* Number `at` of the outputs that are looked at. */
AC_CAST_BODY struct ac_recast_spot
ac_recast_probe_spot(const struct ac_recast *r, int64_t matrix, int at)
{
	const uint64_t call = ac_recast_mix((r->seed ^ 0xd1b54a32d192ed03u)
	    + (uint64_t)matrix);
	const uint64_t one = ac_recast_mix(call + (uint64_t)at);
	const int bits = ac_recast_probe_bits(r);
	struct ac_recast_spot spot;

	spot.matrix = matrix;
	spot.row = ac_recast_line_in((uint32_t)at, bits, one, r->m);
	spot.col = ac_recast_line_in(ac_recast_scatter((uint32_t)at, bits,
	    call), bits, one << 32 | one >> 32, r->n);
	return spot;
}

/* What C held there before the product: of the number-th matrix that is looked
 * at. */
AC_CAST_BODY float *
ac_recast_probe_kept(const struct ac_recast *r, int64_t number)
{
	if (r->batch <= 1)
		return r->before + AC_RECAST_SAMPLE;
	return r->kept + AC_KEPT_LINES + ac_recast_matrices(r)
	    * AC_SAMPLE_DEEP + number * AC_PROBES_EACH;
}

/* How many matrices are probed, and which. */
AC_CAST_BODY int64_t
ac_recast_probed(const struct ac_recast *r)
{
	return r->batch > 1 ? ac_recast_matrices(r) : 1;
}

AC_CAST_BODY int64_t
ac_recast_probed_at(const struct ac_recast *r, int64_t number)
{
	return r->batch > 1 ? ac_recast_matrix_at(r, number) : 0;
}

/* Before the product: keep number `i` of all that is looked at. */
AC_CAST_BODY void
ac_recast_probe_keep(const struct ac_recast *r, int64_t i)
{
	const int bits = ac_recast_probe_bits(r);
	const int64_t number = i >> bits;
	const int at = (int)(i - (number << bits));
	const struct ac_recast_spot spot = ac_recast_probe_spot(r,
	    ac_recast_probed_at(r, number), at);

	ac_recast_probe_kept(r, number)[at] = *ac_recast_old(r, spot.matrix,
	    spot.row, spot.col);
}

/* An output as it is, activations undone, and what was added to its
 * product. */
struct ac_recast_probe {
	double value, added;
	bool   tells;           /* it could be undone */
};

AC_CAST_BODY struct ac_recast_probe
ac_recast_probe_at(const struct ac_recast *r, int64_t number, int at)
{
	const int64_t matrix = ac_recast_probed_at(r, number);
	const struct ac_recast_spot spot = ac_recast_probe_spot(r, matrix, at);
	const struct ac_recast_follower after = ac_recast_follower_of(r, matrix,
	    spot.row, spot.col);
	const float beta = ac_cast_scalar_read(&r->beta);
	float value = *(r->output.result ? ac_recast_result(r, matrix,
	    spot.row, spot.col) : ac_recast_c(r, matrix, spot.row, spot.col));
	struct ac_recast_probe probe;

	probe.tells = r->output.result || ac_recast_deactivate(
	    after.activation, ac_recast_aux(&after), &value);
	probe.value = (double)value;
	probe.added = beta != 0
	    ? (double)beta * (double)ac_recast_probe_kept(r, number)[at] : 0;
	if (after.bias)
		probe.added = probe.added + ac_recast_bias(&after);
	return probe;
}

/* Squares of an output and of its product, and whether they count. */
struct ac_recast_weight {
	double c, product;
	bool   counts, drowns;
};

/* `most`: of the square of what was added, where the product is not lost. */
AC_CAST_BODY struct ac_recast_weight
ac_recast_weigh(const struct ac_recast *r, const struct ac_recast_probe *probe,
    double most)
{
	const double c = r->output.result ? probe->value + probe->added
	    : probe->value;
	const double product = r->output.result ? probe->value
	    : probe->value - probe->added;
	struct ac_recast_weight weight;

	weight.counts = probe->tells && probe->added - probe->added == 0;
	weight.drowns = !(probe->added * probe->added <= most);
	weight.c = weight.counts ? c * c : 0;
	weight.product = weight.counts && !weight.drowns ? product * product
	    : 0;
	return weight;
}

/* ---- What follows ------------------------------------------------------ */

/* Square of what undoes the exponents of the statistics. */
AC_CAST_BODY double
ac_recast_undo(const struct ac_recast *r)
{
	const double factor = (double)ac_cast_scalar_read(&r->alpha)
	    * ac_recast_power(-(r->state->measured[0]
	    + r->state->measured[1]));

	return factor * factor;
}

/* The bound of ac_recast_weigh(), from all parts. */
AC_CAST_BODY double
ac_recast_most(const struct ac_recast *r, const struct ac_recast_part *parts)
{
	if (r->state->probe != AC_PROBE_ESTIMATE)
		return ac_recast_power(1023);
	return parts->all * ac_recast_undo(r) * 0x1p24
	    / ((double)r->m * (double)r->n);
}

/* All outputs' weights. */
struct ac_recast_weights {
	double c, product;      /* sums */
	int    counted, clear;  /* outputs in the one, in the other */
};

struct ac_recast_estimate {
	float value;            /* relative error; 0: none was estimated */
	bool  suspect, shrunk;
};

AC_CAST_BODY float
ac_recast_ratio_of(double lost, double least)
{
	if (!(lost > 0))
		return 0;
	if (!(least > 0))
		return ac_cast_float(AC_CAST_INF);
	return (float)ac_recast_sqrt(lost / least);
}

AC_CAST_BODY struct ac_recast_estimate
ac_recast_estimate_of(const struct ac_recast *r,
    const struct ac_recast_part *parts, const struct ac_recast_weights *w)
{
	const double limit = 0.7 * (double)r->tol;
	const double c = w->counted ? w->c / (double)w->counted : 0;
	const double product = w->clear ? w->product / (double)w->clear : c;
	const double least = product < c ? product : c; /* NaN: c has it */
	struct ac_recast_estimate estimate;
	double lost;

	estimate.value = 0;
	estimate.suspect = false;
	estimate.shrunk = 16 * c < product
	    && ac_cast_scalar_read(&r->beta) != 0;
	if (r->state->probe != AC_PROBE_ESTIMATE)
		return estimate;
	if (r->epilogue.activation && w->counted < AC_RECAST_USABLE) {
		estimate.suspect = !r->output.result;
		return estimate;
	}
	if (!w->counted)
		return estimate;
	lost = parts->lost * ac_recast_undo(r)
	    / ((double)r->m * (double)r->n);
	estimate.value = ac_recast_ratio_of(lost, least);
	/* An output that is inf or NaN is no measure: a sample knows better. */
	estimate.suspect = !(lost <= limit * limit * least)
	    || least - least != 0;
	return estimate;
}

/* Whether there is something to look at. */
AC_CAST_BODY bool
ac_recast_probes(const struct ac_recast *r)
{
	return r->operand[0].to && (r->state->probe == AC_PROBE_ESTIMATE
	    || (r->state->probe == AC_PROBE_SHRUNK
	    && ac_cast_scalar_read(&r->beta) != 0));
}

/* Of a batch, what its matrices left in the state. */
AC_CAST_BODY struct ac_recast_estimate
ac_recast_estimate_all(const struct ac_recast *r)
{
	volatile struct ac_recast_state *state = r->state;
	struct ac_recast_estimate estimate;

	estimate.value = ac_cast_float(state->matrix_estimate);
	estimate.suspect = state->matrix_probed & AC_PROBED_SUSPECT;
	estimate.shrunk = state->matrix_probed & AC_PROBED_SHRUNK;
	state->matrix_estimate = state->matrix_probed = 0;
	return estimate;
}

/* The end of finish, by one thread: the sample is judged, marks are clear. */
AC_CAST_BODY void
ac_recast_close(const struct ac_recast *r,
    const struct ac_recast_estimate *estimate)
{
	struct ac_recast_history *history = r->history;

	if (r->operand[0].to && r->state->probe != AC_PROBE_NONE) {
		history->judged++;
		history->suspects += estimate->suspect;
		history->shrunk += estimate->shrunk;
		ac_recast_raise(estimate->value, &history->estimate);
	}
	ac_recast_end(r);
}

#endif
