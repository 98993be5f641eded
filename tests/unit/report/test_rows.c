/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_rows.c -- one row per site; its sums are the run's. */
#include "with_report.h"
#include "report/read/rows.h"

static struct ac_site_row *rows;
static size_t row_count;

static void
make_rows(const struct ac_report *report, enum ac_sort sort)
{
	free(rows);
	assert_true(ac_rows_make(report, sort, &rows, &row_count));
}

static void
set_times(struct ac_site_record *site, float keep, float recast, float keep_p,
    float recast_p)
{
	atomic_store(&site->course.keep_us, keep);
	atomic_store(&site->course.recast_us, recast);
	atomic_store(&site->course.keep_predicted_us, keep_p);
	atomic_store(&site->course.recast_predicted_us, recast_p);
}

static void
set_error(struct ac_site_record *site, float error)
{
	site->tol = 0.5f;
	atomic_store(&site->course.samples, 3);
	atomic_store(&site->course.error, error);
}

/* Site 1 of k=1: most calls ran as fp16, which was left for tf32; bf16 was only
 * tried. Another
 * site with the same id, which is no part of it; one of c32 that is kept; one
 * of half precision, which is no FP32 work. */
static struct ac_report *
make_four(void)
{
	memset(&made_header, 0, sizeof made_header);
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 90, AC_REASON_PROBATION, 3);
	set_times(&made[0], 100, 25, 90, 20);
	set_error(&made[0], 0.75f);
	atomic_store(&made[0].course.finding, AC_FINDING_ERROR);
	atomic_store(&made[0].course.chosen, 4);
	make_calls(make_site(1, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 10, AC_REASON_NONE, 0);
	atomic_store(&made[1].course.chosen, 95);
	set_times(&made[1], 0, 0, 90, 30);
	set_error(&made[1], 0.25f);
	make_site(2, AC_RUNG_BF16, AC_TACTIC_CAST, AC_REASON_NONE);
	set_error(&made[2], 2);
	made[1].key = made[2].key = made[0].key;
	made[1].id = made[2].id = made[0].id;
	make_calls(make_site(3, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 0, AC_REASON_PROBATION, 7);
	made[3].id = made[0].id;
	set_times(&made[3], 0, 0, 10, 20);
	make_calls(make_site(4, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 1000);
	strcpy(made[4].key.type, "c32");
	make_calls(make_site(5, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TYPE), 0, AC_REASON_TYPE, 2000);
	strcpy(made[5].key.type, "f16");
	return make_report(6);
}

CASE(test_one_per_site)
{
	struct ac_report *report = make_four();
	const struct ac_site_row *row;

	make_rows(report, AC_SORT_GAIN);
	assert_int_equal(row_count, 4);
	row = &rows[0];
	assert_int_equal(row->rung_count, 3);
	assert_int_equal(row->rungs[0]->rung, AC_RUNG_TF32);
	assert_int_equal(row->rungs[1]->rung, AC_RUNG_FP16);
	assert_int_equal(row->rungs[2]->rung, AC_RUNG_BF16);
	assert_int_equal(row->calls, 103);
	assert_int_equal(row->recast, 100);
	/* 90 calls at 100 and 25 us, 10 at 90 and 30. */
	assert_true(row->before_us == 9900);
	assert_true(row->after_us == 2550);
	assert_true(row->gain_us == 7350);
	/* What runs now was predicted only. */
	assert_int_equal(row->basis, AC_BASIS_PREDICTED);
	assert_true(row->keep_us == 90 && row->recast_us == 30);
	assert_true(row->speed == 3);
	/* The program got results of fp16; none of bf16. */
	assert_true(row->error == 1.5);
}

CASE(test_not_recast)
{
	struct ac_report *report = make_four();
	const struct ac_site_row *row;

	make_rows(report, AC_SORT_CALLS);
	row = &rows[3];         /* of 7 calls */
	assert_int_equal(row->calls, 7);
	assert_int_equal(row->rung_count, 1);
	assert_int_equal(row->basis, AC_BASIS_PREDICTED);
	assert_true(row->speed == 0.5);
	assert_true(row->before_us == 0 && row->gain_us == 0);
	assert_true(row->error < 0);
	row = &rows[0];         /* no FP32 work */
	assert_int_equal(row->calls, 2000);
	assert_true(row->flops == 0 && row->share == 0 && row->speed == 0);
	assert_int_equal(row->basis, AC_BASIS_NONE);
}

CASE(test_checked)
{
	struct ac_report *report;

	memset(&made_header, 0, sizeof made_header);
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	set_times(&made[0], 100, 25, 90, 20);
	report = make_report(1);
	report->processes[0].clock = AC_CLOCK_DEVICE;
	make_rows(report, AC_SORT_WORK);
	assert_int_equal(rows[0].basis, AC_BASIS_MEASURED);
	assert_true(rows[0].speed == 4);
	report->processes[0].clock = AC_CLOCK_MODELLED;
	make_rows(report, AC_SORT_WORK);
	assert_int_equal(rows[0].basis, AC_BASIS_MODELLED);
}

/* Equals are in the order of their keys, not of their ids. */
CASE(test_equals)
{
	struct ac_report *report;

	memset(&made_header, 0, sizeof made_header);
	for (int i = 0; i < 3; i++) {
		make_calls(make_site(i, AC_RUNG_KEEP, AC_TACTIC_NONE,
		    AC_REASON_TYPE), 0, AC_REASON_TYPE, 1);
		made[i].key.k = 1;
		made[i].key.caller[0] = (char)('a' + i);
		made[i].id = 9 - (uint32_t)i;
	}
	report = make_report(3);
	make_rows(report, AC_SORT_WORK);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(report->sites[i].key.caller[0], 'a' + i);
		assert_int_equal(rows[i].rungs[0]->key.caller[0], 'a' + i);
	}
}

/* Whatever they are sorted by, rows add up to the run. */
CASE(test_sums)
{
	struct ac_report *report = make_four();
	struct ac_report_totals t;

	ac_report_totals(report, &t);
	for (int sort = 0; sort < AC_SORT_COUNT; sort++) {
		struct ac_site_row sum = { .calls = 0 };

		make_rows(report, (enum ac_sort)sort);
		for (size_t i = 0; i < row_count; i++) {
			sum.calls += rows[i].calls;
			sum.recast += rows[i].recast;
			sum.flops += rows[i].flops;
			sum.share += rows[i].share;
			sum.before_us += rows[i].before_us;
			sum.after_us += rows[i].after_us;
			assert_true(!i || rows[i - 1].rank >= rows[i].rank);
		}
		assert_int_equal(sum.calls, t.calls);
		assert_int_equal(sum.recast, t.recast_calls);
		/* Whole numbers, all of them. */
		assert_true(sum.flops == t.flops);
		assert_true(sum.before_us == t.measured_keep_us
		    + t.predicted_keep_us);
		assert_true(sum.after_us == t.measured_recast_us
		    + t.predicted_recast_us);
		/* Three quotients, each rounded. */
		assert_true(sum.share > 1 - 1e-15 && sum.share < 1 + 1e-15);
	}
}

CASE(test_nothing)
{
	static const struct ac_report nothing;

	make_rows(&nothing, AC_SORT_ERROR);
	assert_int_equal(row_count, 0);
	assert_string_equal(ac_sort_names[AC_SORT_ERROR], "error");
	free(rows);
}

CASES_RUN(NULL, NULL)
