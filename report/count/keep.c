/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/keep.c -- what the autocast program leaves in the directory of
 * statistics, and takes away there. No part of the library. */
#include "report/count/file.h"
#include "report/count/stamp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LENGTH = 40 };
static char path_buffer[AC_FILE_PATH];

int
ac_file_try(const char *directory)
{
	struct ac_text path = AC_TEXT_OF(AC_FILE_PATH);
	int fd, error = 0;

	ac_text_addf(&path, "%s/.autocast-XXXXXX", directory);
	if (path.truncated)
		return ENAMETOOLONG;
	fd = mkostemp(path.data, O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (!ac_file_allocate(fd, 0, sizeof(struct ac_file_front)))
		error = errno;
	close(fd);
	(void)unlink(path.data);
	return error;
}

bool
ac_file_remove(int folder, const char *name)
{
	struct stat status;

	return !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) &&
	    ac_file_is_ours(&status) && !unlinkat(folder, name, 0);
}

/* ---- Stamps ------------------------------------------------------------- */

bool
ac_stamp_remove(const struct ac_stamp *stamp)
{
	struct ac_text path = AC_TEXT_IN(path_buffer);

	if (!ac_stamp_directory(stamp, &path, NULL))
		return false;
	ac_text_add(&path, "/");
	ac_stamp_add_name(stamp, &path);
	return !path.truncated && ac_file_remove(AT_FDCWD, path.data);
}

bool
ac_stamp_is_any(uint64_t lines)
{
	const struct ac_stamp any = { .lines = lines };
	const struct dirent *entry;
	char prefix[NAME_LENGTH];
	struct ac_text path = AC_TEXT_IN(path_buffer);
	bool found = false;
	DIR *stream;

	if (!ac_stamp_directory(&any, &path, NULL))
		return false;
	snprintf(prefix, sizeof prefix, "%016llx-", (unsigned long long)lines);
	stream = opendir(path.data);
	while (stream && !found && (entry = readdir(stream)))
		found = !strncmp(entry->d_name, prefix, strlen(prefix));
	if (stream)
		closedir(stream);
	return found;
}

/* A stamp of ours is written again; what else has its name stays. */
static int
open_empty(int folder, const char *name)
{
	struct stat status;
	const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_NOFOLLOW
	    | O_CLOEXEC | O_NONBLOCK, 0600);

	if (fd < 0)
		return -1;
	if (!fstat(fd, &status) && ac_file_is_ours(&status) &&
	    !ftruncate(fd, 0))
		return fd;
	close(fd);
	errno = EEXIST;
	return -1;
}

static bool
leave_in(int folder, const char *name, const char *modules, const char *lines)
{
	const size_t first = strlen(modules), count = strlen(lines);
	const int fd = open_empty(folder, name);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, modules, first) == (ssize_t)first
	    && write(fd, lines, count) == (ssize_t)count;
	done &= !close(fd);
	if (!done)
		(void)unlinkat(folder, name, 0); /* it alone says something */
	return done;
}

bool
ac_stamp_leave(const struct ac_stamp *stamp, const char *modules,
    const char *lines)
{
	struct ac_text name = AC_TEXT_OF(NAME_LENGTH);
	struct ac_text path = AC_TEXT_IN(path_buffer);
	size_t fixed;
	int folder, error;
	bool done;

	if (!ac_stamp_directory(stamp, &path, &fixed))
		return false;
	(void)ac_file_make_directory(path.data, fixed);
	folder = ac_file_open_folder(AT_FDCWD, path.data);
	if (folder < 0)
		return false;
	ac_stamp_add_name(stamp, &name);
	done = leave_in(folder, name.data, modules, lines);
	error = errno;
	close(folder);
	errno = error;
	return done;
}
