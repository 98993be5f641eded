/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/verified_cases.c -- verified products in memory. */
#include "emulator/driver/twin.h"
#include "tests/unit/kernels/verified_cases.h"

#include "kernels/twins/twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *
room(size_t count, size_t size)
{
	void *memory;

	/* Behind each there is as much again as a warp could write. */
	if (posix_memalign(&memory, 64, count * size + 4096))
		abort();
	memset(memory, 0, count * size + 4096);
	return memory;
}

static void
make_operand(const struct verified_case *c, const struct verified_problem *p,
    int side, struct verified_data *d)
{
	struct ac_verified *v = &d->v;
	struct ac_verified_operand *o = &v->operand[side];
	const int64_t lines = side ? v->n : v->m;
	const bool along = c->trans[side] != (side == 1);
	const int64_t rows = along ? v->k : lines, cols = along ? lines : v->k;
	const int64_t stored_k = ac_verified_stored_k(v->k, v->format);

	o->lines = lines;
	o->lines_are_cols = along;
	o->ld = rows + c->extra;
	o->stride = o->ld * cols + c->extra;
	o->ld_to = ((along ? stored_k : lines) + 7) / 8 * 8;
	d->to_count[side] = c->format == AC_FORMAT_TF32 ? 0
	    : (size_t)(o->ld_to * (along ? lines : stored_k) * v->batch);
	d->part_count[side] = (size_t)(ac_verified_slices(v)
	    * AC_VERIFIED_VALUES * lines * v->batch);
	d->from[side] = room((size_t)(o->stride * v->batch), sizeof(float));
	if (d->to_count[side])
		o->to = room(d->to_count[side], sizeof *o->to);
	o->sums = room((size_t)(AC_VERIFIED_VECTORS * v->k * v->batch),
	    sizeof *o->sums);
	o->parts = room(d->part_count[side], sizeof *o->parts);
	o->flags = room((size_t)(ac_verified_words(lines) * v->batch),
	    sizeof *o->flags);
	o->words = room((size_t)(ac_verified_words(lines) * v->batch),
	    sizeof *o->words);
	for (int64_t i = 0; i < o->stride * v->batch; i++)
		d->from[side][i] = NAN;
	for (int b = 0; b < v->batch; b++) {
		d->pointers[side][b] = d->from[side] + b * o->stride;
		for (int64_t l = 0; l < lines; l++)
			for (int64_t k = 0; k < v->k; k++)
				*verified_at(d, side, b, l, k) = side
				    ? p[b].b[k + l * v->k]
				    : p[b].a[l + k * v->m];
	}
	o->from = c->array ? NULL : d->from[side];
	o->array = d->pointers[side];
}

/* ---- What follows ------------------------------------------------------ */

static uint64_t seed;

static float
any_real(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (float)(seed >> 40) * 0x1p-23f - 1;
}

static void
make_added(const struct verified_case *c, const struct verified_problem *p,
    struct verified_data *d)
{
	struct ac_verified *v = &d->v;
	struct ac_verified_output *o = &v->output;
	const int64_t each = v->m * v->n;

	o->c_ld = c->place == VERIFIED_COLUMN ? 0 : v->m + 2 * c->extra;
	o->c_stride = (o->c_ld ? o->c_ld : v->m) * v->n + 3;
	d->old = room((size_t)(each * v->batch), sizeof(float));
	d->added = room((size_t)(o->c_stride * v->batch), sizeof(float));
	for (int b = 0; b < v->batch; b++) {
		d->pointers_old[b] = d->added + b * o->c_stride;
		for (int64_t j = 0; j < v->n; j++)
			for (int64_t i = 0; i < v->m; i++) {
				const float x = p[b].c[i + (o->c_ld ? j : 0)
				    * v->m];

				d->old[b * each + j * v->m + i] = x;
				d->added[b * o->c_stride + j * o->c_ld + i] =
				    x;
			}
	}
	o->c = c->array ? NULL : d->added;
	o->c_array = d->pointers_old;
	o->beta = c->on_device ? (struct ac_cast_scalar){ NAN, 0,
	    &d->scalars[1] } : (struct ac_cast_scalar){ p->beta, 0, NULL };
	d->scalars[1] = p->beta;
}

