/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/layout.c -- sizes and offsets of a verified product. Casts have
 * leading dimensions that are multiples of 8: odd sizes then run like even
 * ones. */
#include "shim/gemm/layout.h"

#include "base/mapped.h"

enum { PADDING = 8, ALIGNMENT = 256 };

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

/* The operand as stored; `lines` of its op() are stored columns, or rows. */
static void
lay_out(const struct ac_operand *operand, int64_t lines, int64_t k,
    bool lines_are_cols, enum ac_format format,
    struct ac_verified_operand *o)
{
	o->lines = lines;
	o->ld = operand->ld;
	o->stride = operand->stride;
	o->ld_to = padded(lines_are_cols ? ac_verified_stored_k(k, format)
	    : lines);
	o->lines_are_cols = lines_are_cols;
}

/* Where it lies behind what is there, as an address of a buffer at 0. */
static void *
place(struct ac_layout *layout, uint64_t bytes)
{
	const uint64_t at = layout->buffer_bytes;

	layout->buffer_bytes += bytes;
	layout->too_large = layout->too_large || !bytes;
	return (void *)(uintptr_t)at;
}

/* What is known of each line of an operand, and its casts. */
static void
place_operand(struct ac_layout *layout, struct ac_verified_operand *o)
{
	const struct ac_verified *v = &layout->v;
	const uint64_t batch = (uint64_t)v->batch;
	const uint64_t slices = (uint64_t)ac_verified_slices(v);
	const uint64_t words = (uint64_t)ac_verified_words(o->lines);
	const int64_t cols = o->lines_are_cols ? o->lines
	    : ac_verified_stored_k(v->k, v->format);

	if (v->format != AC_FORMAT_TF32)
		o->to = place(layout, bytes_of((uint64_t)o->ld_to,
		    (uint64_t)cols, batch, sizeof *o->to));
	o->sums = place(layout, bytes_of(AC_VERIFIED_VECTORS, (uint64_t)v->k,
	    batch, sizeof *o->sums));
	o->parts = place(layout, bytes_of(slices * AC_VERIFIED_VALUES,
	    (uint64_t)o->lines, batch, sizeof *o->parts));
	o->flags = place(layout, bytes_of(words, 1, batch, sizeof *o->flags));
	o->words = place(layout, bytes_of(words, 1, batch, sizeof *o->words));
}

static uint64_t
tiles(int64_t count)
{
	return ((uint64_t)count + AC_VERIFIED_SIDE - 1) / AC_VERIFIED_SIDE;
}

/* Zero before and after mend adds up a tail's sums. */
static uint64_t
words_of_sums(const struct ac_verified *v)
{
	return v->output.tail.sums
	    ? ((uint64_t)v->m + 127) / 128 * (uint64_t)v->batch + 1 : 0;
}

/* What kernels count in 32 bits (kernels/verified/verified.h). */
static bool
is_counted(const struct ac_gemm *g, enum ac_format format)
{
	return (uint64_t)(g->m | g->n | g->k | g->batch) <= INT32_MAX
	    && ac_verified_stored_k(g->k, format) <= INT32_MAX
	    && (uint64_t)(g->a.ld | g->b.ld) < UINT64_C(1) << 28;
}

static uint64_t
result_bytes(const struct ac_verified *v)
{
	return bytes_of((uint64_t)v->m, (uint64_t)v->n, (uint64_t)v->batch,
	    sizeof(float));
}

/* Last, so that what is known of others like it serves: where it is apart. */
static bool
place_result(struct ac_layout *layout, uint64_t bytes)
{
	layout->result = place(layout, bytes);
	return !layout->too_large;
}

static bool
place_all(struct ac_layout *layout)
{
	struct ac_verified *v = &layout->v;
	const uint64_t result = layout->apart ? result_bytes(v) : 0;

	/* Then no other size overflows. */
	if (layout->apart && !result)
		return false;
	place_operand(layout, &v->operand[0]);
	place_operand(layout, &v->operand[1]);
	layout->zero_bytes = bytes_of(tiles(v->m) + tiles(v->n)
	    + words_of_sums(v), 1, 1, sizeof(uint32_t));
	v->spread = place(layout, bytes_of((uint64_t)ac_verified_spread(v->m,
	    v->n), 1, 1, sizeof *v->spread));
	if (v->output.tail.sums)
		v->output.tail.partials = place(layout, bytes_of(
		    (uint64_t)ac_verified_partials(v->m, v->n, v->batch), 1, 1,
		    sizeof *v->output.tail.partials));
	return layout->apart ? place_result(layout, result)
	    : !layout->too_large;
}

/* What no size tells: where the matrices are. */
static void
point(const struct ac_gemm *g, struct ac_verified *v)
{
	if (g->in_arrays) {
		v->operand[0].array = g->a.data;
		v->operand[1].array = g->b.data;
	} else {
		v->operand[0].from = g->a.data;
		v->operand[1].from = g->b.data;
		v->output.product = (float *)(uintptr_t)g->c.data;
	}
}

