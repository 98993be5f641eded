/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cast_cases.c -- the table of cast cases and their data. The same
 * numbers every time. */
#include "tests/unit/cast_cases.h"

#include <math.h>
#include <stdlib.h>

#define SMALL { 13, 7, 0, 0, 1, 0, 0 }
#define LONG  { 600, 37, 3, 0, 1, 8, 3 }
#define BATCH { 21, 5, 2, 9, 3, 0, 1 }
#define FIXED { 21, 5, 2, -1, 1, 0, 1 }
#define EMPTY { 0, 4, 1, 0, 1, 8, 2 }
#define FP16  AC_FORMAT_FP16
#define BF16  AC_FORMAT_BF16

const struct cast_case cast_cases[] = {
	/* name, what A and B hold, shapes, alpha, beta, format, scaled */
	{ "normal", { FILL_NORMAL, FILL_NORMAL }, { LONG, SMALL }, 1, 0, FP16, true },
	{ "normal, unscaled", { FILL_NORMAL, FILL_NORMAL }, { LONG, SMALL }, -2.5f, 1, FP16, false },
	{ "normal, bf16", { FILL_NORMAL, FILL_NORMAL }, { SMALL, LONG }, 0.1f, 1, BF16, false },
	{ "normal, bf16 scaled", { FILL_NORMAL, FILL_NORMAL }, { SMALL, LONG }, 0.1f, 1, BF16, true },
	{ "corners", { FILL_EDGES, FILL_FINITE }, { LONG, LONG }, 1, 0, FP16, false },
	{ "corners, bf16", { FILL_EDGES, FILL_FINITE }, { LONG, LONG }, 1, 0, BF16, false },
	{ "corners, scaled", { FILL_FINITE, FILL_EDGES }, { LONG, LONG }, 1, 0, FP16, true },
	{ "any bits", { FILL_ANY, FILL_ANY }, { LONG, BATCH }, 1, 0, FP16, false },
	{ "any bits, bf16", { FILL_ANY, FILL_ANY }, { LONG, BATCH }, 1, 0, BF16, false },
	{ "any bits, scaled", { FILL_ANY, FILL_ANY }, { LONG, BATCH }, 1e-20f, 0, FP16, true },
	{ "batch", { FILL_NORMAL, FILL_GRADIENT }, { BATCH, BATCH }, 1, 0.5f, FP16, true },
	{ "one matrix for a batch", { FILL_NORMAL, FILL_NORMAL }, { FIXED, BATCH }, 1, 1, FP16, true },
	{ "gradients", { FILL_GRADIENT, FILL_NORMAL }, { LONG, SMALL }, 1, 0, FP16, true },
	{ "one outlier", { FILL_OUTLIER, FILL_NORMAL }, { LONG, SMALL }, 1, 0, FP16, true },
	{ "subnormal", { FILL_SUBNORMAL, FILL_NORMAL }, { LONG, SMALL }, 1, 0, FP16, true },
	{ "both subnormal", { FILL_SUBNORMAL, FILL_SUBNORMAL }, { LONG, SMALL }, 1, 0, FP16, true },
	{ "1e30 x 1e30", { FILL_LARGE, FILL_LARGE }, { SMALL, SMALL }, -1, 0, FP16, true },
	{ "1e30 x 1e-30", { FILL_LARGE, FILL_TINY }, { SMALL, SMALL }, 1, 0, FP16, true },
	{ "1e-30 x 1e-30", { FILL_TINY, FILL_TINY }, { SMALL, SMALL }, 1, 0, FP16, true },
	{ "1e-30 x 1e-30, alpha 1e30", { FILL_TINY, FILL_TINY }, { SMALL, SMALL }, -1e30f, 0, FP16, true },
	{ "1e30 x 0", { FILL_LARGE, FILL_ZERO }, { SMALL, SMALL }, 1, 0, FP16, true },
	{ "0 x -0", { FILL_ZERO, FILL_MINUS_ZERO }, { SMALL, SMALL }, 2, 3, FP16, true },
	{ "nan x normal", { FILL_NAN, FILL_NORMAL }, { SMALL, LONG }, 1, 0, FP16, true },
	{ "nan x nan, bf16", { FILL_NAN, FILL_NAN }, { SMALL, LONG }, 1, 0, BF16, false },
	{ "alpha 0", { FILL_TINY, FILL_TINY }, { SMALL, SMALL }, 0, 0, FP16, true },
	{ "alpha inf", { FILL_TINY, FILL_TINY }, { SMALL, SMALL }, -INFINITY, 0, FP16, true },
	{ "alpha nan", { FILL_LARGE, FILL_TINY }, { SMALL, SMALL }, NAN, NAN, FP16, true },
	{ "alpha subnormal", { FILL_NORMAL, FILL_NORMAL }, { SMALL, SMALL }, -0x1.9p-140f, 0, FP16, true },
	{ "alpha largest", { FILL_LARGE, FILL_NORMAL }, { SMALL, SMALL }, 0x1.fffffep127f, 0, FP16, true },
	{ "no rows", { FILL_NORMAL, FILL_NORMAL }, { EMPTY, SMALL }, 1, 0, FP16, true },
};
const size_t cast_case_count = sizeof cast_cases / sizeof *cast_cases;

