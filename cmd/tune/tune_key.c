/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/tune_key.c -- which command is it? A hash of what decides on what
 * its runs do: the program, its arguments, our options and version, the policy,
 * the check, the GPU that is emulated. */
#include "cmd/tune/tune.h"
#include "base/env.h"
#include "report/count/stamp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLICY_BYTES = 1 << 20, SCRIPT_BYTES = 1 << 20 };

static uint64_t
add(uint64_t hash, const char *word)
{
	return word ? ac_stamp_hash(hash, word, strlen(word) + 1)
	    : ac_stamp_hash(hash, "\1", 1);
}

/* The policy in full, and what it includes: the one that learns, or that of
 * bisect, behind the rules. */
static uint64_t
add_policy(uint64_t hash, const struct ac_tune *t)
{
	struct ac_text text = ac_say_buffer(POLICY_BYTES);

	(void)ac_chosen_print(&t->launch.chosen, &text);
	hash = ac_stamp_hash(hash, text.data, text.used + 1);
	free(text.data);
	return hash;
}

/* Of a file that a check is: changed, it may say something else. Of the first
 * word, if a path: what else there is may be anything. */
static uint64_t
add_check(uint64_t hash, const struct ac_tune *t)
{
	uint64_t content = 0;
	struct stat status;
	struct ac_text path = AC_TEXT_OF(PATH_MAX);

	hash = add(hash, t->check);
	if (!t->check)
		return hash;
	ac_text_add_bytes(&path, t->check, strcspn(t->check, " \t\n;|&<>"));
	if (strchr(path.data, '/') && !path.truncated
	    && !stat(path.data, &status) && status.st_size <= SCRIPT_BYTES)
		(void)ac_stamp_of_program(path.data, &content);
	return ac_stamp_hash(hash, &content, sizeof content);
}

/* What is emulated, if anything is. */
static uint64_t
add_gpu(uint64_t hash, const struct ac_tune *t)
{
	if (!t->launch.emulate)
		return add(hash, "gpu");
	hash = add(hash, t->launch.model ? t->launch.model
	    : ac_env(AC_ENV_EMU_MODEL));
	hash = add(hash, ac_env(AC_ENV_EMU_RATES));
	return add(hash, ac_env(AC_ENV_EMU_SUMS));
}

uint64_t
ac_tune_key(const struct ac_tune *t)
{
	uint64_t hash = AC_STAMP_START;
	char where[PATH_MAX];

	(void)ac_stamp_of_program(t->program.path, &hash);
	hash = add(hash, PACKAGE_VERSION);
	hash = add(hash, t->verb);
	hash = add(hash, getcwd(where, sizeof where));
	hash = add_gpu(hash, t);
	hash = add_policy(hash, t);
	hash = add_check(hash, t);
	hash = add(hash, t->rungs);
	hash = ac_stamp_hash(hash, &t->within, sizeof t->within);
	hash = ac_stamp_hash(hash, &t->tol, sizeof t->tol);
	for (size_t i = 0; i < t->glob_count; i++)
		hash = add(hash, t->globs[i]);
	for (char **word = t->arguments; *word; word++)
		hash = add(hash, *word);
	return hash;
}
