/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/again.c -- runs a program once more as if it were the first time, and
 * keeps what the runs leave behind in a folder of our own. */
#include "cmd/run/again.h"
#include "base/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COPIED_BYTES = 1 << 16 };

int
ac_again_streams(const char *verb)
{
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return ac_say(AC_EXIT_FAILED, "%s: standard output is closed; "
		    "nothing was started", verb);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", O_RDWR);
	return 0;
}

/* ---- The folder -------------------------------------------------------- */

int
ac_again_folder(const char *verb, char *path_out, size_t size)
{
	const char *place = getenv("TMPDIR"), *last = strrchr(verb, ' ');
	struct ac_text path = AC_TEXT_OF(PATH_MAX);
	struct ac_text kept = ac_text_in(path_out, size);
	char *real = NULL;

	if (!place || !*place)
		place = "/tmp";
	ac_text_addf(&path, "%s/autocast-%s-XXXXXX", place,
	    last ? last + 1 : verb);
	if (path.truncated)
		errno = ENAMETOOLONG;
	else if (mkdtemp(path.data))
		real = realpath(path.data, NULL);
	ac_text_add(&kept, real ? real : "");
	free(real);
	if (*path_out && !kept.truncated)
		return 0;
	*path_out = '\0';
	return ac_say(AC_EXIT_FAILED, "%s: cannot keep outputs in %s: %s; set "
	    "TMPDIR to a folder", verb, place, strerror(errno));
}

int
ac_again_room(const char *verb, const char *folder)
{
	const int error = ac_file_try(folder);

	return error != ENOSPC && error != EDQUOT ? 0 : ac_say(AC_EXIT_FAILED,
	    "%s: cannot keep what a run wrote in %s: %s", verb, folder,
	    ac_file_trouble(error));
}

/* ---- What a run wrote -------------------------------------------------- */

bool
ac_again_copy(int in, int out)
{
	static char bytes[COPIED_BYTES];
	ssize_t got;

	for (;;) {
		int to = out;

		got = read(in, bytes, sizeof bytes);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got == 0;
		ac_say_bytes(bytes, (size_t)got, &to);
		if (to < 0)
			return false;
	}
}

/* ---- A run ------------------------------------------------------------- */

void
ac_again_environment(char **environment)
{
	static char **before;
	size_t count = 0;
	char **copied;

	while (environment[count])
		count++;
	copied = ac_say_memory(calloc(count + 1, sizeof *copied));
	memcpy(copied, environment, count * sizeof *copied);
	environ = copied; /* setenv() makes a copy before it changes it */
	free(before);
	before = copied;
}

void
ac_again_state(struct ac_launch *launch, const char *state)
{
	bool has_theirs;
	struct ac_text user = AC_TEXT_OF(AC_FILE_PATH);

	has_theirs = ac_file_directory(&user, NULL);
	setenv(ac_env_rows[AC_ENV_STATE].variable, state, 1);
	setenv(ac_env_rows[AC_ENV_NOTICE].variable, "off", 1);
	(void)ac_launch_begin(launch);
	if (has_theirs)
		ac_launch_lend(user.data, state);
}

/* Give the program its standard input again: from where it was if it is a
 * file, else nothing. What was read from a pipe cannot be read twice. */
static int
open_input(void)
{
	static off_t start = -1;
	static bool known;

	if (!known)
		start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	known = true;
	if (start >= 0 && lseek(STDIN_FILENO, start, SEEK_SET) == start)
		return fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Run with `input` and `output` as the standard streams, and have our own
 * again. */
static int
run_with(const struct ac_launch *launch, const struct ac_program *program,
    char **arguments, const int streams[2], int *ended)
{
	const int own_in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	const int own_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int status;

	fflush(stdout);
	(void)dup2(streams[0], STDIN_FILENO);
	(void)dup2(streams[1], STDOUT_FILENO);
	status = ac_launch_run(launch, program, arguments, ended);
	if (own_in < 0 || dup2(own_in, STDIN_FILENO) < 0)
		close(STDIN_FILENO);
	if (own_out < 0 || dup2(own_out, STDOUT_FILENO) < 0)
		close(STDOUT_FILENO);
	close(own_in);
	close(own_out);
	return status;
}

int
ac_again_run(const struct ac_launch *launch, const struct ac_program *program,
    char **arguments, int output, int *ended_out)
{
	const int input = open_input();
	const int streams[2] = { input, output };
	int status;

	if (input < 0)
		return ac_say(AC_EXIT_FAILED, "cannot open /dev/null: %s",
		    strerror(errno));
	status = run_with(launch, program, arguments, streams, ended_out);
	close(input);
	return status;
}

int
ac_again_check(const char *verb, const char *which, int ended, int failed)
{
	if (ac_child_caught())
		return AC_EXIT_FAILED;
	if (WIFSIGNALED(ended))
		return ac_say(failed, "%s: the %s was ended by signal %d (%s)",
		    verb, which, WTERMSIG(ended), strsignal(WTERMSIG(ended)));
	return WEXITSTATUS(ended) ? ac_say(failed, "%s: the %s ended with "
	    "status %d", verb, which, WEXITSTATUS(ended)) : 0;
}
