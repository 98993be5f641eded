/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_layout.c -- what a verified product needs of a lane,
 * against what its kernels touch; that pieces do not meet, however large. */
#include "base/mapped.h"
#include "shim/gemm/layout.h"
#include "tests/unit/cases.h"

void *
ac_mapped_take(size_t bytes)
{
	return calloc(1, bytes); /* as long as the test */
}

static uint64_t seed = 20261126;

static uint64_t
draw(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (seed >> 33) % below;
}

/* Of all magnitudes up to 2^bits. */
static int64_t
draw_size(unsigned bits)
{
	const uint64_t all = draw(1 << 30) << 30 | draw(1 << 30);
	const uint64_t kept = draw(bits + 1);

	return 1 + (int64_t)(kept < 60 ? all >> (60 - kept) : all);
}

static struct ac_gemm_tail tail;

/* Sizes to 2^bits; C starts a MiB, A and B elsewhere. */
static struct ac_gemm
draw_call(unsigned bits)
{
	struct ac_gemm g = {
		.transa = (cublasOperation_t)draw(3),
		.transb = (cublasOperation_t)draw(3),
		.m = draw_size(bits), .n = draw_size(bits),
		.k = draw_size(bits), .batch = draw(3) ? 1 : draw_size(8),
		.in_arrays = !draw(4)
	};

	if (!draw(50))
		g.batch = 65536;
	g.a = (struct ac_operand){ (void *)16, CUDA_R_32F,
		(g.transa ? g.k : g.m) + (int64_t)draw(9), 0 };
	g.b = (struct ac_operand){ (void *)32, CUDA_R_32F,
		(g.transb ? g.n : g.k) + (int64_t)draw(9), 0 };
	g.c = (struct ac_operand){ (void *)48, CUDA_R_32F,
		g.m + (int64_t)draw(9), draw_size(20) };
	tail = (struct ac_gemm_tail){ .follows = draw(2) };
	tail.then.sums = draw(2) ? (float *)64 : NULL;
	g.tail = draw(2) ? &tail : NULL;
	return g;
}

/* ---- What kernels touch -------------------------------------------------- */

__extension__ typedef unsigned __int128 wide;

struct piece {
	const void *at;
	wide bytes;
};
enum { MOST = 16 };

static int64_t
count(int64_t all, int64_t each)
{
	int64_t number = all / each;

	return number + (number * each < all);
}

#define MAKE(g, apart, layout) \
	ac_layout_make(g, AC_FORMAT_FP16, 0, apart, layout)

/* Words of 16 bits of a number; of TF32, which is not written, none. */
static const int64_t terms_of[] = { 1, 1, 0, 2, 3, 3, 6 };

/* K as it is stored: padded where there are several. */
static int64_t
stored_k(const struct ac_verified *v)
{
	const int64_t terms = terms_of[v->format];

	return terms < 2 ? v->k : terms * count(v->k, 8) * 8;
}

/* What verified.h says of each pointer of a bound layout. */
static unsigned
pieces_of(const struct ac_layout *l, bool apart, struct piece *pieces)
{
	const struct ac_verified *v = &l->v;
	const bool casts = terms_of[v->format];
	const wide batch = (wide)v->batch, slices = (wide)count(v->k,
	    v->slice);
	unsigned used = 0;

	for (int i = 0; i < 2; i++) {
		const struct ac_verified_operand *o = &v->operand[i];
		const int64_t lines = i ? v->n : v->m;
		const wide words = (wide)count(lines, 32) * batch;
		const int64_t rows = o->lines_are_cols ? stored_k(v) : lines;
		const int64_t cols = o->lines_are_cols ? lines : stored_k(v);

		assert_int_equal(o->lines, lines);
		assert_true(o->ld_to % 8 == 0 && o->ld_to >= rows
		    && o->ld_to < rows + 8);
		assert_int_equal(o->to != NULL, casts);
		if (casts)
			pieces[used++] = (struct piece){ o->to,
				2 * (wide)o->ld_to * (wide)cols * batch };
		pieces[used++] = (struct piece){ o->sums,
			8 * (wide)v->k * 8 * batch };
		pieces[used++] = (struct piece){ o->parts,
			slices * 11 * (wide)lines * 4 * batch };
		pieces[used++] = (struct piece){ o->flags, 4 * words };
		pieces[used++] = (struct piece){ o->words,
			sizeof(struct ac_verified_word) * words };
	}
	if (apart)
		pieces[used++] = (struct piece){ v->output.product,
			4 * (wide)v->m * (wide)v->n * batch };
	pieces[used++] = (struct piece){ v->spread,
		(wide)(count(v->m, 64) + count(v->n, 64)) * 64 * 64 * 8 * 4 };
	if (v->output.tail.sums)
		pieces[used++] = (struct piece){ v->output.tail.partials,
			2 * (wide)count(v->n, 64) * (wide)v->m * batch * 8 };
	return used;
}

