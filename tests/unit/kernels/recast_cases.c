/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/recast_cases.c -- products in ordinary memory for the
 * twins. */
#include "tests/unit/kernels/recast_cases.h"

#include "kernels/twins/twins.h"
#include "tests/unit/kernels/cast_reference.h"

#include <math.h>
#include <stdlib.h>

static void *
take(size_t count, size_t size)
{
	void *block = aligned_alloc(64, (count * size + 127) / 64 * 64);

	if (!block)
		abort();
	memset(block, 0, (count * size + 127) / 64 * 64);
	return block;
}

static void
fill_operand(const struct ac_recast_operand *o, enum cast_fill fill,
    uint64_t seed, size_t count, float *x)
{
	for (size_t i = 0; i < count; i++)
		x[i] = NAN;
	for (int64_t b = 0; b < o->batch; b++)
		for (int64_t j = 0; j < o->cols; j++)
			for (int64_t i = 0; i < o->rows; i++)
				x[b * o->stride + j * o->ld + i] =
				    cast_number(fill, &seed);
}

void
recast_data_fill(const struct recast_case *c, uint64_t seed,
    struct recast_data *d)
{
	for (int i = 0; i < 2; i++)
		fill_operand(&d->recast.operand[i], c->fill[i], seed + 1
		    + (uint64_t)i, d->from_count[i], d->from[i]
		    + c->extra % 2); /* on and off 16-byte borders */
}

static void
make_operand(const struct recast_case *c, int i, struct recast_data *d)
{
	struct ac_recast_operand *o = &d->recast.operand[i];
	const bool swap = i ? !c->trans[1] : c->trans[0];
	const int lines = i ? c->n : c->m;

	o->rows = swap ? c->k : lines;
	o->cols = swap ? lines : c->k;
	o->lines_are_cols = swap;
	o->ld = o->rows + c->extra;
	o->stride = c->fixed[i] && !c->array ? 0 : o->ld * o->cols + c->extra;
	o->batch = c->fixed[i] && !c->array ? 1 : c->batch;
	o->ld_to = (o->rows + 7) / 8 * 8 + 8 * (c->extra % 2);
	o->cols_to = swap ? o->cols + c->extra : (o->cols + 7) / 8 * 8;
	d->from_count[i] = (size_t)((o->ld * o->cols + c->extra) * o->batch);
	d->to_count[i] = (size_t)(o->ld_to * o->cols_to * o->batch);
	d->mark_count[i] = ((size_t)(lines * o->batch) + 15) / 16;
	d->from[i] = take(d->from_count[i] + 1, sizeof(float));
	d->to[i] = take(d->to_count[i], sizeof(uint16_t));
	d->marks[i] = take(d->mark_count[i], sizeof(uint32_t));
	d->pointers[i] = take((size_t)c->batch, sizeof(float *));
	memset(d->to[i], 0xa5, d->to_count[i] * sizeof(uint16_t));
	d->band_count[i] = (size_t)((o->ld_to + 31) / 32
	    * ((o->cols_to + 31) / 32) * o->batch * 8);
	d->bands[i] = take(d->band_count[i], sizeof(float));
	o->from = d->from[i] + c->extra % 2;
	o->to = d->to[i];
	o->marks = d->marks[i];
	for (int b = 0; b < c->batch && c->array; b++)
		d->pointers[i][b] = c->fixed[i] ? o->from
		    : o->from + (c->batch - 1 - b) * o->stride;
	if (c->array) {
		o->array = d->pointers[i];
		o->from = NULL;
	}
}

static void
make_output(const struct recast_case *c, uint64_t seed, struct recast_data *d)
{
	struct ac_recast_output *o = &d->recast.output;

	o->ld = c->m + c->extra;
	o->stride = o->ld * c->n + c->extra;
	d->c_count = (size_t)(o->stride * c->batch);
	d->result_count = (size_t)c->m * (size_t)c->n * (size_t)c->batch;
	d->c = take(d->c_count, sizeof(float));
	d->result = take(d->result_count, sizeof(float));
	d->pointers_c = take((size_t)c->batch, sizeof(float *));
	o->c = d->c;
	for (size_t i = 0; i < d->c_count; i++)
		d->c[i] = RECAST_GAP;
	for (int b = 0; b < c->batch; b++)
		d->pointers_c[b] = d->c + (c->batch - 1 - b) * o->stride;
	if (c->array) {
		o->array = d->pointers_c;
		o->c = NULL;
	}
	if (c->output != OUT_C)
		o->result = d->result;
	o->write_through = c->output == OUT_THROUGH;
	for (int b = 0; b < c->batch; b++)
		for (int j = 0; j < c->n; j++)
			for (int i = 0; i < c->m; i++)
				*recast_c_at(d, b, i, j) =
				    cast_number(FILL_NORMAL, &seed);
}

