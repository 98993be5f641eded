/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_ranges.c -- exponents counted at sites: places that
 * stay, are shared by a site's rungs, bounded, and empty again in a forked
 * child. */
#include "tests/unit/with_state.h"

#include <sys/resource.h>

enum { SITES = 40 };    /* more than two blocks hold */

static uint64_t *held[SITES];

static uint64_t
exponents_in(const struct ac_report *report, int64_t i, int exponent)
{
	const struct ac_site_key key = key_of(i);
	const struct ac_exponents *ranges = ac_report_find_ranges(report, &key,
	    "");

	return ranges ? ranges->counts[exponent] : 0;
}

static void
count_some(void)
{
	for (int i = 0; i < SITES; i++) {
		struct ac_site_record *site = site_of(i + 1);

		ac_report_count(site, AC_REASON_NONE);
		held[i] = ac_report_ranges(site);
		if (!held[i] || held[i] != ac_report_ranges(site))
			_exit(1);
		for (int e = 0; e < AC_REPORT_RANGES; e++)
			if (held[i][e])
				_exit(2);
		held[i][127] = (uint64_t)i + 100;
		held[i][256 + 255] = 7;
	}
}

static void
count_and_die(void)
{
	count_some();
	kill(getpid(), SIGKILL);
}

/* Exact after a kill; asked for at some sites, told of those. */
CASE_WITH(test_kept, make_state, remove_state)
{
	struct ac_report *report;

	in_child(count_and_die);
	report = load(1);
	assert_int_equal(report->ranges_count, SITES);
	for (int i = 0; i < SITES; i++) {
		assert_int_equal(exponents_in(report, i + 1, 127), i + 100);
		assert_int_equal(exponents_in(report, i + 1, 256 + 255), 7);
		assert_int_equal(exponents_in(report, i + 1, 0), 0);
	}
	assert_int_equal(exponents_in(report, SITES + 1, 127), 0);
	ac_report_destroy(report);
}

/* A demoted site has another record, not other operands. */
static void
count_rungs(void)
{
	const struct ac_decision other = {
		.rung = AC_RUNG_TF32, .tactic = AC_TACTIC_LIBRARY
	};
	const struct ac_site_key key = key_of(1);
	struct ac_site_record *second;

	count_some();
	second = ac_report_site(&ac_outside, &key, &other, NULL, NULL);
	ac_report_count(second, AC_REASON_NONE);
	if (ac_report_ranges(second) != held[0])
		_exit(1);
}

CASE_WITH(test_shared, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_rungs), 0);
	report = load(1);
	assert_int_equal(report->site_count, SITES + 1);
	assert_int_equal(report->ranges_count, SITES);
	assert_int_equal(exponents_in(report, 1, 127), 100);
	ac_report_destroy(report);
}

/* The same calls in a region are another site, with operands of their own. */
static void
count_regions(void)
{
	const struct ac_site_key key = key_of(1);
	struct ac_site_region region;
	struct ac_site_record *inside;
	uint64_t *ranges;

	count_some();
	memset(&region, 0, sizeof region);
	strcpy(region.name, "big");
	inside = ac_report_site(&region, &key, &by_cast, NULL, NULL);
	ac_report_count(inside, AC_REASON_NONE);
	ranges = ac_report_ranges(inside);
	if (!ranges || ranges == held[0])
		_exit(1);
	ranges[200] = 5;
}

static void
print(const char *bytes, size_t count, void *text)
{
	ac_text_add_bytes(text, bytes, count);
}

