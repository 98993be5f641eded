/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/report/test_module.c -- which files callers are in, and how long
 * the process took. */
#include "tests/unit/with_state.h"

#include "report/count/process.h"

#include <time.h>

static struct ac_report *report;

static const struct ac_file_module *
module_of(const char *name)
{
	const struct ac_file_header *h = &report->processes[0];

	for (uint32_t i = 0; i < atomic_load(&h->modules); i++)
		if (!strcmp(h->module[i].name, name))
			return &h->module[i];
	return NULL;
}

static void
name_modules(void)
{
	char many[16];

	(void)site_of(1);
	ac_report_count(site_of(1), AC_REASON_NONE);
	ac_report_module("program", "");
	ac_report_module("libx.so", "/proc/self/exe");
	ac_report_module("libx.so", "/proc/self/exe");
	ac_report_module("twice.so", "/proc/self/exe");
	ac_report_module("twice.so", "/bin/sh");
	ac_report_module("gone.so", "/no/such/file");
	if (chdir("/usr/bin"))
		_exit(1);
	ac_report_module("env", "./env");
	for (int i = 0; i < 2 * AC_FILE_MODULES; i++) {
		snprintf(many, sizeof many, "m%d", i);
		ac_report_module(many, "");
	}
}

CASE(test_modules)
{
	const struct ac_file_module *module;
	struct stat status;
	char self[512];
	ssize_t length;

	each_file(remove_one);
	assert_int_equal(in_child(name_modules), 0);
	report = load(1);
	assert_non_null(report);
	length = readlink("/proc/self/exe", self, sizeof self - 1);
	assert_true(length > 0);
	self[length] = '\0';
	module = module_of("program");
	assert_string_equal(module->path, self);
	assert_int_equal(stat(self, &status), 0);
	assert_int_equal(module->bytes, status.st_size);
	assert_int_equal(module->changed_s, status.st_mtim.tv_sec);
	assert_int_equal(module->changed_ns, status.st_mtim.tv_nsec);
	assert_string_equal(module_of("libx.so")->path, "/proc/self/exe");
	assert_string_equal(module_of("twice.so")->path, "");
	assert_string_equal(module_of("gone.so")->path, "");
	assert_string_equal(module_of("env")->path, "/usr/bin/./env");
	assert_int_equal(atomic_load(&report->processes[0].modules),
	    AC_FILE_MODULES);
	ac_report_destroy(report);
}

/* ---- Time -------------------------------------------------------------- */

enum { NAP_MS = 60 };

static void
nap(void)
{
	const struct timespec time = { 0, NAP_MS * 1000000 };

	nanosleep(&time, NULL);
}

static void
end_well(void)
{
	nap();
	ac_report_count(site_of(1), AC_REASON_NONE);
	nap();
	exit(0);
}

static void
end_early(void)
{
	ac_report_count(site_of(1), AC_REASON_NONE);
	nap();
	ac_report_note_time();
	nap();
	_exit(0);
}

static void
forks(void)
{
	nap();
	ac_report_count(site_of(1), AC_REASON_NONE);
	if (fork() == 0)
		exit(0);
	(void)wait(NULL);
	exit(0);
}

/* A start is known to a hundredth of a second, and was before the child ran. */
static double
wall_ms(void (*body)(void), bool *is_least_out)
{
	struct ac_report_totals t;

	each_file(remove_one);
	assert_int_equal(in_child(body), 0);
	report = load(1);
	assert_non_null(report);
	ac_report_totals(report, &t);
	*is_least_out = t.wall_is_least;
	return t.wall_us / 1000;
}

CASE(test_wall)
{
	bool is_least;
	double ms;

	ms = wall_ms(end_well, &is_least);
	assert_true(ms >= 2 * NAP_MS - 1);
	assert_false(is_least);
	ac_report_destroy(report);
	ms = wall_ms(end_early, &is_least);
	assert_true(ms >= NAP_MS - 1);
	assert_true(is_least);
	ac_report_destroy(report);
	/* A child that never counted has no file, nor a time. */
	ms = wall_ms(forks, &is_least);
	assert_int_equal(report->process_count, 1);
	assert_false(is_least);
	ac_report_destroy(report);
}

/* One that still runs took so much so far; one of another start is over. */
CASE(test_running)
{
	struct ac_file_header header = { .pid = getpid() };
	bool is_least = true;
	double us;

	header.process_start = ac_process_start(getpid(), NULL);
	us = ac_process_wall_us(&header, &is_least);
	assert_true(us > 0 && !is_least);
	atomic_store(&header.wall_ns, 5000);
	header.process_start--;
	us = ac_process_wall_us(&header, &is_least);
	assert_true(us >= 5 && us <= 5 && is_least);
	/* Longer than any. */
	atomic_store(&header.wall_ns, UINT64_MAX);
	assert_true(ac_process_wall_us(&header, &is_least) <= 0);
	assert_int_equal(ac_process_age(0), 0);
	assert_int_equal(ac_process_age(UINT64_MAX / 10000000), 0);
}

CASES_RUN(make_state, remove_state)
