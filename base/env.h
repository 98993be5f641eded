/* SPDX-License-Identifier: Apache-2.0 */
/* base/env.h -- the environment, read in one place.
 * Every variable is a row of env.def; nothing else in the library calls
 * getenv. A privileged (set-uid) process sees every variable as unset. */
#ifndef AC_BASE_ENV_H
#define AC_BASE_ENV_H

#include <stdbool.h>
#include <string.h>
#include <stddef.h>

enum ac_env_name {
#define ENV(name, variable, fallback, meaning) AC_ENV_##name,
#include "base/env.def"
#undef ENV
	AC_ENV_COUNT
};

struct ac_env_row {
	char variable[38], fallback[14]; /* no addresses for the loader to fill
	                                 * in, in every process */
};
extern const struct ac_env_row ac_env_rows[AC_ENV_COUNT];

/* What each is for; apart, since the library needs no words. */
extern const char *const ac_env_meanings[AC_ENV_COUNT];

/* The variable's value, or its default when unset or empty. Never NULL. If the
 * program has cleared its environment, LD_PRELOAD too, it is the value that the
 * process was started with.
 * It points into the environment: copy what must outlive a setenv(). */
const char *ac_env(enum ac_env_name name);

/* Whether the variable is set to something. */
bool ac_env_is_set(enum ac_env_name name);
/* Whether it says off, or no, 0, false. */
static inline bool
ac_env_is_off(enum ac_env_name name)
{
	const char *value = ac_env(name);

	return !strcmp(value, "off") || !strcmp(value, "no") ||
	    !strcmp(value, "0") || !strcmp(value, "false");
}

/* Log a warning for each variable that is named as ours are but is none:
 * nothing else would tell that it has no effect. Also of an unknown
 * AUTOCAST_LOG. */
void ac_env_warn(void);

/* Whether the process has rights its caller need not have (set-uid, file
 * capabilities): then nobody but the administrator may steer it. */
bool ac_env_is_privileged(void);

#endif
