/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/file.c -- reads a policy file into memory. The path may name
 * anything: never waits, never reads more than a bound. Only at load time. */
#include "policy/language/parse.h"

#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20 };

/* strerror() speaks the program's language and may allocate. */
static const char *
explain(int error)
{
	static const struct {
		int         error;
		const char *text;
	} rows[] = {
		{ ENOENT, "there is no such file" },
		{ ENOTDIR, "there is no such file" },
		{ EACCES, "permission denied" },
		{ EPERM, "permission denied" },
		{ EISDIR, "is a directory" },
		{ ELOOP, "too many symbolic links" },
		{ ENAMETOOLONG, "the name is too long" },
		{ ENXIO, "is not a regular file" },
		{ ESPIPE, "is not a regular file" },
		{ EAGAIN, "is not a regular file" },
		{ EFBIG, "is larger than 1 MiB" },
		{ ENOMEM, "there is no memory to read it" },
		{ EMFILE, "too many open files" },
		{ ENFILE, "too many open files" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].error == error)
			return rows[i].text;
	return "cannot be read";
}

/* Returns 0 or an errno. Pipes and terminals cannot seek, which is how they
 * are told apart without waiting for their data. */
static int
read_all(int fd, char *bytes, size_t *count_out)
{
	size_t count = 0;
	ssize_t got;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return errno;
	while (count <= MOST_BYTES) {
		got = read(fd, bytes + count, MOST_BYTES + 1 - count);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0) {
			*count_out = count;
			return 0;
		}
		count += (size_t)got;
	}
	return EFBIG;
}

/* A privileged process follows the administrator only. (The C library's own
 * name fstat is too new in glibc; the system call is not.) */
static bool
is_trusted(int fd)
{
	struct stat status;

	if (!ac_env_is_privileged())
		return true;
	return !syscall(SYS_fstat, fd, &status) && status.st_uid == 0 &&
	    !(status.st_mode & (S_IWGRP | S_IWOTH));
}

char *
ac_file_read(const char *path, size_t *count_out, const char **why_out,
    int *errno_out)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *bytes = NULL;
	const char *why = NULL;
	int error = fd < 0 ? errno : 0;

	if (error == 0 && !is_trusted(fd)) {
		why = "others than the administrator may write it, and this "
		    "program is privileged";
		error = EPERM;
		close(fd);
	} else if (error == 0) {
		bytes = malloc(MOST_BYTES + 1);
		error = bytes == NULL ? ENOMEM : read_all(fd, bytes, count_out);
		close(fd);
	}
	if (error == 0)
		return bytes;
	free(bytes);
	*why_out = why ? why : explain(error);
	*errno_out = error;
	return NULL;
}
