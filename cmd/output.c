/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/output.c -- where a verb's output goes: stdout, or a file that has all of
 * it or stays as it was, whatever becomes of the disk. */
#include "cmd/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAIN = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC };

static int
say_error(const struct ac_output *output, int error)
{
	return ac_say(AC_EXIT_FAILED, "%s: cannot write %s: %s", output->verb,
	    output->file ? output->file : "the output", error == ELOOP
	    ? "it is a symbolic link" : strerror(error));
}

/* A file of another name in the same folder, for whom the one of this `status`
 * is (NULL: there is none); -1 where that takes none, as a folder of somebody
 * else's. */
static int
open_beside(struct ac_output *output, const struct stat *status)
{
	const mode_t mode = status ? status->st_mode & 0777 : 0666;
	struct ac_text t = AC_TEXT_IN(output->temporary);
	int fd;

	ac_text_addf(&t, "%s.%d", output->file, (int)getpid());
	fd = t.truncated ? -1 : open(output->temporary, PLAIN | O_EXCL
	    | O_NOFOLLOW, mode);
	if (fd < 0)
		*output->temporary = '\0';
	if (fd >= 0 && status) {
		(void)!fchown(fd, status->st_uid, status->st_gid);
		(void)fchmod(fd, mode);
	}
	return fd;
}

/* A pipe or a terminal is written as it is, also through a link: /dev/stdout
 * and what a shell calls a process are links. Of one to a file nobody knows who
 * made it. */
static bool
is_stream(const char *file, const struct stat *status)
{
	struct stat behind;

	return S_ISLNK(status->st_mode)
	    ? !stat(file, &behind) && !S_ISREG(behind.st_mode)
	    : !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode);
}

static int
open_file(struct ac_output *output, int flags)
{
	struct stat status;
	const bool is_there = !lstat(output->file, &status);
	int fd = -1;

	if (is_there && is_stream(output->file, &status))
		return open(output->file, flags, 0666);
	if (!is_there || (S_ISREG(status.st_mode)
	    && !access(output->file, W_OK)))
		fd = open_beside(output, is_there ? &status : NULL);
	return fd >= 0 ? fd : open(output->file, flags | O_NOFOLLOW, 0666);
}

bool
ac_output_open(struct ac_output *output, const char *verb, const char *file)
{
	*output = (struct ac_output){ .verb = verb, .file = file };
	if (file && !strcmp(file, "/dev/stdout"))
		output->file = NULL;
	/* A file that may not grow is an error as others are. */
	signal(SIGXFSZ, SIG_IGN);
	output->opened = output->file ? open_file(output, PLAIN)
	    : STDOUT_FILENO;
	output->fd = output->opened;
	if (output->fd < 0)
		(void)say_error(output, errno);
	return output->fd >= 0;
}

int
ac_output_try(const char *verb, const char *file)
{
	struct ac_output output = { .verb = verb, .file = file };
	struct stat status;
	const bool is_there = file && !lstat(file, &status);
	int error, fd;

	if (!file || !strcmp(file, "/dev/stdout"))
		return 0;
	/* Who reads a pipe would take this for its end. */
	if (is_there && is_stream(file, &status))
		return access(file, W_OK) ? say_error(&output, errno) : 0;
	fd = open_file(&output, PLAIN & ~O_TRUNC);
	error = fd < 0 ? errno : 0;
	if (fd >= 0) {
		close(fd);
		if (*output.temporary || !is_there)
			(void)unlink(*output.temporary ? output.temporary
			    : file);
	}
	return error ? say_error(&output, error) : 0;
}

/* Nothing is worth more than a part. A file of ours without a byte was made
 * before there was something to write. */
static void
remove_part(const struct ac_output *output)
{
	struct stat status;

	if (*output->temporary)
		(void)unlink(output->temporary);
	if (!lstat(output->file, &status) && S_ISREG(status.st_mode)
	    && (!*output->temporary || !status.st_size)
	    && unlink(output->file))
		(void)!truncate(output->file, 0);
}

int
ac_output_close(struct ac_output *output)
{
	int error = output->fd < 0 ? -output->fd : 0;

	if (output->file && close(output->opened) && !error)
		error = errno;
	if (!error && *output->temporary
	    && rename(output->temporary, output->file))
		error = errno;
	if (!error)
		return AC_EXIT_OK;
	if (output->file)
		remove_part(output);
	return say_error(output, error);
}

int
ac_output_write(const char *verb, const char *file, const char *bytes,
    size_t count)
{
	struct ac_output output;

	if (!ac_output_open(&output, verb, file))
		return AC_EXIT_FAILED;
	ac_say_bytes(bytes, count, &output.fd);
	return ac_output_close(&output);
}
