/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_as_live.c -- a running process as text: what happened
 * between two looks, and nothing else. */
#include "with_report.h"

static const char *
watched(const struct ac_report *before, const struct ac_report *now,
    double seconds, size_t rows)
{
	const struct ac_report_view view = { .clock = 86400 + 10,
		.seconds = seconds, .rows = rows };

	sunk_count = 0;
	sunk[0] = '\0';
	ac_report_as_live(before, now, &view, sink, NULL);
	return sunk;
}

static void
make_run(void)
{
	memset(&made_header, 0, sizeof made_header);
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 75, AC_REASON_NONE, 0);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 25);
	made[0].key.m = 1000000;
}

CASE(test_first_look)
{
	struct ac_report *now;

	make_run();
	now = make_report(2);
	assert_string_equal(watched(NULL, now, 1, 10),
	    "autocast report --live: train, process 99999999, counting for 10 s\n"
	    "  policy   amp (nobody chose)\n"
	    "  gpu      NVIDIA H200, sm_90, cublas-13.1\n"
	    "  start    100 calls, 10.0/s, 15 MFLOP/s; recast 75.0 % of the "
	    "calls, 99.9 % of the FLOPs\n"
	    "  verdicts not checked: the library's own conversion (75 calls)\n"
	    "\n"
	    "  site      operation        sizes  caller      rung  how        "
	    "line   calls/s  GFLOP/s   share\n"
	    "  00000010  gemm.nt    1000000x1x1  train+1a2b  tf32  library    "
	    "amp:4      7.5    0.015  99.9 %\n"
	    "  00000011  gemm.nt       1000x1x2  train+1a2b  keep  too-small  "
	    "amp:4      2.5    0.000   0.1 %\n");
}

/* The rung that calls go by now, and that another was left. */
CASE(test_demoted)
{
	struct ac_report *before, *now;
	const char *text;

	make_run();
	before = make_report(2);
	made[0].tol = 0.5f;
	made[0].course.judged = 3;
	made[0].course.error = 0.45f;
	made[0].course.demotions = 1;
	made[0].course.finding = AC_FINDING_ERROR;
	make_calls(make_site(2, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_GUARD), 0, AC_REASON_GUARD, 10);
	made[2].key.m = 1000000;
	now = make_report(3);
	text = watched(NULL, now, 1, 10);
	assert_non_null(strstr(text, "\n            demoted: error 0.45, tol "
	    "0.5; results were too far off\n"));
	text = watched(before, now, 1, 10);
	assert_non_null(strstr(text, "\n  verdicts checked 3 of 75 recast calls\n"
	    "  error    worst error 0.45, 0.90 of tol 0.5, at site "
	    "00000010\n  demoted  1 time\n  last"));
	assert_non_null(strstr(text, "  keep  guard  amp:4     10.0"));
	assert_null(strstr(text, "tf32"));
}

/* Only what grew, only by how much, over the time between. */
CASE(test_between)
{
	struct ac_report *before, *now;
	const char *text;

	make_run();
	before = make_report(2);
	make_calls(&made[1], 0, AC_REASON_TOO_SMALL, 4000);
	make_calls(make_site(2, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 2000, AC_REASON_CAPTURE, 2000);
	now = make_report(3);
	text = watched(before, now, 2, 10);
	assert_non_null(strstr(text, "  start    8100 calls, 810.0/s, "));
	assert_non_null(strstr(text, "\n  last     2.0 s: 8000 calls, 4000/s, "
	    "20 MFLOP/s; recast 25.0 % of the calls, 30.0 % of the FLOPs\n"));
	assert_non_null(strstr(text, "\n  00000012  gemm.nt    1000x1x3"));
	assert_non_null(strstr(text, "2000    0.012  60.0 %\n"
	    "            kept 2000 of 4000 calls: capture 2000\n"
	    "  00000011"));
	assert_null(strstr(text, "00000010"));
}

CASE(test_nothing)
{
	struct ac_report *now;
	const char *text;

	make_run();
	now = make_report(2);
	text = watched(now, now, 0.5, 10);
	assert_non_null(strstr(text, "\n  last     0.5 s: nothing\n"));
	assert_null(strstr(text, "site"));
}

CASE(test_rows)
{
	struct ac_report *now;
	const char *text;

	make_run();
	now = make_report(2);
	text = watched(NULL, now, 1, 1);
	assert_non_null(strstr(text, "00000010"));
	assert_null(strstr(text, "00000011"));
	assert_non_null(strstr(text, "... and 1 more site; 'autocast report' "
	    "shows more\n"));
}

/* Counters that fell, a clock that went back, a name that steers: no harm. */
CASE(test_nonsense)
{
	struct ac_report *before, *now;
	const char *text;

	make_run();
	before = make_report(2);
	memset(&made_header, 0, sizeof made_header);
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	made[0].key.m = 1000000;
	strcpy(made_header.program, "\033[2Jtrain\302\233");
	now = make_report(1);
	now->processes[0].start_s = 1000000;
	text = watched(before, now, 0, 10);
	assert_non_null(strstr(text, "--live: ?[2Jtrain?, process"));
	assert_non_null(strstr(text, "counting for 0 s"));
	assert_non_null(strstr(text, "s: nothing\n"));
}

CASES_RUN(NULL, NULL)
