/* SPDX-License-Identifier: Apache-2.0 */
/* base/env.c -- the only reader of the environment. */
#include "base/env.h"
#include "base/log.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const struct ac_env_row ac_env_rows[AC_ENV_COUNT] = {
#define ENV(name, variable, fallback, meaning) { variable, fallback },
#include "base/env.def"
#undef ENV
};

/* secure_getenv: a preload must not let a caller steer a set-uid program. */
static const char *
lookup(enum ac_env_name name)
{
	const char *value = secure_getenv(ac_env_rows[name].variable);

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

static const char ours[] = "AUTOCAST_";

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
	char word[64];
	struct ac_text t;

	ac_log_check();
	for (int i = 0; i < AC_ENV_COUNT; i++)
		if (!strncmp(ac_env_rows[i].variable, ours, prefix))
			words[count++] = ac_env_rows[i].variable + prefix;
	for (char **at = environ; at && *at && !ac_env_is_privileged(); at++) {
		if (strncmp(*at, ours, prefix))
			continue;
		ac_text_init(&t, word, sizeof word);
		ac_text_add_bytes(&t, *at + prefix,
		    strcspn(*at, "=") - prefix);
		warn_of(word, words, count);
	}
}

bool
ac_env_is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}