/* What becomes of a product apart: D, which may be C. */
static void
point_on(const struct ac_gemm *g, struct ac_verified_output *out)
{
	const struct ac_gemm_tail *tail = g->tail;

	if (g->in_arrays) {
		out->d_array = (float *const *)(uintptr_t)g->c.data;
		out->c_array = g->c.data;
	} else {
		out->d = (float *)(uintptr_t)g->c.data;
		out->c = g->c.data;
	}
	out->d_ld = out->c_ld = g->c.ld;
	out->d_stride = out->c_stride = g->c.stride;
	if (!tail)
		return;
	out->tail = tail->then;
	if (tail->added) {
		out->c = tail->added;
		out->c_ld = tail->added_ld;
		out->c_stride = tail->added_stride;
	}
}

/* The matrix that is written whole is the operand. */
static void
place_symmetric(const struct ac_gemm *g, struct ac_layout *layout)
{
	struct ac_verified_operand *o =
	    &layout->v.operand[!(g->symmetric & AC_SYMMETRIC_A)];

	if (!g->symmetric)
		return;
	o->ld = padded(g->k);
	layout->symmetric = place(layout, bytes_of((uint64_t)o->ld,
	    (uint64_t)g->k, 1, sizeof *layout->symmetric));
}

bool
ac_layout_make(const struct ac_gemm *g, enum ac_format format, uint32_t chunk,
    bool apart, struct ac_layout *layout_out)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;
	struct ac_verified *v = &layout_out->v;

	*layout_out = (struct ac_layout){ 0 };
	if (!is_counted(g, format))
		return false;
	v->m = g->m, v->n = g->n, v->k = g->k, v->batch = g->batch;
	v->slice = ac_verified_slice(g->m, g->n, g->k, g->batch);
	v->format = format;
	v->chunk = chunk;
	lay_out(&g->a, g->m, g->k, ta, format, &v->operand[0]);
	lay_out(&g->b, g->n, g->k, !tb, format, &v->operand[1]);
	v->output.ld = g->c.ld;
	v->output.stride = g->c.stride;
	point(g, v);
	layout_out->apart = apart;
	if (apart)
		point_on(g, &v->output);
	place_symmetric(g, layout_out);
	return place_all(layout_out);
}

bool
ac_layout_again(const struct ac_layout_known *known, const struct ac_gemm *g,
    bool apart, struct ac_layout *layout_out)
{
	if (apart && (!known->result_bytes || (g->tail && g->tail->then.sums)))
		return false;
	*layout_out = known->layout;
	point(g, &layout_out->v);
	if (!apart)
		return true;
	layout_out->apart = true;
	point_on(g, &layout_out->v.output);
	return place_result(layout_out, known->result_bytes);
}

static uint64_t
extent(const struct ac_operand *operand, int64_t rows, int64_t cols,
    int64_t batch)
{
	const uint64_t elements = (uint64_t)(cols - 1) * (uint64_t)operand->ld +
	    (uint64_t)rows + (uint64_t)(batch - 1) * (uint64_t)operand->stride;

	return elements * (operand->type == CUDA_C_32F ? 2 : 1) * sizeof(float);
}

void
ac_layout_extents(const struct ac_gemm *g, uint64_t extent_out[3])
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;

	extent_out[0] = extent(&g->a, ta ? g->k : g->m, ta ? g->m : g->k,
	    g->batch);
	extent_out[1] = extent(&g->b, tb ? g->n : g->k, tb ? g->k : g->n,
	    g->batch);
	extent_out[2] = extent(&g->c, g->m, g->n, g->batch);
}

/* Another thread may have been first. */
void
ac_layout_remember(const struct ac_gemm *g, const struct ac_site *site)
{
	const enum ac_tactic tactic = site->decision.candidate[0].tactic;
	const struct ac_layout_known *none = NULL;
	struct ac_layout_known *made;
	struct ac_layout layout;

	if (atomic_load(&site->state->layout) || !ac_layout_make(g, tactic
	    == AC_TACTIC_CAST ? AC_FORMAT_FP16 : AC_FORMAT_TF32, 0, false,
	    &layout))
		return;
	made = ac_mapped_take(sizeof *made);
	if (!made)
		return;
	made->tactic = tactic;
	made->layout = layout;
	made->result_bytes = result_bytes(&layout.v);
	ac_layout_extents(g, made->extent);
	atomic_compare_exchange_strong(&site->state->layout, &none, made);
}

#define MOVE(pointer, by) \
	((pointer) = (__typeof__(pointer))((uintptr_t)(pointer) + (by)))

void
ac_layout_bind(struct ac_layout *layout, const struct ac_lane_loan *loan)
{
	const uintptr_t buffer = (uintptr_t)loan->buffer;
	struct ac_verified *v = &layout->v;

	for (unsigned i = 0; i < 2; i++) {
		struct ac_verified_operand *o = &v->operand[i];

		if (v->format != AC_FORMAT_TF32)
			MOVE(o->to, buffer);
		MOVE(o->sums, buffer);
		MOVE(o->parts, buffer);
		MOVE(o->flags, buffer);
		MOVE(o->words, buffer);
	}
	MOVE(v->spread, buffer);
	if (v->output.tail.sums)
		MOVE(v->output.tail.partials, buffer);
	MOVE(layout->symmetric, buffer);
	if (layout->apart) {
		v->output.product = layout->result;
		MOVE(v->output.product, buffer);
		v->output.ld = v->m;
		v->output.stride = v->m * v->n;
	}
	v->arrived = loan->zeros;
	v->output.tail.arrived = loan->zeros + tiles(v->m) + tiles(v->n);
	v->state = loan->state;
	v->record = loan->record;
}
