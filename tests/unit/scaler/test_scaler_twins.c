/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_twins.c -- multiplying, unscaling and clipping:
 * every element against a plain reference, the flag, what is written and what
 * is not, the bytes that move. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_cases.h"

#include "kernels/twins/twins.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct scaler_shape shapes[] = {
	{ AC_SCALER_F32, 0, 0 }, { AC_SCALER_F32, 1, 0 },
	{ AC_SCALER_F32, 1, 3 }, { AC_SCALER_F16, 7, 1 },
	{ AC_SCALER_BF16, 8, 0 }, { AC_SCALER_F64, 0, 0 },
	{ AC_SCALER_F64, 3, 1 }, { AC_SCALER_F32, AC_SCALER_CHUNK, 0 },
	{ AC_SCALER_F32, AC_SCALER_CHUNK + 1, 1 },
	{ AC_SCALER_F16, 2 * AC_SCALER_CHUNK - 1, 7 },
	{ AC_SCALER_BF16, AC_SCALER_CHUNK + 9, 5 },
	{ AC_SCALER_F64, AC_SCALER_CHUNK + 5, 1 },
	{ AC_SCALER_F32, 5, 2 }, { AC_SCALER_F16, 0, 3 },
};

static void
assert_flag(const struct scaler_list *list, float flag)
{
	const float flags[] = { list->words.found_inf };

	assert_memory_equal(flags, &flag, sizeof flag); /* not -0 either */
	assert_int_equal(list->words.found, 0);
	assert_int_equal(list->words.arrived, 0);
}

/* A tensor is what it was times the factor. */
static void
assert_products(const struct ac_scaler_tensor *after,
    const struct ac_scaler_tensor *before, double factor)
{
	for (uint64_t i = 0; i < after->count; i++) {
		const uint64_t x = scaler_get(before, i);
		const uint64_t want = scaler_product(after->dtype, x, factor);

		if (scaler_get(after, i) != want)
			fail_msg("type %u, element %d: %llx times %a is %llx, "
			    "not %llx", after->dtype, (int)i,
			    (unsigned long long)x, factor,
			    (unsigned long long)want,
			    (unsigned long long)scaler_get(after, i));
	}
}

/* All of them, and the guards are whole. */
static void
assert_all_products(const struct scaler_list *after,
    const struct scaler_list *before, float factor)
{
	for (size_t k = 0; k < after->count; k++)
		assert_products(&after->tensor[k], &before->tensor[k],
		    (double)factor);
	assert_true(scaler_list_is_intact(after));
}

static const float factors[] = { 0x1p-16f, 3, 1.0f / 3, 65536, 0x1p-149f,
	0x1p100f, -1.7f, 0, INFINITY, NAN };

/* Any bits, under any factor, by all three that multiply. */
CASE(test_products)
{
	struct scaler_list before, after;

	scaler_list_make(shapes, COUNT(shapes), SCALER_ANY, 1, &before);
	for (size_t i = 0; i < 3 * COUNT(factors); i++) {
		const float factor = factors[i / 3];

		scaler_list_make(shapes, COUNT(shapes), SCALER_ANY, 1, &after);
		after.state.scale = after.state.inverse = 1;
		if (i % 3 == 0) {
			after.state.scale = factor;
			scaler_multiply(&after);
		} else if (i % 3 == 1) {
			after.state.inverse = factor;
			scaler_pass("ac_scaler_unscale", &after, 0);
			assert_flag(&after, 1);
		} else {
			after.words.coefficient = factor;
			after.words.coefficient_double = (double)factor;
			scaler_pass("ac_scaler_clip", &after, 0);
		}
		assert_all_products(&after, &before, factor);
		scaler_list_free(&after);
	}
	scaler_list_free(&before);
}

/* Every FP16 and BF16 number. */
CASE(test_every_half)
{
	static const struct scaler_shape halves[] = {
		{ AC_SCALER_F16, 65536, 1 }, { AC_SCALER_BF16, 65536, 0 }
	};
	struct scaler_list before, after;

	scaler_list_make(halves, 2, SCALER_FINITE, 0, &before);
	scaler_list_make(halves, 2, SCALER_FINITE, 0, &after);
	for (uint64_t i = 0; i < 65536; i++)
		for (int k = 0; k < 2; k++)
			scaler_set(&before.tensor[k], i, i);
	for (size_t f = 0; f < COUNT(factors); f++) {
		for (int k = 0; k < 2; k++)
			memcpy(after.tensor[k].data, before.tensor[k].data,
			    65536 * 2);
		after.state.inverse = factors[f];
		scaler_pass("ac_scaler_unscale", &after, 0);
		assert_all_products(&after, &before, factors[f]);
	}
	scaler_list_free(&before);
	scaler_list_free(&after);
}

