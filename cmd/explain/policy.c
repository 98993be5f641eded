/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/explain/policy.c -- autocast policy: check files, show a policy in
 * canonical form, say which one is in force, make one of a run. */
#include "cmd/command.h"
#include "base/env.h"
#include "cmd/gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POLICY_BYTES = 1 << 20, OPT_LIBRARY = 256 };

/* A slash makes the loader take `name` as a file, never as a profile; with an
 * arrow it is policy text all the same. */
static char *
as_file(const char *name)
{
	struct ac_text path = ac_say_buffer(strlen(name) + 3);

	ac_text_addf(&path, "%s%s", strchr(name, '/') ||
	    strstr(name, "->") ? "" : "./", name);
	return path.data;
}

/* What was measured on another GPU need not hold on the one that is here. */
static void
compare_gpu(const char *file)
{
	static struct ac_gpu gpu;
	struct ac_made made;

	if (!ac_made_on(file, &made) || !ac_gpu_has_driver())
		return;
	if (ac_gpu_open(&gpu, 0, NULL)
	    && ac_made_elsewhere(&made, gpu.name, gpu.library))
		ac_say(0, "policy check: %s was made on %s with %s, here are "
		    "%s and %s: 'autocast tune' measures here", file, made.gpu,
		    made.library, gpu.name, gpu.library);
	ac_gpu_close(&gpu);
}

static int
check(char **files)
{
	int status = AC_EXIT_OK;

	if (!*files)
		return ac_say(AC_EXIT_USAGE, "policy check: the file is "
		    "missing; try 'autocast policy check FILE'");
	for (; *files; files++) {
		char *path = as_file(*files);
		const struct ac_chosen chosen = { .policy = path };
		struct ac_policy_origin origin;
		struct ac_policy *policy = ac_chosen_load(&chosen, &origin);

		if (policy) {
			printf("%s: ok\n", *files);
			ac_policy_destroy(policy);
			compare_gpu(path);
			free(path);
			continue;
		}
		free(path);
		status = AC_EXIT_USAGE;
		if (ac_policy_profile_text(*files))
			ac_say(0, "policy check: %s is a profile, which "
			    "'autocast policy show %s' prints", *files, *files);
	}
	return ac_say_done() ? AC_EXIT_FAILED : status;
}

static int
show(char **names)
{
	struct ac_chosen chosen = { .policy = names[0],
		.who = "policy show" };
	struct ac_policy_origin origin;
	struct ac_policy *policy;
	struct ac_text text;
	const char *profile;

	if (names[0] && names[1])
		return ac_say(AC_EXIT_USAGE, "policy show: one policy at a "
		    "time; unexpected '%s'", names[1]);
	profile = names[0] ? ac_policy_profile_text(names[0]) : NULL;
	if (profile) {
		fputs(profile, stdout);
		return ac_say_done();
	}
	policy = ac_chosen_load(&chosen, &origin);
	if (!policy)
		return AC_EXIT_USAGE;
	text = ac_say_buffer(POLICY_BYTES);
	ac_policy_print(policy, &text);
	printf("# %s\n%s", origin.why, text.data);
	if (text.truncated)
		ac_say(0, "policy show: the policy is too long to print whole");
	free(text.data);
	ac_policy_destroy(policy);
	return ac_say_done();
}

/* For LD_PRELOAD. */
static int
print_library(void)
{
	const char *library = ac_where_library();

	if (!library)
		return ac_say(AC_EXIT_FAILED, "libautocast.so is not where it "
		    "was installed; install autocast again");
	puts(library);
	return ac_say_done();
}

/* A line for each place, in the order of ac_policy_places(). */
static void
print_place(const char *path, bool is_there, void *context)
{
	static const char *const roles[AC_POLICY_PLACES] = {
		"before any policy:", "else the user's:", "else the system's:"
	};
	const bool has_rules = ac_env_is_set(AC_ENV_RULES);
	int *place = context;

	printf("  %-18s %s%s\n", roles[(*place)++], *path ? path
	    : "no home folder", is_there || !*path ? "" : " (not there)");
	if (*place == 1)
		printf("  %-18s -e, then AUTOCAST_RULES%s\n"
		    "  %-18s --policy, then AUTOCAST_POLICY\n",
		    "lines before it:", has_rules ? "" : " (not there)",
		    "the policy:");
}

static bool wants_library; /* --library */