/* D: where it is C, it has that. */
static void
make_d(const struct verified_case *c, struct verified_data *d)
{
	struct ac_verified *v = &d->v;
	struct ac_verified_output *o = &v->output;

	if (c->place == VERIFIED_IN_D) {
		o->d = o->product;
		o->d_array = o->array;
		o->d_ld = o->ld;
		o->d_stride = o->stride;
		return;
	}
	o->d_ld = v->m + c->extra;
	o->d_stride = o->d_ld * v->n + 5;
	d->d_count = (size_t)(o->d_stride * v->batch);
	d->d = room(d->d_count, sizeof(float));
	for (size_t i = 0; i < d->d_count; i++)
		d->d[i] = VERIFIED_GAP;
	for (int b = 0; b < v->batch; b++)
		d->pointers_d[b] = d->d + b * o->d_stride;
	o->d = c->array ? NULL : d->d;
	o->d_array = d->pointers_d;
	if (c->place != VERIFIED_IN_C)
		return;
	for (int b = 0; b < v->batch; b++)
		for (int64_t j = 0; j < v->n; j++)
			memcpy(d->pointers_d[b] + j * o->d_ld, d->old
			    + (b * v->n + j) * v->m, (size_t)v->m * 4);
	o->c = o->d;
	o->c_array = (const float *const *)(const void *)o->d_array;
	o->c_ld = o->d_ld;
	o->c_stride = o->d_stride;
}

static void
make_aux(const struct verified_case *c, struct verified_data *d)
{
	const struct ac_verified *v = &d->v;
	struct ac_verified_tail *t = &d->v.output.tail;
	const bool bits = c->activation == AC_ACTIVATION_RELU
	    || c->activation == AC_ACTIVATION_DRELU;
	const bool reads = c->activation == AC_ACTIVATION_DRELU
	    || c->activation == AC_ACTIVATION_DGELU;

	if (!reads && !(c->aux && c->activation))
		return;
	t->aux_ld = (v->m + 31) / 32 * 32 + 32 * c->extra;
	t->aux_stride = t->aux_ld * v->n + 64;
	d->aux_count = (size_t)(t->aux_stride * v->batch / (bits ? 32 : 1));
	d->aux = room(d->aux_count, sizeof *d->aux);
	d->aux_old = room(d->aux_count, sizeof *d->aux);
	for (size_t i = 0; i < d->aux_count; i++) {
		float x = any_real();

		x *= bits ? 1 : 3;
		memcpy(&d->aux[i], &x, sizeof x);
		if (bits)
			d->aux[i] *= 2654435761u;
	}
	memcpy(d->aux_old, d->aux, d->aux_count * sizeof *d->aux);
	t->aux = d->aux;
}

static void
make_tail(const struct verified_case *c, struct verified_data *d)
{
	const struct ac_verified *v = &d->v;
	struct ac_verified_tail *t = &d->v.output.tail;
	const int64_t strips = (v->m + 127) / 128;

	t->activation = c->activation;
	make_aux(c, d);
	t->bias_is_row = c->bias == COL_BIAS;
	t->bias_stride = v->m + v->n;
	d->bias = room((size_t)(t->bias_stride * v->batch), sizeof(float));
	for (int64_t i = 0; i < t->bias_stride * v->batch; i++)
		d->bias[i] = any_real();
	t->bias = c->bias ? d->bias : NULL;
	if (!c->sums)
		return;
	t->sums_stride = v->m + 1;
	d->sums = room((size_t)(t->sums_stride * v->batch), sizeof(float));
	t->sums = d->sums;
	d->partial_count = (size_t)ac_verified_partials(v->m, v->n, v->batch);
	t->partials = room(d->partial_count, sizeof *t->partials);
	d->arrived_count = (size_t)(strips * v->batch + 1);
	t->arrived = room(d->arrived_count, sizeof *t->arrived);
}

void
verified_data_make(const struct verified_case *c,
    const struct verified_problem *p, struct verified_data *d)
{
	struct ac_verified *v = &d->v;

	memset(d, 0, sizeof *d);
	v->m = p->m;
	v->n = p->n;
	v->k = p->k;
	v->batch = c->batch ? c->batch : 1;
	v->slice = ac_verified_slice(v->m, v->n, v->k, v->batch);
	v->format = c->format;
	v->chunk = 512;
	v->tol = c->tol > 0 ? c->tol : 1e-3f;
	v->alpha.value = p->alpha;
	v->state = &d->state;
	v->record = &d->record;
	v->cancelled = &d->cancelled;
	v->output.ld = v->m + c->extra;
	v->output.stride = v->output.ld * v->n + c->extra;
	d->c_count = (size_t)(v->output.stride * v->batch);
	d->c = room(d->c_count, sizeof(float));
	for (int b = 0; b < v->batch; b++)
		d->pointers_c[b] = d->c + b * v->output.stride;
	v->output.product = c->array ? NULL : d->c;
	v->output.array = d->pointers_c;
	for (int side = 0; side < 2; side++)
		make_operand(c, p, side, d);
	d->scalars[0] = p->alpha;
	if (c->on_device)
		v->alpha = (struct ac_cast_scalar){ NAN, 0, &d->scalars[0] };
	if (c->place == VERIFIED_PLAIN)
		return;
	seed = (uint64_t)v->m;
	make_added(c, p, d);
	make_d(c, d);
	make_tail(c, d);
}

