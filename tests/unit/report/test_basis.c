/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_basis.c -- what verdicts rest on, in words: of a site
 * and of a run. No error is told where nothing was measured. */
#include "with_report.h"

#include <math.h>

static char told[1024];

static void
tell(const char *piece, void *context)
{
	(void)context;
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
	ac_report_destroy(report);
	return site;
}

static const char *
basis(const struct ac_site_total *site)
{
	*told = '\0';
	ac_site_tell_basis(site, tell, NULL);
	return told;
}

#define COURSE(...) ((struct ac_site_course){ __VA_ARGS__ })

static void
test_site(void **state)
{
	static const struct {
		struct ac_site_course course;
		const char           *wanted;
	} rows[] = {
		{ { .judged = 4812, .samples = 79, .sampled_at = 4800,
		    .tries = 3, .error = 0.16f, .estimate = 0.25f },
		  "judged 4812 of 4820 calls on the device; 79 samples in "
		  "FP64; worst 0.32 of tol" },
		{ { .samples = 1, .sampled_at = 1, .tries = 1, .error = 0.25f },
		  "1 sample, of the first call; worst 0.50 of tol" },
		{ { .samples = 1, .sampled_at = 64 },
		  "1 sample, of call 64; worst 0.00 of tol" },
		{ { .judged = 4817, .estimate = 0.1f },
		  "judged 4817 of 4817 calls on the device; estimated at 0.20 "
		  "of tol at worst" },
		/* A retry's are among them, though no call was recast by it. */
		{ { .judged = 4819, .samples = 2, .tries = 1 },
		  "judged 4818 of 4818 calls on the device; 2 samples in FP64; "
		  "worst 0.00 of tol" },
		{ { .judged = 90000, .samples = 3, .captured = 5 },
		  "judged 90000 times on the device, replays included; 3 "
		  "samples in FP64; worst 0.00 of tol" },
		{ { .judged = 1, .suspects = 1, .estimate = NAN, .samples = 9,
		    .error = 0.5f },
		  "judged 1 of 4817 calls on the device; 9 samples in FP64; 1 "
		  "suspect; estimated at inf of tol at worst; worst 1.00 of "
		  "tol" },
		{ { .samples = 5, .pairs = 12, .demoted_pairs = 2, .unread = 3,
		    .oldest_unread = 37, .exact = 3e-4f },
		  "5 samples in FP64; worst 0.00 of tol; exact results off by "
		  "3e-4; 12 operand pairs (2 demoted); 3 samples unread, the "
		  "oldest 37 calls old" },
		{ { .samples = 5, .pairs = 1, .unread = 1, .oldest_unread = 1,
		    .exact = 9e-7f },
		  "5 samples in FP64; worst 0.00 of tol; 1 operand pair; 1 "
		  "sample unread, 1 call old" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_site_total site = site_with(rows[i].course,
		    4817);

		assert_string_equal(basis(&site), rows[i].wanted);
	}
}

/* Why nothing was judged; what was recorded is not said for what was not. */
static void
test_unjudged(void **state)
{
	struct ac_site_total site = site_with(COURSE(.captured = 9), 10);

	(void)state;
	assert_string_equal(basis(&site), "not judged: no verdict yet");
	site.sample_period = 0;
	assert_string_equal(basis(&site), "not judged: sample=off");
	site.course.captured = 10;
	assert_string_equal(basis(&site), "not judged: recorded into graphs");
	site.guard = AC_GUARD_OFF;
	assert_string_equal(basis(&site), "not judged: guard=off");
	site.key.operation = AC_OP_RNN;
	assert_string_equal(basis(&site), "not judged: a recurrent network");
	site.recast = 0;
	assert_string_equal(basis(&site), "not judged: kept");
	site.rung = AC_RUNG_KEEP;
	assert_string_equal(basis(&site), "not judged: kept");
	site.course.samples = 1;
	assert_null(strstr(basis(&site), "not judged"));
}

/* What the end of a run says of sites with these courses, ten calls each. */
static const char *
basis_of(const struct ac_site_course *courses, int count, bool guarded)
{
	static char buffer[512];
	struct ac_report_totals t;
	struct ac_report *report;
	struct ac_text text;

	for (int i = 0; i < count; i++) {
		make_calls(make_site(i, AC_RUNG_FP16, i == 1
		    ? AC_TACTIC_LIBRARY : AC_TACTIC_CAST, AC_REASON_NONE), 10,
		    AC_REASON_NONE, 0);
		made[i].tol = 0.5f;
		made[i].guard = guarded ? AC_GUARD_ON : AC_GUARD_OFF;
		memcpy(&made[i].course, &courses[i], sizeof *courses);
	}
	report = make_report((uint32_t)count);
	ac_report_totals(report, &t);
	ac_report_destroy(report);
	ac_text_init(&text, buffer, sizeof buffer);
	ac_totals_add_basis(&text, &t);
	if (ac_totals_have_error(&t))
		ac_text_add(&text, " -- ");
	ac_totals_add_error(&text, &t);
	return buffer;
}

static void
test_run(void **state)
{
	static const struct ac_site_course some[] = {
		{ .judged = 9, .samples = 4, .error = 0.125f, .tries = 2,
		  .unread = 2, .oldest_unread = 70, .captured = 1 },
		{ .samples = 3, .captured = 4, .error = 0.25f, .unread = 1,
		  .oldest_unread = 3 },
		{ .captured = 10 },
	}, first[] = {
		{ .samples = 1, .sampled_at = 1, .error = 0.05f },
		{ .samples = 1, .sampled_at = 1, .error = 0.05f },
	}, estimated = { .judged = 10, .estimate = 0.2f }, none = { 0 };

	(void)state;
	assert_string_equal(basis_of(some, 3, true), "judged 9 of 32 calls on "
	    "the device, 7 samples in FP64, 3 samples unread, the oldest 70 "
	    "calls old; not judged: recorded into graphs (14 calls) -- worst "
	    "sampled error 0.25, 0.50 of tol 0.5");
	assert_string_equal(basis_of(first, 1, true), "1 sample, of the first "
	    "call -- worst sampled error 0.05, 0.10 of tol 0.5");
	assert_string_equal(basis_of(first, 2, true), "2 samples, each of a "
	    "first call -- worst sampled error 0.05, 0.10 of tol 0.5");
	assert_string_equal(basis_of(&estimated, 1, true), "judged 10 of 10 "
	    "calls on the device -- errors estimated at 0.40 of tol at worst");
	assert_string_equal(basis_of(&none, 1, true), "not judged: no verdict "
	    "yet (10 calls)");
	assert_string_equal(basis_of(&none, 1, false), "not judged: guard=off "
	    "(10 calls)");
	assert_string_equal(basis_of(&none, 0, false), "no verdict");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site), cmocka_unit_test(test_unjudged),
		cmocka_unit_test(test_run),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
