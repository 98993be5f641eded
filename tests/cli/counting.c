/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/counting.c -- counts into the state directory as a program with
 * the library preloaded would, so that the command line can be tested without
 * a GPU, real or emulated. Usage: counting [STATUS [NAME [all | COUNT
 * [other]]]]; with "all" every site is called; with COUNT, so many sites of
 * different sizes are called once each; with "other", some fare otherwise; it
 * kills itself where STATUS is "kill". */
#include "report/report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	struct ac_site_key key;
	struct ac_decision decision;
	const char        *name;
	struct ac_site_course course;
	int                recast, kept;
	enum ac_reason     reason;
} sites[] = {
	{ { .operation = AC_OP_GEMM_SINGLE, .symbol = "cublasSgemm_v2",
	    .caller = "train+1a2b", .ta = 'N', .tb = 'T', .solver = 'n',
	    .type = "f32", .asked = "fp32", .m = 4096, .n = 1024, .k = 4096,
	    .batch = 1 },
	  { .rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
	    .source = "amp", .line = 4, .tol = 1e-3, .guard = AC_GUARD_ON },
	  NULL, { .judged = 10, .error = 2.9e-4f, .line_error = 4.1e-4f,
	    .mended_lines = 3, .captured = 3, .timed = 1, .keep_us = 660,
	    .recast_us = 90 }, 10, 1, AC_REASON_CAPTURE },
	{ { .operation = AC_OP_GEMM_STRIDED,
	    .symbol = "cublasSgemmStridedBatched", .caller = "libnet.so+77",
	    .ta = 'T', .tb = 'N', .solver = 'n', .type = "f32",
	    .asked = "fp32", .m = 64, .n = 64, .k = 512, .batch = 12 },
	  { .rung = AC_RUNG_KEEP, .reason = AC_REASON_TOO_SMALL,
	    .source = "amp", .line = 4 }, "head", { 0 }, 0, 3,
	  AC_REASON_TOO_SMALL },
	{ { .operation = AC_OP_CONV_DGRAD,
	    .symbol = "cudnnConvolutionBackwardData", .caller = "train+3c4d",
	    .solver = 'n', .type = "f32", .asked = "tf32",
	    .shape = AC_SHAPE_UNREAD },
	  { .rung = AC_RUNG_KEEP, .reason = AC_REASON_RULE, .source = "off",
	    .line = 2 }, NULL, { 0 }, 0, 1, AC_REASON_RULE },
	/* Padded by 1 after the image only, which the shape does not tell. */
	{ { .operation = AC_OP_CONV_FPROP, .symbol = "cudnnConvolutionForward",
	    .caller = "train+5e6f", .solver = 'n', .type = "f32",
	    .asked = "tf32", .m = 12544, .n = 64, .k = 576, .batch = 1,
	    .shape = "n64 c64 28x28 k64 3x3 s2 p0 d1 g1 nhwc" },
	  { .rung = AC_RUNG_FP16, .tactic = AC_TACTIC_LIBRARY,
	    .source = "amp", .line = 5, .tol = 1e-3, .guard = AC_GUARD_ON },
	  NULL, { .samples = 1, .error = 1e-4f }, 1, 0, AC_REASON_NONE },
	{ { .operation = AC_OP_GEMM_LT, .symbol = "cublasLtMatmul",
	    .caller = "train+7a8b", .ta = 'T', .tb = 'N', .solver = 'n',
	    .type = "f32", .asked = "fp32", .m = 3072, .n = 4096, .k = 768,
	    .batch = 1, .shape = "gelu_bias" },
	  { .rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
	    .source = "amp", .line = 4, .tol = 1e-3, .guard = AC_GUARD_ON },
	  NULL, { .judged = 1, .error = 1e-4f }, 1, 0, AC_REASON_NONE },
	{ { .operation = AC_OP_GEMM_LT, .symbol = "cublasLtMatmul",
	    .caller = "train+7c8d", .ta = 'N', .tb = 'T', .solver = 'n',
	    .type = "f32", .asked = "fp32", .m = 768, .n = 3072, .k = 4096,
	    .batch = 1, .shape = "bgrada/bgradb" },
	  { .rung = AC_RUNG_KEEP, .reason = AC_REASON_UNSUPPORTED,
	    .source = "amp", .line = 4 }, NULL, { 0 },
	  0, 1, AC_REASON_UNSUPPORTED },
	{ { .operation = AC_OP_GEMM_LT, .symbol = "cublasLtMatmul",
	    .caller = "train+7e8f", .ta = 'N', .tb = 'N', .solver = 'n',
	    .type = "f32", .asked = "fp32", .m = 512, .n = 4096, .k = 768,
	    .batch = 1, .shape = "other: A_SCALE_POINTER" },
	  { .rung = AC_RUNG_KEEP, .reason = AC_REASON_UNSUPPORTED,
	    .source = "amp", .line = 4 }, NULL, { 0 },
	  0, 1, AC_REASON_UNSUPPORTED },
};
enum { SITES = sizeof sites / sizeof *sites, PRODUCTS = 2 };

