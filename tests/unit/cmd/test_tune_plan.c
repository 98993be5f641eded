/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_tune_plan.c -- which rung each site gets by what was
 * measured, and in which order sites are doubted. */
#include "tests/unit/cmd/with_plan.h"

/* The rung of the only site at that level, by name. */
static const char *
rung_at(enum ac_tune_level level)
{
	const struct ac_tune_site *site = plan.sites;
	const int way = ac_tune_way_of(site, level);

	return way == AC_TUNE_KEEP ? "keep"
	    : ac_rung_names[site->way[way].at->rung];
}

/* ---- Which rung --------------------------------------------------------- */

struct measured {
	enum ac_rung rung;
	float        keep_us, recast_us, error;
	uint64_t     judged;
};

CASE_WITH(test_rungs, begin, NULL)
{
	static const struct {
		const char     *why;
		double          tol;
		uint64_t        calls;
		struct measured at[3];
		const char     *chosen, *safe;
	} rows[] = {
		{ "the fastest; the most accurate", 0, 9,
		    { { AC_RUNG_FP16, 100, 50, 3e-4f, 9 },
		    { AC_RUNG_TF32, 100, 60, 2.9e-4f, 9 },
		    { AC_RUNG_FP16X3, 100, 80, 1e-6f, 9 } },
		    "fp16", "fp16x3" },
		{ "0.8 of its own tolerance at most", 0, 9,
		    { { AC_RUNG_FP16, 100, 50, 8.01e-4f, 9 },
		    { AC_RUNG_TF32, 100, 60, 7.9e-4f, 9 } },
		    "tf32", "tf32" },
		{ "... or of what is asked for", 4e-4, 9,
		    { { AC_RUNG_FP16, 100, 50, 3.3e-4f, 9 },
		    { AC_RUNG_TF32, 100, 60, 3.1e-4f, 9 } },
		    "tf32", "tf32" },
		{ "... which may be more", 1e-2, 9,
		    { { AC_RUNG_BF16, 100, 50, 7.9e-3f, 9 } },
		    "bf16", "bf16" },
		{ "too few measured", 0, 9,
		    { { AC_RUNG_FP16, 100, 50, 3e-4f, 2 },
		    { AC_RUNG_TF32, 100, 60, 3e-4f, 3 } },
		    "tf32", "tf32" },
		{ "as many as there are will do", 0, 2,
		    { { AC_RUNG_FP16, 100, 50, 3e-4f, 2 } }, "fp16", "fp16" },
		{ "all that are there", 0, 2,
		    { { AC_RUNG_FP16, 100, 50, 3e-4f, 1 } }, "keep", "keep" },
		{ "no gain", 0, 9,
		    { { AC_RUNG_FP16, 100, 99, 3e-4f, 9 },
		    { AC_RUNG_TF32, 100, 98, 3e-4f, 9 } }, "tf32", "tf32" },
		{ "no times", 0, 9,
		    { { AC_RUNG_FP16, 0, 0, 3e-4f, 9 } }, "keep", "keep" },
		{ "infinite error", 0, 9,
		    { { AC_RUNG_FP16, 100, 50, (float)INFINITY, 9 } },
		    "keep", "keep" },
		{ "no rung by nature as accurate as asked for", 2e-4, 9,
		    { { AC_RUNG_FP16, 100, 50, 1e-4f, 9 },
		    { AC_RUNG_FP16X3, 100, 80, 1e-6f, 9 } },
		    "fp16x3", "fp16x3" },
		{ "rungs by parts have a tolerance of their own", 1e-3, 9,
		    { { AC_RUNG_FP16X3, 100, 80, 2e-5f, 9 },
		    { AC_RUNG_BF16X3, 100, 90, 7e-6f, 9 } },
		    "bf16x3", "bf16x3" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_site_key key = product(AC_OP_GEMM_SINGLE, 512,
		    512, 512, 1, 1);

		for (int at = 0; at < 3 && rows[i].at[at].rung; at++)
			add(&key, rows[i].at[at].rung, at ? 0 : rows[i].calls,
			    rows[i].at[at].keep_us, rows[i].at[at].recast_us,
			    rows[i].at[at].error, rows[i].at[at].judged);
		make_plan(rows[i].tol);
		if (strcmp(rung_at(AC_TUNE_CHOSEN), rows[i].chosen)
		    || strcmp(rung_at(AC_TUNE_SAFE), rows[i].safe))
			fail_msg("%s: %s, %s", rows[i].why,
			    rung_at(AC_TUNE_CHOSEN), rung_at(AC_TUNE_SAFE));
		assert_string_equal(rung_at(AC_TUNE_KEPT), "keep");
		assert_int_equal(plan.unit_count,
		    strcmp(rows[i].chosen, "keep") != 0);
		end();
	}
}

/* A line in a hundred of what was checked may be mended, no whole call. */
CASE_WITH(test_mended, begin, NULL)
{
	static const struct { uint64_t lines, calls; bool is; } rows[] = {
		{ 0, 0, true }, { 100, 0, true }, { 101, 0, false },
		{ 0, 1, false }
	};
	const struct ac_site_key key = product(AC_OP_GEMM_SINGLE, 600, 400,
	    512, 1, 1);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_site_record *at = add(&key, AC_RUNG_FP16, 10, 100,
		    50, 1e-4f, 10);

		atomic_store(&at->course.mended_lines, rows[i].lines);
		atomic_store(&at->course.mended_calls, rows[i].calls);
		make_plan(0);
		assert_int_equal(plan.unit_count, rows[i].is);
		end();
	}
}

