/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/load.c -- which policy is in force, and why.
 * Follows "Which policy" of autocast-policy(5): the first that is there. Reads
 * files; never the current directory unless it is named. */
#include "policy/language/parse.h"

#include "base/env.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SYSCONFDIR
#define SYSCONFDIR "/etc"
#endif
#ifndef AC_SYSTEM_PRELOAD
#define AC_SYSTEM_PRELOAD "/etc/ld.so.preload"
#endif

enum { LONGEST_PATH = 4096 };

static void
set_origin(struct ac_policy_origin *origin, const char *name, const char *who,
    const char *what, bool chosen)
{
	struct ac_text text = AC_TEXT_IN(origin->name);
	struct ac_text why = AC_TEXT_IN(origin->why);

	ac_text_add(&text, name);
	ac_text_add(&why, who);
	ac_text_add(&why, what);
	origin->chosen = chosen;
}

/* ---- A value that was given: profile, text or path ----------------------- */

/* A bare word that is neither is more likely a misspelt profile. */
static bool
refuse_word(const char *value, const char *who,
    struct ac_policy_problems *problems)
{
	const char *nearest;

	if (strchr(value, '/') != NULL || access(value, F_OK) == 0)
		return false;
	problems->errors++;
	if (problems->text == NULL)
		return true;
	nearest = ac_text_nearest(value, ac_profile_names, AC_PROFILE_COUNT);
	ac_text_addf(problems->text, "%s: '%.200s' is neither a profile nor a "
	    "file", who, value);
	if (nearest != NULL)
		ac_text_addf(problems->text, " (did you mean '%s'?)", nearest);
	else
		ac_text_add(problems->text, "; profiles are "
		    AC_POLICY_PROFILES);
	ac_text_add(problems->text, "\n");
	return true;
}

/* `before` has the rules, and the lines that are required, which go before each
 * policy. */
static struct ac_policy *
load_value(const char *value, const char *who, const struct ac_wanted *before,
    struct ac_policy_problems *problems, struct ac_policy_origin *origin)
{
	struct ac_wanted wanted = *before;
	const int profile = ac_name_find(value, strlen(value),
	    ac_profile_names, AC_PROFILE_COUNT);

	wanted.kind = AC_WANTED_FILE;
	wanted.name = value;
	if (strstr(value, "->") != NULL) {
		wanted.kind = AC_WANTED_TEXT;
		wanted.name = who;
		wanted.text = value;
		wanted.count = strlen(value);
		set_origin(origin, who, who, " holds policy text", true);
	} else if (profile >= 0) {
		wanted.kind = AC_WANTED_PROFILE;
		wanted.name = ac_profile_names[profile];
		/* Whoever leaves a program alone may always do that. */
		if (profile == AC_PROFILE_OFF)
			wanted.required = NULL;
		set_origin(origin, value, who, " names this profile", true);
	} else {
		set_origin(origin, value, who, " names this file", true);
		if (refuse_word(value, who, problems))
			return NULL;
	}
	return ac_policy_build(&wanted, problems);
}

/* ---- Files and defaults -------------------------------------------------- */

/* XDG: a relative directory is to be ignored. False: it has no place. */
static bool
user_file(struct ac_text *path)
{
	const char *config = ac_env(AC_ENV_XDG_CONFIG_HOME);
	const char *home = ac_env(AC_ENV_HOME);

	if (*config == '/')
		ac_text_addf(path, "%s/autocast/policy", config);
	else if (*home == '/')
		ac_text_addf(path, "%s/.config/autocast/policy", home);
	return path->used != 0 && !path->truncated;
}

static bool
system_file(struct ac_text *path)
{
	ac_text_add(path, SYSCONFDIR "/autocast/policy");
	return !path->truncated;
}

static bool
required_file(struct ac_text *path)
{
	ac_text_add(path, SYSCONFDIR "/autocast/required-policy");
	return !path->truncated;
}

/* Whether the file that `name` gives the path of is there; its path. */
static bool
is_there(bool (*name)(struct ac_text *path), char path_out[LONGEST_PATH])
{
	struct ac_text path = ac_text_in(path_out, LONGEST_PATH);

	return name(&path) && access(path_out, F_OK) == 0;
}

/* Whether this library is in every process because the administrator said so,
 * and not for this program in particular. */
static bool
is_preloaded_for_all(void)
{
	const char *why;
	char *bytes;
	size_t count;
	bool found;
	int error;

	if (strstr(ac_env(AC_ENV_LD_PRELOAD), "libautocast") != NULL)
		return false;
	bytes = ac_file_read(AC_SYSTEM_PRELOAD, &count, &why, &error);
	if (bytes == NULL)
		return false;
	found = memmem(bytes, count, "libautocast", 11) != NULL;
	free(bytes);
	return found;
}

static struct ac_policy *
load_default(struct ac_wanted wanted, struct ac_policy_problems *problems,
    struct ac_policy_origin *origin)
{
	const bool off = is_preloaded_for_all();

	wanted.kind = AC_WANTED_PROFILE;
	wanted.name = ac_profile_names[off ? AC_PROFILE_OFF : AC_PROFILE_AMP];
	set_origin(origin, wanted.name, off ? "nobody chose a policy, and "
	    "/etc/ld.so.preload alone asks for none" :
	    "nobody chose a policy: this is the default", "", false);
	return ac_policy_build(&wanted, problems);
}

static struct ac_policy *
load_found(struct ac_wanted wanted, struct ac_policy_problems *problems,
    struct ac_policy_origin *origin)
{
	char *path = calloc(1, LONGEST_PATH);
	const char *whose = NULL;
	struct ac_policy *policy;

	if (path != NULL && is_there(user_file, path))
		whose = "the user's policy file";
	else if (path != NULL && is_there(system_file, path))
		whose = "the system's policy file";
	if (whose != NULL) {
		set_origin(origin, path, whose, "", true);
		wanted.kind = AC_WANTED_FILE;
		wanted.name = path;
		policy = ac_policy_build(&wanted, problems);
	} else {
		policy = load_default(wanted, problems, origin);
	}
	free(path);
	return policy;
}

struct ac_policy *
ac_policy_load(const char *chosen, const char *rules,
    struct ac_policy_problems *problems, struct ac_policy_origin *origin_out)
{
	char *path = calloc(1, LONGEST_PATH);
	struct ac_wanted before = { .rules = rules };
	struct ac_policy *policy;

	if (rules == NULL) {
		before.rules = ac_env(AC_ENV_RULES);
		/* `autocast run` hands its -e lines on there. */
		if (!ac_env_is_set(AC_ENV_RUN))
			before.rules_name = ac_env_rows[AC_ENV_RULES].variable;
	}
	if (path != NULL && is_there(required_file, path))
		before.required = path;
	if (chosen != NULL)
		policy = load_value(chosen, problems->who != NULL
		    ? problems->who : "--policy", &before, problems,
		    origin_out);
	else if (ac_env_is_set(AC_ENV_POLICY))
		policy = load_value(ac_env(AC_ENV_POLICY), "AUTOCAST_POLICY",
		    &before, problems, origin_out);
	else
		policy = load_found(before, problems, origin_out);
	free(path);
	return policy;
}

void
ac_policy_places(void (*tell)(const char *path, bool is_there, void *context),
    void *context)
{
	static bool (*const files[AC_POLICY_PLACES])(struct ac_text *path) = {
		required_file, user_file, system_file
	};
	char *path = calloc(1, LONGEST_PATH);

	for (int i = 0; path != NULL && i < AC_POLICY_PLACES; i++) {
		const bool found = is_there(files[i], path);

		tell(path, found, context);
	}
	free(path);
}
