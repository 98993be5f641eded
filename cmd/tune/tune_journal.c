/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_journal.c -- what is remembered of the runs of one command, so
 * that it goes on where it was ended: a folder in the user's directory, with a
 * journal of a line a run, which is on the disk before the next one begins. */
#include "cmd/tune/tune.h"
#include "base/env.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MONTH = 30 * 24 * 3600 };

static void
path_of(const struct ac_tune *t, const char *file, char path_out[PATH_MAX])
{
	snprintf(path_out, PATH_MAX, "%s/%s", t->memory, file);
}

/* The names that we give files there, and no others. */
static bool
is_ours(const char *name)
{
	return !strcmp(name, "journal") || !strcmp(name, "token")
	    || !strcmp(name, "again") || !strncmp(name, "plain-", 6)
	    || !strncmp(name, "again-", 6);
}

static void
clear(const char *memory)
{
	DIR *stream = opendir(memory);
	const struct dirent *entry;
	char learnt[PATH_MAX];

	while (stream && (entry = readdir(stream)))
		if (is_ours(entry->d_name))
			(void)unlinkat(dirfd(stream), entry->d_name, 0);
	if (stream)
		(void)closedir(stream);
	snprintf(learnt, sizeof learnt, "%s/learnt", memory);
	ac_launch_remove(learnt);
}

/* That of a command that was ended and was not typed again for so long. One
 * that runs has it locked. */
static void
forget_one(const char *memory)
{
	struct ac_text path = AC_TEXT_OF(PATH_MAX);
	struct stat status;
	int fd;

	ac_text_addf(&path, "%s/journal", memory);
	fd = open(path.data, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (!fstat(fd, &status)
	    && status.st_mtim.tv_sec < time(NULL) - MONTH
	    && !flock(fd, LOCK_EX | LOCK_NB)) {
		clear(memory);
		(void)rmdir(memory);
	}
	close(fd);
}

static void
forget_old(const char *folder)
{
	DIR *stream = opendir(folder);
	const struct dirent *entry;
	char path[PATH_MAX];

	while (stream && (entry = readdir(stream)))
		if (strlen(entry->d_name) == 16
		    && strspn(entry->d_name, "0123456789abcdef") == 16) {
			snprintf(path, sizeof path, "%s/%s", folder,
			    entry->d_name);
			forget_one(path);
		}
	if (stream)
		(void)closedir(stream);
}

/* A temporary one: nothing is remembered. */
static bool
make_temporary(struct ac_tune *t)
{
	struct ac_text path = AC_TEXT_IN(t->memory);

	ac_text_addf(&path, "%s/memory", t->base);
	return !mkdir(t->memory, 0700);
}

/* Without a directory of the user's that will do. */
static bool
make_folder(struct ac_tune *t)
{
	struct ac_text user = AC_TEXT_OF(AC_FILE_PATH);
	struct ac_text path = AC_TEXT_IN(t->memory);
	size_t fixed;

	if (ac_file_directory(&user, &fixed) && !ac_file_is_once()
	    && !ac_file_make_directory(user.data, fixed)) {
		ac_text_addf(&path, "%s/tune", user.data);
		if (!path.truncated && (!mkdir(t->memory, 0700)
		    || errno == EEXIST)) {
			forget_old(t->memory);
			ac_text_addf(&path, "/%016llx",
			    (unsigned long long)ac_tune_key(t));
			if (!path.truncated && (!mkdir(t->memory, 0700)
			    || errno == EEXIST))
				return true;
		}
	}
	return make_temporary(t);
}

/* Locked for as long as it is open. False: it cannot be opened, or, with a
 * descriptor, the same command runs now and has it. */
static bool
open_journal(struct ac_tune *t)
{
	char path[PATH_MAX];

	path_of(t, "journal", path);
	t->journal = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC
	    | O_NOFOLLOW, 0600);
	return t->journal >= 0 && (!flock(t->journal, LOCK_EX | LOCK_NB)
	    || errno != EWOULDBLOCK);
}

static bool
open_again(struct ac_tune *t)
{
	close(t->journal);
	return open_journal(t);
}

/* What the program reads may have changed since, of which nothing is known. */
static void
say_remembered(const struct ac_tune *t)
{
	struct stat status;

	if (!fstat(t->journal, &status) && status.st_size > 0)
		(void)ac_say(0, "%s: goes on after the runs of an earlier "
		    "start; --fresh forgets them", t->verb);
}

