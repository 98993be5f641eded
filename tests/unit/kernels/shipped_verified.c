/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/shipped_verified.c -- what verified.h lets a kernel
 * touch: columns of matrices, not the gaps between them. */
#include "tests/unit/kernels/shipped.h"
#include "tests/unit/kernels/verified_cases.h"

static void
columns(const float *at, int64_t rows, int64_t cols, int64_t ld,
    bool read_only, const char *name)
{
	for (int64_t j = 0; j < cols; j++)
		shipped_region(at + j * ld, (size_t)rows * sizeof *at,
		    read_only, name);
}

static void
operand(const struct verified_data *d, int side)
{
	static const char *const from[] = { "A", "B" };
	const struct ac_verified *v = &d->v;
	const struct ac_verified_operand *o = &v->operand[side];
	const int64_t rows = o->lines_are_cols ? v->k : o->lines;
	const int64_t cols = o->lines_are_cols ? o->lines : v->k;
	const size_t words = (size_t)(ac_verified_words(o->lines) * v->batch);

	if (!o->from)
		shipped_region(o->array, (size_t)v->batch * sizeof *o->array,
		    true, "an array of addresses");
	for (int64_t b = 0; b < v->batch; b++)
		columns(d->pointers[side][b], rows, cols, o->ld, true,
		    from[side]);
	shipped_region(o->to, d->to_count[side] * sizeof *o->to, false,
	    "a cast");
	shipped_region(o->sums, (size_t)(AC_VERIFIED_VECTORS * v->k * v->batch)
	    * sizeof *o->sums, false, "sums");
	shipped_region(o->parts, (size_t)(ac_verified_slices(v)
	    * AC_VERIFIED_VALUES * o->lines * v->batch) * sizeof *o->parts,
	    false, "parts");
	shipped_region(o->flags, words * sizeof *o->flags, false, "flags");
	shipped_region(o->words, words * sizeof *o->words, false, "words");
}

/* All of aux but what is behind a column's last word. */
static void
aux(const struct verified_data *d)
{
	const struct ac_verified *v = &d->v;
	const struct ac_verified_tail *t = &v->output.tail;
	const bool bits = t->activation == AC_ACTIVATION_RELU
	    || t->activation == AC_ACTIVATION_DRELU;
	const bool reads = t->activation == AC_ACTIVATION_DRELU
	    || t->activation == AC_ACTIVATION_DGELU;

	for (int64_t j = 0; d->aux && j < v->n * v->batch; j++) {
		const int64_t at = j / v->n * t->aux_stride
		    + j % v->n * t->aux_ld;

		if (bits)
			shipped_region(d->aux + at / 32, (size_t)((v->m + 31)
			    / 32) * sizeof *d->aux, reads, "the mask");
		else
			shipped_region(d->aux + at, (size_t)v->m
			    * sizeof *d->aux, reads, "the aux");
	}
}

static void
tail(const struct verified_data *d)
{
	const struct ac_verified *v = &d->v;
	const struct ac_verified_tail *t = &v->output.tail;

	aux(d);
	for (int64_t b = 0; b < v->batch && t->bias; b++)
		shipped_region(t->bias + b * t->bias_stride,
		    (size_t)(t->bias_is_row ? v->n : v->m) * sizeof *t->bias,
		    true, "the bias");
	for (int64_t b = 0; b < v->batch && t->sums; b++)
		shipped_region(t->sums + b * t->sums_stride, (size_t)v->m
		    * sizeof *t->sums, false, "sums of rows");
	shipped_region(t->partials, d->partial_count * sizeof *t->partials,
	    false, "partials");
	shipped_region(t->arrived, d->arrived_count * sizeof *t->arrived,
	    false, "arrived");
}

/* C is read where beta is not 0. */
static void
apart(const struct verified_data *d)
{
	const struct ac_verified *v = &d->v;
	const struct ac_verified_output *o = &v->output;
	const bool own = o->d_array == d->pointers_d;

	if (!o->d)
		shipped_region(o->d_array, (size_t)v->batch
		    * sizeof *o->d_array, true, "the array of D");
	for (int64_t b = 0; b < v->batch && own; b++)
		columns(d->pointers_d[b], v->m, v->n, o->d_ld, false, "D");
	for (int64_t b = 0; b < v->batch && d->scalars[1] != 0
	    && o->c_array == d->pointers_old; b++)
		columns(d->pointers_old[b], v->m, v->n, o->c_ld, true, "C");
	if (!o->c)
		shipped_region(o->c_array, (size_t)v->batch
		    * sizeof *o->c_array, true, "the array of C");
	tail(d);
}

void
shipped_verified_regions(const struct verified_data *d)
{
	const struct ac_verified *v = &d->v;

	operand(d, 0);
	operand(d, 1);
	if (!v->output.product)
		shipped_region(v->output.array, (size_t)v->batch
		    * sizeof *v->output.array, true, "the array of products");
	for (int64_t b = 0; b < v->batch; b++)
		columns(d->pointers_c[b], v->m, v->n, v->output.ld, false,
		    "the product");
	if (v->output.d || v->output.d_array)
		apart(d);
	shipped_region(d->scalars, sizeof d->scalars, true, "scalars");
	shipped_region(v->state, sizeof *v->state, false, "the state");
	shipped_region(v->record, sizeof *v->record, false, "the record");
	shipped_region(&v->cancelled->count, sizeof v->cancelled->count,
	    false, "how many have cancelled");
	shipped_region(v->cancelled->from, 2 * sizeof v->cancelled->from,
	    false, "what has cancelled");
	shipped_region(v->post, sizeof *v->post, false, "the post");
	shipped_region(v->spread, d->spread_count * sizeof *v->spread, false,
	    "spread");
	shipped_region(v->arrived, d->spread_words * sizeof *v->arrived,
	    false, "arrived of mend");
}
