/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/refused.c -- what this device refused, a line per call, for
 * `autocast run` and `autocast doctor`: a program that gives up at a refusal is
 * not one that makes no products. Does not know why a call was refused. */
#include "emulator/driver/device.h"

#include "base/env.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CALLS_MOST = 32, LINE = 512 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *noted[CALLS_MOST];
static size_t count;

/* Of each call the first refusal tells why; lock held. */
static bool
is_new(const char *call)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(noted[i], call))
			return false;
	if (count == CALLS_MOST)
		return false;
	noted[count++] = call;
	return true;
}

/* One write per line, as other processes add theirs. The file may be gone with
 * whoever asked for it. */
static void
add(const char *line, size_t length)
{
	const int file = open(ac_env(AC_ENV_EMU_REFUSED), O_WRONLY | O_APPEND |
	    O_CLOEXEC);

	if (file < 0)
		return;
	if (write(file, line, length) < 0)
		length = 0;
	close(file);
}

void
emu_refused(const char *call, const char *cause)
{
	char line[LINE];
	int length;

	if (!ac_env_is_set(AC_ENV_EMU_REFUSED))
		return;
	length = snprintf(line, sizeof line, "%s: %s", call, cause);
	if (length > LINE - 2)
		length = LINE - 2;
	line[length] = '\n';
	pthread_mutex_lock(&lock);
	if (is_new(call))
		add(line, (size_t)length + 1);
	pthread_mutex_unlock(&lock);
}
