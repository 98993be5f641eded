/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_as_summary.c -- the lines at the end of a run. */
#include "with_report.h"

#define LAST_KEPT \
	"autocast: \"autocast report\" shows every site, \"autocast explain " \
	"ID\" why"
#define LAST LAST_KEPT "; AUTOCAST_POLICY=off recasts nothing\n"

static void
expect(uint32_t sites, const char *wanted)
{
	struct ac_report *report = make_report(sites);

	assert_string_equal(written(summary, report), wanted);
}

CASE(test_mixed)
{
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 3, AC_REASON_NONE, 0);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 1);
	made[1].key.k = 1;
	expect(2, "autocast: FP32 GEMM work 8 kFLOP: before as fp32, now "
	    "tf32 75.0 % (policy amp)\n"
	    "autocast: kept 25.0 %: too-small 25.0 % (1 call); not checked: "
	    "the library's own conversion (3 calls)\n" LAST);
}

/* The program may have asked for TF32 itself: then that is the baseline. */
CASE(test_baseline)
{
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	strcpy(made[0].key.asked, "tf32");
	made[0].guard = AC_GUARD_OFF;
	made_header.emulated = 1;
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as tf32, now "
	    "fp16 100.0 % (policy amp, emulated GPU)\n"
	    "autocast: kept nothing; not checked: guard=off (1 call)\n" LAST);
	made_header.emulated = 0;
}

CASE(test_all_kept)
{
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_NO_RULE), 0, AC_REASON_NO_RULE, 2);
	expect(1, "autocast: FP32 GEMM work 4 kFLOP: before as fp32, now the "
	    "same (policy amp)\n"
	    "autocast: recast nothing: 100.0 % of the FP32 work kept for the "
	    "reason no-rule: no rule of the policy matched; \"autocast explain "
	    "00000010\" says more\n"
	    "autocast: kept 100.0 %: no-rule 100.0 % (2 calls)\n"
	    LAST_KEPT "\n");
}

/* The reason of most work, not of most calls, and the site with most of it,
 * which is none of the other reason. */
CASE(test_main_reason)
{
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 90);
	make_calls(make_site(1, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 0, AC_REASON_OWN, 20);
	make_calls(make_site(2, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 0, AC_REASON_OWN, 20);
	strcpy(made[3].key.type, "f16");
	expect(3, "autocast: FP32 GEMM work 380 kFLOP: before as fp32, now the "
	    "same (policy amp)\n"
	    "autocast: recast nothing: 52.6 % of the FP32 work kept for the "
	    "reason own: first calls of a place ('set own=0': none), or all "
	    "under learn=on, are the program's own; \"autocast explain 00000012\" says "
	    "more\n"
	    "autocast: kept 100.0 %: too-small 47.4 % (90 calls), own 52.6 % "
	    "(40 calls)\n"
	    LAST_KEPT "\n");
}

/* At each site the rung that was measured most. */
CASE(test_learnt)
{
	for (int i = 0; i < 2; i++) {
		make_calls(make_site(i, AC_RUNG_FP16, AC_TACTIC_CAST,
		    AC_REASON_NONE), 0, AC_REASON_OWN, 10);
		made[i].course.judged = 6;
	}
	make_site(2, AC_RUNG_TF32, AC_TACTIC_LIBRARY, AC_REASON_NONE);
	made[2].key = made[1].key;
	made[2].id = made[1].id;
	made[2].course.judged = 7;
	made[2].course.mended_calls = 1;
	expect(3, "autocast: FP32 GEMM work 60 kFLOP: before as fp32, now the "
	    "same (policy amp)\n"
	    "autocast: recast nothing: the run learned, with rungs next to 13 "
	    "of 20 calls; \"autocast report -v\" shows how those fared\n"
	    "autocast: kept 100.0 %: own 100.0 % (20 calls)\n"
	    LAST_KEPT "\n");
}

CASE(test_no_fp32)
{
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TYPE), 0, AC_REASON_TYPE, 2);
	strcpy(made[0].key.type, "f16");
	expect(1, "autocast: no FP32 GEMM work: 2 calls passed through "
	    "(type 2)\n" LAST_KEPT "\n");
}

/* Convolutions counted by who calls are not said to be no work. */
CASE(test_unread)
{
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 2);
	make_unread(0);
	expect(1, "autocast: 2 conv calls, sizes not read: the policy keeps "
	    "all\n" LAST_KEPT "\n");
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 2);
	expect(2, "autocast: FP32 GEMM/conv work 8 kFLOP, without 2 of sizes "
	    "not read: before as fp32, now the same (policy amp)\n"
	    "autocast: recast nothing: 100.0 % of the FP32 work kept for the "
	    "reason rule: the deciding rule says keep; \"autocast explain "
	    "00000011\" says more\n"
	    "autocast: kept 100.0 %: rule 100.0 % (4 calls)\n"
	    LAST_KEPT "\n");
}

