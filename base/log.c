/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.c -- the library's only way to stderr. */
#include "base/log.h"
#include "base/env.h"

#include <errno.h>
#include <pthread.h>
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

/* As write(), but for the signal where nobody reads any more: that is for what
 * the program writes. One that was pending before stays. */
static ssize_t
write_without_signal(const char *bytes, size_t count)
{
	const struct timespec at_once = { 0, 0 };
	sigset_t signal, pending, before;
	ssize_t done;
	int error;

	sigemptyset(&signal);
	sigaddset(&signal, SIGPIPE);
	if (sigpending(&pending)
	    || pthread_sigmask(SIG_BLOCK, &signal, &before))
		return -1;
	done = write(STDERR_FILENO, bytes, count);
	error = errno;
	if (done < 0 && error == EPIPE && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&signal, NULL, &at_once);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return done;
}

void
ac_log_write(const char *bytes, size_t count)
{
	const int saved = errno;

	while (count) {
		ssize_t done = write_without_signal(bytes, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			break;
		bytes += done;
		count -= (size_t)done;
	}
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
