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

/* Only what is nearly right is taken for a slip: others may have variables of
 * their own that begin as ours do. */
void
ac_env_warn(void)
{
	static const char ours[] = "AUTOCAST_";
	const size_t prefix = sizeof ours - 1;
	const char *words[AC_ENV_COUNT], *meant;
	size_t count = 0;
	char name[64];
	struct ac_text t;

	ac_log_check();
	for (int i = 0; i < AC_ENV_COUNT; i++)
		if (!strncmp(ac_env_rows[i].variable, ours, prefix))
			words[count++] = ac_env_rows[i].variable + prefix;
	for (char **at = environ; at && *at && !ac_env_is_privileged(); at++) {
		const size_t length = strcspn(*at, "=");

		if (strncmp(*at, ours, prefix) || length >= sizeof name)
			continue;
		ac_text_init(&t, name, sizeof name);
		ac_text_add_bytes(&t, *at + prefix, length - prefix);
		meant = ac_text_nearest(name, words, count);
		if (meant && strcmp(meant, name))
			ac_log(AC_LOG_WARNING, "there is no variable "
			    "AUTOCAST_%s; did you mean AUTOCAST_%s?", name,
			    meant);
	}
}

bool
ac_env_is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}
