/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_spots.h -- which outputs of a product are sampled: it
 * follows from the call's seed, once for both sides; and where `kept` has what
 * C held there.
 *
 *   the sample     16 rows by 16 columns of one matrix
 *   of a line      up to AC_SAMPLE_LINE outputs of one of its rows or columns
 *   of a matrix    an output of each of 16 x 16 parts of it; 2 x 2 of those are
 *                  looked at first, then 8 x 8 */
#ifndef AC_KERNELS_RECAST_SPOTS_H
#define AC_KERNELS_RECAST_SPOTS_H

#include "kernels/recast/recast_out.h"

enum {
	AC_RECAST_SAMPLE = AC_SAMPLE_SIDE * AC_SAMPLE_SIDE,
	AC_RECAST_SIDES  = 2 * AC_SAMPLE_SIDE, /* lines: rows, then columns */
	AC_RECAST_DEEP   = 16     /* parts of a matrix, along each side */
};

/* ---- Which outputs ----------------------------------------------------- */

AC_CAST_BODY uint64_t
ac_recast_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* Random numbers of this call: for lines 1 .. 32, for outputs of line i from
 * 128 (i + 1) on, then matrices. */
enum { AC_RECAST_DRAW_MATRIX = 1 << 16, AC_RECAST_DRAW_INSIDE = 1 << 20 };

AC_CAST_BODY uint64_t
ac_recast_draw(const struct ac_recast *r, uint64_t what)
{
	return ac_recast_mix(ac_recast_mix(r->seed) + what);
}

/* One of the i-th part of `count`, of `parts`. */
AC_CAST_BODY int64_t
ac_recast_pick(uint64_t random, int64_t i, int64_t parts, int64_t count)
{
	const int64_t first = i * count / parts;
	const int64_t width = (i + 1) * count / parts - first;

	return width > 0 ? first + (int64_t)(random % (uint64_t)width) : first;
}

AC_CAST_BODY int64_t
ac_recast_sample_matrix(const struct ac_recast *r)
{
	return (int64_t)(ac_recast_mix(r->seed) % (uint64_t)r->batch);
}

/* The i-th sampled row (side 0) or column (side 1): one of each sixteenth of
 * `count`, so none twice where there are that many. */
AC_CAST_BODY int64_t
ac_recast_sample_line(const struct ac_recast *r, int side, int i, int64_t count)
{
	return ac_recast_pick(ac_recast_draw(r,
	    (uint64_t)(side * AC_SAMPLE_SIDE + i + 1)), i, AC_SAMPLE_SIDE,
	    count);
}

struct ac_recast_spot {
	int64_t matrix, row, col;
};

/* Number `at` of the sample, 0 .. 255: down the columns. */
AC_CAST_BODY struct ac_recast_spot
ac_recast_spot_of(const struct ac_recast *r, int at)
{
	struct ac_recast_spot spot;

	spot.matrix = ac_recast_sample_matrix(r);
	spot.row = ac_recast_sample_line(r, 0, at % AC_SAMPLE_SIDE, r->m);
	spot.col = ac_recast_sample_line(r, 1, at / AC_SAMPLE_SIDE, r->n);
	return spot;
}

/* Outputs of a line that are looked at again: all that a short one has. */
AC_CAST_BODY int
ac_recast_line_count(const struct ac_recast *r, int line)
{
	const int64_t across = line < AC_SAMPLE_SIDE ? r->n : r->m;

	return across < AC_SAMPLE_LINE ? (int)across : AC_SAMPLE_LINE;
}

AC_CAST_BODY struct ac_recast_spot
ac_recast_spot_on(const struct ac_recast *r, int line, int i)
{
	const bool is_row = line < AC_SAMPLE_SIDE;
	struct ac_recast_spot spot = ac_recast_spot_of(r, is_row ? line
	    : (line - AC_SAMPLE_SIDE) * AC_SAMPLE_SIDE);
	const int64_t at = ac_recast_pick(ac_recast_draw(r,
	    (uint64_t)((line + 1) * AC_SAMPLE_LINE + i)), i,
	    ac_recast_line_count(r, line), is_row ? r->n : r->m);

	if (is_row)
		spot.col = at;
	else
		spot.row = at;
	return spot;
}

