/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_report_load.c -- runs: which files make one, in which
 * order they come, and what happens to files that cannot be used. */
#include "tests/unit/with_state.h"

static int64_t number;

static void
count_number(void)
{
	ac_report_count(site_of(number), AC_REASON_NONE);
}

static void
run_number(int64_t n, const char *token)
{
	number = n;
	if (token)
		setenv("AUTOCAST_RUN", token, 1);
	else
		unsetenv("AUTOCAST_RUN");
	assert_int_equal(in_child(count_number), 0);
	unsetenv("AUTOCAST_RUN");
}

static void
expect(unsigned which, size_t processes, int64_t first)
{
	struct ac_report *report = load(which);

	assert_non_null(report);
	assert_int_equal(report->process_count, processes);
	assert_non_null(site_in(report, first));
	ac_report_destroy(report);
}

/* Without a token each process is a run; the last comes first. */
CASE_WITH(test_order, make_state, remove_state)
{
	run_number(1, NULL);
	assert_null(load(4));
	assert_non_null(strstr(load_why, "only 1 run is kept in"));
	run_number(2, NULL);
	run_number(3, NULL);
	expect(1, 1, 3);
	expect(2, 1, 2);
	expect(3, 1, 1);
	assert_null(load(4));
	assert_non_null(strstr(load_why, "only 3 runs are kept in"));
}

/* With one, all its processes, and a run is as young as its youngest. */
CASE_WITH(test_tokens, make_state, remove_state)
{
	struct ac_report *report;
	struct ac_text why;

	run_number(1, "a");
	run_number(2, "b");
	run_number(3, "a");
	run_number(4, NULL);
	expect(1, 1, 4);
	expect(2, 2, 1);
	expect(2, 2, 3);
	expect(3, 1, 2);
	ac_text_init(&why, load_why, sizeof load_why);
	report = ac_report_of("b", &why);
	assert_non_null(report);
	assert_non_null(site_in(report, 2));
	ac_report_destroy(report);
	assert_null(ac_report_of("c", &why));
	assert_true(why.used > 0);
}

/* A token longer than its field is cut alike on both sides. */
CASE_WITH(test_long_token, make_state, remove_state)
{
	static const char token[] =
	    "a-token-that-is-much-longer-than-what-the-header-holds-of-it";
	struct ac_report *report;
	struct ac_text why;

	run_number(1, token);
	ac_text_init(&why, load_why, sizeof load_why);
	report = ac_report_of(token, &why);
	assert_non_null(report);
	ac_report_destroy(report);
}

CASE_WITH(test_nothing, make_state, remove_state)
{
	assert_null(load(1));
	assert_non_null(strstr(load_why, "no run is kept in"));
	setenv("AUTOCAST_STATE", "/dev/null/nowhere", 1);
	assert_null(load(1));
	assert_true(*load_why);
	setenv("AUTOCAST_STATE", "off", 1);
	assert_null(load(1));
	assert_non_null(strstr(load_why, "AUTOCAST_STATE is off"));
}

static void
spoil(const char *path)
{
	const int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, "JUNK", 4, 0), 4);
	close(fd);
}

/* One line names the file, and the others still count. */
CASE_WITH(test_damaged, make_state, remove_state)
{
	char said[1024] = "";
	int channel[2], saved;
	ssize_t got;

	run_number(1, NULL);
	each_file(spoil);
	run_number(2, NULL);
	assert_int_equal(pipe(channel), 0);
	saved = dup(STDERR_FILENO);
	dup2(channel[1], STDERR_FILENO);
	expect(1, 1, 2);
	dup2(saved, STDERR_FILENO);
	close(channel[1]);
	got = read(channel[0], said, sizeof said - 1);
	close(channel[0]);
	assert_true(got > 0);
	assert_non_null(strstr(said, ": not a statistics file\n"));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

CASES_RUN(NULL, NULL)
