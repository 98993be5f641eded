/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_gemm.c -- which products may be recast at all: what this
 * very call looks like, and whose handle it is on. */
#include "tests/unit/cases.h"
#include "tests/unit/shim/gemm_world.h"
#include "shim/start/start.h"

/* ---- Objections ---------------------------------------------------------- */

#define TALL (INT64_C(1) << 29)         /* the quick look is for less */
#define FAR (INT64_C(1) << 58)          /* no operand reaches so far */
#define AT(field) offsetof(struct ac_gemm, field)

enum {
	YES = AC_REASON_NONE, NO = AC_REASON_UNSUPPORTED,
	SMALL = AC_REASON_TOO_SMALL
};

/* What a row changes of a good product: fields of eight bytes. */
struct change {
	size_t  at;
	int64_t to;
};
struct row {
	const char    *what;
	int            reason;
	struct change  change[8];
};

static struct ac_gemm
changed(const struct row *row)
{
	struct ac_gemm g = good();

	for (unsigned i = 0; i < 8 && row->change[i].at; i++)
		memcpy((char *)&g + row->change[i].at, &row->change[i].to, 8);
	return g;
}

static void
check_rows(const struct row *rows, size_t count, bool in_arrays)
{
	for (size_t i = 0; i < count; i++) {
		struct ac_gemm g = changed(&rows[i]);

		g.in_arrays = in_arrays;
		if (reason_of(&g) != rows[i].reason)
			fail_msg("%s: reason %d, not %d", rows[i].what,
			    reason_of(&g), rows[i].reason);
	}
}

#define CHECK(rows, in_arrays) \
	check_rows(rows, sizeof rows / sizeof *rows, in_arrays)

CASE(test_sizes)
{
	static const struct row rows[] = {
		{ "as it is", YES, { { 0 } } },
		{ "m 0", SMALL, { { AT(m), 0 } } },
		{ "n 0", SMALL, { { AT(n), 0 } } },
		{ "k 0", SMALL, { { AT(k), 0 } } },
		{ "batch 0", SMALL, { { AT(batch), 0 } } },
		{ "m -1", SMALL, { { AT(m), -1 } } },
		{ "m 1", YES, { { AT(m), 1 } } },
		{ "n 1", YES, { { AT(n), 1 } } },
		{ "k 1", YES, { { AT(k), 1 } } },
		{ "lda", NO, { { AT(a.ld), M - 1 } } },
		{ "ldb", NO, { { AT(b.ld), K - 1 } } },
		{ "ldc", NO, { { AT(c.ld), M - 1 } } },
	};

	CHECK(rows, false);
}

/* Of a transposed operand the rows are K, and N. */
static void
check_transposes(struct ac_gemm *g, cublasOperation_t *trans, int64_t *ld,
    int64_t rows)
{
	*trans = CUBLAS_OP_T;
	*ld = rows - 1;
	assert_int_equal(reason_of(g), NO);
	*ld = rows;
	assert_int_equal(reason_of(g), YES);
	*trans = CUBLAS_OP_C;
	assert_int_equal(reason_of(g), YES);
	*trans = (cublasOperation_t)3;
	assert_int_equal(reason_of(g), NO);
}

CASE(test_transposes)
{
	struct ac_gemm g = good(), h = good();

	check_transposes(&g, &g.transa, &g.a.ld, K);
	check_transposes(&h, &h.transb, &h.b.ld, N);
}

CASE(test_pointers)
{
	static const struct row rows[] = {
		{ "alpha", NO, { { AT(alpha), 0 } } },
		{ "beta", NO, { { AT(beta), 0 } } },
		{ "a", NO, { { AT(a.data), 0 } } },
		{ "b", NO, { { AT(b.data), 0 } } },
		{ "c", NO, { { AT(c.data), 0 } } },
		{ "a + 2", NO, { { AT(a.data), A_AT + 2 } } },
		{ "b + 2", NO, { { AT(b.data), B_AT + 2 } } },
		{ "c + 1", NO, { { AT(c.data), C_AT + 1 } } },
		{ "a + 4", YES, { { AT(a.data), A_AT + 4 } } },
	}, arrays[] = {
		{ "a + 4", NO, { { AT(a.data), A_AT + 4 } } },
		{ "b + 4", NO, { { AT(b.data), B_AT + 4 } } },
		{ "c + 4", NO, { { AT(c.data), C_AT + 4 } } },
		{ "a + 8", YES, { { AT(a.data), A_AT + 8 } } },
	};

	CHECK(rows, false);
	CHECK(arrays, true);
}

