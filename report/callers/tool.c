/* SPDX-License-Identifier: Apache-2.0 */
/* report/callers/tool.c -- asks a tool that may be installed. Its input is a
 * file in memory, so that neither side waits for the other, and nobody is
 * killed by a closed pipe. */
#include "report/callers/functions.h"
#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 1 << 16 };

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A descriptor at its beginning; -1. */
static int
make_input(const char *input, size_t count)
{
	const unsigned close_on_exec = 1;
	const int fd = (int)syscall(SYS_memfd_create, "input", close_on_exec);
	size_t done = 0;

	while (fd >= 0 && done < count) {
		const ssize_t here = write(fd, input + done, count - done);

		if (here < 0 && errno == EINTR)
			continue;
		if (here <= 0) {
			close(fd);
			return -1;
		}
		done += (size_t)here;
	}
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Without the variables that make libraries of it look elsewhere, or load
 * something: LD_PRELOAD, DEBUGINFOD_URLS. */
static pid_t
start(const char *const *argv, int input, int output)
{
	struct ac_text path = AC_TEXT_OF(PATH_BYTES);
	char language[] = "LC_ALL=C";
	char *environment[] = { language, path.data, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid = -1;

	ac_text_addf(&path, "PATH=%s", ac_env(AC_ENV_PATH));
	if (path.truncated || posix_spawn_file_actions_init(&actions))
		return -1;
	if (posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
	    || posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
	    || posix_spawn_file_actions_addopen(&actions, STDERR_FILENO,
	    "/dev/null", O_WRONLY, 0)
	    || posix_spawnp(&pid, argv[0], &actions, NULL,
	    (char *const *)(uintptr_t)argv, environment))
		pid = -1;
	(void)posix_spawn_file_actions_destroy(&actions);
	return pid;
}

/* Until it is closed, or full, or too late. */
static size_t
read_answer(int fd, char *to, double end)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	size_t done = 0;

	while (done < AC_TOOL_BYTES) {
		const double left = end - now();
		ssize_t here;

		if (left <= 0 || poll(&poller, 1, (int)(1000 * left) + 1) == 0)
			return done;
		here = read(fd, to + done, AC_TOOL_BYTES - done);
		if (here < 0 && errno == EINTR)
			continue;
		if (here <= 0)
			return done;
		done += (size_t)here;
	}
	return done;
}

char *
ac_tool_ask(const char *const *argv, const char *input, size_t count,
    double *seconds)
{
	const double begin = now();
	int in = *seconds > 0 ? make_input(input, count) : -1, out[2];
	char *answer = in >= 0 ? malloc(AC_TOOL_BYTES + 1) : NULL;
	pid_t pid = -1;

	if (answer && !pipe2(out, O_CLOEXEC)) {
		pid = start(argv, in, out[1]);
		close(out[1]);
		if (pid > 0)
			answer[read_answer(out[0], answer, begin + *seconds)]
			    = '\0';
		close(out[0]);
	}
	if (in >= 0)
		close(in);
	if (pid > 0) {
		/* It has closed its output, or is not waited for. */
		(void)kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		*seconds -= now() - begin;
		return answer;
	}
	free(answer);
	return NULL;
}