static int
where(char **operands)
{
	const struct ac_chosen chosen = { .policy = NULL };
	struct ac_policy_origin origin;
	struct ac_policy *policy;
	int place = 0;

	if (*operands)
		return ac_say(AC_EXIT_USAGE, "policy where: unexpected '%s'; "
		    "it takes no operands", *operands);
	if (wants_library)
		return print_library();
	policy = ac_chosen_load(&chosen, &origin);
	printf("%s: %s\n", origin.name, origin.why);
	ac_policy_places(print_place, &place);
	if (!policy)
		return ac_say_done() ? AC_EXIT_FAILED : AC_EXIT_USAGE;
	ac_policy_destroy(policy);
	return ac_say_done();
}

static const char *output_file; /* -o */

static int
freeze(char **operands)
{
	const unsigned which = *operands ? ac_arguments_run(*operands) : 1;

	if (*operands && (!which || operands[1]))
		return ac_say(AC_EXIT_USAGE, "policy freeze: unexpected '%s'; "
		    "it takes the number of a run, as @2", which ? operands[1]
		    : *operands);
	return ac_freeze(which, output_file);
}

static const struct {
	const char *name;
	int       (*run)(char **operands);
} actions[] = {
	{ "check", check }, { "show", show }, { "where", where },
	{ "freeze", freeze }
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static int
act(char **operands)
{
	const char *names[ACTIONS], *near;

	for (int i = 0; i < ACTIONS; i++) {
		if (*operands && !strcmp(*operands, actions[i].name))
			return output_file && actions[i].run != freeze
			    ? ac_say(AC_EXIT_USAGE, "policy %s: -o is for "
			    "'freeze'", *operands)
			    : wants_library && actions[i].run != where
			    ? ac_say(AC_EXIT_USAGE, "policy %s: --library is "
			    "for 'where'", *operands)
			    : actions[i].run(operands + 1);
		names[i] = actions[i].name;
	}
	if (!*operands)
		return ac_say(AC_EXIT_USAGE, "policy: what to do is missing; "
		    "try 'autocast policy where'");
	if (ac_policy_profile_text(*operands))
		return ac_say(AC_EXIT_USAGE, "policy: unknown '%s'; did you "
		    "mean 'autocast policy show %s'?", *operands, *operands);
	near = ac_text_nearest(*operands, names, ACTIONS);
	if (near)
		return ac_say(AC_EXIT_USAGE, "policy: unknown '%s'; did you "
		    "mean 'autocast policy %s'?", *operands, near);
	return ac_say(AC_EXIT_USAGE, "policy: unknown '%s'; it can check, "
	    "show, where, freeze and validate, and profiles are "
	    AC_POLICY_PROFILES, *operands);
}

static int
run(const struct ac_command *self, char **arguments)
{
	struct ac_arguments a = { .command = self, .next = arguments };
	size_t count = 0;
	int option;

	/* Operands close ranks where "--" was. */
	while ((option = ac_arguments_next(&a)) == AC_ARGUMENT_OPERAND
	    || option == 'o' || option == OPT_LIBRARY) {
		if (option == 'o')
			output_file = strcmp(a.value, "-") ? a.value : NULL;
		else if (option == OPT_LIBRARY)
			wants_library = true;
		else
			arguments[count++] = a.next[-1];
	}
	arguments[count] = NULL;
	return option == AC_ARGUMENT_END ? act(arguments) : a.status;
}

const struct ac_command ac_command_policy = {
	.name = "policy",
	.operands = "check FILE... | show [NAME|FILE] | where | freeze [@N] | "
	    "validate ...",
	.summary = "Check policy files, print a policy, or make one of a run.",
	.details = "  check FILE...     report every mistake of the files\n"
	    "  show [NAME|FILE]  print a profile, a file, or the policy in "
	    "force\n"
	    "  where             say which policy is in force, and why\n"
	    "  freeze [@N]       print the rungs of the last run, or the N-th "
	    "last, as a policy\n"
	    "  validate ...      see 'autocast policy validate --help'\n"
	    "Without 'autocast run':\n"
	    "  LD_PRELOAD=$(autocast policy where --library) ./program\n",
	.options = {
		{ 'o', NULL, "FILE", "what 'freeze' prints goes there" },
		{ OPT_LIBRARY, "library", NULL, "'where' prints the path of "
		    "the library to preload" },
	},
	.run = run
};
