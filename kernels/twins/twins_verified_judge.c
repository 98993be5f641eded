/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/twins/twins_verified_judge.c -- verify of verified products on the
 * CPU, block by block. The arithmetic is verified_judge.h's. */
#include "kernels/twins/twins_verified.h"
#include "kernels/verified/verified_judge.h"

enum {
	LINES = 64,             /* of a block, at most */
	SUMS = AC_VERIFIED_VECTORS + 2 /* as the kernel's */
};

/* A line's projections and energy, as the product has them; with beta C. */
static void
see_line(const struct ac_verified *v, int side, int64_t matrix, int64_t line,
    int32_t up, ac_weights weight, float *total)
{
	const int64_t others = side ? v->m : v->n;
	const int64_t step = side ? 1 : v->output.ld;
	const int64_t step_c = side ? 1 : v->output.c_ld;
	const float *from = ac_verified_product(v, matrix)
	    + line * (side ? v->output.ld : 1);
	const float beta = ac_verified_beta(v);
	const float *c = beta != 0 ? ac_verified_c(v, matrix)
	    + line * (side ? v->output.c_ld : 1) : NULL;
	const bool adds = ac_verified_adds(v, beta);
	float chain[AC_VERIFIED_CHAINS][SUMS] = {{0}};

	for (int g = 0; g < ac_verified_groups(others); g++) {
		const int64_t first = ac_verified_group(v->state->seed,
		    (uint32_t)!side, g, others);
		float *sum = chain[g % AC_VERIFIED_CHAINS];

		for (int l = 0; l < ac_verified_group_size(first, others);
		    l++) {
			const float *w = weight[g * AC_VERIFIED_GROUP + l];
			const float one = ac_verified_power(up / 2);
			const float two = ac_verified_power(up - up / 2);
			const float product = from[(first + l) * step];
			const float y = product * one * two;

			for (int t = 0; t < AC_VERIFIED_VECTORS; t++)
				sum[t] = ac_verified_fma(y, w[t], sum[t]);
			sum[SUMS - 2] = ac_verified_fma(y, y, sum[SUMS - 2]);
			if (adds) {
				const int64_t other = first + l;
				const float z = ac_verified_y(v, matrix,
				    side ? other : line, side ? line : other,
				    product, beta, c ? c + other * step_c
				    : NULL) * one * two;

				sum[SUMS - 1] = ac_verified_fma(z, z,
				    sum[SUMS - 1]);
			}
		}
	}
	for (int t = 0; t < SUMS; t++) {
		total[t] = 0;
		for (int i = 0; i < (others < AC_VERIFIED_SHORT ? 4 : 8); i++)
			total[t] += chain[i][t];
	}
}

static struct ac_verified_line
measure(const struct ac_verified *v, int side, int64_t matrix, int64_t line,
    const struct ac_verified_unit *unit, ac_weights weight)
{
	const struct ac_verified_operand *o = &v->operand[side];
	float part[AC_VERIFIED_VALUES], sum[SUMS] = {0};
	struct ac_verified_line m;
	float d2 = 0;

	for (int i = 0; i < AC_VERIFIED_VALUES; i++) {
		part[i] = 0;
		for (int64_t s = 0; s < ac_verified_slices(v); s++)
			part[i] += ac_verified_part(v, o, matrix, s, i)[line];
	}
	if (v->tol > 0)
		see_line(v, side, matrix, line, unit->up, weight, sum);
	for (int t = 0; t < AC_VERIFIED_VECTORS; t++) {
		const float d = sum[t] - unit->alpha * part[t];

		d2 += d * d;
	}
	m.d2 = d2 * (1.f / AC_VERIFIED_VECTORS);
	m.product2 = ac_verified_beta(v) != 0 ? sum[SUMS - 2] : 0;
	m.e2 = ac_verified_e2(ac_verified_adds(v, ac_verified_beta(v)),
	    sum[SUMS - 2], sum[SUMS - 1]);
	m.energy = part[AC_VERIFIED_ENERGY];
	m.loss = part[AC_VERIFIED_LOSS];
	m.reach = part[AC_VERIFIED_REACH];
	return m;
}

/* As so many lanes come together; in the first. */
static void
join_lanes(struct ac_verified_word *lane, int lanes)
{
	for (int away = lanes / 2; away; away /= 2)
		for (int i = 0; i < away; i++)
			ac_verified_join(&lane[i + away], &lane[i]);
}