static const uint64_t bad[AC_SCALER_DTYPES][6] = {
	[AC_SCALER_F32] = { 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001,
	    0xffffffff, 0x7fbfffff },
	[AC_SCALER_F64] = { 0x7ff0000000000000, 0xfff0000000000000,
	    0x7ff8000000000000, 0x7ff0000000000001, UINT64_MAX,
	    0x7ff0000080000000 },
	[AC_SCALER_F16] = { 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xffff, 0xfd00 },
	[AC_SCALER_BF16] = { 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffff, 0xffa0 },
};
/* The largest and the smallest numbers. */
static const uint64_t good[AC_SCALER_DTYPES][6] = {
	[AC_SCALER_F32] = { 0x7f7fffff, 0xff7fffff, 1, 0x80000001, 0x80000000,
	    0x7f000000 },
	[AC_SCALER_F64] = { 0x7fefffffffffffff, 0xffefffffffffffff, 1,
	    0x8000000000000001, 0x8000000000000000, 0x7fe00000ffffffff },
	[AC_SCALER_F16] = { 0x7bff, 0xfbff, 1, 0x8001, 0x8000, 0x7800 },
	[AC_SCALER_BF16] = { 0x7f7f, 0xff7f, 1, 0x8001, 0x8000, 0x7f00 },
};

/* K69, K70: one element among many, wherever it is, with and without writing;
 * the next pass begins with nothing. */
CASE(test_one_element)
{
	const uint64_t counts[] = { 1, 2, 3, 5, 8, 11, AC_SCALER_CHUNK,
		AC_SCALER_CHUNK + 3 };

	for (size_t at = 0; at < AC_SCALER_DTYPES * COUNT(counts); at++) {
		const uint64_t count = counts[at / AC_SCALER_DTYPES];
		const struct scaler_shape three[] = {
			{ AC_SCALER_F32, 5, 0 },
			{ at % AC_SCALER_DTYPES, count, at % 3 },
			{ AC_SCALER_BF16, 6, 1 } };
		const struct ac_scaler_tensor *t;
		struct scaler_list list;

		scaler_list_make(three, 3, SCALER_FINITE, 0, &list);
		scaler_scale(&list, 65536);
		t = &list.tensor[1];
		for (uint64_t i = 0; i < count; i += i > 16 && i + 16 < count
		    ? count - i - 16 : 1)
			for (int k = 0; k < 6; k++) {
				scaler_set(t, i, bad[t->dtype][k]);
				scaler_pass("ac_scaler_unscale", &list,
				    k % 2 ? AC_SCALER_PASS_CHECK_ONLY : 0);
				assert_flag(&list, 1);
				scaler_set(t, i, good[t->dtype][k]);
				scaler_pass("ac_scaler_unscale", &list,
				    k % 2 ? AC_SCALER_PASS_CHECK_ONLY : 0);
				assert_flag(&list, 0);
				scaler_set(t, i, 0);
			}
		scaler_list_free(&list);
	}
}

static void
one_of(enum ac_scaler_dtype dtype, uint64_t bits, float scale,
    struct scaler_list *list)
{
	const struct scaler_shape shape = { dtype, 1, 1 };

	scaler_list_make(&shape, 1, SCALER_FINITE, 0, list);
	scaler_set(&list->tensor[0], 0, bits);
	scaler_scale(list, scale);
}