/* In arrays, whose operands nobody can lay side by side. A has K columns, B and
 * C have N. */
CASE(test_addressable)
{
	static const struct row rows[] = {
		{ "a to the last", YES, { { AT(a.ld), FAR / K } } },
		{ "a past it", NO, { { AT(a.ld), FAR / K + 1 } } },
		{ "b to the last", YES, { { AT(b.ld), FAR / N } } },
		{ "b past it", NO, { { AT(b.ld), FAR / N + 1 } } },
		{ "c to the last", YES, { { AT(c.ld), FAR / N } } },
		{ "c past it", NO, { { AT(c.ld), FAR / N + 1 } } },
		{ "more than 64 bits", NO,
		    { { AT(k), 4 }, { AT(b.ld), 4 }, { AT(a.ld), 16 * FAR } } },
		{ "a negative stride of a", NO, { { AT(a.stride), -1 } } },
		{ "of b", NO, { { AT(b.stride), -1 } } },
		{ "of c", NO, { { AT(c.stride), -1 } } },
		{ "strides to the last", YES,
		    { { AT(batch), TALL }, { AT(a.stride), TALL - 1 } } },
		{ "strides past it", NO,
		    { { AT(batch), TALL }, { AT(a.stride), TALL } } },
		{ "of more than 64 bits", NO,
		    { { AT(batch), 4 * FAR }, { AT(c.stride), 16 } } },
		{ "many matrices", NO,
		    { { AT(batch), FAR }, { AT(c.stride), 1 } } },
		{ "all as large as the quick look ends", NO,
		    { { AT(m), TALL }, { AT(n), TALL }, { AT(k), TALL },
		    { AT(batch), TALL }, { AT(a.ld), TALL },
		    { AT(b.ld), TALL }, { AT(c.ld), TALL } } },
		{ "many columns of c", NO,
		    { { AT(m), 1 }, { AT(n), FAR } } },
	};
	struct ac_gemm g = good();

	CHECK(rows, true);
	/* K columns of both: nothing else is large. */
	g.in_arrays = true;
	g.transb = CUBLAS_OP_T;
	g.m = g.n = g.a.ld = g.b.ld = g.c.ld = 1;
	g.k = FAR - 1;
	assert_int_equal(reason_of(&g), YES);
	g.k = FAR;
	assert_int_equal(reason_of(&g), NO);
}

/* ---- Overlaps ------------------------------------------------------------ */

/* Whether C, `distance` units of four bytes from an operand of rows x cols,
 * shares an element with it: looked at one by one where both are rectangles of
 * one matrix, else by the first and the last byte. */
static bool
shares(const struct ac_gemm *g, const struct ac_operand *x, int64_t rows,
    int64_t cols, int64_t distance)
{
	const int64_t unit = x->type == CUDA_C_32F ? 2 : 1;
	const int64_t last = ((cols - 1) * x->ld + rows - 1
	    + (g->batch - 1) * x->stride) * unit + unit;
	const int64_t last_c = ((g->n - 1) * g->c.ld + g->m - 1
	    + (g->batch - 1) * g->c.stride) * unit + unit;

	if (g->batch > 1 || x->ld != g->c.ld || distance % unit)
		return distance < last && -distance < last_c;
	for (int64_t i = 0; i < rows * cols; i++)
		for (int64_t j = 0; j < g->m * g->n; j++)
			if (i % rows + i / rows * x->ld == distance / unit
			    + j % g->m + j / g->m * g->c.ld)
				return true;
	return false;
}

