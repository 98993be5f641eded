/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/shipped_regions.c -- what the contracts of
 * recast_ranges.h, conv_check.h and scaler.h let a kernel touch: columns of
 * matrices, not the gaps between them. */
#include "tests/unit/kernels/shipped.h"

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

/* ---- Operands ---------------------------------------------------------- */

static void
matrix(const float *at, int64_t rows, int64_t cols, int64_t ld,
    const char *name)
{
	for (int64_t j = 0; j < cols; j++)
		shipped_region(at + j * ld, (size_t)rows * sizeof *at, true,
		    name);
}

void
shipped_ranges_regions(const struct ac_recast_ranges *r)
{
	static const char *const from[] = { "A", "B" };

	for (int i = 0; i < 2; i++) {
		const struct ac_recast_matrices *m = &r->operand[i];

		shipped_region(m->array, (size_t)m->batch * sizeof *m->array,
		    true, "an array of addresses");
		for (int64_t b = 0; b < m->batch; b++)
			matrix(m->array ? m->array[b] : m->from
			    + b * m->stride, m->rows, m->cols, m->ld, from[i]);
	}
	shipped_region(r->counts, 2 * AC_RANGE_BINS * sizeof *r->counts, false,
	    "counts");
	shipped_region(r->copy, 2 * AC_RANGE_BINS * sizeof *r->copy, false,
	    "copy");
	shipped_region(r->arrived, sizeof *r->arrived, false, "the word");
}

/* Of each column the triangle. */
void
shipped_symmetric_regions(const struct ac_recast_symmetric *s)
{
	for (int64_t j = 0; j < s->n; j++) {
		const int64_t first = s->is_lower ? j : 0;

		matrix(s->from + j * s->ld + first,
		    s->is_lower ? s->n - j : j + 1, 1, s->ld, "A");
		shipped_region(s->to + j * s->ld_to,
		    (size_t)s->n * sizeof *s->to, false, "the whole");
	}
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
