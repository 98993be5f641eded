/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.c -- the library's only way to stderr. */
#include "base/log.h"
#include "base/env.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

/* The level of that name; -1. */
static int
find_level(const char *name)
{
	static const char *const names[] = {
		"off", "error", "warning", "info", "debug"
	};

	for (int i = AC_LOG_OFF; i <= AC_LOG_DEBUG; i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

static int
threshold(void)
{
	const int level = find_level(ac_env(AC_ENV_LOG));

	return level < 0 ? AC_LOG_WARNING : level;
}

/* errno belongs to the program: an intercepted call must not change it. SIGPIPE
 * is for what the program writes: if this thread had none waiting before, ours
 * is taken back. On Linux sigprocmask() is of this thread alone. */
void
ac_log_write(const char *bytes, size_t count)
{
	const struct timespec at_once = { 0, 0 };
	const int saved = errno;
	sigset_t signal, pending, before;

	sigemptyset(&signal);
	sigaddset(&signal, SIGPIPE);
	(void)sigpending(&pending); /* neither fails with such arguments */
	(void)sigprocmask(SIG_BLOCK, &signal, &before);
	while (count) {
		const ssize_t done = write(STDERR_FILENO, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			break;
		bytes += done;
		count -= (size_t)done;
	}
	if (count && errno == EPIPE && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&signal, NULL, &at_once);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	errno = saved;
}

bool
ac_log_wants(enum ac_log_level level)
{
	return (int)level <= threshold();
}

void
ac_log_check(void)
{
	const char *wanted = ac_env(AC_ENV_LOG);

	if (find_level(wanted) < 0)
		ac_log(AC_LOG_WARNING, "AUTOCAST_LOG=%.64s is none of off, "
		    "error, warning, info, debug: warning is taken", wanted);
}

void
ac_log(enum ac_log_level level, const char *format, ...)
{
	static const char prefix[] = "autocast: ";
	char line[LINE_BYTES];
	size_t used = sizeof prefix - 1;
	va_list args;
	int more;

	if (!ac_log_wants(level))
		return;
	memcpy(line, prefix, used);
	va_start(args, format);
	more = vsnprintf(line + used, sizeof line - used - 1, format, args);
	va_end(args);
	if (more > 0)
		used += (size_t)more;
	if (used > sizeof line - 2)
		used = sizeof line - 2;
	line[used++] = '\n';
	ac_log_write(line, used);
}

void
ac_log_text(const char *text)
{
	if (threshold() != AC_LOG_OFF)
		ac_log_write(text, strlen(text));
}

bool
ac_log_to_terminal(void)
{
	const int saved = errno;
	const bool yes = isatty(STDERR_FILENO) == 1;

	errno = saved;
	return yes;
}
