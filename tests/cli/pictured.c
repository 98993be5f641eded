/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/pictured.c -- counts sites of all kinds into the state directory,
 * for pages to show: such that gained and lost, were timed, predicted or
 * neither, were kept, demoted, or ran in a region, and one whose names are
 * markup. The same for equal arguments. Usage: pictured COUNT [device] */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#define HOSTILE "<img src=x onerror=alert(1)>\"'&\x01\xff\xe2\x80\xae" "cod"

static uint32_t state = 1;

/* 0 to below `count`. */
static unsigned
draw(unsigned count)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % count;
}

static struct ac_site_key
make_key(int i)
{
	static const int64_t sizes[] = { 96, 128, 256, 512, 768, 1024, 1536,
		2048, 3072, 4096 };
	struct ac_site_key key;
	struct ac_text t;

	memset(&key, 0, sizeof key);
	key.operation = i % 7 == 3 ? AC_OP_GEMM_STRIDED : i % 7 == 5 ?
	    AC_OP_GEMM_LT : AC_OP_GEMM_SINGLE;
	strcpy(key.symbol, "cublasSgemm_v2");
	key.ta = draw(2) ? 'N' : 'T';
	key.tb = draw(2) ? 'N' : 'T';
	key.solver = 'n';
	strcpy(key.type, i % 11 == 9 ? "f16" : "f32");
	strcpy(key.asked, "fp32");
	if (key.operation == AC_OP_GEMM_LT)
		strcpy(key.shape, "gelu_bias");
	key.m = sizes[draw(10)] + i / 64;
	key.n = sizes[draw(10)];
	key.k = sizes[draw(10)];
	key.batch = key.operation == AC_OP_GEMM_STRIDED ? 12 : 1;
	ac_text_init(&t, key.caller, sizeof key.caller);
	ac_text_addf(&t, i % 3 ? "libtransformer.so+%x" : "train+%x",
	    0x1a00 + 64 * i);
	if (i == 4)
		strcpy(key.caller, HOSTILE);
	return key;
}

static void
make_course(struct ac_site_course *c, const struct ac_site_key *key,
    enum ac_rung rung, int i)
{
	const double flops = 2.0 * (double)key->m * (double)key->n
	    * (double)key->k * (double)key->batch;
	const float keep = (float)(flops / 50e6 + 5);
	const float recast = (float)(flops / (rung == AC_RUNG_FP16 ? 600e6
	    : 330e6) + 8 + 6e-6 * (double)(key->m * key->n));

	c->keep_predicted_us = i % 13 == 12 ? 0 : keep * 1.1f;
	c->recast_predicted_us = recast * 1.1f;
	if (i % 5 != 4) {
		c->timed = 24;
		c->keep_us = keep;
		c->recast_us = recast;
	}
	c->samples = i % 6 == 5 ? 0 : 3 + draw(40);
	c->error = 1e-5f * (float)(1 + draw(80)) * (i % 17 == 16 ? 3.f : 1.f);
	c->judged = 20;
	c->mended_lines = draw(3);
	if (i % 9 == 2) {
		c->demotions = 1 + draw(5);
		c->finding = AC_FINDING_LINE;
	}
}

/* What the guard would have done at a site like that. */
static void
note_events(const struct ac_site_record *site, int i)
{
	const uint64_t late = 100 + (uint64_t)i * 997 % 5000;

	if (!site->course.samples)
		return;
	ac_report_event(site, AC_EVENT_PASSED, 3, AC_FINDING_NONE, 0);
	ac_report_event(site, AC_EVENT_CHOSEN, 3, AC_FINDING_NONE, 0);
	ac_report_event(site, AC_EVENT_WORST, 1 + late / 20, AC_FINDING_NONE,
	    site->course.error / 3);
	ac_report_event(site, AC_EVENT_WORST, late, AC_FINDING_NONE,
	    site->course.error);
	if (!site->course.demotions)
		return;
	ac_report_event(site, AC_EVENT_DEMOTED, late, AC_FINDING_LINE, 0);
	ac_report_event(site, AC_EVENT_RETRIED, 2 * late, AC_FINDING_NONE, 0);
}

