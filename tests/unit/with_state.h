/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/with_state.h -- a state directory of one's own, processes that
 * count into it, and the run they leave behind. The counting half is one per
 * process, so every case counts in a child. */
#ifndef AC_TESTS_WITH_STATE_H
#define AC_TESTS_WITH_STATE_H

#include "base/text.h"
#include "report/read/read.h"
#include "tests/unit/cases.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char state_directory[64];

__attribute__((unused)) static int
make_state(void **state)
{
	strcpy(state_directory, "/tmp/autocast-test-XXXXXX");
	assert_non_null(mkdtemp(state_directory));
	setenv("AUTOCAST_STATE", state_directory, 1);
	unsetenv("AUTOCAST_RUN");
	return 0;
}

/* Runs `visit` on the path of each file; returns how many there were. */
__attribute__((unused)) static unsigned
each_file(void (*visit)(const char *path))
{
	DIR *stream = opendir(state_directory);
	const struct dirent *entry;
	unsigned count = 0;
	char path[512];

	while (stream && (entry = readdir(stream))) {
		if (!ac_file_is_name(entry->d_name))
			continue;
		snprintf(path, sizeof path, "%s/%s", state_directory,
		    entry->d_name);
		count++;
		if (visit)
			visit(path);
	}
	if (stream)
		closedir(stream);
	return count;
}

__attribute__((unused)) static void
remove_one(const char *path)
{
	unlink(path);
}

__attribute__((unused)) static int
remove_state(void **state)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf '%s'", state_directory);
	return system(command) ? -1 : 0;
}

static const struct ac_decision by_cast = {
	.rung = AC_RUNG_FP16, .tactic = AC_TACTIC_CAST, .source = "fp16",
	.line = 3
};

/* The key of the matrix product number `i`, 2i flops per call. */
__attribute__((unused)) static struct ac_site_key
key_of(int64_t i)
{
	struct ac_site_key key;

	memset(&key, 0, sizeof key);
	key.operation = AC_OP_GEMM_SINGLE;
	strcpy(key.symbol, "cublasSgemm_v2");
	strcpy(key.caller, "train+1a2b");
	key.ta = 'N';
	key.tb = 'T';
	key.solver = 'n';
	strcpy(key.type, "f32");
	strcpy(key.asked, "fp32");
	key.m = i;
	key.n = key.k = key.batch = 1;
	return key;
}

__attribute__((unused)) static struct ac_site_record *
site_of(int64_t i)
{
	const struct ac_site_key key = key_of(i);

	return ac_report_site(&ac_outside, &key, &by_cast, NULL, NULL);
}

/* The calls of `site` as this thread sees them: its record's and its own. */
__attribute__((unused)) static uint64_t
counted(struct ac_site_record *site)
{
	uint64_t calls = atomic_load(&site->recast);

	for (int i = 0; i < AC_REASON_COUNT; i++)
		calls += atomic_load(&site->kept[i]);
	if (site->number < ac_report_mine.limit)
		calls += ac_report_mine.calls[site->number];
	return calls;
}

/* Run `body` in a child; its wait status. */
__attribute__((unused)) static int
in_child(void (*body)(void))
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		body();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* The `which`-th last run, NULL with the reason in load_why. */
static char load_why[512];

__attribute__((unused)) static struct ac_report *
load(unsigned which)
{
	struct ac_text why;

	ac_text_init(&why, load_why, sizeof load_why);
	return ac_report_load(which, &why);
}

__attribute__((unused)) static const struct ac_site_total *
site_in(const struct ac_report *report, int64_t i)
{
	for (size_t at = 0; at < report->site_count; at++)
		if (report->sites[at].key.m == i)
			return &report->sites[at];
	return NULL;
}

/* A sink that keeps everything. */
static char   sunk[1 << 20];
static size_t sunk_count;

__attribute__((unused)) static void
sink(const char *bytes, size_t count, void *context)
{
	assert_true(sunk_count + count < sizeof sunk);
	memcpy(sunk + sunk_count, bytes, count);
	sunk_count += count;
	sunk[sunk_count] = '\0';
}

typedef void (*writer)(const struct ac_report *report, ac_report_sink sink,
    void *context);

__attribute__((unused)) static const char *
written(writer write_report, const struct ac_report *report)
{
	sunk_count = 0;
	sunk[0] = '\0';
	write_report(report, sink, NULL);
	return sunk;
}

/* As one of them: the text with all that it can have. */
__attribute__((unused)) static void
as_text(const struct ac_report *report, ac_report_sink to, void *context)
{
	static const struct ac_report_style style = { .is_detailed = true };

	ac_report_as_table(report, &style, to, context);
}

/* As one of them: of a run that is kept, unless this says why not. */
static struct ac_report_ending summary_ending;

__attribute__((unused)) static void
summary(const struct ac_report *report, ac_report_sink to, void *context)
{
	(void)ac_report_as_summary(report, &summary_ending, to, context);
}

#endif