/* What the library reads besides, and what beta scales if not C. */
static void
make_epilogue(const struct recast_case *c, uint64_t seed, struct recast_data *d)
{
	struct ac_recast_epilogue *e = &d->recast.epilogue;
	struct ac_recast_added *added = &d->recast.added;
	const size_t lines = (size_t)((c->m + 3) * c->batch);
	const int64_t ld = (c->m + 15) / 8 * 8;
	const size_t all = (size_t)(ld * c->n * c->batch);

	d->bias = take(lines, sizeof(float));
	d->aux = take(all, sizeof(float));
	d->added = take((size_t)(c->m + 1) * (size_t)(c->n * c->batch),
	    sizeof(float));
	for (size_t i = 0; i < lines; i++)
		d->bias[i] = cast_number(FILL_NORMAL, &seed);
	for (size_t i = 0; i < (size_t)(c->m + 1) * (size_t)(c->n * c->batch);
	    i++)
		d->added[i] = cast_number(FILL_NORMAL, &seed);
	for (size_t i = 0; i < all; i++)
		((float *)d->aux)[i] = cast_number(FILL_NORMAL, &seed) * 3;
	for (size_t i = 0; c->activation == AC_ACTIVATION_DRELU && i < all; i++)
		((uint8_t *)d->aux)[i] = (uint8_t)(seed = seed
		    * 6364136223846793005u + 1442695040888963407u, seed >> 40);
	e->activation = c->activation;
	e->is_set = c->activation || c->bias || c->follows;
	e->bias = c->bias ? d->bias : NULL;
	e->bias_stride = c->fixed[0] ? 0 : c->m + 3;
	if (c->activation >= AC_ACTIVATION_DRELU)
		e->aux = d->aux;
	e->aux_ld = ld;
	e->aux_stride = ld * c->n;
	if (c->added)
		added->from = d->added;
	added->ld = c->added == ADDED_COLUMN ? 0 : c->m + 1;
	added->stride = c->added == ADDED_COLUMN ? c->m + 1
	    : (c->m + 1) * c->n;
}

void
recast_data_make(const struct recast_case *c, uint64_t seed,
    struct recast_data *d)
{
	struct ac_recast *r = &d->recast;

	memset(d, 0, sizeof *d);
	r->m = c->m;
	r->n = c->n;
	r->k = c->k;
	r->batch = c->batch;
	r->format = c->format;
	r->scaled = c->scaled;
	r->alpha.value = c->alpha;
	r->beta.value = c->beta;
	r->state = &d->state;
	r->history = &d->history;
	r->before = d->before;
	d->kept_count = (size_t)ac_recast_kept(c->batch);
	d->kept = take(d->kept_count, sizeof *d->kept);
	r->kept = d->kept;
	r->seed = seed;
	for (int i = 0; i < 2; i++) {
		r->trans[i] = c->trans[i];
		make_operand(c, i, d);
	}
	d->part_count = (size_t)((c->k + 31) / 32 * c->batch) * 2;
	d->parts = take(d->part_count, sizeof(double));
	recast_data_fill(c, seed, d);
	make_output(c, seed, d);
	make_epilogue(c, seed, d);
}

void
recast_data_free(struct recast_data *d)
{
	for (int i = 0; i < 2; i++) {
		free(d->from[i]);
		free(d->to[i]);
		free(d->marks[i]);
		free(d->pointers[i]);
		free(d->bands[i]);
	}
	free(d->kept);
	free(d->c);
	free(d->result);
	free(d->pointers_c);
	free(d->parts);
	free(d->bias);
	free(d->added);
	free(d->aux);
}

void
recast_judge(float tol, struct recast_data *d)
{
	struct ac_recast *r = &d->recast;

	r->tol = tol;
	r->bands[0] = d->bands[0];
	r->bands[1] = d->bands[1];
	r->parts = d->parts;
}

static int64_t
offset(const struct ac_recast_operand *o, int64_t line, int64_t k)
{
	return o->lines_are_cols ? line * o->ld + k : k * o->ld + line;
}

float *
recast_at(struct recast_data *d, int operand, int64_t b, int64_t line,
    int64_t k)
{
	const struct ac_recast_operand *o = &d->recast.operand[operand];
	const float *matrix = o->array ? o->array[b]
	    : o->from + b * o->stride;

	return (float *)(uintptr_t)(matrix + offset(o, line, k));
}

float *
recast_c_at(struct recast_data *d, int64_t b, int64_t i, int64_t j)
{
	const struct ac_recast_output *o = &d->recast.output;

	return (o->array ? o->array[b] : o->c + b * o->stride) + j * o->ld + i;
}

float *
recast_out_at(struct recast_data *d, int64_t b, int64_t i, int64_t j)
{
	const struct ac_recast *r = &d->recast;

	if (!r->output.result)
		return recast_c_at(d, b, i, j);
	return d->result + (b * r->n + j) * r->m + i;
}

void
recast_run(const char *name, const struct recast_data *d, unsigned blocks)
{
	const struct ac_twin_launch launch = { { blocks, 2, 1 },
		{ 256, 1, 1 } };
	void *arguments[] = { (void *)(uintptr_t)&d->recast };

	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, name)) {
			ac_twins[i].run(&launch, arguments);
			return;
		}
	abort();
}

