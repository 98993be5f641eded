/* SPDX-License-Identifier: Apache-2.0 */
/* shim/gemm/objection.c -- what only this very call can tell: numbers that are
 * none, addresses, matrices that overlap. */
#include "shim/gemm/layout.h"

static bool
is_positive(const struct ac_gemm *g)
{
	return g->m > 0 && g->n > 0 && g->k > 0 && g->batch > 0;
}

static size_t
element_bytes(const struct ac_operand *operand)
{
	return (operand->type == CUDA_C_32F ? 2 : 1) * sizeof(float);
}

static bool
are_aligned(const struct ac_gemm *g)
{
	const uintptr_t all = (uintptr_t)g->a.data | (uintptr_t)g->b.data
	    | (uintptr_t)g->c.data;

	return all % sizeof(float) == 0
	    && (!g->in_arrays || all % sizeof(void *) == 0);
}

/* A and B as they are stored. */
struct stored {
	int64_t rows_a, cols_a, rows_b, cols_b;
};

static struct stored
stored(const struct ac_gemm *g)
{
	const bool ta = g->transa != CUBLAS_OP_N, tb = g->transb != CUBLAS_OP_N;

	return (struct stored){
		.rows_a = ta ? g->k : g->m, .cols_a = ta ? g->m : g->k,
		.rows_b = tb ? g->n : g->k, .cols_b = tb ? g->k : g->n
	};
}

/* Whether `cols` columns of each of `batch` matrices have less than 2^62 bytes
 * from the first to the last. A negative stride counts as more. */
static bool
is_addressable(const struct ac_gemm *g, const struct ac_operand *operand,
    int64_t cols)
{
	uint64_t matrix, rest;

	return !__builtin_mul_overflow((uint64_t)cols, (uint64_t)operand->ld,
		&matrix)
	    && !__builtin_mul_overflow((uint64_t)g->batch,
		(uint64_t)operand->stride, &rest)
	    && matrix < UINT64_C(1) << 58 && rest < UINT64_C(1) << 58;
}

/* Mostly one look at all numbers will do: the product of any two of them is
 * below 2^58 if each is below 2^29. M is no more than C's leading dimension. */
static bool
are_addressable(const struct ac_gemm *g, const struct stored *s)
{
	const uint64_t all = (uint64_t)(g->n | g->k | g->batch)
	    | (uint64_t)(g->a.ld | g->b.ld | g->c.ld)
	    | (uint64_t)(g->a.stride | g->b.stride | g->c.stride);

	return all < UINT64_C(1) << 29
	    || (is_addressable(g, &g->a, s->cols_a)
	    && is_addressable(g, &g->b, s->cols_b)
	    && is_addressable(g, &g->c, g->n));
}

/* Null pointers get the provider's own answer. */
static bool
has_addresses(const struct ac_gemm *g)
{
	return g->alpha && g->beta && g->a.data && g->b.data && g->c.data
	    && are_aligned(g);
}

/* So do wrong leading dimensions, unknown transposes and what no device holds.
 * A negative stride is legal but rare: kept. */
static bool
is_well_formed(const struct ac_gemm *g)
{
	const struct stored s = stored(g);

	return (unsigned)g->transa <= CUBLAS_OP_C
	    && (unsigned)g->transb <= CUBLAS_OP_C
	    && g->a.ld >= s.rows_a && g->b.ld >= s.rows_b
	    && g->c.ld >= g->m && are_addressable(g, &s);
}

/* Of what only cublasLt has. C apart, the second matrix, bias and sums have
 * columns and strides like any operand. */
static bool
is_tail_addressable(const struct ac_gemm *g)
{
	const struct ac_gemm_tail *tail = g->tail;
	const struct ac_verified_tail *t = &tail->then;
	const struct ac_operand of[] = {
		{ .ld = tail->added_ld, .stride = tail->added_stride },
		{ .ld = t->aux_ld, .stride = t->aux_stride },
		{ .stride = t->bias_stride }, { .stride = t->sums_stride }
	};
	const uint64_t all = (uint64_t)(g->n | g->batch)
	    | (uint64_t)(tail->added_ld | tail->added_stride | t->aux_ld)
	    | (uint64_t)(t->aux_stride | t->bias_stride | t->sums_stride);
	bool are = true;

	for (unsigned i = 0; i < sizeof of / sizeof *of && all >> 29; i++)
		are &= is_addressable(g, &of[i], g->n);
	return are;
}

