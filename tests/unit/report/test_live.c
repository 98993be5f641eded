/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_live.c -- a forked child counts for itself, with the
 * records its parent handed out, and nobody's numbers get lost or mixed. */
#include "tests/unit/with_state.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { SITES = 5000 };

static struct ac_site_record *held[SITES];
static struct ac_marker_record *held_marker;

static void
hold_sites(void)
{
	for (int i = 0; i < SITES; i++) {
		held[i] = site_of(i + 1);
		ac_report_count(held[i], AC_REASON_NONE);
	}
	held_marker = ac_report_marker("marker");
	ac_report_count_marker(held_marker);
}

static void
count_held(unsigned times)
{
	for (unsigned t = 0; t < times; t++) {
		for (int i = 0; i < SITES; i++)
			ac_report_count(held[i], AC_REASON_GUARD);
		ac_report_count_marker(held_marker);
	}
	ac_report_count(site_of(SITES + 1), AC_REASON_NONE);
}

static void
child_counts(void)
{
	count_held(2);
}

/* The child has a file of its own; the parent's numbers do not move. */
static void
fork_and_count(void)
{
	const struct ac_site_key key = key_of(1);

	hold_sites();
	if (in_child(child_counts))
		_exit(1);
	for (int i = 0; i < SITES; i++)
		if (counted(held[i]) != 1)
			_exit(2);
	/* The parent goes on in its own file. */
	ac_report_count(held[0], AC_REASON_NONE);
	if (ac_report_site(&ac_outside, &key, &by_cast, NULL, NULL) != held[0])
		_exit(3);
}

CASE_WITH(test_fork, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(fork_and_count), 0);
	assert_int_equal(each_file(NULL), 2);
	report = load(1);
	/* One run, two processes: the child inherits the parent's token. */
	assert_int_equal(report->process_count, 2);
	assert_true(report->processes[0].pid != report->processes[1].pid);
	assert_int_equal(report->site_count, SITES + 1);
	assert_int_equal(site_in(report, 1)->calls, 4);
	assert_int_equal(site_in(report, SITES)->calls, 3);
	assert_int_equal(site_in(report, SITES)->recast, 1);
	assert_int_equal(site_in(report, SITES)->kept[AC_REASON_GUARD], 2);
	assert_int_equal(site_in(report, SITES + 1)->calls, 1);
	assert_int_equal(report->markers[0].calls, 3);
	ac_report_destroy(report);
}

/* Nor does a child begin with what its parent measured; what was predicted
 * is as true of it. */
static void
child_has_no_course(void)
{
	const struct ac_site_course *course = &held[SITES - 1]->course;

	ac_report_count(held[0], AC_REASON_NONE);
	if (held[0]->course.demotions || course->samples || course->error > 0
	    || course->recast_us > 0 || course->finding ||
	    course->keep_predicted_us != 20 ||
	    course->recast_predicted_us != 5 || held[0]->tol != 0.5f)
		_exit(1);
	held[SITES - 1]->course.samples = 100;
}

static void
fork_with_course(void)
{
	struct ac_site_course *course;

	hold_sites();
	course = &held[SITES - 1]->course;
	held[0]->tol = 0.5f;
	held[0]->course.demotions = 1;
	course->finding = AC_FINDING_LINE;
	course->samples = 2;
	course->error = 0.25f;
	course->recast_us = 9;
	course->keep_predicted_us = 20;
	course->recast_predicted_us = 5;
	if (in_child(child_has_no_course) || course->samples != 2)
		_exit(1);
}

CASE_WITH(test_fork_course, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(fork_with_course), 0);
	report = load(1);
	assert_int_equal(report->process_count, 2);
	assert_int_equal(site_in(report, 1)->course.demotions, 1);
	assert_int_equal(site_in(report, SITES)->course.samples, 102);
	assert_int_equal(site_in(report, SITES)->course.finding,
	    AC_FINDING_LINE);
	ac_report_destroy(report);
}

static void
do_nothing(void)
{
}

