/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_merge.c -- several processes become one run; totals
 * account for every call. */
#include "with_report.h"

CASE(test_merge)
{
	struct ac_report *report = calloc(1, sizeof *report);
	const struct ac_site_total *site;

	memset(&made_header, 0, sizeof made_header);
	atomic_store(&made_header.sites, 2);
	atomic_store(&made_header.markers, 2);
	strcpy(made_markers[0].symbol, "zz");
	strcpy(made_markers[1].symbol, "aa");
	atomic_store(&made_markers[0].calls, 3);
	atomic_store(&made_markers[1].calls, 0);
	make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY, AC_REASON_NONE);
	make_calls(&made[0], 5, AC_REASON_REFUSED, 1);
	make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE, AC_REASON_TOO_SMALL);
	made_header.start_s = 9;
	assert_true(ac_report_add(report, &made_header, made, made_markers));
	/* The same site again, in a process that began earlier. */
	make_calls(&made[1], 0, AC_REASON_TOO_SMALL, 4);
	strcpy(made[0].name, "head");
	made_header.start_s = 8;
	atomic_store(&made_header.incomplete, 1);
	assert_true(ac_report_add(report, &made_header, made, made_markers));
	/* The same key, decided otherwise, is another row. */
	made[0].rung = AC_RUNG_FP16;
	atomic_store(&made_header.sites, 1);
	assert_true(ac_report_add(report, &made_header, made, made_markers));
	ac_report_arrange(report);

	assert_int_equal(report->process_count, 3);
	assert_int_equal(report->processes[0].start_s, 8);
	assert_true(report->incomplete);
	assert_int_equal(report->site_count, 3);
	assert_int_equal(report->marker_count, 1);
	assert_int_equal(report->markers[0].calls, 9);
	/* By work: 12 calls of k=1, 4 calls of k=2, 6 calls of k=1. */
	site = &report->sites[0];
	assert_int_equal(site->rung, AC_RUNG_TF32);
	assert_int_equal(site->calls, 12);
	assert_int_equal(site->recast, 10);
	assert_int_equal(site->kept[AC_REASON_REFUSED], 2);
	assert_string_equal(site->name, "head");
	assert_int_equal(report->sites[1].rung, AC_RUNG_KEEP);
	assert_int_equal(report->sites[2].rung, AC_RUNG_FP16);
	ac_report_destroy(report);
}

/* Memory is that of the sites, not of all processes that have them. */
CASE(test_many)
{
	struct ac_report *report = calloc(1, sizeof *report);

	memset(&made_header, 0, sizeof made_header);
	made_header.ranks = 64;
	atomic_store(&made_header.sites, 2);
	for (int i = 0; i < 64; i++) {
		make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
		    AC_REASON_NONE), 5, AC_REASON_REFUSED, 1);
		make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
		    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 2);
		made_header.rank = i;
		assert_true(ac_report_add(report, &made_header, made,
		    made_markers));
		assert_true(report->site_count <= 3 * 2);
	}
	ac_report_arrange(report);
	assert_int_equal(report->site_count, 2);
	assert_int_equal(report->sites[0].calls, 64 * 6);
	assert_int_equal(report->sites[1].calls, 64 * 2);
	ac_report_destroy(report);
}

CASE(test_totals)
{
	struct ac_report_totals t;
	struct ac_report *report;

	memset(made_markers, 0, sizeof made_markers);
	memset(&made_header, 0, sizeof made_header);
	made_header.peak_scratch_bytes = 77;
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 3, AC_REASON_CAPTURE, 2);
	/* Complex products are four real ones. */
	make_calls(make_site(1, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	strcpy(made[1].key.type, "c32");
	made[1].key.batch = 10;
	/* Half precision is no FP32 work, but its calls are counted. */
	make_calls(make_site(2, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TYPE), 0, AC_REASON_TYPE, 7);
	strcpy(made[2].key.type, "f16");
	/* Sizes without work have none. */
	make_calls(make_site(3, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 1);
	made[3].key.m = -5;
	report = make_report(4);
	ac_report_totals(report, &t);
	assert_int_equal(t.processes, 1);
	assert_int_equal(t.sites, 4);
	assert_int_equal(t.calls, 14);
	assert_int_equal(t.recast_calls, 4);
	assert_true(t.flops == 5 * 2000 + 8. * 1000 * 2 * 10);
	assert_true(t.recast_flops == 3 * 2000 + 160000);
	assert_true(t.flops_by_rung[AC_RUNG_FP16] == 6000);
	assert_true(t.flops_by_rung[AC_RUNG_TF32] == 160000);
	assert_true(t.flops_by_rung[AC_RUNG_KEEP] == 4000);
	assert_int_equal(t.kept_calls[AC_REASON_CAPTURE], 2);
	assert_int_equal(t.kept_calls[AC_REASON_TYPE], 7);
	assert_true(t.kept_flops[AC_REASON_TYPE] == 0);
	assert_int_equal(t.peak_scratch_bytes, 77);
}

CASES_RUN(NULL, NULL)
