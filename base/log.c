/* SPDX-License-Identifier: Apache-2.0 */
/* base/log.c -- the library's only way to stderr. */
#include "base/log.h"
#include "base/env.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static enum ac_log_level
threshold(void)
{
	static const char *const names[] = {
		"off", "error", "warning", "info", "debug"
	};
	const char *wanted = ac_env(AC_ENV_LOG);

	for (int i = AC_LOG_OFF; i <= AC_LOG_DEBUG; i++)
		if (!strcmp(wanted, names[i]))
			return i;
	return AC_LOG_WARNING;
}

/* errno belongs to the program: an intercepted call must not change it. */
static void
emit(const char *bytes, size_t count)
{
	const int saved = errno;

	while (count) {
		ssize_t done = write(STDERR_FILENO, bytes, count);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			break;
		bytes += done;
		count -= (size_t)done;
	}
	errno = saved;
}

void
ac_log(enum ac_log_level level, const char *format, ...)
{
	static const char prefix[] = "autocast: ";
	char line[LINE_BYTES];
	size_t used = sizeof prefix - 1;
	va_list args;
	int more;

	if (level > threshold())
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
	emit(line, used);
}

void
ac_log_text(const char *text)
{
	if (threshold() != AC_LOG_OFF)
		emit(text, strlen(text));
}

bool
ac_log_to_terminal(void)
{
	const int saved = errno;
	const bool yes = isatty(STDERR_FILENO) == 1;

	errno = saved;
	return yes;
}