/* As if AUTOCAST_RANGES were on: only at the first site. */
static void
count_ranges(struct ac_site_record *record, size_t i)
{
	uint64_t *ranges = i ? NULL : ac_report_ranges(record);

	for (int e = 0; ranges && e < 4; e++) {
		ranges[100 + e] = 1000u << e;   /* too small for FP16 */
		ranges[256 + 124 + e] = 1000u << e;
	}
}

/* Every third one recast, every seventh asked for something else. */
static void
count_crowd(int64_t count)
{
	for (int64_t i = 0; i < count; i++) {
		const struct ac_decision *decision =
		    &sites[i % 3 ? 1 : 0].decision;
		struct ac_site_key key;

		memcpy(&key, &sites[0].key, sizeof key);
		key.m = 64 + i;
		if (i % 7 == 0)
			memcpy(key.asked, "tf32", sizeof "tf32");
		ac_report_count(ac_report_site(&ac_outside, &key, decision,
		    NULL, NULL), decision->reason);
	}
}

/* How site `i` fares in the other way; false: it is not called. */
static bool
change(size_t i, struct ac_decision *decision, struct ac_site_course *course,
    int *calls)
{
	if (i == 0) {
		decision->rung = AC_RUNG_KEEP;
		decision->tactic = AC_TACTIC_NONE;
		decision->reason = AC_REASON_NO_PROFIT;
		memset(course, 0, sizeof *course);
	}
	if (i == 1)
		*calls = 7;
	if (i == 3)
		course->error = 5e-4f;
	return i != 4;
}

int
main(int argc, char **argv)
{
	const int64_t crowd = argc > 3 ? atoll(argv[3]) : 0;
	const struct ac_policy_origin origin = {
		"amp", "nobody chose a policy: this is the default", false
	};

	ac_report_open(&origin, "guard=on is not built yet\n");
	ac_report_machine("NVIDIA H200 (emulated)", 90, "cublas-13.1", true);
	ac_report_clock(AC_CLOCK_MODELLED);
	count_crowd(crowd);
	for (size_t i = 0; i < (argc > 3 && !crowd ? SITES : PRODUCTS); i++) {
		struct ac_decision decision = sites[i].decision;
		struct ac_site_course course;
		struct ac_site_key key;
		struct ac_site_record *site;
		int recast = sites[i].recast, kept = sites[i].kept;
		enum ac_reason reason = sites[i].reason;

		memcpy(&course, &sites[i].course, sizeof course);
		if (argc > 4 && !change(i, &decision, &course, &kept))
			continue;
		if (decision.rung == AC_RUNG_KEEP) {
			kept += recast;
			recast = 0;
			reason = decision.reason;
		}
		/* Every byte counts for the id, the padding too. */
		memcpy(&key, &sites[i].key, sizeof key);
		if (argc > 2)
			memcpy(key.caller, argv[2],
			    strnlen(argv[2], sizeof key.caller - 1) + 1);
		site = ac_report_site(&ac_outside, &key, &decision,
		    sites[i].name, NULL);
		if (argc <= 2)
			count_ranges(site, i);
		memcpy(&site->course, &course, sizeof site->course);
		for (int n = 0; n < recast; n++)
			ac_report_count(site, AC_REASON_NONE);
		for (int n = 0; n < kept; n++)
			ac_report_count(site, reason);
	}
	ac_report_count_marker(ac_report_marker("cublasStrsm_v2"));
	ac_report_peak_scratch(1 << 20);
	if (argc > 1 && !strcmp(argv[1], "kill"))
		raise(SIGKILL);
	return argc > 1 ? argv[1][0] - '0' : 0;
}
