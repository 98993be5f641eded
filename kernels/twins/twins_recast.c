/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_recast.c -- the passes of the one-pass cast on the CPU:
 * tiles in and out, marks, sums. The arithmetic is recast_body.h's, by way of
 * twins_tile.c; what becomes of the outputs is twins_finish.c's. */
#include "kernels/twins/twins_recast.h"

#include "kernels/recast/recast_spots.h"

/* One operand's pass. */
struct pass {
	const struct ac_recast_operand *o;
	struct ac_recast_way way;
	struct ac_recast_state *state;
	float *bands;             /* may be NULL */
	int  operand;
	bool first;               /* look for amax, non-finite, and mark */
	bool store;               /* cast: the exponent is known */
	struct ac_meter meter;
};

struct place {
	int64_t row, col, matrix; /* the tile's first element */
};

static int64_t
least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void
load_tile(struct pass *pass, const struct place *place,
    struct ac_twin_tile *tile)
{
	const struct ac_recast_operand *o = pass->o;
	const int64_t rows = least(o->rows - place->row, AC_TILE_SIDE);
	const int64_t cols = least(o->cols - place->col, AC_TILE_SIDE);
	const float *from;

	if (rows < AC_TILE_SIDE || cols < AC_TILE_SIDE)
		memset(tile->from, 0, sizeof tile->from);
	if (rows <= 0 || cols <= 0)
		return;
	from = ac_recast_matrix(o, place->matrix) + place->col * o->ld
	    + place->row;
	for (int64_t j = 0; j < cols; j++)
		memcpy(tile->from[j], ac_read_run(&pass->meter,
		    from + j * o->ld, rows), (size_t)rows * sizeof *from);
}

static void
store_tile(struct pass *pass, const struct place *place,
    const struct ac_twin_tile *tile)
{
	const struct ac_recast_operand *o = pass->o;
	const int64_t rows = least(o->ld_to - place->row, AC_TILE_SIDE);
	const int64_t cols = least(o->cols_to - place->col, AC_TILE_SIDE);
	uint16_t *to = o->to + (place->matrix * o->cols_to + place->col)
	    * o->ld_to + place->row;

	for (int64_t j = 0; j < cols; j++)
		memcpy(ac_write_run(&pass->meter, to + j * o->ld_to, rows),
		    tile->to[j], (size_t)rows * sizeof *to);
}

/* The tile's 32 lines, two bits each, into the words they fall in. */
static void
mark_lines(struct pass *pass, const struct place *place, uint64_t bits)
{
	const struct ac_recast_operand *o = pass->o;
	const int64_t number = place->matrix * ac_recast_lines(o)
	    + (o->lines_are_cols ? place->col : place->row);
	const int shift = (int)(2 * (number % AC_RECAST_LINES));
	const uint32_t parts[3] = {
		(uint32_t)(bits << shift),
		(uint32_t)(bits >> (32 - shift)),
		shift ? (uint32_t)(bits >> (64 - shift)) : 0,
	};

	for (int i = 0; i < 3; i++)
		if (parts[i]) {
			o->marks[number / AC_RECAST_LINES + i] |= parts[i];
			pass->meter.read += sizeof *o->marks;
			pass->meter.written += sizeof *o->marks;
		}
}

/* Makes zero what is not below the limit; what is not finite marks its line.
 * The largest finite one raises *amax. */
static void
clean_tile(struct pass *pass, const struct place *place,
    struct ac_twin_tile *tile, uint32_t *amax)
{
	uint64_t bits = 0;

	for (int j = 0; j < AC_TILE_SIDE; j++)
		for (int i = 0; i < AC_TILE_SIDE; i++) {
			const uint32_t m =
			    ac_cast_bits(tile->from[j][i]) & 0x7fffffff;
			const int line = pass->o->lines_are_cols ? j : i;

			if (m >= AC_CAST_INF)
				bits |= (uint64_t)(m > AC_CAST_INF ? 3 : 1)
				    << 2 * line;
			else if (m > *amax)
				*amax = m;
			if (m >= pass->way.limit)
				tile->from[j][i] = 0;
		}
	if (!bits || !pass->first)
		return;
	pass->state->nonfinite |= 1u << pass->operand;
	mark_lines(pass, place, bits);
}

static float
sum_of(const float band[AC_RECAST_BANDS])
{
	return (band[0] + band[1]) + (band[2] + band[3]);
}

static void
note_sums(struct pass *pass, const struct place *place,
    const struct ac_twin_tile *tile)
{
	const struct ac_recast_operand *o = pass->o;
	struct ac_recast_state *state = pass->state;
	const int i = pass->operand;
	const float energy = sum_of(tile->band);
	const float loss = sum_of(tile->band + AC_RECAST_BANDS);
	const uint32_t ratio = ac_recast_ratio(energy, loss);
	const int64_t row = place->row / AC_TILE_SIDE;
	const int64_t col = place->col / AC_TILE_SIDE;

	if (pass->bands) {
		memcpy(pass->bands + ac_recast_bands_at(o, place->matrix,
		    o->lines_are_cols ? row : col,
		    o->lines_are_cols ? col : row), tile->band,
		    sizeof tile->band);
		pass->meter.written += sizeof tile->band;
	}
	state->energy[i][0] += ac_recast_parts(energy);
	state->energy[i][1] += ac_recast_whole(energy);
	state->loss[i][0] += ac_recast_parts(loss);
	state->loss[i][1] += ac_recast_whole(loss);
	if (ratio > state->tile[i])
		state->tile[i] = ratio;
}

