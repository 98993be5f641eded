/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_checked.c -- what was checked, in words: of a site
 * and of a run. No error stands there where nothing was measured. */
#include "with_report.h"

#include <math.h>

static char told[1024];

static void
tell(const char *piece, void *context)
{
	if (*told)
		strcat(told, "; ");
	strcat(told, piece);
}

/* A recast site with this course, and so many calls. */
static struct ac_site_total
site_with(struct ac_site_course course, uint64_t recast)
{
	struct ac_report *report;
	struct ac_site_total site;

	make_calls(make_site(0, AC_RUNG_FP16, AC_TACTIC_CAST,
	    AC_REASON_NONE), recast, AC_REASON_PROBATION, 3);
	made[0].tol = 0.5f;
	memcpy(&made[0].course, &course, sizeof course);
	report = make_report(1);
	memcpy(&site, &report->sites[0], sizeof site);
	return site;
}

static const char *
checks(const struct ac_site_total *site)
{
	*told = '\0';
	ac_site_add_checks(site, tell, NULL);
	return told;
}

#define COURSE(...) ((struct ac_site_course){ __VA_ARGS__ })

CASE(test_site)
{
	static const struct {
		struct ac_site_course course;
		const char           *wanted;
	} rows[] = {
		{ { .judged = 4817, .error = 0.16f },
		  "checked: every call; worst error 0.16, 0.32 of tol" },
		{ { .judged = 4812, .error = 0.16f, .line_error = 0.6f,
		    .mended_lines = 3, .mended_calls = 1, .unread = 5 },
		  "checked: 4812 of 4817 calls; mended: 3 lines, 1 call; worst "
		  "error 0.16 (line 0.6), 0.32 of tol; 5 checks unread" },
		{ { .judged = 1, .error = NAN, .mended_calls = 2,
		    .unread = 1 },
		  "checked: 1 of 4817 calls; mended: 2 calls; worst error inf, "
		  "inf of tol; 1 check unread" },
		/* What was heard of a replay is no call. */
		{ { .judged = 90000, .captured = 5, .mended_lines = 1 },
		  "checked: 90000 times, replays included; mended: 1 line; "
		  "worst error 0, 0.00 of tol" },
		/* A convolution. */
		{ { .samples = 79, .error = 0.25f },
		  "79 samples in FP64; worst error 0.25, 0.50 of tol" },
		{ { .samples = 1 },
		  "1 sample in FP64; worst error 0, 0.00 of tol" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_site_total site = site_with(rows[i].course,
		    4817);

		assert_string_equal(checks(&site), rows[i].wanted);
	}
}

/* Under learn=on no result of it was used: nothing was checked or mended. */
CASE(test_learnt)
{
	struct ac_site_total site = site_with(COURSE(.judged = 12,
	    .error = 0.16f, .mended_lines = 2), 0);

	assert_string_equal(checks(&site), "measured next to 12 calls; "
	    "to mend: 2 lines; worst error 0.16, 0.32 of tol");
	site.recast = 12;
	assert_string_equal(checks(&site), "checked: every call; mended: "
	    "2 lines; worst error 0.16, 0.32 of tol");
}

/* Why nothing was judged. Under guard=off nothing is, whatever was mended. */
CASE(test_unjudged)
{
	struct ac_site_total site = site_with(COURSE(.captured = 9), 10);

	assert_string_equal(checks(&site), "not checked: no verdict yet");
	site.course.captured = 10;
	assert_string_equal(checks(&site), "not checked: recorded into graphs");
	site.tactic = AC_TACTIC_LIBRARY;
	assert_string_equal(checks(&site),
	    "not checked: the library's own conversion");
	site.guard = AC_GUARD_OFF;
	assert_string_equal(checks(&site), "not checked: guard=off");
	site.course.judged = 10;
	site.course.mended_lines = 2;
	assert_string_equal(checks(&site),
	    "not checked: guard=off; mended: 2 lines");
	site.course.mended_lines = 0;
	site.recast = 0;
	assert_string_equal(checks(&site), "not checked: kept");
	site.rung = AC_RUNG_KEEP;
	assert_string_equal(checks(&site), "not checked: kept");
	site.guard = AC_GUARD_ON;
	site.course.samples = 1;
	assert_null(strstr(checks(&site), "not checked"));
}

static uint32_t made_operation = AC_OP_GEMM_SINGLE;

/* What the end of a run says of sites with these courses, ten calls each. */
static const char *
basis_of(const struct ac_site_course *courses, int count, bool guarded)
{
	static char buffer[512];
	struct ac_report_totals t;
	struct ac_report *report;
	struct ac_text text;

	for (int i = 0; i < count; i++) {
		make_calls(make_site(i, AC_RUNG_FP16, made_operation
		    ? AC_TACTIC_LIBRARY : AC_TACTIC_CAST, AC_REASON_NONE), 10,
		    AC_REASON_NONE, 0);
		made[i].key.operation = made_operation;
		made[i].tol = 0.5f;
		made[i].guard = guarded ? AC_GUARD_ON : AC_GUARD_OFF;
		memcpy(&made[i].course, &courses[i], sizeof *courses);
	}
	report = make_report((uint32_t)count);
	ac_report_totals(report, &t);
	ac_text_init(&text, buffer, sizeof buffer);
	ac_totals_add_checks(&text, &t);
	if (ac_totals_have_error(&t))
		ac_text_add(&text, " -- ");
	ac_totals_add_error(&text, &t);
	return buffer;
}

CASE(test_run)
{
	static const struct ac_site_course some[] = {
		{ .judged = 9, .error = 0.125f, .unread = 1, .captured = 1,
		  .mended_lines = 3, .mended_calls = 1 },
		{ .judged = 4, .error = 0.25f, .line_error = 0.375f },
		{ .captured = 10, .mended_calls = 1 },
	}, good = { .judged = 12, .captured = 1 }, none = { 0 },
	    sampled = { .samples = 3, .error = 0.25f, .captured = 4 };

	assert_string_equal(basis_of(some, 3, true), "checked 13 of 30 recast "
	    "calls; mended 3 lines, 2 calls; 1 check unread; not checked: "
	    "recorded into graphs (10 calls) -- worst error 0.25 (line 0.38), "
	    "0.50 of tol 0.5");
	assert_string_equal(basis_of(&good, 1, true), "checked 10 of 10 recast "
	    "calls -- worst error 0, 0.00 of tol 0.5");
	assert_string_equal(basis_of(&none, 1, true), "not checked: no verdict "
	    "yet (10 calls)");
	assert_string_equal(basis_of(&none, 1, false), "not checked: guard=off "
	    "(10 calls)");
	assert_string_equal(basis_of(&none, 0, false), "nothing checked");
	/* Convolutions have samples; of their replays there are none. */
	made_operation = AC_OP_CONV_FPROP;
	assert_string_equal(basis_of(&sampled, 1, true), "3 samples in FP64; "
	    "not checked: recorded into graphs (4 calls) -- worst error 0.25, "
	    "0.50 of tol 0.5");
}

CASES_RUN(NULL, NULL)
