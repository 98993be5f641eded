/* SPDX-License-Identifier: Apache-2.0 */
/* base/env_words.c -- what the variables of the environment are for. */
#include "base/env.h"

const char *const ac_env_meanings[AC_ENV_COUNT] = {
#define ENV(name, variable, fallback, meaning) meaning,
#include "base/env.def"
#undef ENV
};
