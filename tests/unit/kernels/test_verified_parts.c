/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_verified_parts.c -- verified products of numbers in
 * parts: what whole numbers come to, and which operand has one part only. */
#include "tests/unit/cases.h"
#include "tests/unit/kernels/verified_cases.h"

#include <math.h>

enum { NORMAL };

static void
drop(struct verified_problem *p, struct verified_data *d)
{
	verified_data_free(d);
	verified_problem_free(p);
}

/* By parts: a number of A that needs two, times one of B that does, loses the
 * product of the second ones; next to numbers that need one nothing is lost. */
CASE(test_exact_parts)
{
	for (int i = 0; i < 8; i++) {
		const struct verified_case c = { .tol = 1e-5f,
			.format = i & 4 ? AC_FORMAT_BF16X3 : AC_FORMAT_FP16X3 };
		struct verified_problem p;
		struct verified_data d;

		verified_problem_make(NORMAL, 40, 50, 64, 1, &p);
		verified_data_make(&c, &p, &d);
		for (int64_t k = 0; k < 64; k++) {
			for (int64_t l = 0; l < 40; l++)
				*verified_at(&d, 0, 0, l, k) = (float)(i & 1
				    ? 4097 * (1 + l % 3) : 1 + l % 3);
			for (int64_t l = 0; l < 50; l++)
				*verified_at(&d, 1, 0, l, k) = (float)(i & 2
				    ? 4099 : (k + l) % 5);
		}
		verified_whole(&d);
		assert_int_equal(d.record.alls, (i & 3) == 3);
		for (int64_t j = 0; j < 50; j++)
			for (int64_t l = 0; l < 40; l++)
				assert_true(*verified_c_at(&d, 0, l, j)
				    == ((i & 3) == 3 ? verified_fp32(&d, 0, l,
				    j) : (float)verified_exact(&d, 0, l, j)));
		drop(&p, &d);
	}
}

/* Of operands that the probe sees in FP16, how many calls had one; and which of
 * them has two parts. */
CASE(test_shorts)
{
	for (int i = 0; i < 4; i++) {
		const struct verified_case c = { .tol = 1e-5f,
			.format = AC_FORMAT_FP16X2 };
		struct verified_problem p;
		struct verified_data d;

		verified_problem_make(NORMAL, 40, 50, 64, 1, &p);
		verified_data_make(&c, &p, &d);
		for (int64_t l = 0; l < 40; l++)
			for (int64_t k = 0; k < 64 && i & 1; k++) {
				float *x = verified_at(&d, 0, 0, l, k);

				*x = rintf(*x * 256) / 256;
			}
		for (int64_t l = 0; l < 50; l++)
			for (int64_t k = 0; k < 64 && i & 2; k++) {
				float *x = verified_at(&d, 1, 0, l, k);

				*x = rintf(*x * 256) / 256;
			}
		verified_whole(&d);
		assert_int_equal(d.record.shorts, i != 0);
		assert_int_equal(d.record.alls, i == 0);
		drop(&p, &d);
	}
}

/* Sums of two whole numbers up to 2^23, odd ones too: copies times ones. */
CASE(test_large_whole)
{
	static const enum ac_format formats[] = { AC_FORMAT_FP16,
		AC_FORMAT_BF16, AC_FORMAT_FP16X3, AC_FORMAT_BF16X3 };

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		const struct verified_case c = { .tol = 8e-3f,
			.format = formats[i] };
		struct verified_problem p;
		struct verified_data d;

		verified_problem_make(NORMAL, 64, 50, 64, 1, &p);
		verified_data_make(&c, &p, &d);
		for (int64_t k = 0; k < 64; k++) {
			for (int64_t l = 0; l < 64; l++)
				*verified_at(&d, 0, 0, l, k) = (float)(k == l
				    || k == (l + 1) % 64);
			for (int64_t l = 0; l < 50; l++)
				*verified_at(&d, 1, 0, l, k) = (float)(4194305
				    + 2 * (k * 50 + l)) * (l % 2 ? 1 : -1);
		}
		verified_whole(&d);
		for (int64_t j = 0; j < 50; j++)
			for (int64_t l = 0; l < 64; l++)
				assert_true((double)*verified_c_at(&d, 0, l, j)
				    == verified_exact(&d, 0, l, j));
		drop(&p, &d);
	}
}

/* A part of a sum may overflow where the sum does not: with several chunks a
 * large alpha has all recomputed. */
CASE(test_large_alpha)
{
	for (int i = 0; i < 8; i++) {
		const struct verified_case c = { .tol = 1e-5f,
			.format = i & 1 ? AC_FORMAT_BF16X6 : AC_FORMAT_FP16 };
		const int k = i & 2 ? 1100 : 500;
		struct verified_problem p;
		struct verified_data d;

		verified_problem_make(NORMAL, 40, 50, k, 1, &p);
		p.alpha = i & 4 ? 0x1p110f : 0x1p60f;
		verified_data_make(&c, &p, &d);
		verified_run("ac_verified_probe", &d);
		verified_run("ac_verified_cast", &d);
		verified_multiply(&d);
		d.v.tol = 0;
		verified_run("ac_verified_verify", &d);
		assert_int_equal(d.record.alls, i == 7);
		drop(&p, &d);
	}
}

CASES_RUN(NULL, NULL)