void
recast_cast(const struct recast_data *d)
{
	recast_run("ac_recast_cast", d, 3);
}

void
recast_settle(const struct recast_data *d)
{
	recast_run("ac_recast_settle", d, 3);
}

void
recast_finish(const struct recast_data *d)
{
	recast_run("ac_recast_finish", d, 3);
}

float *
recast_old_at(struct recast_data *d, int64_t b, int64_t i, int64_t j)
{
	const struct ac_recast_added *added = &d->recast.added;

	return added->from ? (float *)(uintptr_t)added->from
	    + b * added->stride + j * added->ld + i
	    : recast_c_at(d, b, i, j);
}

float *
recast_bias_at(struct recast_data *d, int64_t b, int64_t i)
{
	return d->bias + b * d->recast.epilogue.bias_stride + i;
}

/* The gradient is that of x / 2 (1 + tanh u), as it stands. */
static double
gelu(double x, bool gradient)
{
	const double root = sqrt(2 / acos(-1));
	const double t = tanh(root * (x + 0.044715 * x * x * x));

	if (!gradient)
		return x / 2 * (1 + t);
	return (1 + t) / 2 + x / 2 * (1 - t * t) * root
	    * (1 + 3 * 0.044715 * x * x);
}

double
recast_follow(struct recast_data *d, int64_t b, int64_t i, int64_t j, double x)
{
	const struct ac_recast_epilogue *e = &d->recast.epilogue;
	const int64_t at = b * e->aux_stride + j * e->aux_ld + i;
	const double y = e->bias ? x + (double)*recast_bias_at(d, b, i) : x;

	switch (e->activation) {
	case AC_ACTIVATION_RELU:
		return y > 0 ? y : 0;
	case AC_ACTIVATION_GELU:
		return gelu(y, false);
	case AC_ACTIVATION_DRELU:
		return ((uint8_t *)d->aux)[at / 8] >> at % 8 & 1 ? y : 0;
	case AC_ACTIVATION_DGELU:
		return y * gelu((double)((float *)d->aux)[at], true);
	default:
		return y;
	}
}

static double
cast_at(const struct recast_data *d, int operand, int64_t b, int64_t line,
    int64_t k)
{
	const struct ac_recast_operand *o = &d->recast.operand[operand];
	const int64_t at = o->lines_are_cols ? line * o->ld_to + k
	    : k * o->ld_to + line;

	if (o->batch == 1)
		b = 0;
	return cast_reference_value(o->to[b * o->ld_to * o->cols_to + at],
	    d->recast.format);
}

void
recast_multiply(struct recast_data *d)
{
	const struct ac_recast *r = &d->recast;
	const double alpha = (double)d->state.alpha;
	const double beta = r->output.result ? (double)d->state.zero
	    : (double)d->state.beta;

	for (int64_t b = 0; b < r->batch; b++)
		for (int64_t j = 0; j < r->n; j++)
			for (int64_t i = 0; i < r->m; i++) {
				float *out = recast_out_at(d, b, i, j);
				double sum = 0;

				for (int64_t k = 0; k < r->k && alpha != 0; k++)
					sum += cast_at(d, 0, b, i, k)
					    * cast_at(d, 1, b, j, k);
				sum = alpha != 0 ? alpha * sum : 0;
				if (beta != 0)
					sum += beta * (double)*recast_old_at(d,
					    b, i, j);
				*out = (float)(r->output.result ? sum
				    : recast_follow(d, b, i, j, sum));
			}
}

void
recast_whole(struct recast_data *d)
{
	recast_cast(d);
	recast_settle(d);
	recast_multiply(d);
	recast_finish(d);
}

double
recast_exact(struct recast_data *d, int64_t b, int64_t i, int64_t j,
    const float *c)
{
	const struct ac_recast *r = &d->recast;
	const double alpha = (double)r->alpha.value;
	const double beta = (double)r->beta.value;
	double sum = 0;

	for (int64_t k = 0; k < r->k && alpha != 0; k++)
		sum += (double)*recast_at(d, 0, b, i, k)
		    * (double)*recast_at(d, 1, b, j, k);
	sum = alpha != 0 ? alpha * sum : 0;
	return beta != 0 ? sum + beta * (double)c[(b * r->n + j) * r->m + i]
	    : sum;
}

float *
recast_copy_c(struct recast_data *d)
{
	const struct ac_recast *r = &d->recast;
	float *copy = take(d->result_count, sizeof(float));

	for (int64_t b = 0; b < r->batch; b++)
		for (int64_t j = 0; j < r->n; j++)
			for (int64_t i = 0; i < r->m; i++)
				copy[(b * r->n + j) * r->m + i] =
				    *recast_c_at(d, b, i, j);
	return copy;
}

float *
recast_copy_old(struct recast_data *d)
{
	const struct ac_recast *r = &d->recast;
	float *copy = take(d->result_count, sizeof(float));

	for (int64_t at = 0; at < (int64_t)d->result_count; at++)
		copy[at] = *recast_old_at(d, at / (r->m * r->n), at % r->m,
		    at / r->m % r->n);
	return copy;
}