static void
count_calls(struct ac_site_record *site, int recast, int kept,
    enum ac_reason reason)
{
	for (int n = 0; n < recast; n++)
		ac_report_count(site, AC_REASON_NONE);
	for (int n = 0; n < kept; n++)
		ac_report_count(site, reason);
}

/* Around 1 and far smaller, with a few that are far larger. */
static void
count_ranges(struct ac_site_record *record, int i)
{
	uint64_t *ranges = ac_report_ranges(record);

	for (int e = 0; ranges && e < 24; e++) {
		ranges[104 + e - 2 * i] = UINT64_C(1) << (e < 20 ? e : 36 - e);
		ranges[256 + 112 + e] = 1000u + (unsigned)e * 9999u;
	}
	if (ranges)
		ranges[150] = 3;
}

static void
count_site(int i, bool is_large)
{
	static const struct ac_site_region inside = { .name = "attention",
		.rung_count = 1, .rung = { AC_RUNG_FP16 } };
	static const enum ac_reason reasons[] = { AC_REASON_TOO_SMALL,
		AC_REASON_NO_PROFIT, AC_REASON_SOLVER };
	const struct ac_site_key key = make_key(i);
	const bool kept = i % 8 == 7 || key.type[1] == '1';
	const enum ac_rung rung = kept ? AC_RUNG_KEEP : i % 4 == 1 ?
	    AC_RUNG_TF32 : i % 16 == 6 ? AC_RUNG_BF16 : AC_RUNG_FP16;
	struct ac_decision decision = { .rung = rung,
		.tactic = rung == AC_RUNG_TF32 ? AC_TACTIC_LIBRARY
		    : AC_TACTIC_CAST,
		.reason = key.type[1] == '1' ? AC_REASON_TYPE
		    : kept ? reasons[i / 8 % 3] : AC_REASON_NONE,
		.source = i == 4 ? HOSTILE : "amp", .line = 4, .tol = 1e-3f,
		.guard = AC_GUARD_ON };
	const struct ac_site_region *region = i % 10 == 8 ? &inside
	    : &ac_outside;
	struct ac_site_record *site = ac_report_site(region, &key, &decision,
	    i == 4 ? HOSTILE : i == 6 ? "head" : NULL, NULL);

	if (i < 3)
		count_ranges(site, i);
	if (kept) {
		count_calls(site, 0, 40, decision.reason);
		return;
	}
	make_course(&site->course, &key, rung, i);
	note_events(site, i);
	count_calls(site, is_large ? 2 : 200 + (int)draw(1800),
	    i % 6 ? 3 : 0, AC_REASON_PROBATION);
	if (i % 9 != 2)
		return;
	decision.rung = AC_RUNG_TF32;
	decision.tactic = AC_TACTIC_LIBRARY;
	site = ac_report_site(region, &key, &decision, NULL, NULL);
	make_course(&site->course, &key, AC_RUNG_TF32, i + 1);
	count_calls(site, is_large ? 1 : 60, 0, AC_REASON_NONE);
}

int
main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 34;
	const bool device = argc > 2 && !strcmp(argv[2], "device");
	const struct ac_policy_origin origin = { "amp",
		"nobody chose a policy: this is the default", false };

	ac_report_open(&origin, "a note </style><script>alert(2)</script>\n");
	ac_report_machine(device ? "NVIDIA H100 80GB HBM3"
	    : "NVIDIA H200 (emulated)", 90, "cublas-13.1", !device);
	ac_report_clock(device ? AC_CLOCK_DEVICE : AC_CLOCK_MODELLED);
	for (int i = 0; i < count; i++)
		count_site(i, count > 1000);
	for (int i = 0; i < 7; i++)
		ac_report_count_marker(ac_report_marker("cublasStrsm_v2"));
	ac_report_peak_scratch(35676160);
	return 0;
}
