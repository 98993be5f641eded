/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_verified.c -- probe and cast of verified products on the
 * CPU, line by line. The arithmetic is verified_body.h's. */
#include "kernels/twins/twins_verified.h"

enum { ABREAST = 8 };           /* lines that are cast side by side */

/* ---- Probe ------------------------------------------------------------- */

static uint32_t
find_seed(const struct ac_verified *v)
{
	uint32_t seed = 0;

	for (uint32_t i = 0; i < 128; i++) {
		const struct ac_verified_operand *o = &v->operand[i & 1];
		const struct ac_verified_element at =
		    ac_verified_element_of(v, i);

		seed += ac_verified_seed_of(i,
		    ac_verified_matrix(o, at.matrix)[at.line
		    * ac_verified_line_step(o)
		    + at.k * ac_verified_k_step(o)]);
	}
	return seed;
}

/* One k of one matrix: what its lines add up to. */
static void
add_lines(const struct ac_verified *v, int side, int64_t matrix, int64_t k,
    ac_weights weight, double *sums)
{
	const struct ac_verified_operand *o = &v->operand[side];
	const int64_t step = ac_verified_line_step(o);
	const float *from = ac_verified_matrix(o, matrix)
	    + k * ac_verified_k_step(o);
	struct ac_verified_state *s = v->state;
	double chain[AC_VERIFIED_CHAINS][AC_VERIFIED_VECTORS] = {0};

	for (int g = 0; g < ac_verified_groups(o->lines); g++) {
		const int64_t first = ac_verified_group(s->seed,
		    (uint32_t)side, g, o->lines);

		for (int l = 0; l < ac_verified_group_size(first, o->lines);
		    l++) {
			const float *w = weight[g * AC_VERIFIED_GROUP + l];
			double *sum = chain[g % AC_VERIFIED_CHAINS];
			float x = from[(first + l) * step];

			x = ac_cast_is_finite(x) ? x : 0;
			if ((ac_cast_bits(x) & 0x7fffffff) > s->amax[side])
				s->amax[side] = ac_cast_bits(x) & 0x7fffffff;
			s->bits[side] |= ac_verified_seen(x);
			for (int t = 0; t < AC_VERIFIED_VECTORS; t++)
				sum[t] = ac_verified_add(w[t], x, sum[t]);
		}
	}
	for (int t = 0; t < AC_VERIFIED_VECTORS; t++) {
		double sum = chain[0][t];

		for (int c = 1; c < AC_VERIFIED_CHAINS; c++)
			sum += chain[c][t];
		sums[t * v->k] = sum;
	}
}

void
ac_twin_verified_probe(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_verified *v = params[0];
	const unsigned mode = ac_float_mode_enter();
	struct ac_meter meter = {0};

	(void)launch;
	v->state->seed = find_seed(v);
	for (int side = 0; side < 2; side++) {
		double *sums = v->operand[!side].sums;
		ac_weights weight;

		ac_weigh(v->state->seed, (uint32_t)side, weight);
		for (int64_t b = 0; b < v->batch; b++)
			for (int64_t k = 0; k < v->k; k++)
				add_lines(v, side, b, k, weight, sums + b
				    * AC_VERIFIED_VECTORS * v->k + k);
		meter.read += (uint64_t)(v->batch * v->k
		    * ac_verified_groups(v->operand[side].lines)
		    * AC_VERIFIED_GROUP) * sizeof(float);
	}
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}

/* ---- Cast -------------------------------------------------------------- */

/* A strip of lines in one slice. */
struct strip {
	const struct ac_verified *v;
	const struct ac_verified_operand *o;
	const float *u;         /* [k][vector], of the slice */
	int64_t matrix, line, begin, end;
	int     lines;
	float   factor;
	bool    exact;
	struct ac_verified_rung rung;
	int64_t terms;
};

typedef float strip_sums[AC_VERIFIED_CHAINS][AC_VERIFIED_SUMS][ABREAST];

static inline __attribute__((always_inline)) float
fused(bool hardware, float a, float b, float c)
{
	return hardware ? __builtin_fmaf(a, b, c) : ac_verified_fma(a, b, c);
}

