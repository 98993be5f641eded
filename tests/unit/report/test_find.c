/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_find.c -- which file tells of a process that runs now,
 * and what is said when none does. */
#include "tests/unit/with_state.h"

#include "report/count/process.h"

static char found_why[512];
static struct ac_report_watched found;

static bool
find(int pid)
{
	struct ac_text why;

	ac_text_init(&why, found_why, sizeof found_why);
	return ac_report_find(pid, &found, &why);
}

/* A file as a process of that pid and start leaves it, `age` steps ago. */
static void
leave(int pid, uint64_t start, unsigned age, const char *program)
{
	static struct ac_file_front front;
	char name[160];
	FILE *file;

	memset(&front, 0, sizeof front);
	memcpy(front.header.magic, AC_FILE_MAGIC, sizeof front.header.magic);
	front.header.version = AC_FILE_VERSION;
	front.header.header_bytes = sizeof front.header;
	front.header.record_bytes = sizeof(struct ac_site_record);
	front.header.marker_bytes = sizeof(struct ac_marker_record);
	front.header.reasons = AC_REASON_COUNT;
	front.header.pid = pid;
	front.header.process_start = start;
	strcpy(front.header.program, program);
	strcpy(front.header.run, "r");
	snprintf(name, sizeof name, "%s/%010u.000000000-%d-0-00000000.stats",
	    state_directory, 1000 - age, pid);
	(void)umask(077);
	file = fopen(name, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(&front, sizeof front, 1, file), 1);
	fclose(file);
}

CASE_WITH(test_none, make_state, remove_state)
{
	assert_false(find(0));
	assert_non_null(strstr(found_why, "no running process has statistics"));
	assert_non_null(strstr(found_why, state_directory));
	assert_false(find(getpid()));
	assert_non_null(strstr(found_why, "has no statistics in"));
	assert_false(find(INT32_MAX));
	assert_non_null(strstr(found_why, "there is no process 2147483647"));
	setenv("AUTOCAST_STATE", "off", 1);
	assert_false(find(0));
	assert_non_null(strstr(found_why, "no statistics are kept"));
	/* Nobody has run anything yet. */
	setenv("AUTOCAST_STATE", "/nonexistent/state", 1);
	assert_false(find(0));
	assert_non_null(strstr(found_why, "no running process"));
	setenv("AUTOCAST_STATE", "/dev/null", 1);
	assert_false(find(0));
	assert_non_null(strstr(found_why, "cannot read /dev/null: "));
}

CASE_WITH(test_youngest, make_state, remove_state)
{
	const uint64_t ours = ac_process_start(getpid(), NULL);
	const uint64_t parents = ac_process_start(getppid(), NULL);

	leave(getpid(), ours, 5, "first image");
	leave(getpid(), ours, 4, "second image");
	leave(getppid(), parents, 3, "parent");
	leave(getpid(), ours + 1, 2, "an older process of that number");
	leave(INT32_MAX, 1, 1, "ended");
	assert_true(find(0));
	assert_int_equal(found.pid, getppid());
	assert_string_equal(found.program, "parent");
	assert_true(find(getpid()));
	assert_int_equal(found.pid, getpid());
	assert_string_equal(found.program, "second image");
	assert_false(find(INT32_MAX));
	assert_non_null(strstr(found_why, "any more"));
}

/* Its only file cannot be used: that is the reason, not that it has none. */
CASE_WITH(test_refused, make_state, remove_state)
{
	leave(getpid(), 0, 1, "p");
	assert_true(find(getpid()));
	assert_int_equal(truncate(found.path, 100), 0);
	assert_false(find(getpid()));
	assert_non_null(strstr(found_why, "cannot be used: it is cut short"));
}

/* Numbers that are part of other numbers. */
CASE_WITH(test_pid_in_name, make_state, remove_state)
{
	char number[16];

	snprintf(number, sizeof number, "1%d", (int)getpid());
	leave((int)getpid(), 0, 1, "p");
	assert_false(find(atoi(number)));
	assert_false(find(getpid() / 10));
}

static int to_parent, from_parent;

static void
count_and_wait(void)
{
	char c;

	ac_report_count_decided(site_of(1));
	if (write(to_parent, "", 1) != 1)
		_exit(1);
	while (read(from_parent, &c, 1) == 1) {
		ac_report_count_decided(site_of(1));
		if (write(to_parent, "", 1) != 1)
			_exit(1);
	}
}

static void
expect_calls(uint64_t calls, bool runs)
{
	struct ac_report *report;
	struct ac_text why;
	bool really;

	ac_text_init(&why, found_why, sizeof found_why);
	report = ac_report_look(&found, &really, &why);
	assert_non_null(report);
	assert_int_equal(really, runs);
	assert_int_equal(site_in(report, 1)->calls, calls);
	ac_report_destroy(report);
}

CASE_WITH(test_look, make_state, remove_state)
{
	int said[2], told[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(said) | pipe(told), 0);
	pid = fork();
	if (pid == 0) {
		to_parent = said[1];
		from_parent = told[0];
		close(told[1]);
		count_and_wait();
		_exit(0);
	}
	assert_int_equal(read(said[0], &c, 1), 1);
	assert_true(find(pid));
	expect_calls(1, true);
	for (int i = 2; i < 5; i++) {
		assert_int_equal(write(told[1], "", 1), 1);
		assert_int_equal(read(said[0], &c, 1), 1);
		expect_calls((uint64_t)i, true);
	}
	close(told[1]);
	waitpid(pid, NULL, 0);
	expect_calls(4, false);
}

CASES_RUN(NULL, NULL)