/* C over A with B far away, or over B with A far away. */
static void
check_overlaps(struct ac_gemm *g, bool over_b)
{
	const struct ac_operand *x = over_b ? &g->b : &g->a;
	const bool turned = over_b ? g->transb != CUBLAS_OP_N
	    : g->transa != CUBLAS_OP_N;
	const int64_t down = over_b ? g->k : g->m, right = over_b ? g->n : g->k;

	g->a.data = at(over_b ? 4 * C_AT : C_AT);
	g->b.data = at(over_b ? C_AT : 4 * C_AT);
	for (int64_t distance = -70; distance <= 70; distance++) {
		const bool expected = shares(g, x, turned ? right : down,
		    turned ? down : right, distance);

		g->c.data = at((uint64_t)(C_AT + 4 * distance));
		assert_int_equal(reason_of(g), expected ? AC_REASON_OVERLAP
		    : AC_REASON_NONE);
	}
}

/* The same by what the site remembers of a call with other addresses. */
static void
check_known_overlaps(struct ac_gemm *g, bool over_b)
{
	struct ac_site_state remembers = { .origin = NULL };
	struct ac_gemm first = *g;

	check_overlaps(g, over_b);
	site.state = &remembers;
	first.a.data = at(A_AT);
	first.b.data = at(B_AT);
	first.c.data = at(C_AT);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(reason_of(&first), AC_REASON_NONE);
		assert_int_equal(seen.known != NULL, i);
	}
	check_overlaps(g, over_b);
	site.state = NULL;
}

/* `sizes` counts through 3^3 sizes, 3 leading dimensions of C and 2 of the
 * operands, and both transposes. */
static void
overlap_all(cudaDataType type, int64_t batch)
{
	for (unsigned i = 0; i < 27 * 3 * 2 * 4; i++) {
		struct ac_gemm g = good();
		const unsigned form = i / 162;

		g.m = 1 + i % 3;
		g.n = 1 + i / 3 % 3;
		g.k = 1 + i / 9 % 3;
		g.transa = form & 1 ? CUBLAS_OP_T : CUBLAS_OP_N;
		g.transb = form & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
		g.c.ld = 3 + i / 27 % 3;
		g.a.ld = g.b.ld = 4 + i / 81 % 2;
		g.a.type = g.b.type = g.c.type = type;
		g.batch = batch;
		if (batch > 1) {
			g.a.stride = 2;
			g.b.stride = 3;
			g.c.stride = 5;
		}
		check_known_overlaps(&g, false);
		check_known_overlaps(&g, true);
	}
}

CASE(test_overlaps)
{
	overlap_all(CUDA_R_32F, 1);
	overlap_all(CUDA_C_32F, 1);
	overlap_all(CUDA_R_32F, 3);
}

/* What is remembered is good for the same leading dimensions and strides. */
CASE(test_known)
{
	struct ac_site_state remembers = { .origin = NULL };
	struct ac_gemm g = good();
	int64_t *const numbers[6] = { &g.a.ld, &g.b.ld, &g.c.ld,
		(int64_t *)&g.a.stride, (int64_t *)&g.b.stride,
		(int64_t *)&g.c.stride };

	site.state = &remembers;
	/* A place may have a million sizes: not of a size's first call. */
	remembers.origin = (struct ac_origin *)(uintptr_t)64;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_null(remembers.layout);
	remembers.variants[AC_ALIKE_ALL] = made_variants;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_non_null(remembers.layout);
	for (int i = 0; i < 6; i++)
		for (int64_t by = 1; by >= -1; by -= 2) {
			const struct ac_gemm before = g;

			*numbers[i] += by;
			assert_int_equal(reason_of(&g), by < 0
			    ? AC_REASON_UNSUPPORTED : AC_REASON_NONE);
			if (by > 0)
				assert_null(seen.known);
			g = before;
		}
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_non_null(seen.known);
	/* Wrong addresses are wrong all the same. */
	g.b.data = NULL;
	assert_int_equal(reason_of(&g), AC_REASON_UNSUPPORTED);
	g.b.data = at(2);
	assert_int_equal(reason_of(&g), AC_REASON_UNSUPPORTED);
	site.state = NULL;
}

/* ---- What follows a product ---------------------------------------------- */

/* What mend reads or writes, and how many bytes of it. */
struct vector {
	void        *where;      /* a pointer */
	uint64_t     bytes;
	bool         is_written;
};

static void
put(const struct vector *x, uint64_t address)
{
	memcpy(x->where, &address, sizeof address);
}

static uint64_t
place_of(const struct vector *x)
{
	uint64_t address;

	memcpy(&address, x->where, sizeof address);
	return address;
}