static wide
words_of(const struct ac_verified *v)
{
	return (wide)count(v->m, 64) + (wide)count(v->n, 64)
	    + (v->output.tail.sums ? (wide)count(v->m, 128) * (wide)v->batch + 1
	    : 0);
}

/* All aligned, none meets another, within the loan, which is not larger than
 * 256 bytes each ask for. */
static void
check_pieces(const struct ac_layout *l, const struct ac_lane_loan *loan,
    bool apart)
{
	struct piece pieces[MOST];
	const unsigned used = pieces_of(l, apart, pieces);
	wide sum = 0;

	assert_true(used <= MOST);
	for (unsigned i = 0; i < used; i++) {
		const uintptr_t at = (uintptr_t)pieces[i].at;
		bool is_met = at < (uintptr_t)loan->buffer
		    || at + pieces[i].bytes > (wide)(uintptr_t)loan->buffer
		    + l->buffer_bytes;

		for (unsigned j = 0; j < i; j++)
			is_met |= at < (uintptr_t)pieces[j].at + pieces[j].bytes
			    && (uintptr_t)pieces[j].at < at + pieces[i].bytes;
		if (is_met || at % 256)
			fail_msg("piece %u meets another, or an end", i);
		sum += (pieces[i].bytes + 255) / 256 * 256;
	}
	assert_true(l->buffer_bytes == sum);
	assert_true(l->zero_bytes == (words_of(&l->v) * 4 + 255) / 256 * 256);
	assert_ptr_equal(l->v.arrived, loan->zeros);
	assert_ptr_equal(l->v.output.tail.arrived, loan->zeros
	    + count(l->v.m, 64) + count(l->v.n, 64));
}

static bool
make(const struct ac_gemm *g, enum ac_format format, bool apart,
    struct ac_layout *l)
{
	const struct ac_lane_loan loan = {
		.buffer = (char *)((uintptr_t)1 << 62),
		.zeros = (uint32_t *)4096,
		.state = (struct ac_verified_state *)128,
		.record = (struct ac_verified_record *)192
	};

	if (!ac_layout_make(g, format, 1024, apart, l))
		return false;
	ac_layout_bind(l, &loan);
	assert_ptr_equal(l->v.state, loan.state);
	assert_ptr_equal(l->v.record, loan.record);
	assert_true(l->v.format == format && l->v.chunk == 1024);
	check_pieces(l, &loan, apart);
	return true;
}

CASE(test_pieces)
{
	for (int i = 0; i < 1000; i++) {
		const struct ac_gemm g = draw_call(13);
		const enum ac_format format = (enum ac_format)draw(7);
		struct ac_layout l;

		assert_true(make(&g, format, draw(2), &l));
		assert_true(l.v.m == g.m && l.v.n == g.n && l.v.k == g.k
		    && l.v.batch == g.batch);
		assert_int_equal(l.v.operand[0].lines_are_cols, g.transa != 0);
		assert_int_equal(l.v.operand[1].lines_are_cols, g.transb == 0);
		assert_true(l.v.operand[0].ld == g.a.ld
		    && l.v.operand[1].ld == g.b.ld);
	}
}