/* Since it is read and written before the library has had a say: in the lines
 * that cublasLt asks for, too. */
static bool
is_tail_well_formed(const struct ac_gemm *g)
{
	const struct ac_gemm_tail *tail = g->tail;
	const struct ac_verified_tail *then = &tail->then;
	const bool is_mask = then->activation == AC_ACTIVATION_RELU
	    || then->activation == AC_ACTIVATION_DRELU;

	return (!tail->added || !tail->added_ld || tail->added_ld >= g->m)
	    && (!then->aux || then->aux_ld >= g->m)
	    && (!then->aux || !((then->aux_ld | then->aux_stride)
		& (is_mask ? 127 : 7)))
	    && is_tail_addressable(g)
	    && (((uintptr_t)tail->added | (uintptr_t)then->bias
	    | (uintptr_t)then->sums | (uintptr_t)then->aux)
	    & (sizeof(float) - 1)) == 0;
}

/* Of an operand of `rows` rows whose bytes lie among C's: whether elements are
 * shared. Blocked factorisations multiply parts of a matrix into another part:
 * those are rectangles of one parent matrix, and if C begins below the
 * operand's last row there, and ends in that column, they do not meet. */
static inline bool
shares_elements(const struct ac_gemm *g, const struct ac_operand *operand,
    int64_t rows)
{
	const int64_t bytes = (int64_t)element_bytes(operand), ld = g->c.ld;
	const int64_t distance = (int64_t)((uintptr_t)g->c.data
	    - (uintptr_t)operand->data);
	int64_t row;

	if (g->batch != 1 || operand->ld != ld || distance % bytes)
		return true;
	row = distance / bytes % ld;
	if (row < 0)
		row += ld;
	return row < rows || row + g->m > ld;
}

/* Whether bytes of an operand lie among C's. */
static inline bool
lies_near(const struct ac_gemm *g, const struct ac_operand *operand,
    uint64_t bytes, uint64_t bytes_of_c)
{
	const uintptr_t of = (uintptr_t)operand->data;
	const uintptr_t c = (uintptr_t)g->c.data;

	return of < c + bytes_of_c && c < of + bytes;
}

__attribute__((cold, noinline))
static bool
shares_any(const struct ac_gemm *g, const uint64_t x[3])
{
	return (lies_near(g, &g->a, x[0], x[2])
	    && shares_elements(g, &g->a, stored(g).rows_a))
	    || (lies_near(g, &g->b, x[1], x[2])
	    && shares_elements(g, &g->b, stored(g).rows_b));
}

/* Bytes of A, B and C: `x`, as ac_layout_extents() has them. */
static inline bool
output_overlaps(const struct ac_gemm *g, const uint64_t x[3])
{
	return (lies_near(g, &g->a, x[0], x[2])
	    || lies_near(g, &g->b, x[1], x[2])) && shares_any(g, x);
}

/* Bytes that a call reads or writes; none: `from` 0. */
struct reach {
	uintptr_t from, to;
};

static struct reach
reach_of(const void *start, uint64_t bytes)
{
	const uintptr_t from = (uintptr_t)start;

	return start ? (struct reach){ from, from + bytes }
	    : (struct reach){ 0, 0 };
}

static bool
meet(const struct reach *a, const struct reach *b)
{
	return a->from < b->to && b->from < a->to;
}

static struct reach
reach_of_bias(const struct ac_gemm *g)
{
	const struct ac_verified_tail *t = &g->tail->then;

	return reach_of(t->bias, ((uint64_t)(g->batch - 1)
	    * (uint64_t)t->bias_stride + (uint64_t)(t->bias_is_row ? g->n
	    : g->m)) * sizeof(float));
}

uint64_t
ac_gemm_added_bytes(const struct ac_gemm *g)
{
	const struct ac_gemm_tail *tail = g->tail;

	return ((uint64_t)(g->n - 1) * (uint64_t)tail->added_ld
	    + (uint64_t)g->m + (uint64_t)(g->batch - 1)
	    * (uint64_t)tail->added_stride) * sizeof(float);
}

/* What mend reads and writes once the product is there. C itself may be what
 * beta scales, entry by entry. */