static void
do_tile(struct pass *pass, const struct place *place)
{
	struct ac_recast_state *state = pass->state;
	const int i = pass->operand;
	uint32_t amax;
	struct ac_twin_tile tile;

	load_tile(pass, place, &tile);
	amax = ac_twin_tile_largest(&tile);
	if (amax >= pass->way.limit) {
		amax = 0;
		clean_tile(pass, place, &tile, &amax);
	}
	if (pass->first && amax > state->amax[i])
		state->amax[i] = amax;
	if (!pass->store)
		return;
	ac_twin_tile_cast(&tile, pass->way, pass->o->lines_are_cols);
	store_tile(pass, place, &tile);
	note_sums(pass, place, &tile);
}

/* Both operands, tile by tile; an operand without `to` is left alone. */
static void
do_pass(const struct ac_recast *r, const struct ac_recast_plan *plan,
    bool first)
{
	for (int i = 0; i < 2; i++) {
		struct pass pass = {
			.o = &r->operand[i], .state = r->state, .operand = i,
			.way = ac_recast_way_of(r->format, r->scaled,
			    plan->exponent[i]),
			.first = first, .store = plan->known,
			.bands = r->bands[i],
		};
		struct place at;

		if (!pass.o->to)
			continue;
		for (at.matrix = 0; at.matrix < pass.o->batch; at.matrix++)
			for (at.col = 0; at.col < pass.o->cols_to;
			    at.col += AC_TILE_SIDE)
				for (at.row = 0; at.row < pass.o->ld_to;
				    at.row += AC_TILE_SIDE)
					do_tile(&pass, &at);
		ac_meter_add(&pass.meter);
	}
}

void
ac_twin_recast_cast(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_recast *r = params[0];
	const struct ac_recast_plan plan = ac_recast_remembered(r);
	const unsigned mode = ac_float_mode_enter();

	(void)launch;
	do_pass(r, &plan, true);
	ac_recast_decide(r, &plan);
	ac_float_mode_leave(mode);
}

/* All that C holds where finish will look, or may. */
static void
keep_before(const struct ac_recast *r, bool sample, bool probes,
    struct ac_meter *meter)
{
	const int64_t first = sample ? 0 : AC_KEPT_LINES;

	if (!sample && !probes)
		return;
	for (int at = 0; at < AC_RECAST_SAMPLE; at++) {
		const struct ac_recast_spot spot = ac_recast_spot_of(r, at);

		r->before[at] = ac_read_one(meter, ac_recast_old(r,
		    spot.matrix, spot.row, spot.col));
	}
	for (int64_t i = first; (sample || r->batch > 1)
	    && i < ac_recast_kept_count(r); i++) {
		ac_recast_keep(r, i);
		meter->read += sizeof *r->kept;
	}
	if (probes)
		ac_twin_keep_probes(r, meter);
}

/* The casts of an operand that let inf and NaN through, padding and all. */
static void
pass_through(const struct ac_recast *r, int operand, struct ac_meter *meter)
{
	const struct ac_recast_operand *o = &r->operand[operand];
	const struct ac_recast_way way = ac_recast_way_of(r->format, r->scaled,
	    r->state->measured[operand]);

	for (int64_t b = 0; b < o->batch; b++)
		for (int64_t j = 0; j < o->cols_to; j++) {
			const int64_t rows = j < o->cols ? o->rows : 0;
			const float *from = ac_read_run(meter,
			    ac_recast_matrix(o, b) + j * o->ld, rows);
			uint16_t *to = ac_write_run(meter, o->to
			    + (b * o->cols_to + j) * o->ld_to, o->ld_to);

			for (int64_t i = 0; i < o->ld_to; i++)
				to[i] = ac_recast_through(i < rows ? from[i]
				    : 0, way);
		}
}

void
ac_twin_recast_settle(const struct ac_twin_launch *launch, void **params)
{
	const struct ac_recast *r = params[0];
	const uint32_t todo = r->state->todo;
	const unsigned mode = ac_float_mode_enter();
	const bool probes = ac_recast_probes(r);
	struct ac_meter meter = {0};

	(void)launch;
	if (ac_cast_scalar_read(&r->beta) != 0)
		keep_before(r, ac_recast_duty_of(r, todo).sample, probes,
		    &meter);
	if (probes && r->state->probe == AC_PROBE_ESTIMATE)
		ac_twin_add_parts(r, &meter);
	if (todo & AC_TODO_SETTLE) {
		const struct ac_recast_plan plan = ac_recast_own(r,
		    r->state->amax[0], r->state->amax[1]);

		do_pass(r, &plan, false);
		ac_recast_decide_again(r);
	}
	for (int i = 0; i < 2 && todo & AC_TODO_THROUGH; i++)
		pass_through(r, i, &meter);
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}