void
verified_data_spread(struct verified_data *d)
{
	struct ac_verified *v = &d->v;

	d->spread_count = (size_t)ac_verified_spread(v->m, v->n);
	d->spread_words = (size_t)((v->m + 63) / 64 + (v->n + 63) / 64);
	v->spread = room(d->spread_count, sizeof *v->spread);
	v->arrived = room(d->spread_words, sizeof *v->arrived);
}

void
verified_data_free(struct verified_data *d)
{
	for (int side = 0; side < 2; side++) {
		const struct ac_verified_operand *o = &d->v.operand[side];

		free(d->from[side]);
		free(o->to);
		free(o->sums);
		free(o->parts);
		free(o->flags);
		free(o->words);
	}
	free(d->c);
	free(d->old);
	free(d->added);
	free(d->d);
	free(d->bias);
	free(d->sums);
	free(d->aux);
	free(d->aux_old);
	free(d->v.spread);
	free(d->v.arrived);
	free(d->v.output.tail.partials);
	free(d->v.output.tail.arrived);
}

float *
verified_at(struct verified_data *d, int operand, int b, int64_t line,
    int64_t k)
{
	const struct ac_verified_operand *o = &d->v.operand[operand];

	return d->from[operand] + b * o->stride + (o->lines_are_cols
	    ? line * o->ld + k : k * o->ld + line);
}

float *
verified_c_at(struct verified_data *d, int b, int64_t i, int64_t j)
{
	return d->c + b * d->v.output.stride + j * d->v.output.ld + i;
}

float *
verified_d_at(struct verified_data *d, int b, int64_t i, int64_t j)
{
	const struct ac_verified_output *o = &d->v.output;

	if (!o->d && !o->d_array)
		return verified_c_at(d, b, i, j);
	return (o->d ? o->d + b * o->d_stride : o->d_array[b])
	    + j * o->d_ld + i;
}

float
verified_alpha(const struct verified_data *d)
{
	return d->scalars[0];
}

float
verified_y(const struct verified_data *d, int b, int64_t i, int64_t j, float y)
{
	const struct ac_verified_tail *t = &d->v.output.tail;
	const float beta = d->scalars[1];
	float added = 0;

	if (beta != 0) {
		added = beta * d->old[(b * d->v.n + j) * d->v.m + i];
		y += added;
	}
	return t->bias ? y + t->bias[b * t->bias_stride
	    + (t->bias_is_row ? j : i)] : y;
}

float
verified_aux(const struct verified_data *d, const uint32_t *aux, int b,
    int64_t i, int64_t j)
{
	const struct ac_verified_tail *t = &d->v.output.tail;
	const int64_t at = b * t->aux_stride + j * t->aux_ld + i;
	float x;

	if (t->activation == AC_ACTIVATION_RELU
	    || t->activation == AC_ACTIVATION_DRELU)
		return (float)(((const uint8_t *)aux)[at / 8] >> at % 8 & 1);
	memcpy(&x, &aux[at], sizeof x);
	return x;
}

double
verified_follow(const struct verified_data *d, int b, int64_t i, int64_t j,
    double y)
{
	const struct ac_verified_tail *t = &d->v.output.tail;
	const bool reads = t->activation == AC_ACTIVATION_DRELU
	    || t->activation == AC_ACTIVATION_DGELU;
	const double aux = reads ? (double)verified_aux(d, d->aux_old, b, i, j)
	    : 0;
	const double x = reads ? aux : y;
	const double root = 0.7978845608028654;
	const double tanh_u = tanh(root * (x + 0.044715 * x * x * x));

	switch (t->activation) {
	case AC_ACTIVATION_RELU:
		return y <= 0 ? 0 : y;
	case AC_ACTIVATION_DRELU:
		return aux != 0 ? y : 0;
	case AC_ACTIVATION_GELU:
		return 0.5 * y * (1 + tanh_u);
	case AC_ACTIVATION_DGELU:
		return y * (0.5 * (1 + tanh_u) + 0.5 * x
		    * (1 - tanh_u * tanh_u) * root
		    * (1 + 3 * 0.044715 * x * x));
	default:
		return y;
	}
}

