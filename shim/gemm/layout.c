/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/layout.c -- sizes and offsets of a recast product. Casts are padded
 * to multiples of 8, K with zeros: odd sizes then run like even ones. */
#include "shim/gemm/layout.h"

#include "base/mapped.h"

enum { PADDING = 8, ALIGNMENT = 256, LINES_PER_WORD = 16, TILE_WORDS = 8 };

static int64_t
padded(int64_t count)
{
	return (int64_t)(((uint64_t)count + PADDING - 1) / PADDING * PADDING);
}

static uint64_t
aligned(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

/* Elements of `size` bytes, rounded up; 0 when beyond 2^60. */
static uint64_t
bytes_of(uint64_t rows, uint64_t cols, uint64_t batch, uint64_t size)
{
	uint64_t count;

	if (__builtin_mul_overflow(rows, cols, &count)
	    || __builtin_mul_overflow(count, batch, &count)
	    || count > (UINT64_C(1) << 60) / size)
		return 0;
	return aligned(count * size);
}

/* Into zeros, the operand as stored; `lines` of its op() count, and run along
 * its columns if `lines_are_cols`; K runs the other way. */
static void
lay_out(const struct ac_operand *operand, bool in_arrays, int64_t lines,
    int64_t k, bool lines_are_cols, int64_t batch, struct ac_recast_operand *o)
{
	const int64_t rows = lines_are_cols ? k : lines;
	const int64_t cols = lines_are_cols ? lines : k;

	o->rows = rows, o->cols = cols, o->ld = operand->ld;
	o->stride = operand->stride;
	o->batch = in_arrays || operand->stride ? batch : 1;
	o->ld_to = padded(rows);
	o->cols_to = lines_are_cols ? cols : padded(cols);
	o->lines_are_cols = lines_are_cols;
}

/* Of a cast whose size was found to be in bounds: neither its marks nor its
 * bands are more than twice that. */
static uint64_t
marks_bytes(const struct ac_recast_operand *o)
{
	const uint64_t lines = (uint64_t)(o->lines_are_cols ? o->cols
	    : o->rows) * (uint64_t)o->batch;

	return aligned((lines + LINES_PER_WORD - 1) / LINES_PER_WORD
	    * sizeof(uint32_t));
}

static uint64_t
tiles(int64_t count)
{
	return ((uint64_t)count + AC_TILE_SIDE - 1) / AC_TILE_SIDE;
}

static uint64_t
bands_bytes(const struct ac_recast_operand *o)
{
	return aligned(tiles(o->ld_to) * tiles(o->cols_to)
	    * (uint64_t)o->batch * TILE_WORDS * sizeof(float));
}

static bool
measure(struct ac_layout *layout, bool casts, bool result)
{
	struct ac_recast *r = &layout->recast;

	for (unsigned i = 0; casts && i < 2; i++) {
		const struct ac_recast_operand *o = &r->operand[i];

		layout->cast_bytes[i] = bytes_of((uint64_t)o->ld_to,
		    (uint64_t)o->cols_to, (uint64_t)o->batch,
		    sizeof(uint16_t));
		if (!layout->cast_bytes[i])
			return false;
		layout->bands_bytes[i] = bands_bytes(o);
	}
	if (casts) {
		layout->marks_at = marks_bytes(&r->operand[0]);
		layout->marks_bytes = layout->marks_at
		    + marks_bytes(&r->operand[1]);
		layout->parts_bytes = bytes_of(tiles(r->k), (uint64_t)r->batch,
		    2, sizeof(double));
	}
	if (result) {
		layout->result_bytes = bytes_of((uint64_t)r->m, (uint64_t)r->n,
		    (uint64_t)r->batch, sizeof(float));
		if (!layout->result_bytes)
			return false;
	}
	layout->kept_bytes = aligned((uint64_t)ac_recast_kept(r->batch)
	    * sizeof(float));
	layout->buffer_bytes = layout->cast_bytes[0] + layout->cast_bytes[1]
	    + layout->result_bytes + layout->kept_bytes + layout->bands_bytes[0]
	    + layout->bands_bytes[1] + layout->parts_bytes;
	return true;
}

/* What no size tells: where the matrices are, and what follows. */
static void
point(const struct ac_gemm *g, struct ac_recast *r)
{
	if (g->in_arrays) {
		r->operand[0].array = g->a.data;
		r->operand[1].array = g->b.data;
		r->output.array = (float *const *)(uintptr_t)g->c.data;
	} else {
		r->operand[0].from = g->a.data;
		r->operand[1].from = g->b.data;
		r->output.c = (float *)(uintptr_t)g->c.data;
	}
	if (g->tail) {
		r->added = g->tail->added;
		r->epilogue = g->tail->epilogue;
	}
}

bool
ac_layout_make(const struct ac_gemm *g, bool casts, bool result,
    struct ac_layout *layout_out)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	struct ac_recast *r = &layout_out->recast;

	*layout_out = (struct ac_layout){ .k_padded = padded(g->k) };
	r->m = g->m, r->n = g->n, r->k = g->k, r->batch = g->batch;
	r->trans[0] = ta, r->trans[1] = tb;
	lay_out(&g->a, g->in_arrays, g->m, g->k, ta, g->batch, &r->operand[0]);
	lay_out(&g->b, g->in_arrays, g->n, g->k, !tb, g->batch, &r->operand[1]);
	r->output.ld = g->c.ld;
	r->output.stride = g->c.stride;
	point(g, r);
	return measure(layout_out, casts, result || g->in_arrays);
}

