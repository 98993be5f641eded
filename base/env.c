/* SPDX-License-Identifier: Apache-2.0 */
/* base/env.c -- the only reader of the environment. */
#include "base/env.h"

#include <stdlib.h>
#include <sys/auxv.h>

const struct ac_env_row ac_env_rows[AC_ENV_COUNT] = {
#define ENV(name, variable, fallback, meaning) { variable, fallback, meaning },
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

bool
ac_env_is_privileged(void)
{
	return getauxval(AT_SECURE) != 0;
}
