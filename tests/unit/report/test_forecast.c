/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_forecast.c -- what other policies would do with a run:
 * which calls the sums are of, values to the byte, a line per policy. */
#include "with_report.h"
#include "report/forecast/forecast.h"

enum { SITES = 4 };

static struct ac_report *report;
static struct ac_site_row *rows;
static struct ac_forecast forecasts[SITES];
static struct ac_forecast_policy policies[3];
static char page[8192];
static struct ac_text text;

static void
take(const char *bytes, size_t count, void *context)
{
	ac_text_add_bytes(&text, bytes, count);
}

static struct ac_forecast *
find(uint32_t id)
{
	for (size_t i = 0; i < SITES; i++)
		if (forecasts[i].row->rungs[0]->id == id)
			return &forecasts[i];
	fail();
	return NULL;
}

/* A product on fp16 that stays, one of FP64, one whose time nobody knows, and
 * convolutions that nobody read. */
static int
set_up(void **state)
{
	size_t count;

	memset(&made_header, 0, sizeof made_header);
	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST, AC_REASON_NONE),
	    10, AC_REASON_NONE, 0);
	strcpy(made[0].name, "a, \"b\"");
	make_calls(make_site(1, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TYPE), 0, AC_REASON_TYPE, 100);
	strcpy(made[1].key.type, "f64");
	make_calls(make_site(2, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_TOO_SMALL), 0, AC_REASON_TOO_SMALL, 5);
	make_calls(make_site(3, AC_RUNG_KEEP, AC_TACTIC_NONE,
	    AC_REASON_RULE), 0, AC_REASON_RULE, 3);
	make_unread(3);
	report = make_report(SITES);
	assert_true(ac_rows_make(report, AC_SORT_WORK, &rows, &count));
	assert_int_equal(count, SITES);
	memset(forecasts, 0, sizeof forecasts);
	for (size_t i = 0; i < SITES; i++)
		forecasts[i] = (struct ac_forecast){ .row = &rows[i],
			.is_read = true, .keep_us = 8, .recast_us = 8,
			.then_us = 8, .decision.source = "amp" };
	*find(0x10) = (struct ac_forecast){ .row = find(0x10)->row,
		.is_read = true, .keep_us = 8, .recast_us = 4, .then_us = 2,
		.decision = { .rung = AC_RUNG_TF32,
		    .tactic = AC_TACTIC_LIBRARY, .source = "-e", .line = 1 } };
	find(0x12)->decision.rung = AC_RUNG_FP16;
	find(0x12)->recast_us = 0;
	find(0x13)->is_read = false;
	ac_text_init(&text, page, sizeof page);
	return 0;
}

static int
clear(void **state)
{
	free(rows);
	return 0;
}

static void
make_policies(size_t count)
{
	static const char *const typed[] = { "fp16", "a, \"b\"\033",
		"gemm -> tf32" };

	memset(policies, 0, sizeof policies);
	for (size_t i = 0; i < count; i++) {
		strcpy(policies[i].name, i ? "policy N" : "fp16");
		policies[i].typed = typed[i];
		ac_forecast_add_up(forecasts, SITES, &policies[i].sum);
	}
}

static struct ac_forecast_view
view_of(size_t count)
{
	make_policies(count);
	return (struct ac_forecast_view){ .report = report,
		.rates = "NVIDIA H200", .policies = policies,
		.policy_count = count, .forecasts = forecasts,
		.count = SITES };
}

/* 20000 of the 30000 + 20000 FLOPs of FP32 are of site 0, and 30000 of site 2
 * would be recast, too. */
CASE_WITH(sums_are_of_fp32, set_up, clear)
{
	struct ac_forecast_sum sum;

	ac_forecast_add_up(forecasts, SITES, &sum);
	assert_int_equal(sum.calls, 10);
	assert_int_equal(sum.unknown_calls, 8);
	assert_int_equal(sum.unknown_sites, 2);
	assert_true(sum.keep_us == 80 && sum.recast_us == 40);
	assert_true(sum.then_us == 20);
	assert_true(sum.recast_share == 1);
	assert_true(ac_forecast_ratio(&sum) == 0.5);
	find(0x12)->decision.rung = AC_RUNG_KEEP;
	ac_forecast_add_up(forecasts, SITES, &sum);
	assert_true(sum.recast_share == 0.4);
}

