/* SPDX-License-Identifier: Apache-2.0 */
/* base/env.c -- the only reader of the environment. */
#include "base/env.h"
#include "base/log.h"
#include "base/mapped.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const struct ac_env_row ac_env_rows[AC_ENV_COUNT] = {
#define ENV(name, variable, fallback, meaning) { variable, fallback },
#include "base/env.def"
#undef ENV
};

static const char ours[] = "AUTOCAST_";

/* ---- A program that clears its environment ------------------------------- */

enum { STARTED_BYTES = 256 << 10 };
static const char preload[] = "LD_PRELOAD";

/* "NAME=value" in lines that end in NUL: the value; NULL: there is none. */
static const char *
find(const char *lines, const char *name)
{
	const size_t length = strlen(name);

	for (; *lines; lines += strlen(lines) + 1)
		if (!strncmp(lines, name, length) && lines[length] == '=')
			return lines + length + 1;
	return NULL;
}

/* The environment that the process was started with, in such lines; "" if that
 * did not bring us here, or cannot be read. */
static const char *
read_started(void)
{
	char *const lines = ac_mapped_take(STARTED_BYTES);
	const int file = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	bool is_read = false;

	if (file >= 0) {
		is_read = lines && read(file, lines, STARTED_BYTES - 2) > 0;
		close(file);
	}
	return is_read && find(lines, preload) ? lines : "";
}

/* What the variable was then, if LD_PRELOAD is gone, and all that is ours. */
static const char *
started(const char *variable)
{
	static const char *_Atomic lines; /* stays once it is read */

	if (secure_getenv(preload) || ac_env_is_privileged())
		return NULL;
	for (char **at = environ; at && *at; at++)
		if (!strncmp(*at, ours, sizeof ours - 1))
			return NULL;
	if (!lines)
		lines = read_started();
	return find(lines, variable);
}

/* ---- Reading ------------------------------------------------------------- */

/* secure_getenv: a preload must not let a caller steer a set-uid program. */
static const char *
lookup(enum ac_env_name name)
{
	const char *variable = ac_env_rows[name].variable;
	const char *value = secure_getenv(variable);

	if (!value)
		value = started(variable);
	return value && *value ? value : NULL;
}

const char *
ac_env(enum ac_env_name name)
{
	const char *value = lookup(name);

	return value ? value : ac_env_rows[name].fallback;
}

bool
ac_env_is_set(enum ac_env_name name)
{
	return lookup(name) != NULL;
}

/* What modules of a site set for each of their packages; we read none. */
static bool
is_of_a_site(const char *word)
{
	static const char *const words[] = { "BASE", "BIN", "DIR", "HOME",
		"INC", "INCLUDE", "LIB", "PATH", "PREFIX", "ROOT", "VERSION" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* `words` are all of ours. */
static void
warn_of(const char *word, const char *const *words, size_t count)
{
	const char *meant = ac_text_nearest(word, words, count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return;
	if (meant)
		ac_log(AC_LOG_WARNING, "there is no variable %s%s; did you "
		    "mean %s%s?", ours, word, ours, meant);
	else if (!is_of_a_site(word))
		ac_log(AC_LOG_WARNING, "there is no variable %s%s; type: "
		    "autocast run --list-env", ours, word);
}

void
ac_env_warn(void)
{
	const size_t prefix = sizeof ours - 1;
	const char *words[AC_ENV_COUNT];
	size_t count = 0;

	ac_log_check();
	for (int i = 0; i < AC_ENV_COUNT; i++)
		if (!strncmp(ac_env_rows[i].variable, ours, prefix))
			words[count++] = ac_env_rows[i].variable + prefix;
	for (char **at = environ; at && *at && !ac_env_is_privileged(); at++) {
		struct ac_text word = AC_TEXT_OF(64);

		if (strncmp(*at, ours, prefix))
			continue;
		ac_text_add_bytes(&word, *at + prefix,
		    strcspn(*at, "=") - prefix);
		warn_of(word.data, words, count);
	}
}

bool
ac_env_is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}
