/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/file.c -- creates, extends and removes statistics files.
 * Runs inside any program: no heap, no descriptor kept, little stack (buffers
 * are static, the counting lock guards them), and every failure is a NULL.
 * Called by report/count/count.c, report/count/notice.c and the reader. */
#include "report/count/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_LENGTH = 64, NOTICES_KEPT = 32, PRUNED_AT_ONCE = 64,
	FOREIGN_KEPT_S = 7 * 86400 };

static char path_buffer[AC_FILE_PATH];
static char entries[4096];     /* what getdents64 fills */

/* ---- Names: SECONDS.NANOSECONDS-PID-SEQUENCE-RUN.stats ----------------- */

static uint32_t
run_hash(const char *run)
{
	return ac_text_hash(AC_TEXT_HASH_START, run, strlen(run));
}

static bool
skip_digits(const char **s, int at_least, int at_most)
{
	int count = 0;

	while (**s >= '0' && **s <= '9' && count < at_most)
		(*s)++, count++;
	return count >= at_least;
}

static bool
skip_char(const char **s, char c)
{
	return **s == c && (*s)++;
}

bool
ac_file_is_name(const char *name)
{
	const char *s = name;

	if (!skip_digits(&s, 10, 10) || !skip_char(&s, '.') ||
	    !skip_digits(&s, 9, 9) || !skip_char(&s, '-') ||
	    !skip_digits(&s, 1, 10) || !skip_char(&s, '-') ||
	    !skip_digits(&s, 1, 3) || !skip_char(&s, '-'))
		return false;
	return strspn(s, "0123456789abcdef") == 8 && !strcmp(s + 8, ".stats");
}

/* The process id in a well-formed name. */
static pid_t
pid_in(const char *name)
{
	pid_t pid = 0;

	for (const char *s = name + 21; *s != '-'; s++)
		pid = pid * 10 + (*s - '0');
	return pid;
}

/* ---- Removing old files ------------------------------------------------ */

struct listing {
	int         directory;
	const struct ac_file_header *header; /* of the file to come */
	const char *own;               /* run part of its name */
	unsigned    files, notices;
	char        oldest[NAME_LENGTH];
	char        notice[NAME_LENGTH];
};

/* Whether a file of another machine or container, which shares our home, is
 * done with: its process cannot be asked, and what it has mapped must not be
 * taken from under it (over a network that is a SIGBUS). *foreign_out is
 * whether it is one. */
static bool
is_foreign_and_done(const struct listing *l, const char *name,
    bool *foreign_out)
{
	static struct ac_file_header header;
	struct stat status;
	const int fd = openat(l->directory, name, O_RDONLY | O_NOFOLLOW
	    | O_CLOEXEC | O_NONBLOCK);
	bool done = false;

	*foreign_out = fd >= 0 && pread(fd, &header, sizeof header, 0)
	    == (ssize_t)sizeof header && header.version == AC_FILE_VERSION
	    && header.host != l->header->host;
	if (*foreign_out)
		done = atomic_load(&header.finished) ||
		    (!syscall(SYS_fstat, fd, &status) && status.st_mtime
		    + FOREIGN_KEPT_S < (time_t)l->header->start_s);
	if (fd >= 0)
		close(fd);
	return done;
}

/* A file that another process of this run wrote, or whose process still
 * lives, is in use however old it is. */
static bool
may_go(const struct listing *l, const char *name)
{
	const pid_t pid = pid_in(name);
	bool foreign, done;

	if (strstr(name, l->own))
		return false;
	done = is_foreign_and_done(l, name, &foreign);
	return foreign ? done : pid > 0 && kill(pid, 0) && errno == ESRCH;
}

static void
list_entry(struct listing *l, const char *name)
{
	if (strlen(name) >= NAME_LENGTH)
		return;
	if (!strncmp(name, "notice-", 7)) {
		l->notices++;
		strcpy(l->notice, name);
	} else if (ac_file_is_name(name)) {
		l->files++;
		if ((!*l->oldest || strcmp(name, l->oldest) < 0) &&
		    may_go(l, name))
			strcpy(l->oldest, name);
	}
}

