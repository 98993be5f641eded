/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/main.c -- the autocast program: a table of verbs. */
#include "cmd/command.h"

#include <stdio.h>
#include <string.h>

/* A name of two words is what the first one does behind the second. */
static const struct ac_command *const commands[] = {
	&ac_command_run, &ac_command_report, &ac_command_live,
	&ac_command_doctor, &ac_command_compare, &ac_command_tune,
	&ac_command_bisect, &ac_command_explain, &ac_command_policy,
	&ac_command_validate, &ac_command_calibrate, &ac_command_completion,
	NULL
};
enum { COMMANDS = sizeof commands / sizeof *commands - 1 };

/* For shells, not for people. */
static bool
is_shown(const struct ac_command *command)
{
	return command != &ac_command_completion;
}

static int
help(void)
{
	printf("usage: autocast VERB [ARGUMENT]...\n"
	    "Run FP32 CUDA programs with their matrix products recast to lower "
	    "precision.\n\n");
	for (int i = 0; i < COMMANDS; i++)
		if (is_shown(commands[i]))
			printf("  %-15s %s\n", commands[i]->name,
			    commands[i]->summary);
	printf("\n  --help          print this, or the usage of VERB\n"
	    "  --version       print the version\n\n"
	    "Start with:  autocast run ./program\n");
	return ac_say_done();
}

/* Other tools' names for what ours do. */
static const char *
meant_by(const char *verb)
{
	static const char *const words[][2] = {
		{ "stat", "report" }, { "show", "report" },
		{ "stats", "report" }, { "status", "report" },
		{ "tuning", "tune" }, { "config", "policy where" },
		{ "profile", "run" }, { "record", "run" }, { "exec", "run" },
		{ "trace", "run" }, { "start", "run" }, { "launch", "run" },
		{ "bench", "compare" }, { "diff", "report @1 @2" },
		{ "test", "compare" }, { "autotune", "tune" },
		{ "top", "report --live" }, { "version", "--version" },
		{ "-V", "--version" }, { "-v", "--version" },
		{ "check", "doctor" },
		{ "why", "explain" }, { "info", "explain" },
		{ "attach", "report --live" }, { "profiles", "policy show" },
		/* Verbs of before. */
		{ "watch", "report --live" }, { "validate", "policy validate" },
		{ "path", "policy where --library" },
		{ "list", "explain --functions" },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(verb, words[i][0]))
			return words[i][1];
	return NULL;
}

/* A program where the verb should be: it is to be run. */
static bool
is_program(const char *word)
{
	return strchr(word, '/') != NULL || !strcmp(word, "--");
}

static const struct ac_command *
find(const char *verb)
{
	for (int i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, verb))
			return commands[i];
	return NULL;
}

/* The command that `words` begin with, and how many of them its name is; NULL:
 * the first word is no verb. */
static const struct ac_command *
find_longest(char **words, int *count_out)
{
	for (int i = 0; *words && words[1] && i < COMMANDS; i++) {
		const char *const name = commands[i]->name;
		const size_t first = strcspn(name, " ");

		if (name[first] && strlen(*words) == first && !strncmp(name,
		    *words, first) && !strcmp(name + first + 1, words[1])) {
			*count_out = 2;
			return commands[i];
		}
	}
	*count_out = 1;
	return find(*words);
}

/* The verb before which `option` was typed: the first word behind it that is
 * one, else run. NULL: it has no such option. */
static const struct ac_command *
owner(const char *option, char **behind)
{
	const struct ac_command *command = NULL;

	while (!command && *behind)
		command = find(*behind++);
	if (!command)
		command = &ac_command_run;
	return !strncmp(option, "--", 2) && ac_option_find(command, option + 2)
	    ? command : NULL;
}

/* `behind`: the words that follow, up to NULL. */
static int
unknown(const char *verb, char **behind)
{
	const char *names[COMMANDS], *near;
	const char *const next = *behind;
	const struct ac_command *command = owner(verb, behind);

	for (int i = 0; i < COMMANDS; i++)
		names[i] = commands[i]->name;
	if (is_program(verb))
		return ac_say(AC_EXIT_USAGE, "what to do is missing; did you "
		    "mean 'autocast run %s%s%s'?", verb,
		    next && !strcmp(verb, "--") ? " " : "",
		    next && !strcmp(verb, "--") ? next : "");
	if (command)
		return ac_say(AC_EXIT_USAGE, "options stand behind the verb; "
		    "did you mean 'autocast %s %s ...'?", command->name, verb);
	near = meant_by(verb);
	if (!near)
		near = ac_text_nearest(verb, names, COMMANDS);
	if (near)
		return ac_say(AC_EXIT_USAGE,
		    "unknown %s '%s'; did you mean 'autocast %s'?",
		    *verb == '-' ? "option" : "verb", verb, near);
	return ac_say(AC_EXIT_USAGE, "unknown %s '%s'; see 'autocast --help'",
	    *verb == '-' ? "option" : "verb", verb);
}

int
main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : NULL;
	const struct ac_command *command;
	int words;

	ac_commands = commands;
	/* So that the two streams keep their order in one log. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!verb)
		return ac_say(AC_EXIT_USAGE,
		    "what to do is missing; see 'autocast --help'");
	if (!strcmp(verb, "--version")) {
		printf("autocast %s\n", PACKAGE_VERSION);
		return ac_say_done();
	}
	if (!strcmp(verb, "--help") || !strcmp(verb, "-h") ||
	    !strcmp(verb, "help")) {
		if (argc < 3)
			return help();
		command = find_longest(argv + 2, &words);
		if (!command)
			return unknown(argv[2], argv + 3);
		ac_command_help(command);
		return ac_say_done();
	}
	command = find_longest(argv + 1, &words);
	return command ? command->run(command, argv + 1 + words)
	    : unknown(verb, argv + 2);
}
