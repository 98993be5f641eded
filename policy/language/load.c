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
	struct ac_text text;

	ac_text_init(&text, origin->name, sizeof(origin->name));
	ac_text_add(&text, name);
	ac_text_init(&text, origin->why, sizeof(origin->why));
	ac_text_add(&text, who);
	ac_text_add(&text, what);
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
	ac_text_add(problems->text, "\n");
	return true;
}

static struct ac_policy *
load_value(const char *value, const char *who, const char *rules,
    struct ac_policy_problems *problems, struct ac_policy_origin *origin)
{
	struct ac_wanted wanted = { .kind = AC_WANTED_FILE, .name = value,
		.rules = rules };
	const int profile = ac_name_find(value, strlen(value),
	    ac_profile_names, AC_PROFILE_COUNT);

	if (strstr(value, "->") != NULL) {
		wanted.kind = AC_WANTED_TEXT;
		wanted.name = who;
		wanted.text = value;
		wanted.count = strlen(value);
		set_origin(origin, who, who, " holds policy text", true);
	} else if (profile >= 0) {
		wanted.kind = AC_WANTED_PROFILE;
		wanted.name = ac_profile_names[profile];
		set_origin(origin, value, who, " names this profile", true);
	} else {
		set_origin(origin, value, who, " names this file", true);
		if (refuse_word(value, who, problems))
			return NULL;
	}
	return ac_policy_build(&wanted, problems);
}

/* ---- Files and defaults -------------------------------------------------- */

/* XDG: a relative directory is to be ignored. */
static bool
user_file(struct ac_text *path)
{
	const char *config = ac_env(AC_ENV_XDG_CONFIG_HOME);
	const char *home = ac_env(AC_ENV_HOME);

	if (*config == '/')
		ac_text_addf(path, "%s/autocast/policy", config);
	else if (*home == '/')
		ac_text_addf(path, "%s/.config/autocast/policy", home);
	return path->used != 0 && !path->truncated &&
	    access(path->data, F_OK) == 0;
}

static bool
system_file(struct ac_text *path)
{
	ac_text_addf(path, "%s/autocast/policy", SYSCONFDIR);
	return !path->truncated && access(path->data, F_OK) == 0;
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
load_default(const char *rules, struct ac_policy_problems *problems,
    struct ac_policy_origin *origin)
{
	const bool off = is_preloaded_for_all();
	const struct ac_wanted wanted = { .kind = AC_WANTED_PROFILE,
		.name = ac_profile_names[off ? AC_PROFILE_OFF :
		AC_PROFILE_AMP], .rules = rules };

	set_origin(origin, wanted.name, off ? "nobody chose a policy, and "
	    "/etc/ld.so.preload alone asks for none" :
	    "nobody chose a policy: this is the default", "", false);
	return ac_policy_build(&wanted, problems);
}

static struct ac_policy *
load_found(const char *rules, struct ac_policy_problems *problems,
    struct ac_policy_origin *origin)
{
	char *buffer = calloc(1, LONGEST_PATH);
	struct ac_wanted wanted = { .kind = AC_WANTED_FILE, .rules = rules };
	struct ac_policy *policy;
	struct ac_text path;

	if (buffer == NULL)
		return load_default(rules, problems, origin);
	ac_text_init(&path, buffer, LONGEST_PATH);
	wanted.name = buffer;
	if (user_file(&path)) {
		set_origin(origin, buffer, "the user's policy file", "", true);
		policy = ac_policy_build(&wanted, problems);
	} else {
		ac_text_init(&path, buffer, LONGEST_PATH);
		if (system_file(&path)) {
			set_origin(origin, buffer, "the system's policy file",
			    "", true);
			policy = ac_policy_build(&wanted, problems);
		} else {
			policy = load_default(rules, problems, origin);
		}
	}
	free(buffer);
	return policy;
}

struct ac_policy *
ac_policy_load(const char *chosen, const char *rules,
    struct ac_policy_problems *problems, struct ac_policy_origin *origin_out)
{
	if (rules == NULL)
		rules = ac_env(AC_ENV_RULES);
	if (chosen != NULL)
		return load_value(chosen, "--policy", rules, problems,
		    origin_out);
	if (ac_env_is_set(AC_ENV_POLICY))
		return load_value(ac_env(AC_ENV_POLICY), "AUTOCAST_POLICY",
		    rules, problems, origin_out);
	return load_found(rules, problems, origin_out);
}