/* ---- Sizes without end --------------------------------------------------- */

/* What is laid out is what kernels can count, and no sum wraps. */
CASE(test_no_end)
{
	unsigned made = 0, refused = 0;

	for (int i = 0; i < 20000; i++) {
		struct ac_gemm g = draw_call(i % 2 ? 40 : 31);
		const bool apart = draw(2);
		struct ac_layout l;

		if (!draw(3))
			g.batch = draw_size(62);
		if (!make(&g, (enum ac_format)draw(7), apart, &l)) {
			refused++;
			continue;
		}
		made++;
		assert_true(g.m < INT64_C(1) << 31 && g.n < INT64_C(1) << 31
		    && stored_k(&l.v) < INT64_C(1) << 31
		    && g.batch < INT64_C(1) << 31);
		assert_true(g.a.ld < 1 << 28 && g.b.ld < 1 << 28);
		assert_true(l.buffer_bytes < UINT64_C(1) << 63);
	}
	assert_true(made > 1000 && refused > 1000);
}

/* A number each: the last that fits, and the first that does not. */
CASE(test_limits)
{
	struct ac_gemm g = { .a.ld = 1, .b.ld = 1, .c.ld = 1 };
	const struct {
		int64_t *number, last;
	} rows[] = {
		{ &g.m, INT32_MAX }, { &g.n, INT32_MAX }, { &g.k, INT32_MAX },
		{ &g.batch, INT32_MAX }, { &g.a.ld, (1 << 28) - 1 },
		{ &g.b.ld, (1 << 28) - 1 }, { &g.c.ld, INT64_MAX }
	};
	struct ac_layout l;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		g.m = g.n = g.k = g.batch = 1;
		*rows[i].number = rows[i].last;
		assert_true(MAKE(&g, true, &l));
		if (rows[i].last < INT64_MAX) {
			++*rows[i].number;
			assert_false(MAKE(&g, true, &l));
		}
		*rows[i].number = 1;
	}
	/* No piece is larger than 2^60 bytes: here two for each of A. */
	g.m = INT64_C(1) << 30;
	g.k = INT64_C(1) << 29;
	assert_true(MAKE(&g, false, &l));
	g.k += 8;
	assert_false(MAKE(&g, false, &l));
}

/* ---- What is remembered -------------------------------------------------- */

CASE(test_again)
{
	static struct ac_site_state remembers;
	struct ac_site site = { .state = &remembers };

	for (int i = 0; i < 1000; i++) {
		const bool casts = i % 2;
		struct ac_gemm g = draw_call(13);
		const struct ac_layout_known *known;
		struct ac_layout made, again;
		uint64_t extent[3];

		site.decision.candidate[0].tactic = casts ? AC_TACTIC_CAST
		    : AC_TACTIC_LIBRARY;
		assert_null(ac_layout_recall(&g, &site));
		ac_layout_remember(&g, &site);
		known = ac_layout_recall(&g, &site);
		assert_non_null(known);
		assert_true((known->tactic == AC_TACTIC_CAST) == casts);
		ac_layout_remember(&g, &site);
		assert_ptr_equal(ac_layout_recall(&g, &site), known);
		ac_layout_extents(&g, extent);
		assert_memory_equal(known->extent, extent, sizeof extent);
		g.a.data = (void *)128;
		g.b.data = (void *)192;
		g.c.data = (void *)256;
		for (int apart = 0; apart < 2; apart++) {
			assert_true(ac_layout_make(&g, casts ? AC_FORMAT_FP16
			    : AC_FORMAT_TF32, 0, apart, &made));
			if (ac_layout_again(known, &g, apart, &again))
				assert_memory_equal(&again, &made, sizeof made);
			else
				assert_true(apart && g.tail->then.sums);
		}
		g.b.ld++;
		assert_null(ac_layout_recall(&g, &site));
		free((void *)(uintptr_t)known);
		remembers.layout = NULL;
	}
}

CASES_RUN(NULL, NULL)