int
ac_tune_remember(struct ac_tune *t)
{
	bool done = make_folder(t) && open_journal(t);
	char path[PATH_MAX];

	if (!done && t->journal >= 0)
		done = make_temporary(t) && open_again(t);
	if (done && t->is_fresh) {
		clear(t->memory);
		done = open_again(t);
	}
	if (!done)
		return ac_say(AC_EXIT_FAILED, "%s: cannot write in %s: %s",
		    t->verb, t->memory, strerror(errno));
	say_remembered(t);
	path_of(t, "again", path);
	t->has_again = !access(path, F_OK);
	return 0;
}

bool
ac_tune_note_again(struct ac_tune *t)
{
	char path[PATH_MAX];
	int fd;

	path_of(t, "again", path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	t->has_again = true;
	return fd >= 0 && !close(fd);
}

/* ---- Runs ---------------------------------------------------------------- */

/* One line: of the last run perhaps a part only. */
struct entry {
	double number, set, status, verdict, seconds;
};

static bool
read_entry(const char *line, struct entry *entry_out)
{
	double *values[] = { &entry_out->number, &entry_out->set,
		&entry_out->status, &entry_out->verdict, &entry_out->seconds };

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		const size_t length = ac_text_number(line, strlen(line),
		    values[i]);

		if (!length || line[length] != (i < 4 ? ' ' : '\n'))
			return false;
		line += length + 1;
	}
	return true;
}

bool
ac_tune_recall(struct ac_tune *t, uint32_t set,
    enum ac_tune_verdict *verdict_out)
{
	const int fd = dup(t->journal);
	FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
	struct entry entry;
	bool found = false;
	char line[128];

	if (!stream) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	rewind(stream);
	while (fgets(line, sizeof line, stream))
		if (read_entry(line, &entry) && entry.number == t->runs
		    && entry.set == set && entry.verdict < AC_TUNE_FAILED) {
			*verdict_out = (enum ac_tune_verdict)entry.verdict;
			t->seconds += entry.seconds;
			if (!set)
				t->plain_exit = (int)entry.status;
			found = true;
		}
	(void)fclose(stream);
	return found;
}

void
ac_tune_note(struct ac_tune *t, uint32_t set, int status,
    enum ac_tune_verdict verdict, double seconds)
{
	int to = t->journal;
	struct ac_text text = AC_TEXT_OF(128);

	ac_text_addf(&text, "%u %u %d %u ", t->runs, set, status,
	    (unsigned)verdict);
	ac_text_add_fixed(&text, seconds, 3);
	ac_text_add(&text, "\n");
	ac_say_bytes(text.data, text.used, &to);
	if (to >= 0)
		(void)fdatasync(t->journal);
}

/* ---- What was learnt ----------------------------------------------------- */

void
ac_tune_learnt_path(const struct ac_tune *t, char path_out[PATH_MAX])
{
	path_of(t, "learnt", path_out);
}

struct ac_report *
ac_tune_learnt(const struct ac_tune *t)
{
	char path[PATH_MAX], token[64];
	struct ac_report *report = NULL;
	FILE *stream;
	struct ac_text why = AC_TEXT_OF(256);

	path_of(t, "token", path);
	stream = fopen(path, "re");
	ac_tune_learnt_path(t, path);
	ac_again_environment(t->environment);
	setenv(ac_env_rows[AC_ENV_STATE].variable, path, 1);
	if (stream && fgets(token, sizeof token, stream))
		report = ac_report_of(token, &why);
	if (stream)
		(void)fclose(stream);
	ac_again_environment(t->environment);
	return report;
}

bool
ac_tune_keep_learnt(const struct ac_tune *t, const char *token)
{
	char path[PATH_MAX];

	path_of(t, "token", path);
	return !ac_output_write(t->verb, path, token, strlen(token));
}

void
ac_tune_forget(struct ac_tune *t, bool is_done)
{
	if (t->journal >= 0 && (is_done || !strncmp(t->memory, t->base,
	    strlen(t->base)))) {
		clear(t->memory);
		(void)rmdir(t->memory);
	}
	if (t->journal >= 0)
		close(t->journal);
	t->journal = -1;
}