/* `y` of one k of all lines into their sums but for the cells'. */
static inline __attribute__((always_inline)) void
project(bool hardware, const float *y, const float *u,
    float (*sum)[ABREAST])
{
	for (int t = 0; t < AC_VERIFIED_VECTORS; t++)
		for (int l = 0; l < ABREAST; l++)
			sum[t][l] = fused(hardware, y[l], u[t], sum[t][l]);
}

static void
project_plain(const float *y, const float *u, float (*sum)[ABREAST])
{
	project(false, y, u, sum);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void
project_eight(const float *y, const float *u, float (*sum)[ABREAST])
{
	project(true, y, u, sum);
}
#endif

/* Where the casts of one k of a strip go. */
struct target {
	uint16_t *to;           /* NULL: it is only looked at */
	int64_t   line, term;   /* to the next one */
};

static struct target
target_of(const struct strip *s, int64_t k)
{
	const struct ac_verified_operand *o = s->o;
	struct target target = { .line = o->lines_are_cols ? o->ld_to : 1 };
	const int64_t at = ac_verified_at(s->v, k, &target.term);

	if (!o->lines_are_cols)
		target.term *= o->ld_to;
	if (o->to)
		target.to = o->to + (o->lines_are_cols
		    ? (s->matrix * o->lines + s->line) * o->ld_to + at
		    : (s->matrix * ac_verified_stored_k(s->v->k,
		    s->v->format) + at) * o->ld_to + s->line);
	return target;
}

/* One number, as all terms that it is; returns what that has lost of it. */
static float
write(const struct strip *s, const struct target *target, int line, float y)
{
	const struct ac_verified_rung *rung = &s->rung;
	float rest = ac_verified_rest(y), lost = y;

	for (uint32_t p = 0; p < rung->parts; p++) {
		const uint16_t part = ac_verified_part_of(&rest, &lost,
		    rung->format);

		if (p && part)
			s->v->state->bits[s->o == &s->v->operand[1]] |=
			    AC_VERIFIED_PARTED;

		for (int64_t t = 0; target->to && t < s->terms; t++)
			if ((rung->order >> 2 * t & 3) == p)
				target->to[line * target->line
				    + t * target->term] = part;
	}
	return lost;
}

static void
write_zero(const struct strip *s, const struct target *target, int line)
{
	for (int64_t t = 0; t < s->terms; t++)
		target->to[line * target->line + t * target->term] = 0;
}

static void
cast_k(const struct strip *s, int64_t k, strip_sums sums)
{
	const struct target target = target_of(s, k);
	const int64_t step = ac_verified_line_step(s->o);
	const float *from = ac_verified_matrix(s->o, s->matrix) + s->line
	    * step + k * ac_verified_k_step(s->o);
	float (*sum)[ABREAST] = sums[k / 4 % AC_VERIFIED_CHAINS];
	const float *u = s->u + (k - s->begin) * AC_VERIFIED_VECTORS;
	float y[ABREAST] = {0};

	for (int l = 0; l < s->lines; l++) {
		const float x = from[l * step];
		float own[AC_VERIFIED_SUMS];

		y[l] = x * s->factor;
		for (int i = AC_VERIFIED_ENERGY; i < AC_VERIFIED_SUMS; i++)
			own[i] = sum[i][l];
		ac_verified_count(x, y[l], write(s, &target, l, y[l]),
		    s->exact, own);
		for (int i = AC_VERIFIED_ENERGY; i < AC_VERIFIED_SUMS; i++)
			sum[i][l] = own[i];
	}
	for (int l = s->lines; target.to && !s->o->lines_are_cols
	    && l < ABREAST; l++)
		write_zero(s, &target, l);
#if defined(__x86_64__)
	if (ac_has_fma()) {
		project_eight(y, u, sum);
		return;
	}
#endif
	project_plain(y, u, sum);
}

static void
close_chains(const struct strip *s, strip_sums sums)
{
	for (int c = 0; c < AC_VERIFIED_CHAINS; c++)
		for (int l = 0; s->exact && l < s->lines; l++)
			sums[c][AC_VERIFIED_LOSS][l] = ac_verified_loss(
			    sums[c][AC_VERIFIED_LOSS][l],
			    sums[c][AC_VERIFIED_TRACE][l]);
}

/* What is past the matrix is written as zero, to the next multiple of 8: of
 * lines above, of K where that runs along memory, or its terms lie side by
 * side. */
static void
pad(const struct strip *s)
{
	if (s->end != s->v->k || !s->o->to
	    || (!s->o->lines_are_cols && s->terms == 1))
		return;
	for (int64_t k = s->end; k % 8; k++) {
		struct target target = target_of(s, k);

		for (int l = 0; l < (s->o->lines_are_cols ? s->lines
		    : ABREAST); l++)
			write_zero(s, &target, l);
	}
}

static void
cast_strip(const struct strip *s, int64_t slice)
{
	const struct ac_verified *v = s->v;
	const struct ac_verified_operand *o = s->o;
	const int side = o == &v->operand[1];
	strip_sums sums;

	memset(sums, 0, sizeof sums);
	for (int64_t k = s->begin; k < s->end; k++)
		cast_k(s, k, sums);
	pad(s);
	close_chains(s, sums);
	for (int i = 0; i < AC_VERIFIED_VALUES; i++)
		for (int l = 0; l < s->lines; l++) {
			const float c[AC_VERIFIED_CHAINS] = { sums[0][i][l],
				sums[1][i][l], sums[2][i][l], sums[3][i][l],
				sums[4][i][l], sums[5][i][l], sums[6][i][l],
				sums[7][i][l] };
			const float sum = ac_verified_tree(c);

			ac_verified_part(v, o, s->matrix, slice, i)
			    [s->line + l] = sum;
			v->state->bits[side] |= ac_verified_bits(i, sum);
		}
}

static void
cast_slice(const struct ac_verified *v, int side, int64_t matrix,
    int64_t slice, const struct ac_cast_scale *scale, bool exact)
{
	const struct ac_verified_operand *o = &v->operand[side];
	const double factor = (double)ac_verified_power(
	    scale->exponent[!side]);
	float u[AC_VERIFIED_SLICE * AC_VERIFIED_VECTORS];
	struct strip s = { .v = v, .o = o, .u = u, .matrix = matrix,
		.begin = slice * v->slice, .exact = exact,
		.factor = ac_verified_power(scale->exponent[side]),
		.rung = ac_verified_rung_in(v, side),
		.terms = ac_verified_terms(v->format) };

	s.end = s.begin + v->slice < v->k ? s.begin + v->slice : v->k;
	for (int64_t k = s.begin; k < s.end; k++)
		for (int t = 0; t < AC_VERIFIED_VECTORS; t++)
			u[(k - s.begin) * AC_VERIFIED_VECTORS + t] = (float)(
			    o->sums[(matrix * AC_VERIFIED_VECTORS + t) * v->k
			    + k] * factor);
	for (s.line = 0; s.line < o->lines; s.line += ABREAST) {
		s.lines = o->lines - s.line < ABREAST
		    ? (int)(o->lines - s.line) : ABREAST;
		cast_strip(&s, slice);
	}
}

void
ac_twin_verified_cast(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_verified *v = params[0];
	struct ac_verified_state *s = v->state;
	const unsigned mode = ac_float_mode_enter();
	const struct ac_cast_scale scale = ac_verified_scale_of(v);
	const bool exact = ac_verified_is_counted(v, &scale);
	struct ac_meter meter = {0};

	(void)launch;
	ac_verified_begin(&scale, s);
	for (int side = 0; side < 2; side++) {
		const uint64_t count = (uint64_t)(v->operand[side].lines
		    * v->k * v->batch);

		for (int64_t b = 0; b < v->batch; b++)
			for (int64_t i = 0; i < ac_verified_slices(v); i++)
				cast_slice(v, side, b, i, &scale, exact);
		meter.read += count * sizeof(float);
		meter.written += v->operand[side].to
		    ? count * sizeof(uint16_t)
		    * (uint64_t)ac_verified_terms(v->format) : 0;
	}
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}