CASE_WITH(nothing_is_known, set_up, clear)
{
	struct ac_forecast_sum sum;

	ac_forecast_add_up(forecasts, 0, &sum);
	assert_true(ac_forecast_ratio(&sum) == 0);
	assert_int_equal(sum.calls + sum.unknown_calls, 0);
}

CASE_WITH(sites_as_values, set_up, clear)
{
	const struct ac_forecast_view view = view_of(1);

	ac_forecast_as_csv(&view, take, NULL);
	assert_non_null(strstr(page, "\n00000010,\"a, \"\"b\"\"\",,gemm.nt,,"
	    "1000,1,1,1,f32,10,0.4,fp16,tf32,library,-e,1,8,2,4,40\n"));
	assert_non_null(strstr(page, "\n00000011,,,gemm.nt,,1000,1,2,1,f64,"
	    "100,0,keep,keep,none,amp,0,,,,\n"));
	assert_non_null(strstr(page, "\n00000012,,,gemm.nt,,1000,1,3,1,f32,"
	    "5,0.6,keep,fp16,none,amp,0,,,,\n"));
	assert_non_null(strstr(page, ",sizes not read,0,0,0,0,-,3,0,keep,"
	    ",,,0,,,,\n"));
	for (const char *s = page; *s; s = strchr(s, '\n') + 1)
		assert_non_null(strchr(s, '\n'));
}

CASE_WITH(policies_as_values, set_up, clear)
{
	const struct ac_forecast_view view = view_of(2);

	ac_forecast_as_csv(&view, take, NULL);
	assert_string_equal(page, "policy,calls,unknown_calls,keep_us,"
	    "then_us,policy_us,ratio,recast_share\n"
	    "fp16,10,8,80,20,40,0.5,1\n"
	    "\"a, \"\"b\"\"?\",10,8,80,20,40,0.5,1\n");
}

CASE_WITH(one_object, set_up, clear)
{
	struct ac_forecast_view view = view_of(1);

	ac_forecast_as_json(&view, take, NULL);
	assert_non_null(strstr(page, "\"rates\": \"NVIDIA H200\""));
	assert_non_null(strstr(page, "\"ratio\": 0.5"));
	assert_non_null(strstr(page, "\"sites\": ["));
	assert_non_null(strstr(page, "\"policy_us\": null"));
	ac_text_init(&text, page, sizeof page);
	view = view_of(2);
	view.rates = NULL;
	ac_forecast_as_json(&view, take, NULL);
	assert_non_null(strstr(page, "\"policy\": \"a, \\\"b\\\"\\u001b\""));
	assert_non_null(strstr(page, "\"rates\": \"\""));
	assert_null(strstr(page, "\"sites\""));
}

CASE_WITH(a_line_per_policy, set_up, clear)
{
	const struct ac_forecast_view view = view_of(3);

	ac_forecast_as_ratios(&view, take, NULL);
	assert_non_null(strstr(page,
	    "autocast report: estimated for 3 policies\n"));
	assert_non_null(strstr(page, "\n"
	    "  policy                        calls     plain      then  under it"
	    "   ratio   recast\n"
	    "  fp16                             10     80 us     20 us     40 us"
	    "    0.50  100.0 %\n"));
	assert_non_null(strstr(page,
	    "\n  without 8 calls of which no time is known\n"));
	policies[1].sum.unknown_calls = 0;
	ac_text_init(&text, page, sizeof page);
	ac_forecast_as_ratios(&view, take, NULL);
	assert_non_null(strstr(page, "\n  without 8 calls of which no time "
	    "is known under fp16\n  without 8 calls of which no time is known "
	    "under policy N\n"));
}

CASES_RUN(NULL, NULL)
