/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_words.c -- how sites, shares and amounts are
 * spelled. */
#include "with_report.h"

static char buffer[256];
static struct ac_text text;

static void
start(void)
{
	ac_text_init(&text, buffer, sizeof buffer);
}

#define SAYS(call, wanted) do { \
	start(); \
	call; \
	assert_string_equal(buffer, wanted); \
} while (0)

CASE(test_site)
{
	struct ac_site_total site = { .line = 3 };

	site.key = key_of(256);
	site.key.n = 64;
	site.key.k = 1024;
	strcpy(site.source, "my.policy");
	SAYS(ac_site_add_operation(&text, &site), "gemm.nt");
	SAYS(ac_site_add_sizes(&text, &site), "256x64x1024");
	SAYS(ac_site_add_line(&text, &site), "my.policy:3");
	site.key.operation = AC_OP_GEMM_STRIDED;
	site.key.ta = 'C';
	site.key.batch = 8;
	SAYS(ac_site_add_operation(&text, &site), "gemm.strided.ct");
	SAYS(ac_site_add_sizes(&text, &site), "256x64x1024x8");
	site.line = 0;
	SAYS(ac_site_add_line(&text, &site), "my.policy");
	site.source[0] = '\0';
	SAYS(ac_site_add_line(&text, &site), "-");
}

/* Neither all nor nothing unless it is. */
CASE(test_share)
{
	SAYS(ac_share_add(&text, 1, 1), "100.0 %");
	SAYS(ac_share_add(&text, 0, 1), "0.0 %");
	SAYS(ac_share_add(&text, 1, 3), "33.3 %");
	SAYS(ac_share_add(&text, 99999, 100000), "99.9 %");
	SAYS(ac_share_add(&text, 1, 100000), "<0.1 %");
	SAYS(ac_share_add(&text, 0, 0), "0.0 %");
}

CASE(test_amounts)
{
	SAYS(ac_flops_add(&text, 0), "0 FLOP");
	SAYS(ac_flops_add(&text, 999), "999 FLOP");
	SAYS(ac_flops_add(&text, 1.25e9), "1.25 GFLOP");
	SAYS(ac_flops_add(&text, 123456e12), "123 PFLOP");
	SAYS(ac_text_add_count(&text, 1, "call"), "1 call");
	SAYS(ac_text_add_count(&text, 0, "call"), "0 calls");
	SAYS(ac_text_add_count(&text, UINT64_MAX, "call"),
	    "18446744073709551615 calls");
	SAYS(ac_text_add_clean(&text, "a\033[31m\n\177\xc3\xa9"),
	    "a?[31m??\xc3\xa9");
	/* C1 control characters, in UTF-8 and not; what is no UTF-8. */
	SAYS(ac_text_add_clean(&text, "\xc2\x9b" "2J\x9b" "2J\xc2\xa0\xe2\x82"),
	    "?2J?2J\xc2\xa0??");
	SAYS(ac_rate_add(&text, 0), "0.0");
	SAYS(ac_rate_add(&text, 999.94), "999.9");
	SAYS(ac_rate_add(&text, 12345.6), "12346");
}

CASE(test_lists)
{
	struct ac_report_totals totals;
	struct ac_report *report;

	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), 6, AC_REASON_GUARD, 1);
	make_calls(make_site(1, AC_RUNG_TF32, AC_TACTIC_LIBRARY,
	    AC_REASON_NONE), 1, AC_REASON_NONE, 0);
	strcpy(made[1].key.asked, "tf32");
	made[1].key.k = 1;
	report = make_report(2);
	ac_report_totals(report, &totals);
	SAYS(ac_totals_add_rungs(&text, &totals), "tf32 12.5 %, fp16 75.0 %");
	SAYS(ac_totals_add_reasons(&text, &totals), "guard 12.5 % (1 call)");
	SAYS(ac_report_add_baseline(&text, report), "fp32 87.5 %, tf32 12.5 %");
	report = make_report(1);
	SAYS(ac_report_add_baseline(&text, report), "fp32");
}

/* A file may hold any words, and calls that compute nothing. */
CASE(test_many_asked)
{
	struct ac_site_total sites[18];
	struct ac_report report = { .sites = sites, .site_count = 18 };

	memset(sites, 0, sizeof sites);
	for (uint8_t i = 0; i < 18; i++) {
		sites[i].is_fp32 = true;
		sites[i].flops = i ? 1 : 0;
		sites[i].calls = i == 1 ? 84 : 1;
		snprintf(sites[i].key.asked, sizeof sites[i].key.asked, "w%d",
		    i);
	}
	sites[3].is_fp32 = false;
	SAYS(ac_report_add_baseline(&text, &report), "w1 84.8 %, w2 1.0 %, "
	    "w4 1.0 %, w5 1.0 %, w6 1.0 %, w7 1.0 %, w8 1.0 %, w9 1.0 %, "
	    "w10 1.0 %, w11 1.0 %, w12 1.0 %, w13 1.0 %, w14 1.0 %, "
	    "w15 1.0 %, w16 1.0 %, others 1.0 %");
}

CASES_RUN(NULL, NULL)