void
ac_layout_again(const struct ac_layout_known *known, const struct ac_gemm *g,
    struct ac_layout *layout_out)
{
	*layout_out = known->layout;
	point(g, &layout_out->recast);
}

/* Another thread may have been first. */
void
ac_layout_remember(const struct ac_gemm *g, const struct ac_site *site)
{
	const struct ac_layout_known *none = NULL;
	const struct ac_recast_operand *o;
	struct ac_layout_known *made;
	struct ac_layout layout;

	if (atomic_load(&site->state->layout)
	    || !ac_layout_make(g, true, false, &layout))
		return;
	made = ac_mapped_take(sizeof *made);
	if (!made)
		return;
	o = layout.recast.operand;
	made->layout = layout;
	made->extent[0] = ac_layout_extent(&g->a, o[0].rows, o[0].cols,
	    g->batch);
	made->extent[1] = ac_layout_extent(&g->b, o[1].rows, o[1].cols,
	    g->batch);
	made->extent[2] = ac_layout_extent(&g->c, g->m, g->n, g->batch);
	atomic_compare_exchange_strong(&site->state->layout, &none, made);
}

void
ac_layout_forget_c(struct ac_layout *layout)
{
	layout->buffer_bytes -= layout->kept_bytes;
	layout->kept_bytes = 0;
}

void
ac_layout_bind(struct ac_layout *layout, const struct ac_lane_loan *loan)
{
	struct ac_recast *r = &layout->recast;
	char *at = loan->buffer;

	for (unsigned i = 0; i < 2; i++) {
		r->operand[i].to = layout->cast_bytes[i] ?
		    (uint16_t *)(void *)at :
		    NULL;
		at += layout->cast_bytes[i];
	}
	if (layout->marks_bytes) {
		r->operand[0].marks = loan->marks;
		r->operand[1].marks = loan->marks
		    + layout->marks_at / sizeof(uint32_t);
	}
	r->output.result = layout->result_bytes ? (float *)(void *)at : NULL;
	at += layout->result_bytes;
	r->kept = layout->kept_bytes ? (float *)(void *)at : NULL;
	at += layout->kept_bytes;
	for (unsigned i = 0; i < 2; i++) {
		r->bands[i] = layout->bands_bytes[i] ? (float *)(void *)at
		    : NULL;
		at += layout->bands_bytes[i];
	}
	r->parts = layout->parts_bytes ? (double *)(void *)at : NULL;
	r->state = loan->state;
	r->before = loan->before;
}