bool
verified_is_flagged(const struct verified_data *d, int side, int b,
    int64_t line)
{
	const struct ac_verified_operand *o = &d->v.operand[side];

	return o->flags[b * ac_verified_words(o->lines) + line / 32]
	    >> line % 32 & 1;
}

void
verified_run(const char *name, struct verified_data *d)
{
	const struct emu_twin_launch launch = { { 1, 1, 1 }, { 256, 1, 1 } };
	void *params[] = { &d->v };

	for (size_t i = 0; i < AC_TWINS; i++)
		if (!strcmp(ac_twins[i].name, name)) {
			ac_twins[i].run(&launch, params);
			return;
		}
	abort();
}

static double
widen(uint16_t h, enum ac_format format)
{
	const uint32_t bits = (uint32_t)h << 16;
	const int e = h >> 10 & 31, f = h & 1023;
	float x;

	if (format != AC_FORMAT_BF16 && format != AC_FORMAT_BF16X3
	    && format != AC_FORMAT_BF16X6)
		return (h >> 15 ? -1 : 1) * ldexp(e ? 1024 + f : f,
		    (e ? e : 1) - 25);
	memcpy(&x, &bits, sizeof x);
	return (double)x;
}

/* As a library may round, to the nearest of 11 bits. */
static double
round_tf32(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	if ((bits >> 23 & 255) != 255)
		bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
	memcpy(&x, &bits, sizeof x);
	return (double)x;
}

/* A matrix of casts as FP64: [line][k], K as it is stored. */
static double *
widen_all(struct verified_data *d, int side, int b)
{
	const struct ac_verified *v = &d->v;
	const struct ac_verified_operand *o = &v->operand[side];
	const int64_t ks = ac_verified_stored_k(v->k, v->format);
	double *x = room((size_t)(o->lines * ks), sizeof *x);

	for (int64_t l = 0; l < o->lines; l++)
		for (int64_t k = 0; k < ks; k++)
			x[l * ks + k] = !o->to ? round_tf32(*verified_at(d,
			    side, b, l, k)) : widen(o->to[o->lines_are_cols
			    ? (b * o->lines + l) * o->ld_to + k
			    : (b * ks + k) * o->ld_to + l], v->format);
	return x;
}

void
verified_multiply(struct verified_data *d)
{
	const struct ac_verified *v = &d->v;
	const int64_t ks = ac_verified_stored_k(v->k, v->format);

	for (int b = 0; b < v->batch; b++) {
		double *x = widen_all(d, 0, b), *y = widen_all(d, 1, b);

		for (int64_t j = 0; j < v->n; j++)
			for (int64_t i = 0; i < v->m; i++) {
				double sum = 0;

				for (int64_t k = 0; k < ks; k++)
					sum += x[i * ks + k] * y[j * ks + k];
				*verified_c_at(d, b, i, j) = (float)(sum
				    * (double)d->state.alpha);
			}
		free(x);
		free(y);
	}
}

void
verified_whole(struct verified_data *d)
{
	verified_run("ac_verified_probe", d);
	verified_run("ac_verified_cast", d);
	verified_multiply(d);
	verified_run("ac_verified_verify", d);
	verified_run("ac_verified_mend", d);
}

float
verified_fp32(struct verified_data *d, int b, int64_t i, int64_t j)
{
	const int64_t span = 256 * ((d->v.k + 2047) / 2048);
	float total = 0;

	for (int64_t k = 0; k < d->v.k; k += span) {
		float sum = 0, chain = 0;

		for (int64_t l = k; l < k + span && l < d->v.k; l++) {
			if (l % 64 == 0) {
				sum += chain;
				chain = 0;
			}
			chain = fmaf(*verified_at(d, 0, b, i, l),
			    *verified_at(d, 1, b, j, l), chain);
		}
		total += sum + chain;
	}
	return verified_alpha(d) * total;
}

double
verified_exact(struct verified_data *d, int b, int64_t i, int64_t j)
{
	double sum = 0;

	for (int64_t k = 0; k < d->v.k; k++)
		sum += (double)*verified_at(d, 0, b, i, k)
		    * (double)*verified_at(d, 1, b, j, k);
	return sum * (double)verified_alpha(d);
}