/* How many matrices are looked at one by one, and which. */
AC_CAST_BODY int64_t
ac_recast_matrices(const struct ac_recast *r)
{
	if (r->batch <= 1)
		return 0;
	return r->batch < AC_SAMPLE_MATRICES ? r->batch : AC_SAMPLE_MATRICES;
}

AC_CAST_BODY int64_t
ac_recast_matrix_at(const struct ac_recast *r, int64_t number)
{
	return ac_recast_pick(ac_recast_draw(r, (uint64_t)
	    (AC_RECAST_DRAW_MATRIX + number)), number, ac_recast_matrices(r),
	    r->batch);
}

/* Output `at` of AC_SAMPLE_DEEP in a matrix: not on lines, for one large row
 * among many has to be met. */
AC_CAST_BODY struct ac_recast_spot
ac_recast_spot_in(const struct ac_recast *r, int64_t matrix, int at)
{
	const uint64_t random = ac_recast_mix(ac_recast_draw(r, (uint64_t)
	    (AC_RECAST_DRAW_INSIDE + matrix)) + (uint64_t)at);
	struct ac_recast_spot spot;

	spot.matrix = matrix;
	spot.row = ac_recast_pick(random & UINT32_MAX, at % AC_RECAST_DEEP,
	    AC_RECAST_DEEP, r->m);
	spot.col = ac_recast_pick(random >> 32, at / AC_RECAST_DEEP,
	    AC_RECAST_DEEP, r->n);
	return spot;
}

/* Output i of `side` x `side` of them: 2, 8, or all 16. */
AC_CAST_BODY int
ac_recast_inside_at(const struct ac_recast *r, int64_t matrix, int side, int i)
{
	const uint64_t random = ac_recast_draw(r, (uint64_t)
	    (AC_RECAST_DRAW_INSIDE + matrix));
	const int step = AC_RECAST_DEEP / side;
	const int row = (int)(random % (uint64_t)step) + step * (i % side);
	const int col = (int)(random / 16 % (uint64_t)step)
	    + step * (i / side);

	return row + AC_RECAST_DEEP * col;
}

/* ---- What C was -------------------------------------------------------- */

/* `kept` of the outputs on a line; of those in the number-th matrix that is
 * looked at. NULL stays NULL. */
AC_CAST_BODY float *
ac_recast_kept_line(const struct ac_recast *r, bool kept, int line)
{
	return kept ? r->kept + line * AC_SAMPLE_LINE : NULL;
}

AC_CAST_BODY float *
ac_recast_kept_matrix(const struct ac_recast *r, bool kept, int64_t number)
{
	return kept ? r->kept + AC_KEPT_LINES + number * AC_SAMPLE_DEEP : NULL;
}

AC_CAST_BODY int64_t
ac_recast_kept_count(const struct ac_recast *r)
{
	return r->kept ? AC_KEPT_LINES + ac_recast_matrices(r) * AC_SAMPLE_DEEP
	    : 0;
}

/* Before the product: keep number `i` of what C holds. */
AC_CAST_BODY void
ac_recast_keep(const struct ac_recast *r, int64_t i)
{
	struct ac_recast_spot spot;

	if (i < AC_KEPT_LINES) {
		const int line = (int)i / AC_SAMPLE_LINE;
		const int at = (int)i % AC_SAMPLE_LINE;

		if (at >= ac_recast_line_count(r, line))
			return;
		spot = ac_recast_spot_on(r, line, at);
	} else {
		const int64_t number = (i - AC_KEPT_LINES) / AC_SAMPLE_DEEP;

		spot = ac_recast_spot_in(r, ac_recast_matrix_at(r, number),
		    (int)(i % AC_SAMPLE_DEEP));
	}
	r->kept[i] = *ac_recast_old(r, spot.matrix, spot.row, spot.col);
}

#endif
