/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/scaler/test_scaler_sums.c -- norms in their order, what is made of
 * them, and guarded sums. */
#include "tests/unit/cases.h"
#include "tests/unit/scaler/scaler_cases.h"

#include "kernels/scaler/scaler_body.h"
#include "kernels/twins/twins.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Norms ------------------------------------------------------------- */

static const struct scaler_shape shapes[] = {
	{ AC_SCALER_F32, 0, 0 }, { AC_SCALER_F32, 3, 1 },
	{ AC_SCALER_F16, 1025, 1 }, { AC_SCALER_BF16, 4099, 3 },
	{ AC_SCALER_F64, AC_SCALER_CHUNK + 7, 1 },
	{ AC_SCALER_F32, 3 * AC_SCALER_CHUNK + 2, 0 },
	{ AC_SCALER_F32, 300 * AC_SCALER_CHUNK / 16, 2 },
};

/* Normal numbers of both signs; some list of them. */
static void
make(const struct scaler_shape *of, size_t count, uint64_t seed,
    struct scaler_list *list)
{
	scaler_list_make(of, count, SCALER_FINITE, 0, list);
	for (size_t k = 0; k < count; k++)
		for (uint64_t i = 0; i < list->tensor[k].count; i++) {
			const double x = ((double)(scaler_random(&seed) >> 11)
			    * 0x1p-53 - .5) * 8;

			scaler_set(&list->tensor[k], i,
			    scaler_bits(list->tensor[k].dtype, x));
		}
}

static double
add(double a, double b, uint32_t p)
{
	if (p)
		return a + b;
	return a > b ? a : b;
}

/* 256 lanes: four to a lane in turn, or one. Then halves of 32, then eight. */
static double
in_order(const double *x, uint64_t count, unsigned each, uint32_t p)
{
	double lane[8][32] = {{0}}, sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		const unsigned at = (unsigned)(i / each % 256);

		lane[at / 32][at % 32] = add(lane[at / 32][at % 32], x[i], p);
	}
	for (int w = 0; w < 8; w++) {
		for (int half = 16; half; half /= 2)
			for (int l = 0; l < half; l++)
				lane[w][l] = add(lane[w][l], lane[w][l + half],
				    p);
		sum = w ? add(sum, lane[w][0], p) : lane[0][0];
	}
	return sum;
}

static double
expected_sum(const struct scaler_list *list, uint32_t p, long double *exact)
{
	static double part[AC_SCALER_CHUNK], parts[1000];
	size_t count = 0;

	*exact = 0;
	for (size_t k = 0; k < list->count; k++) {
		const struct ac_scaler_tensor *t = &list->tensor[k];

		for (uint64_t i = 0; i < t->count; i++) {
			const double x = fabs(scaler_value(t->dtype,
			    scaler_get(t, i)));

			part[i % AC_SCALER_CHUNK] = p == 2 ? x * x : x;
			*exact = p ? *exact + (long double)x
			    * (p == 2 ? (long double)x : 1)
			    : fmaxl(*exact, (long double)x);
			if (i + 1 == t->count
			    || i % AC_SCALER_CHUNK == AC_SCALER_CHUNK - 1)
				parts[count++] = in_order(part,
				    i % AC_SCALER_CHUNK + 1, 4, p);
		}
	}
	return in_order(parts, count, 1, p);
}

CASE(test_norms)
{
	struct scaler_list list;
	uint64_t bytes = 0;

	make(shapes, COUNT(shapes), 4, &list);
	for (size_t i = 0; i < list.count; i++)
		bytes += list.tensor[i].count
		    * scaler_size(list.tensor[i].dtype);
	for (uint32_t p = 0; p < 3; p++) {
		long double exact;
		const double want = expected_sum(&list, p, &exact);

		ac_twin_bytes_read = ac_twin_bytes_written = 0;
		assert_true(scaler_norm(&list, p) == want);
		assert_true(fabsl((long double)want - exact) <= 1e-12L * exact);
		assert_int_equal(ac_twin_bytes_read, bytes);
		assert_int_equal(ac_twin_bytes_written, 0);
		assert_int_equal(list.words.arrived, 0);
	}
	assert_true(scaler_list_is_intact(&list));
	scaler_list_free(&list);
}