/* Positive corners; each is taken with both signs and both neighbours. */
static const float corners[] = {
	0, 0x1p-149f, 0x1p-133f, 0x1.8p-133f, 0x1p-134f, 0x1p-126f,
	0x1p-25f, 0x1.8p-25f, 0x1p-24f, 0x1.8p-24f, 0x1.4p-23f, 0x1.ffcp-15f,
	0x1.ffep-15f, 0x1p-14f, 1, 0x1.002p0f, 0x1.006p0f, 0x1.01p0f, 0x1.03p0f,
	65503, 65504, 65519, 65520, 65535, 65536, 0x1.fep127f, 0x1.ffp127f,
	0x1.fffffep127f, INFINITY, NAN,
};

static uint32_t
next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 32);
}

static float
corner(uint32_t bits, bool finite)
{
	const uint32_t count = sizeof corners / sizeof *corners;
	float x = corners[bits % (finite ? count - 2 : count)];

	if (bits >> 8 & 1)
		x = nextafterf(x, 0);
	else if (bits >> 9 & 1 && x < 0x1.fffffep127f)
		x = nextafterf(x, INFINITY);
	return bits >> 10 & 1 ? -x : x;
}

static float
number(enum cast_fill fill, uint32_t bits)
{
	const float sign = bits & 1 ? -1 : 1;
	const float one = sign * (1 + (float)(bits >> 8) * 0x1p-24f);
	const float wide = ldexpf(one, (int)(bits >> 1 & 15) % 13 - 10);

	switch (fill) {
	case FILL_NORMAL:
	case FILL_OUTLIER:
		return wide;
	case FILL_EDGES:
		return corner(bits >> 4, false);
	case FILL_FINITE:
		return corner(bits >> 4, true);
	case FILL_ZERO:
		return 0;
	case FILL_MINUS_ZERO:
		return -0.0f;
	case FILL_NAN:
		return ac_cast_float(0x7f800001 | bits);
	case FILL_SUBNORMAL:
		return ac_cast_float(bits & 0x800fffff);
	case FILL_GRADIENT:
		return wide * 1e-9f;
	case FILL_LARGE:
		return wide * 1e30f;
	case FILL_TINY:
		return wide * 1e-30f;
	case FILL_ANY:
		break;
	}
	return ac_cast_float(bits);
}

float
cast_number(enum cast_fill fill, uint64_t *seed)
{
	return number(fill, next(seed));
}

/* What lies between the columns and the matrices is NaN: looking at it shows
 * in the verdict. */
static void
fill(enum cast_fill what, const struct ac_cast_operand *o, float *x,
    size_t count, uint64_t seed)
{
	float *const first = x + CAST_SKEW;

	for (size_t i = 0; i < count; i++)
		x[i] = NAN;
	for (int64_t b = 0; b < o->batch; b++)
		for (int64_t j = 0; j < o->cols; j++)
			for (int64_t i = 0; i < o->rows; i++)
				first[b * o->stride + j * o->ld + i] =
				    number(what, next(&seed));
	if (what == FILL_OUTLIER)
		first[o->cols / 2 * o->ld + o->rows / 2] = 1e9f;
}

static void
lay_out(const struct cast_shape *s, struct ac_cast_operand *o)
{
	o->rows = s->rows;
	o->cols = s->cols;
	o->ld = s->rows + s->extra_ld;
	o->stride = s->extra_stride < 0 ? 0 : o->ld * o->cols + s->extra_stride;
	o->batch = s->batch;
	o->ld_to = (s->rows + 7) / 8 * 8 + s->extra_ld_to;
	o->cols_to = s->cols + s->extra_cols_to;
}

static void
make_operand(const struct cast_case *c, int i, struct cast_data *data)
{
	struct ac_cast_operand *o = &data->params.operand[i];
	size_t *from = &data->from_count[i], *to = &data->to_count[i];
	uint16_t *block;

	lay_out(&c->shape[i], o);
	*from = (size_t)(CAST_SKEW + o->ld * o->cols
	    + o->stride * (o->batch - 1));
	*to = (size_t)(o->ld_to * o->cols_to * o->batch);
	data->from[i] = malloc(*from * sizeof(float));
	block = aligned_alloc(16, (*to + 2 * CAST_FENCE) * sizeof *block);
	if (!data->from[i] || !block)
		abort();
	memset(block, 0xa5, (*to + 2 * CAST_FENCE) * sizeof *block);
	fill(c->fill[i], o, data->from[i], *from, (uint64_t)i + 1);
	data->to[i] = block + CAST_FENCE;
	o->from = data->from[i] + CAST_SKEW;
	o->to = data->to[i];
}

void
cast_data_make(const struct cast_case *c, struct cast_data *data_out)
{
	memset(data_out, 0, sizeof *data_out);
	for (int i = 0; i < 2; i++)
		make_operand(c, i, data_out);
	data_out->params.alpha.value = c->alpha;
	data_out->params.beta.value = c->beta;
	data_out->params.format = c->format;
	data_out->params.scaled = c->scaled;
	data_out->params.state = &data_out->state;
}

bool
cast_data_is_fenced(const struct cast_data *data, int i)
{
	const uint16_t *before = data->to[i] - CAST_FENCE;
	const uint16_t *after = data->to[i] + data->to_count[i];

	for (int k = 0; k < CAST_FENCE; k++)
		if (before[k] != 0xa5a5 || after[k] != 0xa5a5)
			return false;
	return true;
}

void
cast_data_free(struct cast_data *data)
{
	for (int i = 0; i < 2; i++) {
		free(data->from[i]);
		free(data->to[i] - CAST_FENCE);
	}
}