/* readdir() would allocate in the program's heap. */
static bool
list(struct listing *l)
{
	long got;

	if (lseek(l->directory, 0, SEEK_SET) < 0)
		return false;
	while ((got = syscall(SYS_getdents64, l->directory, entries,
	    sizeof entries)) > 0) {
		for (long at = 0; at < got; ) {
			unsigned short length;

			memcpy(&length,
			    entries + at + offsetof(struct dirent64, d_reclen),
			    sizeof length);
			list_entry(l, entries + at
			    + offsetof(struct dirent64, d_name));
			at += length;
		}
	}
	return got == 0;
}

/* Leave room for the file to come. Bounded work: a crowded directory shrinks
 * over several runs. */
static void
prune(const char *path, const struct ac_file_header *header)
{
	char own[NAME_LENGTH];
	const int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (directory < 0)
		return;
	snprintf(own, sizeof own, "-%08x.stats",
	    (unsigned)run_hash(header->run));
	for (int i = 0; i < PRUNED_AT_ONCE; i++) {
		struct listing l = { directory, header, own, 0, 0, "", "" };
		bool done = true;

		if (!list(&l))
			break;
		if (l.files >= AC_FILE_KEEP && *l.oldest)
			done = unlinkat(directory, l.oldest, 0) != 0;
		if (l.notices > NOTICES_KEPT)
			done = unlinkat(directory, l.notice, 0) != 0 && done;
		if (done)
			break;
	}
	close(directory);
}

/* ---- Creating and growing ---------------------------------------------- */

/* Whether others may shorten the file: what is mapped would then fault. In a
 * directory of strangers they might have put one of theirs in its place. The
 * name fstat is too new in glibc; the system call is not. */
static bool
is_ours_alone(int fd)
{
	struct stat status;

	return !syscall(SYS_fstat, fd, &status) && S_ISREG(status.st_mode) &&
	    status.st_uid == geteuid() &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static void *
map(int fd, uint64_t from, size_t bytes)
{
	void *mapped;

	if (!ac_file_allocate(fd, from, bytes))
		return NULL;
	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    (off_t)from);
	return mapped == MAP_FAILED ? NULL : mapped;
}

/* The second image of a process that called exec has the same pid, and on a
 * coarse clock the same time: the sequence number keeps both. */
static int
open_new(const struct ac_file_header *header, struct ac_text *path)
{
	const size_t stem = path->used;

	for (unsigned sequence = 0; sequence < 100; sequence++) {
		int fd;

		path->used = stem;
		ac_text_addf(path, "/%010llu.%09u-%d-%u-%08x.stats",
		    (unsigned long long)header->start_s, header->start_ns,
		    (int)header->pid, sequence,
		    (unsigned)run_hash(header->run));
		if (path->truncated)
			return -1;
		fd = open(path->data, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
		    | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

struct ac_file_front *
ac_file_create(const struct ac_file_header *header, char *path_out)
{
	struct ac_file_front *front;
	struct ac_text path;
	size_t fixed;
	int fd, error;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!ac_file_directory(&path, &fixed))
		return NULL;
	error = ac_file_make_directory(path.data, fixed);
	prune(path.data, header);
	fd = open_new(header, &path);
	if (fd < 0) {
		errno = error ? error : errno;
		return NULL;
	}
	front = map(fd, 0, sizeof *front);
	error = errno;
	if (front)
		memcpy(path_out, path.data, path.used + 1);
	else
		(void)unlink(path.data);
	close(fd);
	errno = error;
	return front;
}

void *
ac_file_extend(const char *path, const struct ac_file_header *header,
    uint64_t from, size_t bytes)
{
	const size_t same = offsetof(struct ac_file_header, chosen);
	char found[offsetof(struct ac_file_header, chosen)];
	void *mapped = NULL;
	const int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	if (is_ours_alone(fd) && pread(fd, found, same, 0) == (ssize_t)same &&
	    !memcmp(found, header, same))
		mapped = map(fd, from, bytes);
	close(fd);
	return mapped;
}

void *
ac_file_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

bool
ac_file_claim(const char *name)
{
	struct ac_text path;
	size_t fixed;
	int fd;

	ac_text_init(&path, path_buffer, sizeof path_buffer);
	if (!ac_file_directory(&path, &fixed))
		return true;
	(void)ac_file_make_directory(path.data, fixed);
	ac_text_addf(&path, "/%s", name);
	if (path.truncated)
		return true;
	fd = open(path.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
	    | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno != EEXIST;
	close(fd);
	return true;
}
