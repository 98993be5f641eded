/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/verified_cases.c -- verified products in memory. */
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

	o->lines = lines;
	o->lines_are_cols = along;
	o->ld = rows + c->extra;
	o->stride = o->ld * cols + c->extra;
	o->ld_to = (rows + 7) / 8 * 8;
	d->to_count[side] = (size_t)(o->ld_to * cols * v->batch);
	d->part_count[side] = (size_t)(ac_verified_slices(v)
	    * AC_VERIFIED_VALUES * lines * v->batch);
	d->from[side] = room((size_t)(o->stride * v->batch), sizeof(float));
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
	v->tol = c->tol > 0 ? c->tol : 1e-3f;
	v->alpha.value = p->alpha;
	v->state = &d->state;
	v->record = &d->record;
	v->output.ld = v->m + c->extra;
	v->output.stride = v->output.ld * v->n + c->extra;
	d->c = room((size_t)(v->output.stride * v->batch), sizeof(float));
	for (int b = 0; b < v->batch; b++)
		d->pointers_c[b] = d->c + b * v->output.stride;
	v->output.product = c->array ? NULL : d->c;
	v->output.array = d->pointers_c;
	for (int side = 0; side < 2; side++)
		make_operand(c, p, side, d);
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
	const struct ac_twin_launch launch = { { 1, 1, 1 }, { 256, 1, 1 } };
	void *params[] = { &d->v };

	for (size_t i = 0; i < ac_twin_count; i++)
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

	if (format == AC_FORMAT_FP16)
		return (h >> 15 ? -1 : 1) * ldexp(e ? 1024 + f : f,
		    (e ? e : 1) - 25);
	memcpy(&x, &bits, sizeof x);
	return (double)x;
}

/* A matrix of casts as FP64: [line][k]. */
static double *
widen_all(const struct verified_data *d, int side, int b)
{
	const struct ac_verified *v = &d->v;
	const struct ac_verified_operand *o = &v->operand[side];
	double *x = room((size_t)(o->lines * v->k), sizeof *x);

	for (int64_t l = 0; l < o->lines; l++)
		for (int64_t k = 0; k < v->k; k++)
			x[l * v->k + k] = widen(o->to[o->lines_are_cols
			    ? (b * o->lines + l) * o->ld_to + k
			    : (b * v->k + k) * o->ld_to + l], v->format);
	return x;
}

void
verified_multiply(struct verified_data *d)
{
	const struct ac_verified *v = &d->v;

	for (int b = 0; b < v->batch; b++) {
		double *x = widen_all(d, 0, b), *y = widen_all(d, 1, b);

		for (int64_t j = 0; j < v->n; j++)
			for (int64_t i = 0; i < v->m; i++) {
				double sum = 0;

				for (int64_t k = 0; k < v->k; k++)
					sum += x[i * v->k + k]
					    * y[j * v->k + k];
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
	return d->v.alpha.value * total;
}

double
verified_exact(struct verified_data *d, int b, int64_t i, int64_t j)
{
	double sum = 0;

	for (int64_t k = 0; k < d->v.k; k++)
		sum += (double)*verified_at(d, 0, b, i, k)
		    * (double)*verified_at(d, 1, b, j, k);
	return sum * (double)d->v.alpha.value;
}