static void
fork_silently(void)
{
	hold_sites();
	if (in_child(do_nothing))
		_exit(1);
}

/* A child that counts nothing leaves no file. */
CASE_WITH(test_silent_child, make_state, remove_state)
{
	assert_int_equal(in_child(fork_silently), 0);
	assert_int_equal(each_file(NULL), 1);
}

static void
grandchild(void)
{
	count_held(1);
	if (in_child(child_counts))
		_exit(1);
}

static void
fork_twice(void)
{
	hold_sites();
	if (in_child(grandchild) || in_child(grandchild))
		_exit(1);
}

CASE_WITH(test_family, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(fork_twice), 0);
	assert_int_equal(each_file(NULL), 5);
	report = load(1);
	assert_int_equal(report->process_count, 5);
	assert_int_equal(site_in(report, 9)->calls, 1 + 2 * (1 + 2));
	ac_report_destroy(report);
}

/* fork() as a system call runs no handlers: the next look-up notices. */
static void
raw_fork(void)
{
	int status;
	pid_t pid;

	hold_sites();
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		ac_report_count(site_of(1), AC_REASON_GUARD);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (status || counted(held[0]) != 1)
		_exit(1);
}

CASE_WITH(test_raw_fork, make_state, remove_state)
{
	assert_int_equal(in_child(raw_fork), 0);
	assert_int_equal(each_file(NULL), 2);
}

/* Fork while other threads make sites: the child finds no lock held. */
static void *
make_sites(void *stop)
{
	for (int i = 0; !atomic_load((atomic_bool *)stop); i++)
		ac_report_count(site_of(i % 20000), AC_REASON_NONE);
	return NULL;
}

static void
fork_under_load(void)
{
	static atomic_bool stop;
	pthread_t threads[2];

	hold_sites();
	alarm(240);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, make_sites, &stop);
	for (int i = 0; i < 20; i++)
		if (in_child(child_counts))
			_exit(1);
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

CASE_WITH(test_fork_under_load, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(fork_under_load), 0);
	report = load(1);
	assert_int_equal(report->process_count, 21);
	assert_int_equal(site_in(report, SITES)->kept[AC_REASON_GUARD],
	    20 * 2);
	ac_report_destroy(report);
}

/* Without a file the numbers are still there, in memory, in silence. */
static void
count_in_memory(void)
{
	hold_sites();
	if (counted(held[SITES - 1]) != 1 ||
	    site_of(SITES) != held[SITES - 1] || in_child(child_counts) ||
	    counted(held[0]) != 1)
		_exit(1);
}

CASE_WITH(test_off, make_state, remove_state)
{
	setenv("AUTOCAST_STATE", "off", 1);
	assert_int_equal(in_child(count_in_memory), 0);
	assert_int_equal(each_file(NULL), 0);
}

CASE_WITH(test_no_directory, make_state, remove_state)
{
	setenv("AUTOCAST_STATE", "/dev/null/nowhere", 1);
	assert_int_equal(in_child(count_in_memory), 0);
}

/* A file size limit must not cost the program its life (SIGXFSZ). */
static void
count_with_limit(void)
{
	const struct rlimit limit = { 128 * 1024, 128 * 1024 };

	setrlimit(RLIMIT_FSIZE, &limit);
	count_in_memory();
}

CASE_WITH(test_size_limit, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_with_limit), 0);
	report = load(1);
	/* What fitted is exact; that the rest is missing is said. */
	assert_true(report->incomplete);
	assert_true(report->site_count >= AC_FILE_FRONT_SITES);
	assert_int_equal(site_in(report, 1)->calls, 3);
	ac_report_destroy(report);
}

/* Daemons close descriptors they do not know. */
static void
count_and_close(void)
{
	(void)site_of(1);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	hold_sites();
}

CASE_WITH(test_closed_descriptors, make_state, remove_state)
{
	struct ac_report *report;

	assert_int_equal(in_child(count_and_close), 0);
	report = load(1);
	assert_int_equal(report->site_count, SITES);
	ac_report_destroy(report);
}

CASES_RUN(NULL, NULL)
