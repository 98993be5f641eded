/* SPDX-License-Identifier: Apache-2.0 */
/* tests/corpus/trial.c -- one product on one rung: cast and sampled by the
 * product's own kernels, as their CPU twins, and multiplied here. */
#include "tests/corpus/corpus.h"

#include "kernels/recast/cast.h"
#include "kernels/recast/recast.h"
#include "kernels/twins/twins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SIDE = CORPUS_SIDE,
	MOST = CORPUS_SIDE * CORPUS_K_MAX,
	MARKS = (SIDE * 2 + 31) / 32
};

struct trial_room {
	float    a[MOST], b[MOST];          /* rounded, as floats */
	_Alignas(16) uint16_t to_a[MOST], to_b[MOST];
	uint32_t marks[2][MARKS];
	float    before[AC_BEFORE];
	struct ac_recast_state   state;
	struct ac_recast_history history;
	struct ac_recast_post    post;
};

struct trial_room *
trial_room_new(void)
{
	return aligned_alloc(64, (sizeof(struct trial_room) + 63) / 64 * 64);
}

void
trial_room_free(struct trial_room *room)
{
	free(room);
}

static void
launch(const char *name, struct ac_recast *recast)
{
	const struct ac_twin_launch geometry = { { 4, 1, 1 }, { 256, 1, 1 } };
	void *params[] = { recast };

	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, name)) {
			ac_twins[i].run(&geometry, params);
			return;
		}
	fprintf(stderr, "guard_corpus: no twin of %s\n", name);
	exit(99);
}

/* FP16's exponent is moved to FP32's; the factor brings subnormals along. */
static float
widen(uint16_t x, enum ac_format format)
{
	const uint32_t sign = (uint32_t)(x & 0x8000) << 16;

	if (format == AC_FORMAT_BF16)
		return ac_cast_float((uint32_t)x << 16);
	if ((x & 0x7c00) == 0x7c00)
		return ac_cast_float(sign | AC_CAST_INF |
		    (uint32_t)(x & 0x3ff) << 13);
	return ac_cast_float(sign | (uint32_t)(x & 0x7fff) << 13) * 0x1p112f;
}

/* As the library does by itself: 10 bits of fraction, to nearest even. */
static float
tf32(float x)
{
	const uint32_t bits = ac_cast_bits(x);

	return ac_cast_float((bits + 0xfff + (bits >> 13 & 1)) &
	    ~(uint32_t)0x1fff);
}

static struct ac_recast_operand
operand(const float *from, int64_t rows, int64_t cols, uint16_t *to,
    uint32_t *marks, bool lines_are_cols)
{
	return (struct ac_recast_operand){
		.from = from, .rows = rows, .cols = cols, .ld = rows,
		.batch = 1, .to = to, .ld_to = rows, .cols_to = cols,
		.marks = marks, .lines_are_cols = lines_are_cols,
	};
}

static struct ac_recast
describe(const struct corpus_case *c, const struct corpus_rung *rung,
    struct trial_room *room, float *product)
{
	const bool cast = rung->cast;
	struct ac_recast r = {
		.output = { .c = product, .ld = SIDE },
		.m = SIDE, .n = SIDE, .k = c->k, .batch = 1,
		.format = rung->format, .scaled = rung->scaled,
		.alpha.value = 1, .beta.value = 0,
		.state = &room->state, .history = &room->history,
		.seed = c->seed, .before = room->before,
		.post = &room->post, .number = 1, .sampled = 1,
		.tol = (float)rung->tol, .judge = AC_JUDGE_EXACT,
	};

	r.operand[0] = operand(c->a, SIDE, c->k, cast ? room->to_a : NULL,
	    cast ? room->marks[0] : NULL, false);
	r.operand[1] = operand(c->b, c->k, SIDE, cast ? room->to_b : NULL,
	    cast ? room->marks[1] : NULL, true);
	return r;
}

static void
multiply(const struct corpus_case *c, const struct corpus_rung *rung,
    struct trial_room *room, float *product)
{
	for (int64_t i = 0; i < SIDE * c->k; i++) {
		room->a[i] = rung->cast ? widen(room->to_a[i], rung->format) :
		    tf32(c->a[i]);
		room->b[i] = rung->cast ? widen(room->to_b[i], rung->format) :
		    tf32(c->b[i]);
	}
	corpus_product_float(room->a, room->b, c->k, product);
	for (int i = 0; rung->cast && i < SIDE * SIDE; i++)
		product[i] *= room->state.alpha;
}

struct ac_guard_facts
corpus_trial(const struct corpus_case *c, const struct corpus_rung *rung,
    struct trial_room *room, float *product_out)
{
	struct ac_recast r = describe(c, rung, room, product_out);

	memset(room->marks, 0, sizeof room->marks);
	memset(&room->state, 0, sizeof room->state);
	memset(&room->history, 0, sizeof room->history);
	if (rung->cast)
		launch("ac_recast_cast", &r);
	launch("ac_recast_settle", &r);
	multiply(c, rung, room, product_out);
	launch("ac_recast_finish", &r);
	return (struct ac_guard_facts){
		.rho = (double)room->post.rho,
		.tile_rho = (double)room->post.tile_rho,
		.error = (double)room->post.error,
		.line_error = (double)room->post.line_error,
		.exact = (double)room->post.exact,
		.overflowed = room->post.verdict & AC_VERDICT_OVERFLOW,
	};
}