/* `x` next to, and over, what has `bytes` from `from` on. */
static void
check_beside(const struct vector *x, uint64_t from, uint64_t bytes,
    bool meets, struct ac_gemm *g)
{
	const uint64_t before = place_of(x);
	const uint64_t places[4] = { from + bytes, from + bytes - 4,
		from - x->bytes, from - x->bytes + 4 };

	for (int i = 0; i < 4; i++) {
		put(x, places[i]);
		if (reason_of(g) != (i % 2 && meets ? AC_REASON_OVERLAP
		    : AC_REASON_NONE))
			fail_msg("%u bytes: place %d", (unsigned)x->bytes, i);
	}
	put(x, before);
}

/* Each against A, B, C and each other: what is written may meet nothing, what
 * is read may meet what is read. To the byte. */
static void
check_vectors(struct vector *x, unsigned count, struct ac_gemm *g)
{
	const struct vector fixed[3] = {
		{ &g->a.data, 4 * (uint64_t)g->m * K, false },
		{ &g->b.data, 4 * K * N, false },
		{ &g->c.data, 4 * (uint64_t)g->m * N, true }
	};

	for (unsigned i = 0; i < count; i++)
		put(&x[i], (uint64_t)(16 + i) << 20);
	assert_int_equal(reason_of(g), AC_REASON_NONE);
	for (unsigned i = 0; i < count; i++) {
		for (unsigned j = 0; j < 3; j++)
			check_beside(&x[i], place_of(&fixed[j]), fixed[j].bytes,
			    x[i].is_written || fixed[j].is_written, g);
		for (unsigned j = 0; j < count; j++)
			if (i != j)
				check_beside(&x[i], place_of(&x[j]), x[j].bytes,
				    x[i].is_written || x[j].is_written, g);
	}
}

CASE(test_tails)
{
	enum { COLS = N - 1, LD = 128 };
	static const struct {
		uint32_t activation;
		bool     writes_aux, is_row;
		int64_t  m, added_ld;
		uint64_t aux_bytes;
	} rows[] = {
		{ AC_ACTIVATION_GELU, true, false, M, 2 * M,
		    4 * (COLS * LD + M) },
		{ AC_ACTIVATION_DGELU, false, true, M, M,
		    4 * (COLS * LD + M) },
		/* By words, of which the last may be full; one column of C for
		 * all. */
		{ AC_ACTIVATION_RELU, true, false, M, 0,
		    4 * (COLS * LD / 32 + 1) },
		{ AC_ACTIVATION_DRELU, false, true, M, 0,
		    4 * (COLS * LD / 32 + 1) },
		{ AC_ACTIVATION_RELU, true, false, 32, 0,
		    4 * (COLS * LD / 32 + 1) },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_gemm_tail tail = {
			.added_ld = rows[i].added_ld, .follows = true,
			.writes_aux = rows[i].writes_aux,
			.then = { .activation = rows[i].activation,
				.bias_is_row = rows[i].is_row, .aux_ld = LD }
		};
		struct vector vectors[] = {
			{ &tail.added,
			    4 * (uint64_t)(COLS * rows[i].added_ld
			    + rows[i].m), false },
			{ &tail.then.bias, 4 * (uint64_t)(rows[i].is_row ? N
			    : rows[i].m), false },
			{ &tail.then.aux, rows[i].aux_bytes,
			    rows[i].writes_aux },
			{ &tail.then.sums, 4 * (uint64_t)rows[i].m, true },
		};
		struct ac_gemm g = good();

		g.m = g.a.ld = g.c.ld = rows[i].m;
		g.tail = &tail;
		check_vectors(vectors, 4, &g);
	}
}

/* The numbers of a tail: bounded like an operand's, a mask that is written by
 * whole words. */