/* K70, K71, K73, K74 as they stand. */
CASE(test_rows)
{
	static const struct {
		enum ac_scaler_dtype dtype;
		uint64_t x;
		float    scale;
		uint32_t flags;
		uint64_t result;
		float    flag;
	} rows[] = {
		{ AC_SCALER_F32, 0x7f7fffff, 65536, 0, 0x777fffff, 0 },
		{ AC_SCALER_F32, 0xff7fffff, 65536, 0, 0xf77fffff, 0 },
		{ AC_SCALER_F32, 1, 65536, 0, 0, 0 }, /* 1e-45 */
		{ AC_SCALER_F32, 0x80000000, 65536, 0, 0x80000000, 0 },
		{ AC_SCALER_F64, UINT64_C(0x8000000000000000), 65536, 0,
		    UINT64_C(0x8000000000000000), 0 },
		{ AC_SCALER_F16, 0x8000, 65536, 0, 0x8000, 0 },
		{ AC_SCALER_BF16, 0x8000, 65536, 0, 0x8000, 0 },
		{ AC_SCALER_F32, 0x7f61b1e6, .5f, 0, 0x7f800000, 0 }, /* 3e38 */
		{ AC_SCALER_F32, 0x7f61b1e6, .5f, AC_SCALER_PASS_CHECK_AFTER,
		    0x7f800000, 1 },
		{ AC_SCALER_F32, 0x7f61b1e6, .5f, AC_SCALER_PASS_CHECK_AFTER
		    | AC_SCALER_PASS_CHECK_ONLY, 0x7f61b1e6, 1 },
		{ AC_SCALER_F16, 0x7bff, .5f, AC_SCALER_PASS_CHECK_AFTER,
		    0x7c00, 1 },
		{ AC_SCALER_F16, 0x77ff, .5f, AC_SCALER_PASS_CHECK_AFTER,
		    0x7bff, 0 },
		{ AC_SCALER_F32, 0x40c00000, 3, 0, 0x40000000, 0 }, /* 6 / 3 */
		/* 1e39: above FLT_MAX, yet a number in its own type */
		{ AC_SCALER_F64, UINT64_C(0x48078287f49c4a1d), 65536, 0,
		    UINT64_C(0x47078287f49c4a1d), 0 },
		{ AC_SCALER_F32, 3, 0x1p-1f, 0, 6, 0 }, /* subnormal */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct scaler_list list;

		one_of(rows[i].dtype, rows[i].x, rows[i].scale, &list);
		scaler_pass("ac_scaler_unscale", &list, rows[i].flags);
		assert_flag(&list, rows[i].flag);
		if (scaler_get(&list.tensor[0], 0) != rows[i].result)
			fail_msg("row %zu: %llx", i, (unsigned long long)
			    scaler_get(&list.tensor[0], 0));
		scaler_list_free(&list);
	}
}

static void
zero_bytes(void)
{
	ac_twin_bytes_read = ac_twin_bytes_written = 0;
}

/* K72, and what moves: all is read once, and written once or not at all. */
CASE(test_bytes)
{
	struct scaler_list list, same;
	uint64_t bytes = 0;

	scaler_list_make(shapes, COUNT(shapes), SCALER_ANY, 5, &list);
	scaler_list_make(shapes, COUNT(shapes), SCALER_ANY, 5, &same);
	for (size_t i = 0; i < list.count; i++)
		bytes += list.tensor[i].count
		    * scaler_size(list.tensor[i].dtype);
	for (int turn = 0; turn < 3; turn++) {
		scaler_scale(&list, turn ? 1 : 4);
		zero_bytes();
		scaler_pass("ac_scaler_unscale", &list, turn == 1 ? 0
		    : AC_SCALER_PASS_CHECK_ONLY | AC_SCALER_PASS_CHECK_AFTER);
		assert_int_equal(ac_twin_bytes_read, bytes);
		assert_int_equal(ac_twin_bytes_written, 0);
		assert_flag(&list, 1);
		assert_true(list.words.grad_scale == (turn ? 1 : 4));
		for (size_t i = 0; i < list.count; i++)
			assert_memory_equal(list.tensor[i].data,
			    same.tensor[i].data, list.tensor[i].count
			    * scaler_size(list.tensor[i].dtype));
	}
	scaler_scale(&list, 4);
	list.words.grad_scale = 7;
	scaler_pass("ac_scaler_unscale", &list, AC_SCALER_PASS_CHECK_AFTER);
	assert_int_equal(ac_twin_bytes_written, bytes);
	assert_true(list.words.grad_scale == 1);
	zero_bytes();
	scaler_multiply(&list);
	list.words.coefficient = .5f;
	list.words.coefficient_double = .5;
	scaler_pass("ac_scaler_clip", &list, 0);
	assert_int_equal(ac_twin_bytes_read, 2 * bytes);
	assert_int_equal(ac_twin_bytes_written, 2 * bytes);
	scaler_list_free(&list);
	scaler_list_free(&same);
}

/* Clipping goes by two factors: FP64 has one of its own, and what has a factor
 * of 1 is not written. */
CASE(test_two_coefficients)
{
	static const struct { float all; double wide; } rows[] = {
		{ .5f, 1e-39 }, { 0, 1e-150 }, { 1, 1 - 1e-9 }, { .25f, 1 },
		{ 1, 1 } };
	struct scaler_list before, after;

	scaler_list_make(shapes, COUNT(shapes), SCALER_FINITE, 7, &before);
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t bytes = 0;

		scaler_list_make(shapes, COUNT(shapes), SCALER_FINITE, 7,
		    &after);
		after.words.coefficient = rows[i].all;
		after.words.coefficient_double = rows[i].wide;
		ac_twin_bytes_written = 0;
		scaler_pass("ac_scaler_clip", &after, 0);
		for (size_t k = 0; k < after.count; k++) {
			const struct ac_scaler_tensor *t = &after.tensor[k];
			const double factor = t->dtype == AC_SCALER_F64
			    ? rows[i].wide : (double)rows[i].all;

			assert_products(t, &before.tensor[k], factor);
			if (factor != 1)
				bytes += t->count * scaler_size(t->dtype);
		}
		assert_true(scaler_list_is_intact(&after));
		assert_int_equal(ac_twin_bytes_written, bytes);
		scaler_list_free(&after);
	}
	scaler_list_free(&before);
}

