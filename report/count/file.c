/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/file.c -- creates and extends statistics files.
 * Runs inside any program: no heap, no descriptor kept, little stack (buffers
 * are static, the counting lock guards them), and every failure is a NULL.
 * Called by report/count/count.c, report/count/notice.c and the reader. */
#include "report/count/file.h"
#include "report/count/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char path_buffer[AC_FILE_PATH];

/* ---- Names: SECONDS.NANOSECONDS-PID-SEQUENCE-RUN.stats -----------------
 * In the folder of a job, whose files are all of one run, the host comes in the
 * place of the run: hosts share home directories, and numbers of processes. */

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

/* ---- Creating and growing ---------------------------------------------- */

/* Whether others may shorten the file: what is mapped would then fault. In a
 * directory of strangers they might have put one of theirs in its place. The
 * name fstat is too new in glibc; the system call is not. */
static bool
is_ours_alone(int fd)
{
	struct stat status;

	return !syscall(SYS_fstat, fd, &status) && ac_file_is_ours(&status) &&
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

/* In the directory `path`, which is `folder` where that is open. The second
 * image of a process that called exec has the same pid, and on a coarse clock
 * the same time: the sequence number keeps both. */
static int
open_new(const struct ac_file_header *header, uint32_t last, int folder,
    struct ac_text *path)
{
	const size_t stem = path->used;

	for (unsigned sequence = 0; sequence < 100; sequence++) {
		int fd;

		path->used = stem;
		ac_text_addf(path, "/%010llu.%09u-%d-%u-%08x.stats",
		    (unsigned long long)header->start_s, header->start_ns,
		    (int)header->pid, sequence, (unsigned)last);
		if (path->truncated)
			return -1;
		fd = openat(folder, folder == AT_FDCWD ? path->data
		    : path->data + stem + 1, O_RDWR | O_CREAT | O_EXCL
		    | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* A file in the folder of the job, not in one that somebody else has put there.
 * It may be an old one that `autocast` removes just now. */
static int
open_of_job(const struct ac_file_header *header, struct ac_text *path)
{
	const uint32_t host = (uint32_t)(header->host ^ header->host >> 32);
	const size_t stem = path->used;
	int folder, error, fd = -1;

	for (int i = 0; i < 2 && fd < 0; i++) {
		path->used = stem;
		ac_text_add(path, "/");
		ac_parallel_add_folder(path, header->run);
		if (path->truncated)
			break;
		(void)mkdir(path->data, 0700);
		folder = ac_file_open_folder(AT_FDCWD, path->data);
		fd = folder < 0 ? -1 : open_new(header, host, folder, path);
		error = errno;
		if (folder >= 0)
			close(folder);
		errno = error;
		if (fd < 0 && error != ENOENT)
			break;
	}
	return fd;
}

static int
open_in(const struct ac_file_header *header, struct ac_text *path)
{
	return header->ranks && !ac_file_is_once() ? open_of_job(header, path)
	    : open_new(header, ac_file_run_hash(header->run), AT_FDCWD, path);
}

struct ac_file_front *
ac_file_create(const struct ac_file_header *header, char *path_out)
{
	struct ac_file_front *front;
	struct ac_text path = AC_TEXT_IN(path_buffer);
	size_t fixed, stem;
	int fd, error;

	if (!ac_file_directory(&path, &fixed))
		return NULL;
	stem = path.used;
	fd = open_in(header, &path);
	error = 0;
	if (fd < 0 && errno == ENOENT) {
		path.data[stem] = '\0';
		path.used = stem;
		error = ac_file_make_directory(path.data, fixed);
		fd = open_in(header, &path);
	}
	if (fd < 0) {
		errno = error ? error : errno;
		return NULL;
	}
	front = map(fd, 0, AC_FILE_FIRST_BYTES);
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
	struct ac_text path = AC_TEXT_IN(path_buffer);
	size_t fixed;
	int fd;

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
