/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_process.c -- a pid and a start are one process. */
#include "tests/unit/with_state.h"

#include "report/count/process.h"

#include <pthread.h>
#include <sys/prctl.h>

CASE(test_start)
{
	const uint64_t ours = ac_process_start(getpid(), NULL);
	bool ended = true;

	assert_true(ours > 0);
	assert_true(ac_process_start(getpid(), &ended) == ours);
	assert_false(ended);
	assert_int_equal(ac_process_start(INT32_MAX, NULL), 0);
	/* A name that looks like the fields behind it. */
	assert_int_equal(prctl(PR_SET_NAME, "a) Z 1 (b) Z 2"), 0);
	assert_true(ac_process_start(getpid(), &ended) == ours);
	assert_false(ended);
	assert_int_equal(prctl(PR_SET_NAME, "plain"), 0);
}

/* A child that has ended and was not waited for. */
CASE(test_runs)
{
	struct ac_file_header header = { .pid = getpid() };
	siginfo_t info;
	bool ended = false;

	assert_true(ac_process_runs(&header));
	header.process_start = ac_process_start(getpid(), NULL);
	assert_true(ac_process_runs(&header));
	header.process_start++;         /* the same number, another process */
	assert_false(ac_process_runs(&header));

	header.pid = fork();
	if (header.pid == 0)
		_exit(0);
	assert_true(header.pid > 0);
	assert_int_equal(waitid(P_PID, (id_t)header.pid, &info,
	    WEXITED | WNOWAIT), 0);
	header.process_start = ac_process_start(header.pid, &ended);
	assert_true(header.process_start > 0 && ended);
	assert_false(ac_process_runs(&header));
	assert_int_equal(waitpid(header.pid, NULL, 0), header.pid);
	assert_false(ac_process_runs(&header));
}

/* A process whose first thread is gone lives on in the others. */
static int to_child;

static void *
wait_for_parent(void *unused)
{
	char c;

	while (read(to_child, &c, 1) < 0)
		;
	_exit(0);
}

CASE(test_first_thread_gone)
{
	struct ac_file_header header = { 0 };
	int told[2];
	pthread_t thread;
	char path[64], letter = '\0';

	assert_int_equal(pipe(told), 0);
	header.pid = fork();
	if (header.pid == 0) {
		to_child = told[0];
		close(told[1]);
		pthread_create(&thread, NULL, wait_for_parent, NULL);
		pthread_exit(NULL);
	}
	snprintf(path, sizeof path, "/proc/%d/stat", (int)header.pid);
	while (letter != 'Z') {
		FILE *stat = fopen(path, "r");

		assert_non_null(stat);
		assert_int_equal(fscanf(stat, "%*d (%*[^)]) %c", &letter), 1);
		fclose(stat);
	}
	assert_true(ac_process_runs(&header));
	close(told[1]);
	assert_int_equal(waitpid(header.pid, NULL, 0), header.pid);
	assert_false(ac_process_runs(&header));
	close(told[0]);
}

CASES_RUN(NULL, NULL)