/* No tensors, none but empty ones; the flag goes to the state if asked. */
CASE(test_empty_and_fold)
{
	static const struct scaler_shape empty[] = {
		{ AC_SCALER_F32, 0, 0 }, { AC_SCALER_F64, 0, 1 }
	};
	struct scaler_list list;

	for (size_t count = 0; count < 3; count++) {
		scaler_list_make(empty, count, SCALER_ANY, 1, &list);
		assert_int_equal(list.pass.chunk_count, 0);
		list.words.found_inf = NAN;
		list.state.found = 1; /* another group's */
		scaler_pass("ac_scaler_unscale", &list, AC_SCALER_PASS_FOLD);
		assert_flag(&list, 0);
		assert_int_equal(list.state.found, 1);
		assert_true(scaler_norm(&list, count) == 0);
		scaler_list_free(&list);
	}
	for (uint32_t flags = 0; flags < 8; flags++) {
		one_of(AC_SCALER_F32, flags & 1 ? 0x7f800000 : 5, 2, &list);
		scaler_pass("ac_scaler_unscale", &list, flags & 6);
		assert_flag(&list, flags & 1);
		assert_int_equal(list.state.found, flags & 1
		    && flags & AC_SCALER_PASS_FOLD);
		scaler_list_free(&list);
	}
}

/* More tensors than any launch could carry, empty ones among them. */
CASE(test_many)
{
	enum { MANY = 3000 };
	static struct scaler_shape many[MANY];
	struct scaler_list before, after;

	for (int i = 0; i < MANY; i++)
		many[i] = (struct scaler_shape){ i % AC_SCALER_DTYPES,
		    (uint64_t)(i % 5 * (i % 17)), (unsigned)i % 8 };
	scaler_list_make(many, MANY, SCALER_FINITE, 9, &before);
	scaler_list_make(many, MANY, SCALER_FINITE, 9, &after);
	scaler_scale(&after, 1024);
	scaler_pass("ac_scaler_unscale", &after, 0);
	assert_all_products(&after, &before, 0x1p-10f);
	assert_flag(&after, 0);
	scaler_set(&after.tensor[MANY - 1], 0,
	    bad[after.tensor[MANY - 1].dtype][2]);
	scaler_pass("ac_scaler_unscale", &after, AC_SCALER_PASS_CHECK_ONLY);
	assert_flag(&after, 1);
	scaler_list_free(&before);
	scaler_list_free(&after);
}

/* The thread's float mode changes no bit, and is the thread's again after. */
CASE(test_float_mode)
{
#if defined(__x86_64__)
	const unsigned mode = _mm_getcsr(), other = mode | 0xc040 | 0x6000;
	struct scaler_list list[2];

	for (int turn = 0; turn < 2; turn++) {
		scaler_list_make(shapes, COUNT(shapes), SCALER_ANY, 3,
		    &list[turn]);
		scaler_scale(&list[turn], 3e9f);
		_mm_setcsr(turn ? other : mode);
		scaler_multiply(&list[turn]);
		scaler_pass("ac_scaler_unscale", &list[turn], 0);
		list[turn].words.coefficient = 1.0f / 3;
		list[turn].words.coefficient_double = 1.0 / 3;
		scaler_pass("ac_scaler_clip", &list[turn], 0);
		for (uint32_t p = 0; p < 3; p++)
			scaler_norm(&list[turn], p);
		assert_int_equal(_mm_getcsr() & 0xffc0, (turn ? other : mode)
		    & 0xffc0);
		_mm_setcsr(mode);
	}
	for (size_t i = 0; i < COUNT(shapes); i++)
		assert_memory_equal(list[0].tensor[i].data,
		    list[1].tensor[i].data, list[0].tensor[i].count
		    * scaler_size(list[0].tensor[i].dtype));
	assert_memory_equal(&list[0].words, &list[1].words,
	    sizeof list[0].words);
	scaler_list_free(&list[0]);
	scaler_list_free(&list[1]);
#else
	print_message("# float modes are told apart on x86-64 only\n");
#endif
}

CASES_RUN(NULL, NULL)