CASE(test_tail_numbers)
{
	struct ac_gemm_tail tail;
	struct ac_gemm g = good();
	const struct {
		int64_t *number, to;
		int      reason, without;    /* a mask */
	} rows[] = {
		{ &tail.added_ld, M - 1, NO, NO },
		{ &tail.added_ld, 0, YES, YES },
		{ &tail.added_ld, FAR / N, YES, YES },
		{ &tail.added_ld, FAR / N + 1, NO, NO },
		{ &tail.added_ld, 8 * FAR, NO, NO },
		{ &tail.added_stride, -1, NO, NO },
		{ &tail.added_stride, 16 * FAR, NO, NO },
		{ &tail.then.aux_ld, M - 1, NO, NO },
		{ &tail.then.aux_ld, 132, NO, NO },
		{ &tail.then.aux_ld, 192, NO, YES },
		{ &tail.then.aux_ld, 256, YES, YES },
		{ &tail.then.aux_ld, 8 * FAR, NO, NO },
		{ &tail.then.aux_stride, 100, NO, NO },
		{ &tail.then.aux_stride, 96, NO, YES },
		{ &tail.then.aux_stride, 256, YES, YES },
		{ &tail.then.aux_stride, -128, NO, NO },
		{ &tail.then.bias_stride, -1, NO, NO },
		{ &tail.then.bias_stride, FAR, NO, NO },
		{ &tail.then.sums_stride, -1, NO, NO },
		{ &tail.then.sums_stride, FAR, NO, NO },
	};

	g.tail = &tail;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		tail = (struct ac_gemm_tail){
			.added = (const float *)at(5 * C_AT), .added_ld = M,
			.follows = true, .writes_aux = true,
			.then = { .activation = AC_ACTIVATION_RELU,
				.aux = (void *)(uintptr_t)at(4), .aux_ld = 128 }
		};
		*rows[i].number = rows[i].to;
		g.a.data = g.b.data = at(UINT64_C(15) << 60);
		g.c.data = at(UINT64_C(14) << 60);
		if (reason_of(&g) != rows[i].reason)
			fail_msg("row %zu: reason %d", i, reason_of(&g));
		tail.then.activation = AC_ACTIVATION_GELU;
		if (reason_of(&g) != rows[i].without)
			fail_msg("row %zu: reason %d", i, reason_of(&g));
	}
	tail = (struct ac_gemm_tail){ .follows = true };
	for (int64_t i = -1; i < 2; i++) { /* a bias alone */
		tail.then.bias = at(8);
		tail.then.bias_stride = i * FAR;
		assert_int_equal(reason_of(&g), i ? NO : YES);
	}
	tail.then = (struct ac_verified_tail){ .bias = at(6) };
	assert_int_equal(reason_of(&g), NO);
	tail.then = (struct ac_verified_tail){ .sums =
	    (float *)(uintptr_t)at(6) };
	assert_int_equal(reason_of(&g), NO);
}

/* The manual forbids it, and only the device could see it. */
CASE(test_overlap_in_arrays)
{
	struct ac_gemm g = good();

	g.in_arrays = true;
	g.c.data = g.a.data;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
}

/* ---- Whose call it is, and what it counts as ----------------------------- */

CASE(test_provider)
{
	struct ac_gemm g = good();

	handle.provider = &other_provider;
	assert_int_equal(reason_of(&g), AC_REASON_UNSUPPORTED);
	handle.provider = NULL;
	assert_int_equal(reason_of(&g), AC_REASON_UNSUPPORTED);
	site.binding.provider = NULL;
	assert_int_equal(reason_of(&g), AC_REASON_UNSUPPORTED);
	site.binding.provider = handle.provider = &provider;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
}

/* A site that is kept counts each call as decided, whatever it looks like; its
 * ranges are of those alone that could be recast. */
CASE(test_kept)
{
	struct ac_gemm g = good();

	site.decision.rung = AC_RUNG_KEEP;
	ac_shim_ranges = true;
	ranges_counted = 0;
	assert_int_equal(reason_of(&g), -1);
	assert_int_equal(ranges_counted, 1);
	g.m = 0;
	assert_int_equal(reason_of(&g), -1);
	assert_int_equal(ranges_counted, 1);
	ac_shim_ranges = false;
	g = good();
	assert_int_equal(reason_of(&g), -1);
	assert_int_equal(ranges_counted, 1);
	site.decision.rung = AC_RUNG_FP16;
}

CASE(test_solver)
{
	struct ac_gemm g = good();

	solved = 0;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_int_equal(solved, 0);
	site.solver = (struct ac_solver *)(uintptr_t)8;
	assert_int_equal(reason_of(&g), AC_REASON_NONE);
	assert_int_equal(solved, 1);
	site.solver = NULL;
}

CASES_RUN(NULL, NULL)