static bool
tail_overlaps(const struct ac_gemm *g, const uint64_t x[3])
{
	const struct ac_gemm_tail *tail = g->tail;
	const struct ac_verified_tail *t = &tail->then;
	const uint64_t rest = (uint64_t)(g->batch - 1), m = (uint64_t)g->m;
	const uint64_t cols = (uint64_t)(g->n - 1);
	const uint64_t entries = cols * (uint64_t)t->aux_ld + m
	    + rest * (uint64_t)t->aux_stride;
	const bool is_mask = t->activation == AC_ACTIVATION_DRELU
	    || t->activation == AC_ACTIVATION_RELU;
	const struct reach none = { 0, 0 }, aux = reach_of(t->aux, sizeof(float)
	    * (is_mask ? (entries + 31) / 32 : entries));
	const struct reach written[] = {
		reach_of(g->c.data, x[2]),
		reach_of(t->sums, (rest * (uint64_t)t->sums_stride + m)
		    * sizeof(float)),
		tail->writes_aux ? aux : none,
	};
	const struct reach read[] = {
		reach_of(g->a.data, x[0]), reach_of(g->b.data, x[1]),
		reach_of(tail->added, ac_gemm_added_bytes(g)),
		reach_of_bias(g), tail->writes_aux ? none : aux,
	};
	enum { WRITTEN = 3, READ = 5, OPERANDS = 2 };
	bool any = meet(&written[0], &written[1])
	    || meet(&written[0], &written[2])
	    || meet(&written[1], &written[2]);

	/* C with A and B: output_overlaps(). */
	for (unsigned i = 0; i < WRITTEN; i++)
		for (unsigned j = i ? 0 : OPERANDS; written[i].to && j < READ;
		    j++)
			any |= meet(&written[i], &read[j]);
	return any;
}

static bool
has_tail_in_memory(const struct ac_gemm_tail *tail)
{
	return ((uintptr_t)tail->added | (uintptr_t)tail->then.bias
	    | (uintptr_t)tail->then.aux | (uintptr_t)tail->then.sums) != 0;
}

/* Aligned, and no device is too small for it. */
static bool
is_bias_well_formed(const struct ac_gemm *g)
{
	const struct ac_verified_tail *t = &g->tail->then;

	return !((uintptr_t)t->bias & (sizeof(float) - 1))
	    && (uint64_t)(g->batch | t->bias_stride) < UINT64_C(1) << 29;
}

static bool
bias_overlaps(const struct ac_gemm *g, const uint64_t x[3])
{
	const struct reach c = reach_of(g->c.data, x[2]);
	const struct reach bias = reach_of_bias(g);

	return meet(&c, &bias);
}

__attribute__((always_inline))
static inline enum ac_reason
overlap_objection(const struct ac_gemm *g, const uint64_t x[3])
{
	return !g->in_arrays && output_overlaps(g, x) ? AC_REASON_OVERLAP
	    : AC_REASON_NONE;
}

__attribute__((noinline))
static enum ac_reason
tail_objection(const struct ac_gemm *g, const uint64_t x[3])
{
	const struct ac_gemm_tail *tail = g->tail;
	const bool is_bias = !tail->added && !tail->then.aux
	    && !tail->then.sums && is_bias_well_formed(g);

	if (!is_bias && !is_tail_well_formed(g))
		return AC_REASON_UNSUPPORTED;
	return !g->in_arrays && (is_bias ? bias_overlaps(g, x)
	    : tail_overlaps(g, x)) ? AC_REASON_OVERLAP
	    : overlap_objection(g, x);
}

__attribute__((noinline))
static enum ac_reason
look_at_tail(const struct ac_gemm *g, const uint64_t x[3])
{
	return has_tail_in_memory(g->tail) ? tail_objection(g, x)
	    : overlap_objection(g, x);
}

/* What is in arrays only the device sees; those may not overlap (cuBLAS
 * manual). */
__attribute__((always_inline))
static inline enum ac_reason
look_at_addresses(const struct ac_gemm *g, const uint64_t extent[3])
{
	if (!has_addresses(g))
		return AC_REASON_UNSUPPORTED;
	return g->tail ? look_at_tail(g, extent)
	    : overlap_objection(g, extent);
}

/* Of a call that is not like its site's first one. */
__attribute__((noinline))
static enum ac_reason
look_closely(const struct ac_gemm *g)
{
	uint64_t extent[3];

	if (!is_positive(g))
		return AC_REASON_TOO_SMALL;
	if (!is_well_formed(g))
		return AC_REASON_UNSUPPORTED;
	ac_layout_extents(g, extent);
	return look_at_addresses(g, extent);
}

enum ac_reason
ac_gemm_objection_to(const struct ac_gemm *g,
    const struct ac_layout_known *known)
{
	return known ? look_at_addresses(g, known->extent) : look_closely(g);
}
