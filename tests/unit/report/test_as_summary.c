/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_as_summary.c -- the three lines at the end of a
 * run. */
#include "with_report.h"

#define LAST \
	"autocast: \"autocast report\" shows every site, \"autocast explain " \
	"ID\" why; AUTOCAST_POLICY=off recasts nothing\n"

static void
expect(uint32_t sites, const char *wanted)
{
	struct ac_report *report = make_report(sites);

	assert_string_equal(written(summary, report), wanted);
	ac_report_destroy(report);
}

static void
test_mixed(void **state)
{
	(void)state;
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 3, AC_REASON_NONE, 0);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 1);
	made[1].key.k = 1;
	expect(2, "autocast: FP32 GEMM work 8 kFLOP: before as fp32, now "
	    "tf32 75.0 % (policy amp)\n"
	    "autocast: kept 25.0 %: too-small 25.0 % (1 call); not judged: "
	    "no verdict yet (3 calls)\n" LAST);
}

/* The program may have asked for TF32 itself: then that is the baseline. */
static void
test_baseline(void **state)
{
	(void)state;
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	strcpy(made[0].key.asked, "tf32");
	made[0].guard = AC_GUARD_OFF;
	made_header.emulated = 1;
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as tf32, now "
	    "fp16 100.0 % (policy amp, emulated GPU)\n"
	    "autocast: kept nothing; not judged: guard=off (1 call)\n" LAST);
	made_header.emulated = 0;
}

static void
test_all_kept(void **state)
{
	(void)state;
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_NO_RULE), 0, AC_REASON_NO_RULE, 2);
	expect(1, "autocast: FP32 GEMM work 4 kFLOP: before as fp32, now the "
	    "same (policy amp)\n"
	    "autocast: kept 100.0 %: no-rule 100.0 % (2 calls)\n" LAST);
}

static void
test_no_fp32(void **state)
{
	(void)state;
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TYPE), 0, AC_REASON_TYPE, 2);
	strcpy(made[0].key.type, "f16");
	expect(1, "autocast: no FP32 GEMM work; 2 other matrix calls passed "
	    "through\n"
	    "autocast: kept 0.0 %: type 0.0 % (2 calls)\n" LAST);
}

/* Convolutions counted by who calls are not said to be no work. */
static void
test_unread(void **state)
{
	(void)state;
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 2);
	make_unread(0);
	expect(1, "autocast: 2 conv calls, sizes not read: the policy keeps "
	    "all\n"
	    "autocast: kept 0.0 %: rule 0.0 % (2 calls)\n" LAST);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 2);
	expect(2, "autocast: FP32 GEMM/conv work 8 kFLOP, without 2 of sizes "
	    "not read: before as fp32, now the same (policy amp)\n"
	    "autocast: kept 100.0 %: rule 100.0 % (4 calls)\n" LAST);
}

/* How far off it was, at worst, and what was given up for that. */
static void
test_error(void **state)
{
	(void)state;
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	made[0].tol = 0.5f;
	made[0].course.samples = 9;
	made[0].course.error = 0.06f;
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as fp32, now "
	    "fp16 100.0 % (policy amp)\n"
	    "autocast: kept nothing; 9 samples in FP64; worst sampled error "
	    "0.06, 0.12 of tol 0.5\n" LAST);
	made[0].course.demotions = 1;
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as fp32, now "
	    "fp16 100.0 % (policy amp)\n"
	    "autocast: kept nothing; 9 samples in FP64; worst sampled error "
	    "0.06, 0.12 of tol 0.5, 1 demotion\n"
	    "autocast: \"autocast report\" shows every site and why rungs were "
	    "left, \"autocast run --ranges\" which would fit; "
	    "AUTOCAST_POLICY=off recasts nothing\n");
}

/* What cannot be found later is not recommended. */
static void
test_unkept(void **state)
{
	(void)state;
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	made[0].course.demotions = 1;
	summary_unkept = "there is no home directory";
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as fp32, now "
	    "tf32 100.0 % (policy amp)\n"
	    "autocast: kept nothing; not judged: no verdict yet (1 call), 1 "
	    "demotion\n"
	    "autocast: nothing is kept for \"autocast report\": there is no "
	    "home directory\n");
	expect(0, "");
	summary_unkept = NULL;
}

/* Who intercepted nothing says nothing. */
static void
test_nothing(void **state)
{
	(void)state;
	expect(0, "");
	assert_string_equal(written(summary, NULL), "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mixed), cmocka_unit_test(test_baseline),
		cmocka_unit_test(test_all_kept), cmocka_unit_test(test_no_fp32),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_error), cmocka_unit_test(test_unkept),
		cmocka_unit_test(test_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
