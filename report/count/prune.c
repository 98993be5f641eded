/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/prune.c -- removes the statistics of old runs: files, and the
 * folders of jobs. For the autocast program: others only leave files here. The
 * user may keep files of his own in the directory: only what is provably ours
 * goes, by its whole name, its kind, its owner and what is in it. */
#include "report/count/file.h"
#include "report/count/parallel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LENGTH = 64, AGE_LENGTH = 32, NOTICES_KEPT = 32,
	PRUNED_AT_ONCE = 64, FOREIGN_KEPT_S = 7 * 86400 };

struct run {
	char name[NAME_LENGTH];
	char age[AGE_LENGTH];          /* as names of files begin */
};

struct listing {
	int         directory;
	const struct ac_file_header *header; /* of the file to come */
	const char *own_folder, *own_end; /* what its run's names are, end in */
	struct run *runs;              /* of this user */
	size_t      count;
	unsigned    notices;
};

/* ---- What may go ------------------------------------------------------- */

/* Whether a well-formed name is of a process that is no more. */
static bool
is_of_the_dead(const char *name)
{
	uint64_t pid = 0;

	for (const char *s = name + 21; *s != '-'; s++)
		pid = pid * 10 + (uint64_t)(*s - '0');
	return pid && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

/* The header of a file of ours. A process that was killed at once has written
 * none: the first bytes are zero then, or there are none. */
static bool
read_header(const struct listing *l, const char *name,
    struct ac_file_header *header_out, time_t *changed_out)
{
	static const char none[sizeof header_out->magic];
	struct stat status;
	const int fd = openat(l->directory, name, O_RDONLY | O_NOFOLLOW
	    | O_CLOEXEC | O_NONBLOCK);
	bool is_ours;

	if (fd < 0)
		return false;
	memset(header_out, 0, sizeof *header_out);
	is_ours = !fstat(fd, &status) && ac_file_is_ours(&status) &&
	    pread(fd, header_out, sizeof *header_out, 0) >= 0 &&
	    (!memcmp(header_out->magic, AC_FILE_MAGIC, sizeof none) ||
	    !memcmp(header_out->magic, none, sizeof none));
	close(fd);
	if (is_ours)
		*changed_out = status.st_mtime;
	return is_ours;
}

/* A file whose process still lives is in use however old it is. That of another
 * machine or container, which shares our home, cannot be asked, and what it has
 * mapped must not be taken from under it (over a network that is a SIGBUS). */
static bool
file_may_go(const struct listing *l, const char *name)
{
	static struct ac_file_header header;
	time_t changed;

	if (!ac_file_is_name(name) ||
	    !read_header(l, name, &header, &changed))
		return false;
	if (header.version != AC_FILE_VERSION ||
	    header.host == l->header->host)
		return is_of_the_dead(name);
	return atomic_load(&header.finished) ||
	    changed + FOREIGN_KEPT_S < (time_t)l->header->start_s;
}

static bool
remove_file(const struct listing *l, const char *name)
{
	return file_may_go(l, name) && !unlinkat(l->directory, name, 0);
}

/* Visit what is in the folder of the job `name`; true: all of it, and there is
 * something. An empty folder may be anybody's. */
static bool
each_of_job(const struct listing *l, const char *name,
    bool (*visit)(const struct listing *l, const char *name))
{
	const struct listing job = { .header = l->header,
		.directory = ac_file_open_folder(l->directory, name) };
	DIR *stream = job.directory < 0 ? NULL : fdopendir(job.directory);
	const struct dirent *entry;
	bool all = stream != NULL, any = false;

	while (all && (entry = readdir(stream))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		any = true;
		all = visit(&job, entry->d_name);
	}
	if (stream)
		closedir(stream);
	return all && any;
}

static bool
may_go(const struct listing *l, const char *name)
{
	if (ac_parallel_is_folder(name))
		return each_of_job(l, name, file_may_go);
	return !strstr(name, l->own_end) && file_may_go(l, name);
}

/* ---- Removing ---------------------------------------------------------- */

/* When a run began, as names of files begin; of a job, when the last of its
 * processes did. */
static void
tell_age(const struct listing *l, const char *name, char age[AGE_LENGTH])
{
	struct stat status = { .st_mtime = 0 };

	if (!ac_parallel_is_folder(name)) {
		snprintf(age, AGE_LENGTH, "%.20s", name);
		return;
	}
	(void)fstatat(l->directory, name, &status, AT_SYMLINK_NOFOLLOW);
	snprintf(age, AGE_LENGTH, "%010llu.%09lu",
	    (unsigned long long)status.st_mtim.tv_sec % 10000000000,
	    (unsigned long)status.st_mtim.tv_nsec % 1000000000);
}

/* What another user keeps in the same directory counts for him. */
static bool
is_run(const struct listing *l, const char *name)
{
	const bool is_folder = ac_parallel_is_folder(name) &&
	    strcmp(name, l->own_folder);
	struct stat status;

	return (is_folder || ac_file_is_name(name)) &&
	    !fstatat(l->directory, name, &status, AT_SYMLINK_NOFOLLOW) &&
	    (is_folder ? S_ISDIR(status.st_mode) &&
	    status.st_uid == geteuid() : ac_file_is_ours(&status));
}

static bool
is_notice(const struct listing *l, const char *name)
{
	struct stat status;

	return ac_file_has_hash(name, AC_FILE_NOTICE) &&
	    !fstatat(l->directory, name, &status, AT_SYMLINK_NOFOLLOW) &&
	    ac_file_is_ours(&status) && !status.st_size;
}

static int
by_age(const void *a, const void *b)
{
	return strcmp(((const struct run *)a)->age,
	    ((const struct run *)b)->age);
}

/* Notices beyond so many go at once. False without memory. */
static bool
list_entry(struct listing *l, const char *name)
{
	struct run *more;

	if (strlen(name) >= NAME_LENGTH)
		return true;
	if (is_notice(l, name) && ++l->notices > NOTICES_KEPT)
		(void)unlinkat(l->directory, name, 0);
	if (!is_run(l, name))
		return true;
	more = realloc(l->runs, (l->count + 1) * sizeof *more);
	if (!more)
		return false;
	l->runs = more;
	strcpy(more[l->count].name, name);
	tell_age(l, name, more[l->count++].age);
	return true;
}

/* False: it stays. */
static bool
remove_run(const struct listing *l, const char *name)
{
	if (!ac_parallel_is_folder(name))
		return !unlinkat(l->directory, name, 0);
	(void)each_of_job(l, name, remove_file);
	return !unlinkat(l->directory, name, AT_REMOVEDIR);
}

/* The oldest ones that may go; a crowded directory shrinks over several
 * runs. */
static void
remove_runs(const struct listing *l)
{
	const size_t most = AC_FILE_KEEP + !l->header->pid;
	size_t removed = 0;

	for (size_t i = 0; i < l->count && l->count - removed >= most &&
	    removed < PRUNED_AT_ONCE; i++) {
		if (!may_go(l, l->runs[i].name))
			continue;
		if (!remove_run(l, l->runs[i].name))
			return;
		removed++;
	}
}

void
ac_file_prune(const char *path, const struct ac_file_header *header)
{
	struct ac_text folder = AC_TEXT_OF(NAME_LENGTH);
	struct ac_text end = AC_TEXT_OF(NAME_LENGTH);
	struct listing l = { .header = header, .own_folder = folder.data,
		.own_end = end.data };
	DIR *stream = opendir(path);
	const struct dirent *entry;

	if (!stream)
		return;
	l.directory = dirfd(stream);
	ac_parallel_add_folder(&folder, header->run);
	ac_text_addf(&end, "-%08x.stats",
	    (unsigned)ac_file_run_hash(header->run));
	while ((entry = readdir(stream)) && list_entry(&l, entry->d_name))
		;
	if (l.count)
		qsort(l.runs, l.count, sizeof *l.runs, by_age);
	remove_runs(&l);
	free(l.runs);
	closedir(stream);
}
