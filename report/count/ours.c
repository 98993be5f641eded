/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/ours.c -- what in a directory is ours, and what is not. The user
 * chooses the directory of statistics, may keep files of his own there and may
 * share it. Runs inside any program: no heap, no descriptor kept. */
#include "report/count/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool
ac_file_is_ours(const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_uid == geteuid();
}

/* The names fstat and fstatat are too new in glibc; the system calls are
 * not. */
int
ac_file_open_folder(int at, const char *path)
{
	struct stat status;
	const int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW
	    | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!syscall(SYS_fstat, fd, &status) && status.st_uid == geteuid())
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* Asked before it is opened: who waits to write into a FIFO would take us for
 * the reader. */
int
ac_file_open_regular(int at, const char *path)
{
	struct stat status;
	int fd = -1;

	errno = EINVAL;
	if (!syscall(SYS_newfstatat, at, path, &status, 0) &&
	    S_ISREG(status.st_mode))
		fd = openat(at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK
		    | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (!syscall(SYS_fstat, fd, &status) && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

bool
ac_file_has_hash(const char *name, const char *start)
{
	const size_t prefix = strlen(start);

	return !strncmp(name, start, prefix) &&
	    strspn(name + prefix, "0123456789abcdef") == 16 &&
	    !name[prefix + 16];
}