/* The same numbers elsewhere in memory: the same bits. */
CASE(test_norms_anywhere)
{
	double first[3] = {0};

	for (unsigned offset = 0; offset < 8; offset++) {
		const struct scaler_shape moved[] = {
			{ AC_SCALER_F32, 5003, offset },
			{ AC_SCALER_F16, 20011, offset / 2 },
			{ AC_SCALER_F64, 1033, offset / 3 } };
		struct scaler_list list;

		make(moved, 3, 8, &list);
		for (uint32_t p = 0; p < 3; p++) {
			if (!offset)
				first[p] = scaler_norm(&list, p);
			assert_true(scaler_norm(&list, p) == first[p]);
		}
		scaler_list_free(&list);
	}
}

/* inf and NaN anywhere, large and small numbers. */
CASE(test_norm_edges)
{
	static const struct {
		enum ac_scaler_dtype dtype;
		uint64_t x;
		double   sum[3];
	} rows[] = {
		{ AC_SCALER_F32, 0xff800000, { INFINITY, INFINITY, INFINITY } },
		{ AC_SCALER_F32, 0xffc00001, { NAN, NAN, NAN } },
		{ AC_SCALER_F16, 0x7c01, { NAN, NAN, NAN } },
		{ AC_SCALER_F32, 0xff7fffff, { 0x1.fffffep127, 0x1.fffffep127,
		    0x1.fffffep127 * 0x1.fffffep127 } },
		{ AC_SCALER_F32, 0x80000001, { 0x1p-149, 0x1p-149, 0x1p-298 } },
		{ AC_SCALER_BF16, 0x8000, { 0, 0, 0 } },
		{ AC_SCALER_F64, UINT64_C(0xfff0000000000001), { NAN, NAN,
		    NAN } },
		{ AC_SCALER_F64, UINT64_C(0x7fefffffffffffff), {
		    0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023,
		    INFINITY } },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (uint64_t at = 0; at < 1300; at += 433) {
			const struct scaler_shape shape = { rows[i].dtype,
				1300, 1 };
			struct scaler_list list;

			scaler_list_make(&shape, 1, SCALER_FINITE, 0, &list);
			scaler_set(&list.tensor[0], at, rows[i].x);
			for (uint32_t p = 0; p < 3; p++) {
				const double sum = scaler_norm(&list, p);

				assert_int_equal(scaler_bits(AC_SCALER_F64,
				    rows[i].sum[p]), scaler_bits(AC_SCALER_F64,
				    sum));
				assert_true(!isnan(sum) || !memcmp(&sum,
				    &(uint64_t){ UINT64_C(0x7fffffffffffffff) },
				    sizeof sum));
			}
			scaler_list_free(&list);
		}
}

CASE(test_close)
{
	static const struct {
		double   sums[3];
		uint64_t count;
		uint32_t p;
		float    max_norm, norm, coefficient;
		double   wide;          /* for FP64 elements */
	} rows[] = {
		{ { 9, 16, 0 }, 3, 2, 1, 5, 1 / (5 + 1e-6f), 1 / (5 + 1e-6) },
		{ { 9, 16, 1e9 }, 2, 2, 100, 5, 1, 1 },
		{ { 3, 4, 5 }, 3, 1, 6, 12, 6 / (12 + 1e-6f),
		    6 / (12 + 1e-6) },
		{ { 3, 7, 5 }, 3, 0, 7, 7, 7 / (7 + 1e-6f), 7 / (7 + 1e-6) },
		{ { 0 }, 0, 2, 1, 0, 1, 1 },
		{ { 0 }, 1, 2, 0, 0, 0, 0 },
		{ { INFINITY }, 1, 2, 1, INFINITY, 0, 0 },
		{ { 1, NAN, 3 }, 3, 2, 1, NAN, NAN, NAN },
		{ { 1, NAN, 3 }, 3, 0, 1, NAN, NAN, NAN },
		/* Not within FP32, but within FP64. */
		{ { 0x1p300 }, 1, 2, 1, INFINITY, 0, 0x1p-150 },
		{ { 1e-90 }, 1, 2, 1, 1e-45f, 1, 1 },
		/* In FP32 there is nothing to clip. */
		{ { .999999001 }, 1, 1, 1, .999999001f, 1,
		    1 / (.999999001 + 1e-6) },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ac_scaler_words words = {0};
		float out = -1;
		struct ac_scaler_close close = { &words, rows[i].sums,
			rows[i].count, i % 2 ? &out : NULL, rows[i].max_norm,
			rows[i].p };
		void *params[] = { &close };

		scaler_run("ac_scaler_close", params);
		assert_int_equal(scaler_bits(AC_SCALER_F32,
		    (double)rows[i].norm), scaler_bits(AC_SCALER_F32,
		    (double)words.norm));
		assert_int_equal(scaler_bits(AC_SCALER_F32,
		    (double)rows[i].coefficient), scaler_bits(AC_SCALER_F32,
		    (double)words.coefficient));
		assert_int_equal(scaler_bits(AC_SCALER_F64, rows[i].wide),
		    scaler_bits(AC_SCALER_F64, words.coefficient_double));
		assert_true(i % 2 ? !memcmp(&out, &words.norm, sizeof out)
		    : out == -1);
	}
}

/* ---- Guarded sums ------------------------------------------------------ */

static const struct ac_scaler_tensor *
pair(enum ac_scaler_dtype x, uint64_t count, struct scaler_list *list)
{
	const struct scaler_shape two[] = {
		{ x, count, 1 },
		{ x == AC_SCALER_F64 ? x : AC_SCALER_F32, count, 3 } };

	scaler_list_make(two, 2, SCALER_ANY, 77, list);
	return list->tensor;
}

static uint64_t
expected_addition(const struct ac_scaler_tensor *t, uint64_t i, float alpha)
{
	const double x = scaler_value(t[0].dtype, scaler_get(&t[0], i));
	const double y = scaler_value(t[1].dtype, scaler_get(&t[1], i));
	volatile float part = alpha * (float)x;
	volatile double wide = (double)alpha * x;

	if (t[0].dtype == AC_SCALER_F64)
		return scaler_bits(AC_SCALER_F64, y + wide);
	return scaler_bits(AC_SCALER_F32, (double)((float)y + part));
}

static void
assert_added(enum ac_scaler_dtype dtype, uint64_t count, float alpha,
    const float *flag, bool on_device)
{
	struct scaler_list before, after;
	const struct ac_scaler_tensor *old = pair(dtype, count, &before);
	const struct ac_scaler_tensor *t = pair(dtype, count, &after);
	struct ac_scaler_sum sum = { t[0].data, t[1].data, count, t[0].dtype,
		t[1].dtype, flag, { on_device ? 99 : alpha,
		0, on_device ? &alpha : NULL } };
	void *params[] = { &sum };
	const bool may = !flag || *flag == 0;

	ac_twin_bytes_read = ac_twin_bytes_written = 0;
	scaler_run("ac_scaler_add", params);
	for (uint64_t i = 0; i < count; i++)
		assert_int_equal(scaler_get(&t[1], i), may
		    ? expected_addition(old, i, alpha)
		    : scaler_get(&old[1], i));
	assert_memory_equal(t[0].data, old[0].data,
	    count * scaler_size(dtype));
	assert_true(scaler_list_is_intact(&after));
	assert_int_equal(ac_twin_bytes_written, may ? count
	    * scaler_size(t[1].dtype) : 0);
	assert_int_equal(ac_twin_bytes_read, may ? count
	    * (scaler_size(t[1].dtype) + scaler_size(dtype)) : 0);
	scaler_list_free(&before);
	scaler_list_free(&after);
}

CASE(test_guarded_sum)
{
	static const float flags[] = { 0, -0.0f, 1, NAN, 0x1p-149f };
	static const float alphas[] = { 1, -.3f, 0, 0x1p-149f, INFINITY };
	static const uint64_t counts[] = { 0, 1, 3, 4, 5, 1029 };

	for (int dtype = 0; dtype < AC_SCALER_DTYPES; dtype++)
		for (size_t f = 0; f <= COUNT(flags); f++)
			for (size_t i = 0; i < COUNT(alphas)
			    * COUNT(counts); i++)
				assert_added(dtype, counts[i % COUNT(counts)],
				    alphas[i / COUNT(counts)], f
				    < COUNT(flags) ? &flags[f] : NULL, i % 2);
}

CASES_RUN(NULL, NULL)
