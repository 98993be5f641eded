/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_count.c -- the numbers are exact, however a process
 * ends, however many threads count, however many sites there are. */
#include "tests/unit/with_state.h"

#include <pthread.h>
#include <sys/resource.h>

enum { THREADS = 8, EACH = 100000 };

static int ending;

static void
count_three(void)
{
	const struct ac_policy_origin origin = { "fp16", "because", true };
	struct ac_site_record *site;

	ac_report_open(&origin, "a note\nanother\n");
	site = site_of(7);
	ac_report_count(site, AC_REASON_NONE);
	ac_report_count(site, AC_REASON_REFUSED);
	ac_report_count(site_of(8), AC_REASON_CAPTURE);
	ac_report_count_marker(ac_report_marker("cublasStrsm_v2"));
	ac_report_machine("GPU", 90, "cublas-13.1", true);
	ac_report_peak_scratch(100);
	ac_report_peak_scratch(50);
}

static void
count_and_end(void)
{
	struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	count_three();
	switch (ending) {
	case 0:
		exit(0);
	case 1:
		_exit(0);
	case 2:
		signal(SIGABRT, SIG_DFL);
		abort();
	case 3:
		kill(getpid(), SIGKILL);
		break;
	case 4:
		execl("/bin/true", "true", (char *)NULL);
		break;
	case 5:
		quick_exit(0);
	}
}

/* Numbers survive exit, _exit, abort, SIGKILL, exec and quick_exit. */
CASE_WITH(test_endings, make_state, remove_state)
{
	for (ending = 0; ending < 6; ending++) {
		struct ac_report *report;
		const struct ac_site_total *site;

		each_file(remove_one);
		in_child(count_and_end);
		report = load(1);
		assert_non_null(report);
		assert_int_equal(report->process_count, 1);
		assert_int_equal(report->site_count, 2);
		site = site_in(report, 7);
		assert_int_equal(site->calls, 2);
		assert_int_equal(site->recast, 1);
		assert_int_equal(site->kept[AC_REASON_REFUSED], 1);
		assert_int_equal(site_in(report, 8)->kept[AC_REASON_CAPTURE],
		    1);
		assert_int_equal(report->marker_count, 1);
		assert_int_equal(report->markers[0].calls, 1);
		assert_int_equal(report->processes[0].finished, ending == 0);
		assert_int_equal(report->processes[0].peak_scratch_bytes, 100);
		assert_string_equal(report->processes[0].policy, "fp16");
		assert_string_equal(report->processes[0].notes,
		    "a note\nanother\n");
		ac_report_destroy(report);
	}
}

/* What was decided is part of the record; the first clock stays. */
static void
decide_and_measure(void)
{
	const struct ac_decision decision = {
		.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST,
		.source = "fp16", .tol = 0.5, .guard = AC_GUARD_STRICT,
		.keep_seconds = 8e-6,
		.candidate_count = 3, .candidate = {
			{ AC_RUNG_TF32, AC_TACTIC_LIBRARY, 0.25, 4e-6, 0 },
			{ AC_RUNG_FP16, AC_TACTIC_CAST, 0.5, 2e-6, 0 },
			{ AC_RUNG_BF16, AC_TACTIC_CAST, 0.5, 3e-6, 0 },
		}
	};
	const struct ac_site_key key = key_of(7);
	struct ac_site_record *site = ac_report_site(&ac_outside, &key,
	    &decision, NULL, NULL);

	ac_report_count(site, AC_REASON_NONE);
	site->course.samples = 3;
	ac_report_clock(AC_CLOCK_MODELLED);
	ac_report_clock(AC_CLOCK_DEVICE);
}

CASE_WITH(test_decided, make_state, remove_state)
{
	const struct ac_site_total *site;
	struct ac_report *report;

	assert_int_equal(in_child(decide_and_measure), 0);
	report = load(1);
	site = site_in(report, 7);
	assert_true(site->tol == 0.5);
	assert_int_equal(site->guard, AC_GUARD_STRICT);
	assert_int_equal(site->course.samples, 3);
	assert_true(site->course.keep_predicted_us == 8);
	assert_true(site->course.recast_predicted_us == 2);
	assert_int_equal(report->processes[0].clock, AC_CLOCK_MODELLED);
	ac_report_destroy(report);
}

static void *
count_many(void *unused)
{
	struct ac_site_record *marked = site_of(1);
	struct ac_marker_record *marker = ac_report_marker("m");

	for (int i = 0; i < EACH; i++) {
		ac_report_count(i & 1 ? marked : site_of(i % 97 + 1),
		    i % 3 ? AC_REASON_NONE : AC_REASON_GUARD);
		ac_report_count_marker(marker);
	}
	return NULL;
}

static void
count_in_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count_many, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

CASE_WITH(test_threads, make_state, remove_state)
{
	struct ac_report_totals totals;
	struct ac_report *report;

	assert_int_equal(in_child(count_in_threads), 0);
	report = load(1);
	assert_int_equal(report->site_count, 97);
	ac_report_totals(report, &totals);
	assert_int_equal(totals.calls, THREADS * EACH);
	assert_int_equal(totals.recast_calls, THREADS * (EACH - 33334));
	assert_int_equal(totals.kept_calls[AC_REASON_GUARD], THREADS * 33334);
	assert_int_equal(report->markers[0].calls, THREADS * EACH);
	ac_report_destroy(report);
}