/* A word of flags: 32 lines, of which `count` are there. */
static void
publish(const struct ac_verified_operand *o, int64_t number, int count,
    const uint32_t *verdict, const struct ac_verified_line *m)
{
	struct ac_verified_word lane[32];

	memset(lane, 0, sizeof lane);
	o->flags[number] = 0;
	for (int i = 0; i < count; i++) {
		lane[i] = ac_verified_word_of(&m[i], verdict[i]);
		o->flags[number] |= lane[i].flagged << i;
	}
	join_lanes(lane, 32);
	o->words[number] = lane[0];
}

static void
judge_block(const struct ac_verified *v, int side, int64_t matrix,
    int64_t first, const struct ac_verified_unit *unit, ac_weights weight)
{
	const struct ac_verified_operand *o = &v->operand[side];
	const struct ac_verified_judge judge = ac_verified_judge_of(v, side);
	const int64_t block = ac_verified_block(side ? v->m : v->n);
	const int count = (int)(o->lines - first < block ? o->lines - first
	    : block);
	struct ac_verified_line m[LINES];
	uint32_t verdict[LINES];

	for (int l = 0; l < count; l++)
		m[l] = measure(v, side, matrix, first + l, unit, weight);
	for (int l = 0; l < count; l++) {
		const int from = l / judge.group * judge.group;
		struct ac_verified_lines group = { 0, 0, 0 };

		for (int i = from; i < from + judge.group && i < count; i++) {
			group.d2 += m[i].d2;
			group.e2 += m[i].e2;
			group.product2 += m[i].product2;
		}
		verdict[l] = ac_verified_verdict(&m[l], &group, &judge);
	}
	for (int l = 0; l < count; l += 32)
		publish(o, matrix * ac_verified_words(o->lines)
		    + (first + l) / 32, count - l < 32 ? count - l : 32,
		    verdict + l, m + l);
}

/* Threads that have joined words of one matrix: is it off? */
static bool
is_off(const struct ac_verified *v, int count, struct ac_verified_word *own)
{
	for (int away = count / 2; away; away /= 2)
		for (int i = 0; i < away; i++) {
			own[i].d2 += own[i + away].d2;
			own[i].e2 += own[i + away].e2;
		}
	return ac_verified_is_off(v, own->d2, own->e2);
}

/* As 128 threads do it, in four warps. Whether one of a batch is off by
 * itself. */
static bool
join_words(const struct ac_verified *v, int side,
    struct ac_verified_word *sum_out)
{
	const struct ac_verified_operand *o = &v->operand[side];
	const int64_t words = ac_verified_words(o->lines);
	const int abreast = ac_verified_abreast(v, words);
	struct ac_verified_word lane[128], own[128];
	bool off = false;

	memset(lane, 0, sizeof lane);
	for (int64_t b = 0; b < v->batch; b++) {
		const int64_t first = b % (128 / abreast) * abreast;

		memset(own, 0, (size_t)abreast * sizeof *own);
		for (int64_t i = 0; i < words; i++)
			ac_verified_join(&o->words[b * words + i],
			    &own[i % abreast]);
		for (int i = 0; i < abreast; i++)
			ac_verified_join(&own[i], &lane[first + i]);
		off = (ac_verified_is_by_matrix(v, side)
		    && is_off(v, abreast, own)) || off;
	}
	for (int warp = 0; warp < 4; warp++) {
		join_lanes(lane + 32 * warp, 32);
		if (warp)
			ac_verified_join(&lane[32 * warp], &lane[0]);
	}
	*sum_out = lane[0];
	return off;
}

void
ac_twin_verified_verify(const struct emu_twin_launch *launch, void **params)
{
	const struct ac_verified *v = params[0];
	const unsigned mode = ac_float_mode_enter();
	const struct ac_verified_unit unit = ac_verified_unit_of(v);
	struct ac_meter meter = {0};
	struct ac_verified_word sum[2];
	bool off = false;

	(void)launch;
	for (int side = 0; side < 2; side++) {
		const int64_t others = side ? v->m : v->n;
		const int64_t lines = v->operand[side].lines;
		ac_weights weight;

		ac_weigh(v->state->seed, (uint32_t)!side, weight);
		for (int64_t b = 0; b < v->batch; b++)
			for (int64_t l = 0; l < lines;
			    l += ac_verified_block(others))
				judge_block(v, side, b, l, &unit, weight);
		off = join_words(v, side, &sum[side]) || off;
		meter.read += (uint64_t)(v->batch * lines
		    * ac_verified_groups(others) * AC_VERIFIED_GROUP)
		    * sizeof(float);
	}
	ac_verified_conclude(v, sum, off, v->cancelled
	    ? ac_verified_look_up(v, v->cancelled->count) : 0);
	ac_float_mode_leave(mode);
	ac_meter_add(&meter);
}