/* How far off it was, at worst, and what was given up for that. */
CASE(test_error)
{
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	made[0].tol = 0.5f;
	made[0].course.judged = 1;
	made[0].course.mended_lines = 9;
	made[0].course.error = 0.06f;
	made[0].course.line_error = 0.2f;
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as fp32, now "
	    "fp16 100.0 % (policy amp)\n"
	    "autocast: kept nothing; checked 1 of 1 recast call; mended 9 lines; "
	    "worst error 0.06 (line 0.2), 0.12 of tol 0.5\n" LAST);
	made[0].course.demotions = 1;
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as fp32, now "
	    "fp16 100.0 % (policy amp)\n"
	    "autocast: kept nothing; checked 1 of 1 recast call; mended 9 lines; "
	    "worst error 0.06 (line 0.2), 0.12 of tol 0.5, 1 demotion\n"
	    "autocast: \"autocast report\" shows every site and why rungs were "
	    "left, \"autocast run --ranges\" which would fit; "
	    "AUTOCAST_POLICY=off recasts nothing\n");
}

/* What cannot be found later is not recommended. */
CASE(test_unkept)
{
	make_calls(make_site(0, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	made[0].course.demotions = 1;
	summary_ending.unkept = "there is no home directory";
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as fp32, now "
	    "tf32 100.0 % (policy amp)\n"
	    "autocast: kept nothing; not checked: the library's own conversion "
	    "(1 call), 1 demotion\n"
	    "autocast: nothing is kept for \"autocast report\": there is no "
	    "home directory\n");
	expect(0, "");
	make_calls(make_site(0, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 1);
	expect(1, "autocast: FP32 GEMM work 2 kFLOP: before as fp32, now the "
	    "same (policy amp)\n"
	    "autocast: recast nothing: 100.0 % of the FP32 work kept for the "
	    "reason rule: the deciding rule says keep\n"
	    "autocast: kept 100.0 %: rule 100.0 % (1 call)\n"
	    "autocast: nothing is kept for \"autocast report\": there is no "
	    "home directory\n");
	summary_ending.unkept = NULL;
}

/* ---- The gain ---------------------------------------------------------- */

/* `calls` calls of site `i`, with their times of each. */
static void
make_times(int i, uint64_t calls, float keep_us, float recast_us,
    bool is_measured)
{
	struct ac_site_course *course = &made[i].course;

	make_calls(make_site(i, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), calls, AC_REASON_NONE, 0);
	course->keep_us = is_measured ? keep_us : 0;
	course->recast_us = is_measured ? recast_us : 0;
	if (!is_measured) {
		course->keep_predicted_us = keep_us;
		course->recast_predicted_us = recast_us;
	}
}

/* The first line, without what stands before it. */
static void
expect_gain(uint32_t sites, enum ac_clock clock, bool emulated,
    const char *wanted)
{
	struct ac_report *report;
	char first[512];

	made_header.clock = clock;
	made_header.emulated = emulated;
	report = make_report(sites);
	if (emulated)
		strcpy(report->processes[0].gpu, "NVIDIA H200 (emulated)");
	strcpy(first, written(summary, report));
	made_header.clock = AC_CLOCK_NONE;
	made_header.emulated = false;
	first[strcspn(first, "\n")] = '\0';
	assert_string_equal(first + strlen("autocast: "), wanted);
}

CASE(test_gain)
{
	make_times(0, 100, 283, 39, true);
	expect_gain(1, AC_CLOCK_DEVICE, false, "GPU time of all 100 FP32 "
	    "calls 28.3 ms -> 3.9 ms: 7.3x faster (measured)");
	summary_ending.wall = 1.9;      /* 24.4 ms of 1924.4 ms */
	expect_gain(1, AC_CLOCK_DEVICE, false, "GPU time of all 100 FP32 "
	    "calls 28.3 ms -> 3.9 ms: 7.3x faster (measured); of 1.9 s wall "
	    "time that saves 1.3 % at most");
	expect_gain(1, AC_CLOCK_MODELLED, true, "GPU time of all 100 FP32 "
	    "calls 28.3 ms -> 3.9 ms: 7.3x faster (estimated for NVIDIA H200); "
	    "wall time here is the CPU's");
	make_times(1, 10, 100, 50, false);      /* 1 ms of 29.3 ms */
	expect_gain(2, AC_CLOCK_MODELLED, true, "GPU time of all 110 FP32 "
	    "calls 29.3 ms -> 4.4 ms: 6.7x faster (estimated for NVIDIA H200); "
	    "wall time here is the CPU's");
	expect_gain(2, AC_CLOCK_DEVICE, false, "GPU time of all 110 FP32 "
	    "calls 29.3 ms -> 4.4 ms: 6.7x faster (measured, 3.4 % of it "
	    "estimated); of 1.9 s wall time that saves 1.3 % at most");
	make_times(0, 100, 283, 39, false);
	expect_gain(1, AC_CLOCK_NONE, false, "GPU time of all 100 FP32 calls "
	    "28.3 ms -> 3.9 ms: 7.3x faster (estimated for NVIDIA H200); of "
	    "1.9 s wall time that saves 1.3 % at most");
	summary_ending.wall = 0;
}

/* What stayed as it was is part of what a program waits for: by the time of its
 * own site, else by what was predicted of it. */
CASE(test_gain_of_all)
{
	make_times(0, 100, 300, 50, true);
	atomic_store(&made[0].kept[AC_REASON_PROBATION], 20);
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 50);
	made[1].course.keep_predicted_us = 80;
	made[1].key.k = 5;      /* 100 x 300 + 20 x 300 + 50 x 80 */
	expect_gain(2, AC_CLOCK_DEVICE, false, "GPU time of all 170 FP32 "
	    "calls 40 ms -> 15 ms: 2.7x faster (measured, 10.0 % of it "
	    "estimated)");
	strcpy(made[1].key.type, "f16");
	expect_gain(2, AC_CLOCK_DEVICE, false, "GPU time of all 120 FP32 "
	    "calls 36 ms -> 11 ms: 3.3x faster (measured)");
	make_times(0, 100, 100.2f, 100, true);
	expect_gain(1, AC_CLOCK_DEVICE, false, "GPU time of all 100 FP32 "
	    "calls 10 ms -> 10 ms: no faster (measured)");
	make_times(0, 100, 100, 100.2f, true);
	expect_gain(1, AC_CLOCK_DEVICE, false, "GPU time of all 100 FP32 "
	    "calls 10 ms -> 10 ms: no faster (measured)");
}

/* Small gains are not rounded to none, and calls without a time are none. */
CASE(test_gain_in_part)
{
	make_times(0, 100, 104, 100, true);
	make_calls(make_site(1, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 5, AC_REASON_NONE, 0);
	expect_gain(2, AC_CLOCK_DEVICE, false, "GPU time of 100 of all 105 "
	    "FP32 calls 10.4 ms -> 10 ms: 1.04x faster (measured)");
}

CASE(test_loss)
{
	make_times(0, 100, 100, 400, true);
	summary_ending.wall = 1.9;
	expect_gain(1, AC_CLOCK_DEVICE, false, "GPU time of all 100 FP32 "
	    "calls 10 ms -> 40 ms: 4.0x slower (measured)");
	summary_ending.forced = "the profile fp16 forces them";
	expect_gain(1, AC_CLOCK_DEVICE, false, "GPU time of all 100 FP32 "
	    "calls 10 ms -> 40 ms: 4.0x slower (measured): the profile fp16 "
	    "forces them");
	make_times(0, 100, 400, 100, true);
	summary_ending.wall = 0;
	expect_gain(1, AC_CLOCK_DEVICE, false, "GPU time of all 100 FP32 "
	    "calls 40 ms -> 10 ms: 4.0x faster (measured)");
	summary_ending.forced = NULL;
}

/* ---- Nothing to recast ------------------------------------------------- */

/* Notes are no calls. */
CASE(test_passed)
{
	strcpy(made_markers[0].symbol, "cublasDgemm_v2");
	atomic_store(&made_markers[0].calls, 7);
	strcpy(made_markers[1].symbol, "cublasSger_v2");
	atomic_store(&made_markers[1].calls, 5);
	atomic_store(&made_header.markers, 2);
	expect(0, "autocast: nothing to recast: 12 calls passed through, most "
	    "of them cublasDgemm_v2; \"autocast explain --functions\" shows what is "
	    "recast\n");
	strcpy(made_markers[1].symbol, "no room for sites");
	expect(0, "autocast: nothing to recast: 7 calls passed through, most "
	    "of them cublasDgemm_v2; \"autocast explain --functions\" shows what is "
	    "recast\n");
	atomic_store(&made_header.markers, 0);
}

/* Who intercepted nothing says nothing. */
CASE(test_nothing)
{
	expect(0, "");
	assert_string_equal(written(summary, NULL), "");
}

CASES_RUN(NULL, NULL)