CASE_WITH(test_regions, make_state, remove_state)
{
	static char page[1 << 18];
	const struct ac_site_key key = key_of(1);
	const struct ac_exponents *inside;
	struct ac_report *report;
	struct ac_text text;

	assert_int_equal(in_child(count_regions), 0);
	report = load(1);
	assert_int_equal(report->ranges_count, SITES + 1);
	assert_int_equal(exponents_in(report, 1, 127), 100);
	assert_int_equal(exponents_in(report, 1, 200), 0);
	inside = ac_report_find_ranges(report, &key, "big");
	assert_non_null(inside);
	assert_int_equal(inside->counts[127], 0);
	assert_int_equal(inside->counts[200], 5);
	ac_text_init(&text, page, sizeof page);
	assert_true(ac_report_as_ranges(report, NULL, print, &text));
	assert_non_null(strstr(page, ", region big, rung "));
	ac_report_destroy(report);
}

static void
child_counts(void)
{
	ac_report_count(site_of(1), AC_REASON_NONE);
	for (int i = 0; i < SITES; i++)
		if (held[i][127])
			_exit(1);
	held[SITES - 1][127] = 1000;
	if (ac_report_ranges(site_of(SITES)) != held[SITES - 1])
		_exit(2);
}

static void
fork_and_count(void)
{
	count_some();
	if (in_child(child_counts) || held[SITES - 1][127] != SITES + 99)
		_exit(1);
}

CASE_WITH(test_fork, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(fork_and_count), 0);
	report = load(1);
	assert_int_equal(report->process_count, 2);
	assert_int_equal(report->ranges_count, SITES);
	assert_int_equal(exponents_in(report, 1, 127), 100);
	assert_int_equal(exponents_in(report, SITES, 127),
	    SITES + 99 + 1000);
	ac_report_destroy(report);
}

static void
count_too_many(void)
{
	for (int i = 0; i < AC_FILE_RANGES + 10; i++) {
		struct ac_site_record *site = site_of(i + 1);
		uint64_t *ranges = ac_report_ranges(site);

		ac_report_count(site, AC_REASON_NONE);
		if ((ranges != NULL) != (i < AC_FILE_RANGES))
			_exit(1);
		if (ranges)
			ranges[1] = (uint64_t)i + 1;
	}
}

CASE_WITH(test_bounded, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_too_many), 0);
	report = load(1);
	assert_int_equal(report->ranges_count, AC_FILE_RANGES);
	for (int i = 1; i <= AC_FILE_RANGES; i++)
		assert_int_equal(exponents_in(report, i, 1), i);
	ac_report_destroy(report);
}

/* Nobody would read them, or there is no room: nothing is counted. */
static void
ask_in_vain(void)
{
	struct ac_site_record *site = site_of(1);

	ac_report_count(site, AC_REASON_NONE);
	if (ac_report_ranges(site))
		_exit(1);
}

static void
ask_with_limit(void)
{
	const struct rlimit limit = { 1 << 20, 1 << 20 };

	setrlimit(RLIMIT_FSIZE, &limit);
	ask_in_vain();
}

CASE_WITH(test_no_room, make_state, remove_state)
{
	assert_int_equal(in_child(ask_with_limit), 0);
	setenv("AUTOCAST_STATE", "off", 1);
	assert_int_equal(in_child(ask_in_vain), 0);
}

/* Places that a file does not have, or does not vouch for, are not read. */
static void
cut(const char *path)
{
	assert_int_equal(truncate(path, (off_t)ac_file_ranges_offset(1)), 0);
}

static void
deny(const char *path)
{
	const uint64_t first_block = 1;
	const int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, &first_block, sizeof first_block,
	    offsetof(struct ac_file_header, range_blocks)),
	    sizeof first_block);
	close(fd);
}

CASE_WITH(test_denied, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_some), 0);
	each_file(deny);
	report = load(1);
	assert_int_equal(report->ranges_count, 16);
	ac_report_destroy(report);
}

CASE_WITH(test_cut, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_some), 0);
	each_file(cut);
	report = load(1);
	assert_int_equal(report->site_count, SITES);
	assert_int_equal(report->ranges_count, 16);
	assert_int_equal(exponents_in(report, 16, 127), 115);
	ac_report_destroy(report);
}

CASES_RUN(NULL, NULL)
