/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_sample.c -- the sample on the CPU: the outputs one after
 * the other, each dot in the GPU's order. */
#include "kernels/recast/recast_sample.h"
#include "kernels/twins/twins_recast.h"

enum { MOST_LANES = AC_CAST_BLOCK };

/* A row of op(A) times a column of op(B) in FP64, by so many lanes. */
static double
dot_of(const struct ac_recast *r, const struct ac_recast_spot *spot, int lanes,
    struct ac_meter *meter)
{
	const struct ac_recast_operand *a = &r->operand[0], *b = a + 1;
	const float *from_a = ac_recast_matrix(a, spot->matrix);
	const float *from_b = ac_recast_matrix(b, spot->matrix);
	double sum[MOST_LANES] = {0};

	if (ac_cast_scalar_read(&r->alpha) == 0)
		return 0; /* as the product: nothing is read */
	for (int64_t k = 0; k < r->k; k++) {
		const double x = ac_read_one(meter,
		    from_a + ac_recast_offset(a, spot->row, k));
		const double y = ac_read_one(meter,
		    from_b + ac_recast_offset(b, spot->col, k));

		sum[k % lanes] = sum[k % lanes] + x * y;
	}
	for (int away = AC_RECAST_LANES / 2; away; away /= 2)
		for (int lane = 0; lane < lanes; lane++)
			if (lane % AC_RECAST_LANES < away)
				sum[lane] = sum[lane] + sum[lane + away];
	for (int warp = 1; warp < lanes / AC_RECAST_LANES; warp++)
		sum[0] = sum[0] + sum[warp * AC_RECAST_LANES];
	return sum[0];
}

static struct ac_recast_look
look_at(const struct ac_recast *r, struct ac_recast_spot spot,
    const float *old, int lanes, struct ac_meter *meter)
{
	const struct ac_recast_place place = ac_recast_place_of(r, &spot, old);

	return ac_recast_look_at(&place, dot_of(r, &spot, lanes, meter));
}

static void
take_sample(const struct ac_recast *r, struct ac_meter *meter)
{
	for (int at = 0; at < AC_RECAST_SAMPLE; at++) {
		const struct ac_recast_look look = look_at(r,
		    ac_recast_spot_of(r, at), r->before + at, AC_CAST_BLOCK,
		    meter);

		ac_recast_look_store(r->state->sample, &look, at);
	}
}

/* ---- Matrices ---------------------------------------------------------- */

static struct ac_recast_norm
look_through(const struct ac_recast *r, int64_t matrix, const float *old,
    int side, struct ac_meter *meter)
{
	struct ac_recast_norm norm = ac_recast_norm_none();

	for (int i = 0; i < side * side; i++) {
		const int at = ac_recast_inside_at(r, matrix, side, i);
		const struct ac_recast_look look = look_at(r,
		    ac_recast_spot_in(r, matrix, at), old ? old + at : NULL,
		    AC_RECAST_LANES, meter);

		ac_recast_norm_add(&norm, &look);
	}
	return norm;
}

/* The bits of floats that are not negative compare as they do. */
static void
raise_bits(float value, uint32_t *worst)
{
	if (ac_cast_bits(value) > *worst)
		*worst = ac_cast_bits(value);
}

void
ac_twin_sample_matrix(const struct ac_recast *r, int64_t matrix,
    const float *old, bool deep, struct ac_meter *meter)
{
	int side = deep ? ac_recast_next_side(2) : 2;
	struct ac_recast_norm norm = look_through(r, matrix, old, side, meter);

	while (side < AC_RECAST_DEEP && ac_recast_is_suspect(r, side, &norm)) {
		side = ac_recast_next_side(side);
		norm = look_through(r, matrix, old, side, meter);
	}
	raise_bits(ac_recast_norm_final(r->epilogue.activation, &norm),
	    &r->state->matrix_error);
	raise_bits(ac_recast_norm_exact(r->judge, &norm),
	    &r->state->matrix_exact);
	r->state->matrix_seen |= norm.added != 0;
}

/* ---- The whole --------------------------------------------------------- */

static void
look_again(const struct ac_recast *r, int line, bool kept,
    struct ac_meter *meter)
{
	const float *old = ac_recast_kept_line(r, kept, line);
	const int count = ac_recast_line_count(r, line);

	for (int i = 0; i < count; i++) {
		const struct ac_recast_look look = look_at(r,
		    ac_recast_spot_on(r, line, i), old ? old + i : NULL,
		    AC_RECAST_LANES, meter);

		ac_recast_look_store(r->state->sample, &look, i);
	}
}

void
ac_twin_sample(const struct ac_recast *r, bool kept, struct ac_meter *meter)
{
	struct ac_recast_norm norms[AC_RECAST_SIDES];
	struct ac_recast_facts facts;
	int line;

	take_sample(r, meter);
	for (line = 0; line < AC_RECAST_SIDES; line++)
		norms[line] = ac_recast_norm_line(r->state->sample, line,
		    AC_SAMPLE_SIDE);
	facts = ac_recast_facts_of(r, norms, kept);
	while ((line = ac_recast_next_line(r, &facts, norms)) >= 0) {
		look_again(r, line, kept, meter);
		ac_recast_line_again(r, line, &facts);
	}
	ac_recast_sample_close(r, &facts);
}
