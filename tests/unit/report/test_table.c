/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_table.c -- the table keeps to 100 columns and to its
 * rows, whatever the sites are called. */
#include "with_report.h"

#include <math.h>

static void
expect_width(const char *page, size_t most)
{
	while (*page) {
		const size_t length = strcspn(page, "\n");

		assert_true(length <= most);
		assert_true(length == 0 || page[length - 1] != ' ');
		page += length + 1;
	}
}

/* From the table's heading on: the head may quote long names. */
static const char *
table_of(struct ac_report *report)
{
	const char *table;

	written(as_text, report);
	table = strstr(sunk, "\n\n");
	assert_non_null(table);
	return table;
}

CASE(test_wide)
{
	struct ac_report *report;
	const char *table;

	for (int i = 0; i < 3; i++) {
		make_calls(make_site(i, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
		    AC_REASON_NONE), UINT32_MAX, AC_REASON_NONE, 0);
		made[i].key.m = made[i].key.n = 100000;
		made[i].key.k = 123456;
	}
	memset(made[0].key.caller, 'c', sizeof made[0].key.caller - 6);
	strcpy(made[0].key.caller + 42, "+beef");
	made[2].key.operation = AC_OP_GEMM_STRIDED;
	made[2].rung = AC_RUNG_KEEP;
	made[2].reason = AC_REASON_INTERNAL_CALLER;
	memset(made[1].source, 's', sizeof made[1].source - 1);
	report = make_report(3);
	table = table_of(report);
	expect_width(table, 100);
	/* The end of a long name is what tells it from others. */
	assert_non_null(strstr(table, "<"));
	assert_non_null(strstr(table, "+beef"));
	assert_non_null(strstr(table, "s:4"));
}

CASE(test_narrow)
{
	struct ac_report *report;

	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_NO_RULE), 0, AC_REASON_NO_RULE, 1);
	made[0].source[0] = '\0';
	made[0].line = 0;
	made[0].key.caller[0] = '\0';
	strcpy(made[0].key.type, "f16");
	report = make_report(1);
	assert_non_null(strstr(table_of(report),
	    "  00000010  gemm.nt    1000x1x1  -       keep  no-rule  -         1"
	    "      -      -     -        -\n"));
}

/* A kept site whose calls were kept for more than its own reason. */
CASE(test_exceptions)
{
	struct ac_report *report;
	const char *table;

	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 5);
	make_calls(&made[0], 0, AC_REASON_PEDANTIC, 2);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 5);
	strcpy(made[1].name, "head");
	report = make_report(2);
	table = table_of(report);
	assert_non_null(strstr(table,
	    "\n            kept 7 of 7 calls: rule 5, pedantic 2\n"));
	assert_null(strstr(table, "of 5 calls"));
	assert_non_null(strstr(table, "  head  "));
}

/* Measured numbers in the row, the reasons below it, within 100 columns
 * whatever the numbers are. */
CASE(test_course)
{
	struct ac_report *report;
	const char *table;

	for (int i = 0; i < 3; i++) {
		make_calls(make_site(i, AC_RUNG_FP16, AC_TACTIC_CAST,
		    AC_REASON_NONE), 100 - (unsigned)i, AC_REASON_NONE, 0);
		made[i].tol = 0.5f;
		made[i].course.judged = 100 - (unsigned)i;
	}
	made[0].course.error = 0.125f;
	made[0].course.keep_us = 73;
	made[0].course.recast_us = 10;
	made[1].course.error = 0.4375f;
	made[1].course.line_error = 2;
	made[1].course.finding = AC_FINDING_LINE;
	made[1].course.demotions = 1;
	made[1].course.keep_us = 7;
	made[1].course.recast_us = 8;
	made[2].course.error = INFINITY;
	made[2].course.finding = AC_FINDING_REFUSED;
	made[2].course.demotions = UINT32_MAX;
	made[2].course.late = 2;
	made[2].course.captured = 1;
	made[2].course.mended_lines = 1000000;
	made[2].course.mended_calls = 1000000;
	report = make_report(3);
	table = table_of(report);
	assert_non_null(strstr(table,
	    "%  7.3x 6.3 ms    0.25\n"
	    "           checked: every call; worst error 0.12, 0.25 of tol\n\n"
	    "FP32 "));
	assert_non_null(strstr(table,
	    "% 0.88x -99 us    0.88\n"
	    "           demoted: line 2, tol 0.5; a row or column of results "
	    "was too far off\n"
	    "           checked: every call; worst error 0.44 (line 2), 0.88 "
	    "of tol\n  0000"));
	assert_non_null(strstr(table, "%     -      -     inf\n"
	    "           demoted: refused; the provider refused it\n"
	    "           checked: every call; mended: 1000000 lines, "
	    "1000000 calls; worst error inf, inf of tol;\n"
	    "           4294967295 demotions; 2 verdicts late; 1 call recorded "
	    "into a graph\n"));
	expect_width(table, 100);
}

/* Every finding has its line, as wide as it may be. */
CASE(test_findings)
{
	for (int i = 1; i < AC_FINDING_COUNT; i++) {
		struct ac_report *report;
		char wanted[80];

		make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
		    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
		made[0].tol = 1.3e-10f;
		made[0].course.finding = (uint32_t)i;
		made[0].course.error = made[0].course.line_error = 1.3e-10f;
		report = make_report(1);
		expect_width(table_of(report), 100);
		snprintf(wanted, sizeof wanted, "\n            demoted: %s",
		    ac_finding_names[i]);
		assert_non_null(strstr(sunk, wanted));
		assert_non_null(strstr(sunk, ac_finding_meanings[i]));
		/* Of others nothing was measured. */
		assert_int_equal(strstr(sunk, ", tol 1.3e-10;") != NULL,
		    i == AC_FINDING_ERROR || i == AC_FINDING_LINE);
	}
}

/* A page has 100 rows; the rest is counted and the way to it named. */
CASE(test_many)
{
	static struct ac_site_record many[250];
	struct ac_report *report = calloc(1, sizeof *report);
	unsigned rows = 0;
	const char *table;

	for (int i = 0; i < 250; i++) {
		make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
		    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
		made[0].key.m = i + 1;
		memcpy(&many[i], &made[0], sizeof made[0]);
	}
	atomic_store(&made_header.sites, 250);
	strcpy(made_header.program, "p");
	assert_true(ac_report_add(report, &made_header, many, made_markers));
	ac_report_arrange(report);
	table = table_of(report);
	for (const char *at = table; (at = strstr(at, "gemm.nt")); at++)
		rows++;
	assert_int_equal(rows, 100);
	assert_non_null(strstr(table, "\n  ... and 150 more sites; "
	    "--top N shows so many, --csv or --json all\n"));
	ac_report_destroy(report);
}

CASES_RUN(NULL, NULL)
