/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/say.c -- what the autocast program says. Diagnostics are one line each
 * on stderr, results go to stdout or to a descriptor. */
#include "cmd/command.h"
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int
ac_say(int status, const char *format, ...)
{
	static const char prefix[] = "autocast: ";
	const size_t start = sizeof prefix - 1;
	char line[2048];
	va_list args;

	memcpy(line, prefix, start);
	va_start(args, format);
	vsnprintf(line + start, sizeof line - start - 1, format, args);
	va_end(args);
	/* One line, whatever a file is called. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	strcat(line, "\n");
	ac_log_write(line, strlen(line));
	return status;
}

void
ac_say_bytes(const char *bytes, size_t count, void *context)
{
	int *fd = context;

	if (*fd == STDERR_FILENO) {
		ac_log_write(bytes, count);
		return;
	}
	while (count && *fd >= 0) {
		const ssize_t done = write(*fd, bytes, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			*fd = -errno;
			return;
		}
		bytes += done;
		count -= (size_t)done;
	}
}

void
ac_say_stdout(const char *bytes, size_t count, void *context)
{
	(void)context;
	(void)fwrite(bytes, 1, count, stdout);
}

double
ac_say_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int
ac_say_done(void)
{
	if (fflush(stdout) || ferror(stdout))
		return ac_say(AC_EXIT_FAILED, "cannot write the output: %s",
		    strerror(errno));
	return AC_EXIT_OK;
}

void *
ac_say_memory(void *memory)
{
	if (!memory)
		exit(ac_say(AC_EXIT_FAILED, "out of memory"));
	return memory;
}

struct ac_text
ac_say_buffer(size_t size)
{
	return ac_text_in(ac_say_memory(malloc(size)), size);
}
