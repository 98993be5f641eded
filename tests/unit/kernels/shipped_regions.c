/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/shipped_regions.c -- what the contracts of recast.h,
 * conv_check.h and scaler.h let a kernel touch: columns of matrices, not the
 * gaps between them. */
#include "tests/unit/kernels/shipped.h"

#include "kernels/recast/recast_estimate.h"

#include <stdlib.h>

enum { REGIONS = 1 << 17 };
static struct ptx_region regions[REGIONS], merged[REGIONS];
static size_t count;

void
shipped_region(const void *at, size_t bytes, bool read_only, const char *name)
{
	if (!at || !bytes)
		return;
	if (count == REGIONS)
		abort();
	regions[count++] = (struct ptx_region){ (uintptr_t)at,
		(uintptr_t)at + bytes, read_only, name };
}

static int
by_address(const void *a, const void *b)
{
	const struct ptx_region *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* Sorted; what overlaps or continues is one. */
const struct ptx_region *
shipped_regions(size_t *count_out)
{
	size_t n = 0;

	qsort(regions, count, sizeof *regions, by_address);
	for (size_t i = 0; i < count; i++) {
		const struct ptx_region *r = &regions[i];
		struct ptx_region *last = n ? &merged[n - 1] : NULL;

		if (!last || r->low > last->high || (r->low == last->high
		    && (r->read_only != last->read_only
		    || r->name != last->name))) {
			merged[n++] = *r;
			continue;
		}
		if (r->high > last->high)
			last->high = r->high;
		last->read_only &= r->read_only;
	}
	count = 0;
	*count_out = n;
	return merged;
}

/* ---- Products ---------------------------------------------------------- */

static void
matrix(const float *at, int64_t rows, int64_t cols, int64_t ld,
    bool read_only, const char *name)
{
	for (int64_t j = 0; j < cols; j++)
		shipped_region(at + j * ld, (size_t)rows * sizeof *at,
		    read_only, name);
}

static void
operand(const struct ac_recast *r, int i)
{
	static const char *const from[] = { "A", "B" };
	static const char *const to[] = { "cast of A", "cast of B" };
	static const char *const marks[] = { "marks of A", "marks of B" };
	const struct ac_recast_operand *o = &r->operand[i];
	const size_t lines = (size_t)((i ? r->n : r->m) * o->batch);

	shipped_region(o->array, (size_t)o->batch * sizeof *o->array, true,
	    "an array of addresses");
	for (int64_t b = 0; b < o->batch; b++)
		matrix(o->array ? o->array[b] : o->from + b * o->stride,
		    o->rows, o->cols, o->ld, true, from[i]);
	shipped_region(o->to, (size_t)(o->ld_to * o->cols_to * o->batch)
	    * sizeof *o->to, false, to[i]);
	shipped_region(o->marks, (lines + 15) / 16 * sizeof *o->marks, false,
	    marks[i]);
}

/* The bytes that a mask has a bit in; columns of the others. */
static void
epilogue(const struct ac_recast *r)
{
	const struct ac_recast_epilogue *e = &r->epilogue;
	const struct ac_recast_added *added = &r->added;

	for (int64_t b = 0; b < r->batch && e->bias; b++)
		shipped_region(e->bias + b * e->bias_stride, (size_t)r->m
		    * sizeof *e->bias, true, "the bias");
	for (int64_t b = 0; b < r->batch && added->from; b++)
		matrix(added->from + b * added->stride, r->m, r->n, added->ld,
		    true, "what is added");
	for (int64_t j = 0; j < r->n * r->batch && e->aux; j++) {
		const int64_t at = j / r->n * e->aux_stride
		    + j % r->n * e->aux_ld;

		if (e->activation == AC_ACTIVATION_DGELU)
			shipped_region((const float *)e->aux + at, (size_t)r->m
			    * sizeof(float), true, "the aux");
		else
			shipped_region((const uint8_t *)e->aux + at / 8,
			    (size_t)((at + r->m + 7) / 8 - at / 8), true,
			    "the mask");
	}
}

void
shipped_recast_regions(const struct ac_recast *r)
{
	const struct ac_recast_output *o = &r->output;

	operand(r, 0);
	operand(r, 1);
	shipped_region(o->array, (size_t)r->batch * sizeof *o->array, true,
	    "the array of C");
	for (int64_t b = 0; b < r->batch; b++)
		matrix(o->array ? o->array[b] : o->c + b * o->stride, r->m,
		    r->n, o->ld, false, "C");
	shipped_region(o->result, (size_t)(r->m * r->n * r->batch)
	    * sizeof *o->result, false, "the result");
	shipped_region(r->alpha.device, sizeof(float), true, "alpha");
	shipped_region(r->beta.device, sizeof(float), true, "beta");
	shipped_region(r->state, sizeof *r->state, false, "the state");
	shipped_region(r->history, sizeof *r->history, false, "the history");
	shipped_region(r->before, AC_BEFORE * sizeof *r->before, false,
	    "before");
	shipped_region(r->kept, (size_t)ac_recast_kept(r->batch)
	    * sizeof *r->kept, false, "kept");
	for (int i = 0; i < 2; i++)
		shipped_region(r->bands[i], (size_t)ac_recast_bands_at(
		    &r->operand[i], r->operand[i].batch - 1,
		    ac_recast_tiles(r->operand[i].lines_are_cols
		    ? r->operand[i].ld_to : r->operand[i].cols_to), 0)
		    * sizeof *r->bands[i], false, "bands");
	shipped_region(r->parts, (size_t)(2 * ac_recast_tiles(r->k)
	    * r->batch) * sizeof *r->parts, false, "parts");
	shipped_region(r->post, sizeof *r->post, false, "the post");
	epilogue(r);
}

/* ---- Convolutions ------------------------------------------------------ */

/* From the first element to the last; `shape` has the dims. */
static void
tensor(const struct ac_conv_view *view, const struct ac_conv_view *shape,
    const char *name)
{
	int64_t last = 0;

	for (int i = 0; i < 5; i++) {
		if (!shape->dim[i])
			return;
		last += (shape->dim[i] - 1) * view->stride[i];
	}
	shipped_region(view->data, (size_t)(last + 1) * sizeof *view->data,
	    true, name);
}

void
shipped_conv_regions(const struct ac_conv_check *c)
{
	const struct ac_conv_view *output = c->operation == AC_CONV_FPROP
	    ? &c->y : c->operation == AC_CONV_DGRAD ? &c->x : &c->w;
	const int channels = output == &c->w ? 0 : 1;

	tensor(&c->x, &c->x, "x");
	tensor(&c->w, &c->w, "w");
	tensor(&c->y, &c->y, "y");
	tensor(&c->z, output, "z");
	shipped_region(c->bias, (size_t)output->dim[channels]
	    * sizeof *c->bias, true, "the bias");
}

/* ---- Gradients --------------------------------------------------------- */

void
shipped_tensor_regions(const struct ac_scaler_tensor *tensors, uint64_t number,
    bool read_only)
{
	static const size_t bytes[AC_SCALER_DTYPES] = {
		[AC_SCALER_F32] = 4, [AC_SCALER_F64] = 8,
		[AC_SCALER_F16] = 2, [AC_SCALER_BF16] = 2
	};

	for (uint64_t i = 0; i < number; i++)
		shipped_region(tensors[i].data, tensors[i].count
		    * bytes[tensors[i].dtype], read_only, "a tensor");
}
