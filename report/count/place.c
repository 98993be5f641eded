/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/place.c -- where statistics are, whether they can be there, and
 * what stands in the way; what in a directory is ours, and what is not. The
 * user chooses it, may keep files of his own there and may share it. Runs
 * inside any program: no heap, no descriptor kept. */
#include "report/count/file.h"
#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- The directory ----------------------------------------------------- */

/* A relative AUTOCAST_STATE means the directory the program is in now. */
static bool
add_absolute(struct ac_text *path, const char *name)
{
	char *room = path->data + path->used;

	if (*name != '/') {
		if (!getcwd(room, path->size - path->used) || *room != '/')
			return false;
		path->used += strlen(room);
		ac_text_add(path, "/");
	}
	ac_text_add(path, name);
	return true;
}

bool
ac_file_directory(struct ac_text *path, size_t *fixed_out)
{
	const char *state = ac_env(AC_ENV_STATE);
	const char *xdg = ac_env(AC_ENV_XDG_STATE_HOME);
	const char *home = ac_env(AC_ENV_HOME);
	size_t fixed = 0;

	errno = 0;
	if (!strcmp(state, "off"))
		return false;
	errno = ENOENT;
	if (*state) {
		if (!add_absolute(path, state))
			return false;
	} else if (*xdg == '/') {
		ac_text_addf(path, "%s/autocast", xdg);
	} else if (*home == '/') {
		fixed = strlen(home);
		ac_text_addf(path, "%s/.local/state/autocast", home);
	} else {
		return false;
	}
	if (fixed_out)
		*fixed_out = fixed;
	if (path->truncated)
		errno = ENAMETOOLONG;
	return !path->truncated;
}

bool
ac_file_is_once(void)
{
	const char *slash = strrchr(ac_env(AC_ENV_STATE), '/');

	return slash && !strncmp(slash + 1, AC_FILE_ONCE_FOLDER,
	    sizeof AC_FILE_ONCE_FOLDER - 1) && !strncmp(ac_env(AC_ENV_RUN),
	    AC_FILE_ONCE, sizeof AC_FILE_ONCE - 1);
}

int
ac_file_make_directory(const char *path, size_t fixed)
{
	static char part[AC_FILE_PATH];
	struct ac_text t = AC_TEXT_IN(part);
	int error = 0;

	if (ac_file_is_once())
		return 0;
	for (const char *p = path; ; p++) {
		const bool ends = !*p || *p == '/';

		if (ends && t.used > fixed && t.used > 1)
			error = !mkdir(t.data, 0700) || errno == EEXIST
			    ? 0 : error ? error : errno;
		if (!*p)
			return error;
		ac_text_add_bytes(&t, p, 1);
	}
}

/* Growing past RLIMIT_FSIZE would kill the program with SIGXFSZ, so that limit
 * is asked first. */
bool
ac_file_allocate(int fd, uint64_t from, size_t bytes)
{
	struct rlimit limit;

	errno = EFBIG;
	if (getrlimit(RLIMIT_FSIZE, &limit) ||
	    (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < from + bytes))
		return false;
	do {
		errno = posix_fallocate(fd, (off_t)from, (off_t)bytes);
	} while (errno == EINTR);
	return errno == 0;
}

const char *
ac_file_trouble(int error)
{
	/* strerror() speaks the program's language and may allocate. */
	static const struct {
		int         error;
		const char *text;
	} rows[] = {
		{ EACCES, "permission denied" },
		{ EPERM, "permission denied" },
		{ EROFS, "the file system is read-only" },
		{ ENOSPC, "the disk is full" },
		{ EDQUOT, "the disk quota is used up" },
		{ EFBIG, "files may not be that large" },
		{ ENOENT, "there is no such directory" },
		{ ENOTDIR, "that is no directory" },
		{ ENAMETOOLONG, "the path is too long" },
		{ ELOOP, "too many symbolic links" },
		{ EMFILE, "too many open files" },
		{ ENFILE, "too many open files" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].error == error)
			return rows[i].text;
	return "it cannot be written";
}

/* ---- What is ours ------------------------------------------------------- */

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