/* One key and one decision, one record, one address; decided again, the site
 * has another record under the same id. */
static void
find_again(void)
{
	const struct ac_decision other = {
		.rung = AC_RUNG_KEEP, .reason = AC_REASON_NO_RULE,
		.source = "other"
	};
	const struct ac_site_key key = key_of(3);
	struct ac_site_record *first = ac_report_site(&ac_outside, &key,
	    &by_cast, "name", NULL);
	struct ac_site_record *again;
	bool overflow = true;

	for (int i = 4; i < 5000; i++)
		(void)site_of(i);
	errno = ENOTTY;
	if (ac_report_site(&ac_outside, &key, &by_cast, NULL, &overflow)
	    != first ||
	    overflow || strcmp(first->source, "fp16") ||
	    strcmp(first->name, "name") || errno != ENOTTY ||
	    first->id != ac_text_hash(AC_TEXT_HASH_START, &key, sizeof key))
		_exit(1);
	again = ac_report_site(&ac_outside, &key, &other, NULL, &overflow);
	if (again == first || again->id != first->id ||
	    strcmp(again->source, "other") ||
	    ac_report_site(&ac_outside, &key, &other, NULL, NULL) != again ||
	    ac_report_site(&ac_outside, &key, &by_cast, NULL, NULL) != first)
		_exit(2);
}

/* By its region's name, too, which is part of the id, and by what the
 * program asks for there. */
static void
find_in_region(void)
{
	const struct ac_site_region loss = { .name = "loss" },
	    enc = { .name = "enc" },
	    closed = { .name = "enc", .is_disabled = 1 };
	const struct ac_site_key key = key_of(3);
	struct ac_site_record *first = ac_report_site(&ac_outside, &key,
	    &by_cast, NULL, NULL);
	struct ac_site_record *in_loss = ac_report_site(&loss, &key,
	    &by_cast, NULL, NULL);
	struct ac_site_record *in_enc = ac_report_site(&enc, &key, &by_cast,
	    NULL, NULL);
	struct ac_site_record *in_closed = ac_report_site(&closed, &key,
	    &by_cast, NULL, NULL);

	for (int i = 4; i < 5000; i++)
		(void)site_of(i);
	if (in_loss == first || in_enc == first || in_loss == in_enc ||
	    in_closed == in_enc || in_loss->id == first->id ||
	    in_loss->id == in_enc->id || in_closed->id != in_enc->id ||
	    *first->region.name || strcmp(in_enc->region.name, "enc") ||
	    in_enc->region.is_disabled || !in_closed->region.is_disabled)
		_exit(1);
	if (ac_report_site(&ac_outside, &key, &by_cast, NULL, NULL) != first ||
	    ac_report_site(&loss, &key, &by_cast, NULL, NULL) != in_loss ||
	    ac_report_site(&closed, &key, &by_cast, NULL, NULL) !=
	    in_closed)
		_exit(2);
}

CASE_WITH(test_identity, make_state, remove_state)
{
	assert_int_equal(in_child(find_again), 0);
	assert_int_equal(in_child(find_in_region), 0);
}

/* The 100,001st site shares the overflow site, which keeps. */
static void
overflow(void)
{
	struct ac_site_record *last;
	bool is_overflow;

	for (int i = 1; i <= AC_FILE_SITES; i++) {
		const struct ac_site_key key = key_of(i);

		ac_report_count(ac_report_site(&ac_outside, &key, &by_cast,
		    NULL, &is_overflow), AC_REASON_NONE);
		if (is_overflow)
			_exit(1);
	}
	for (int i = 1; i <= 10; i++) {
		const struct ac_site_key key = key_of(AC_FILE_SITES + i);

		last = ac_report_site(&ac_outside, &key, &by_cast, NULL,
		    &is_overflow);
		if (!is_overflow || last->rung != AC_RUNG_KEEP)
			_exit(2);
		ac_report_count(last, AC_REASON_NO_RULE);
	}
	/* Old sites are still found. */
	if (site_of(1) == last || site_of(1)->key.m != 1)
		_exit(3);
}

CASE_WITH(test_overflow, make_state, remove_state)
{
	struct ac_report_totals totals;
	struct ac_report *report;

	assert_int_equal(in_child(overflow), 0);
	report = load(1);
	assert_int_equal(report->site_count, AC_FILE_SITES + 1);
	assert_false(report->incomplete);
	ac_report_totals(report, &totals);
	assert_int_equal(totals.calls, AC_FILE_SITES + 10);
	assert_int_equal(totals.kept_calls[AC_REASON_NO_RULE], 10);
	ac_report_destroy(report);
}

static void
many_markers(void)
{
	char symbol[64];

	for (int i = 0; i < 1000; i++) {
		snprintf(symbol, sizeof symbol,
		    "%03d_a_symbol_longer_than_its_field_allows", i);
		ac_report_count_marker(ac_report_marker(symbol));
		ac_report_count_marker(ac_report_marker(symbol));
	}
}

CASE_WITH(test_markers, make_state, remove_state)
{
	struct ac_report *report;
	uint64_t calls = 0;

	assert_int_equal(in_child(many_markers), 0);
	report = load(1);
	assert_int_equal(report->marker_count, AC_FILE_MARKERS);
	for (size_t i = 0; i < report->marker_count; i++)
		calls += report->markers[i].calls;
	assert_int_equal(calls, 2000);
	ac_report_destroy(report);
}

CASES_RUN(NULL, NULL)
