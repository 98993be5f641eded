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
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_LENGTH = 64, AGE_LENGTH = 32, NOTICES_KEPT = 32,
	PRUNED_AT_ONCE = 64, FOREIGN_KEPT_S = 7 * 86400 };

struct listing {
	int         directory;
	const struct ac_file_header *header; /* of the file to come */
	const char *own_folder, *own_end; /* what its run's names are, end in */
	unsigned    runs, notices;     /* of this user */
	char        oldest[NAME_LENGTH];
	char        age[AGE_LENGTH];   /* of the oldest, as names begin */
	char        notice[NAME_LENGTH];
	bool      (*visit)(struct listing *l, const char *name); /* of a job */
};

/* readdir() would allocate in the program's heap. */
static bool
each_entry(int directory, char *entries, size_t size,
    bool (*visit)(struct listing *l, const char *name), struct listing *l)
{
	long got;

	if (lseek(directory, 0, SEEK_SET) < 0)
		return false;
	while ((got = syscall(SYS_getdents64, directory, entries, size)) > 0) {
		for (long at = 0; at < got; ) {
			unsigned short length;

			memcpy(&length,
			    entries + at + offsetof(struct dirent64, d_reclen),
			    sizeof length);
			if (!visit(l, entries + at
			    + offsetof(struct dirent64, d_name)))
				return false;
			at += length;
		}
	}
	return got == 0;
}

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
	is_ours = !syscall(SYS_fstat, fd, &status) &&
	    ac_file_is_ours(&status) &&
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
file_may_go(struct listing *l, const char *name)
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
remove_file(struct listing *l, const char *name)
{
	return file_may_go(l, name) && !unlinkat(l->directory, name, 0);
}

static bool
visit_of_job(struct listing *job, const char *name)
{
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return true;
	job->runs++;
	return job->visit(job, name);
}

/* Visit what is in the folder of the job `name`; true: all of it, and there is
 * something. An empty folder may be anybody's. */
static bool
each_of_job(const struct listing *l, const char *name,
    bool (*visit)(struct listing *l, const char *name))
{
	static char entries[4096];
	struct listing job = { .header = l->header, .visit = visit };
	bool all;

	job.directory = ac_file_open_folder(l->directory, name);
	if (job.directory < 0)
		return false;
	all = each_entry(job.directory, entries, sizeof entries, visit_of_job,
	    &job) && job.runs;
	close(job.directory);
	return all;
}

static bool
may_go(struct listing *l, const char *name)
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
	(void)syscall(SYS_newfstatat, l->directory, name, &status,
	    AT_SYMLINK_NOFOLLOW);
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
	    !syscall(SYS_newfstatat, l->directory, name, &status,
	    AT_SYMLINK_NOFOLLOW) && (is_folder ? S_ISDIR(status.st_mode) &&
	    status.st_uid == geteuid() : ac_file_is_ours(&status));
}

static bool
is_notice(const struct listing *l, const char *name)
{
	struct stat status;

	return ac_file_has_hash(name, AC_FILE_NOTICE) &&
	    !syscall(SYS_newfstatat, l->directory, name, &status,
	    AT_SYMLINK_NOFOLLOW) && ac_file_is_ours(&status) &&
	    !status.st_size;
}

static bool
list_entry(struct listing *l, const char *name)
{
	char age[AGE_LENGTH];

	if (strlen(name) >= NAME_LENGTH)
		return true;
	if (is_notice(l, name)) {
		l->notices++;
		strcpy(l->notice, name);
	} else if (is_run(l, name)) {
		l->runs++;
		tell_age(l, name, age);
		if ((!*l->oldest || strcmp(age, l->age) < 0) &&
		    may_go(l, name)) {
			strcpy(l->oldest, name);
			strcpy(l->age, age);
		}
	}
	return true;
}

/* False: it stays. */
static bool
remove_run(const struct listing *l)
{
	if (!ac_parallel_is_folder(l->oldest))
		return !unlinkat(l->directory, l->oldest, 0);
	(void)each_of_job(l, l->oldest, remove_file);
	return !unlinkat(l->directory, l->oldest, AT_REMOVEDIR);
}

/* A crowded directory shrinks over several runs. */
void
ac_file_prune(const char *path, const struct ac_file_header *header)
{
	static char entries[4096];
	struct ac_text folder = AC_TEXT_OF(NAME_LENGTH);
	struct ac_text end = AC_TEXT_OF(NAME_LENGTH);
	const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return;
	ac_parallel_add_folder(&folder, header->run);
	ac_text_addf(&end, "-%08x.stats",
	    (unsigned)ac_file_run_hash(header->run));
	for (int i = 0; i < PRUNED_AT_ONCE; i++) {
		struct listing l = { .directory = directory, .header = header,
			.own_folder = folder.data, .own_end = end.data };
		bool done = true;

		if (!each_entry(directory, entries, sizeof entries, list_entry,
		    &l))
			break;
		if (l.runs >= AC_FILE_KEEP + !header->pid && *l.oldest)
			done = !remove_run(&l);
		if (l.notices > NOTICES_KEPT)
			done = unlinkat(directory, l.notice, 0) != 0 && done;
		if (done)
			break;
	}
	close(directory);
}