/* As far as the guard will let it run: an output that FP16 cannot hold, and a
 * line of its sample. One that was not measured is a unit, too, and left. */
CASE_WITH(test_convolutions, begin, NULL)
{
	static const struct {
		float error, line_error;
		enum ac_finding finding;
		uint64_t judged;
		bool is, is_left;
	} rows[] = {
		{ 6.3e-4f, 0, AC_FINDING_NONE, 3, true, false },
		{ 6.5e-4f, 0, AC_FINDING_NONE, 3, false, false },
		{ 1e-4f, 2.3e-3f, AC_FINDING_NONE, 3, true, false },
		{ 1e-4f, 2.5e-3f, AC_FINDING_NONE, 3, false, false },
		{ 1e-4f, 0, AC_FINDING_LARGE, 3, false, false },
		{ 1e-4f, 0, AC_FINDING_NONE, 2, true, true },
	};
	const struct ac_site_key key = product(AC_OP_CONV_FPROP, 512, 512, 512,
	    1, 1);

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ac_site_record *at = add(&key, AC_RUNG_FP16, 9, 100, 50,
		    rows[i].error, rows[i].judged);

		atomic_store(&at->course.line_error, rows[i].line_error);
		atomic_store(&at->course.finding, rows[i].finding);
		make_plan(0);
		assert_int_equal(plan.unit_count, rows[i].is);
		assert_int_equal(plan.sites->is_left, rows[i].is_left);
		assert_string_equal(rung_at(AC_TUNE_CHOSEN), rows[i].is
		    && !rows[i].is_left ? "fp16" : "keep");
		end();
	}
}

/* ---- Their order -------------------------------------------------------- */

CASE_WITH(test_order, begin, NULL)
{
	static const struct { int64_t k; float error; } rows[] = {
		{ 1000, 1e-4f }, { 2000, 1e-4f }, { 100, 7e-4f },
		{ 500, 6e-4f }, { 4000, 1e-6f }
	};
	static const int64_t wanted[] = { 500, 2000, 1000, 100, 4000 };
	unsigned char levels[5] = { 0 };
	double before;

	for (unsigned i = 0; i < 5; i++) {
		const struct ac_site_key key = product(AC_OP_GEMM_SINGLE, 512,
		    512, rows[i].k, 1, i);

		add(&key, AC_RUNG_FP16, 10, 100, 50, rows[i].error, 10);
	}
	make_plan(0);
	assert_int_equal(plan.unit_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(plan.units[i]->row->rungs[0]->key.k,
		    wanted[i]);
	assert_true(ac_tune_time(&plan, levels, &before) == 2500);
	assert_true(before == 5000);
	levels[1] = AC_TUNE_KEPT;
	assert_true(ac_tune_time(&plan, levels, &before) == 3000);
	end();
}

CASES_RUN(NULL, NULL)
