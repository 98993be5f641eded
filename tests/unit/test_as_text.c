/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_as_text.c -- the text report, to the byte. */
#include "with_report.h"

static void
test_whole(void **state)
{
	struct ac_report *report;

	(void)state;
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1000000, AC_REASON_CAPTURE, 2);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 9);
	strcpy(made_header.notes, "guard is not built yet\n\ntwo\n");
	made_header.peak_scratch_bytes = 4096;
	atomic_store(&made_header.finished, 1);
	atomic_store(&made_header.markers, 1);
	strcpy(made_markers[0].symbol, "cublasStrsm_v2");
	atomic_store(&made_markers[0].calls, 1);
	report = make_report(2);
	assert_string_equal(written(ac_report_as_text, report),
	    "autocast report: train, 1970-01-02 00:00:00, process 99999999, "
	    "finished\n"
	    "  policy   amp (nobody chose)\n"
	    "  gpu      NVIDIA H200, sm_90, cublas-13.1\n"
	    "  times    none: this version measures no times\n"
	    "  note     guard is not built yet\n"
	    "  note     two\n"
	    "\n"
	    "  site      operation     sizes  caller      rung  how        line"
	    "     calls  GFLOP   share\n"
	    "  00000010  gemm.nt    1000x1x1  train+1a2b  tf32  library    amp:4"
	    "  1000002  2.000  99.9 %\n"
	    "            kept 2 of 1000002 calls: capture 2\n"
	    "  00000011  gemm.nt    1000x1x2  train+1a2b  keep  too-small  amp:4"
	    "        9  0.000  <0.1 %\n"
	    "\n"
	    "FP32 GEMM work: 2 GFLOP in 1000011 calls at 2 sites\n"
	    "  recast   99.9 % of the FLOPs (1000000 calls): tf32 99.9 %\n"
	    "  kept     <0.1 %: too-small <0.1 % (9 calls), capture <0.1 % "
	    "(2 calls)\n"
	    "  scratch  4096 bytes of device memory at most\n"
	    "  seen     cublasStrsm_v2: 1 call, passed through\n"
	    "A graph replay is counted once, at capture.\n");
	ac_report_destroy(report);
}

/* What was emulated never looks measured. */
static void
test_emulated(void **state)
{
	struct ac_report *report;

	(void)state;
	made_header.emulated = 1;
	made_header.incomplete = 1;
	atomic_store(&made_header.finished, 0);
	report = make_report(0);
	written(ac_report_as_text, report);
	assert_non_null(strstr(sunk, "they could only be predicted, "
	    "not measured\n"));
	assert_non_null(strstr(sunk, "ended without exit()\n"));
	assert_non_null(strstr(sunk, "Some sites are missing"));
	ac_report_destroy(report);
	made_header.pid = 1;
	report = make_report(0);
	report->processes[0].pid = getpid();
	written(ac_report_as_text, report);
	assert_non_null(strstr(sunk, ", still running\n"));
	ac_report_destroy(report);
}

/* Names come from strangers: none may steer the terminal. */
static void
test_hostile(void **state)
{
	struct ac_report *report;

	(void)state;
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	strcpy(made[0].key.caller, "\033]0;x\007+1");
	strcpy(made[0].source, "a\nb");
	strcpy(made_header.program, "\033[2J");
	report = make_report(1);
	strcpy(report->processes[0].why, "\r\033c");
	strcpy(report->processes[0].gpu, "\033c");
	strcpy(report->processes[0].library, "\033c");
	strcpy(report->processes[0].policy, "\033c");
	strcpy(report->processes[0].notes, "\033c\n");
	strcpy(report->markers[0].symbol, "\033c");
	written(ac_report_as_text, report);
	assert_null(strpbrk(sunk, "\033\r\007"));
	assert_non_null(strstr(sunk, "a?b:4"));
	ac_report_destroy(report);
}

static void
test_nothing(void **state)
{
	(void)state;
	assert_string_equal(written(ac_report_as_text, NULL),
	    "autocast report: nothing was intercepted\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole), cmocka_unit_test(test_emulated),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_nothing),
	};

	setenv("TZ", "UTC0", 1);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
