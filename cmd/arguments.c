/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/arguments.c -- reads options by a command's table and prints its help
 * from the same table. Every mistake is one line that says what to type. */
#include "cmd/command.h"

#include <stdio.h>
#include <string.h>

enum { OPTION_COLUMN = 26 };

const struct ac_command *const *ac_commands;

bool
ac_option_is_optional(const struct ac_option *option)
{
	return option->argument && option->argument[0] == '[';
}

static bool
has_letter(const struct ac_option *option)
{
	return option->id < 256;
}

/* ---- Help -------------------------------------------------------------- */

static void
print_option(const struct ac_option *option)
{
	struct ac_text t = AC_TEXT_OF(96);

	ac_text_add(&t, "  ");
	if (has_letter(option))
		ac_text_addf(&t, "-%c", option->id);
	if (has_letter(option) && option->name)
		ac_text_add(&t, ", ");
	if (option->name)
		ac_text_addf(&t, "--%s", option->name);
	if (option->argument)
		ac_text_addf(&t, "%s%s", ac_option_is_optional(option) ? ""
		    : " ", option->argument);
	if (t.used + 1 < OPTION_COLUMN)
		ac_text_pad(&t, OPTION_COLUMN);
	else
		ac_text_add(&t, "  ");
	printf("%s", t.data);
	for (const char *c = option->meaning; *c; c++) {
		putchar(*c);
		if (*c == '\n')
			printf("%*s", (int)OPTION_COLUMN, "");
	}
	putchar('\n');
}

void
ac_command_help(const struct ac_command *command)
{
	printf("usage: autocast %s%s%s%s\n%s\n", command->name,
	    command->options[0].id ? " [OPTION]..." : "",
	    *command->operands ? " " : "", command->operands,
	    command->summary);
	if (*command->details)
		printf("\n%s", command->details);
	if (command->options[0].id)
		printf("\n");
	for EACH_OPTION(option, command)
		print_option(option);
}

/* ---- Reading ----------------------------------------------------------- */

static int
stop(struct ac_arguments *a, int status)
{
	a->status = status;
	return AC_ARGUMENT_STOP;
}

const struct ac_option *
ac_option_find(const struct ac_command *command, const char *typed)
{
	const size_t length = strcspn(typed, "=");

	for EACH_OPTION(option, command)
		if (option->name && strlen(option->name) == length &&
		    !memcmp(option->name, typed, length))
			return option;
	return NULL;
}

/* Whether the command takes a policy, and `word` is one of the profiles. */
static bool
is_profile(const struct ac_arguments *a, const char *word)
{
	return ac_option_find(a->command, "policy")
	    && ac_policy_profile_text(word);
}

/* The option that may be meant by `word`, without its dashes: of a letter, the
 * only one that begins with it. NULL: none is near. */
static const char *
find_near(const struct ac_arguments *a, const char *word)
{
	const char *names[AC_OPTIONS];
	size_t count = 0;

	for EACH_OPTION(option, a->command)
		if (option->name && (word[1] || option->name[0] == word[0]))
			names[count++] = option->name;
	if (*word && !word[1])
		return count == 1 ? names[0] : NULL;
	return count ? ac_text_nearest(word, names, count) : NULL;
}

/* Other tools' options, and other ways to say what ours do; of commands that
 * have the option that is named first. */
static const struct {
	const char *of, *word, *say;
} hints[] = {
	{ "report", "html",      "--report page.html" },
	{ "report", "csv",       "--report sites.csv" },
	{ "report", "json",      "--report run.json" },
	{ "report", "o",         "--report FILE" },
	{ "report", "v",         "AUTOCAST_LOG=info in the environment" },
	{ "report", "verbose",   "AUTOCAST_LOG=info in the environment" },
	{ "ranges", "live",      "'autocast report --live', without others" },
	{ "device", "gpu",       "--device N" },
	{ "policy", "dtype",     "--policy fp16" },
	{ "policy", "precision", "--policy fp16" },
	{ "policy", "profile",   "--policy fp16" },
	{ "policy", "tol",       "-e 'set tol=0.01'" },
	{ "policy", "tolerance", "-e 'set tol=0.01'" },
};

static const char *
find_hint(const struct ac_arguments *a, const char *word)
{
	const size_t length = strcspn(word, "=");

	for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
		if (ac_option_find(a->command, hints[i].of)
		    && length == strlen(hints[i].word)
		    && !strncmp(word, hints[i].word, length))
			return hints[i].say;
	return NULL;
}

static int
unknown(struct ac_arguments *a, const char *argument, size_t length)
{
	const char *word, *near;
	struct ac_text t = AC_TEXT_OF(64);

	ac_text_add_bytes(&t, argument, length);
	word = t.data + strspn(t.data, "-");
	if (is_profile(a, word))
		return stop(a, ac_say(AC_EXIT_USAGE,
		    "%s: unknown option '%s'; did you mean '--policy %s'?",
		    a->command->name, t.data, word));
	near = find_hint(a, word);
	if (near)
		return stop(a, ac_say(AC_EXIT_USAGE, "%s: unknown option "
		    "'%s'; say %s", a->command->name, t.data, near));
	near = find_near(a, word);
	if (near)
		return stop(a, ac_say(AC_EXIT_USAGE,
		    "%s: unknown option '%s'; did you mean '--%s'?",
		    a->command->name, t.data, near));
	return stop(a, ac_say(AC_EXIT_USAGE,
	    "%s: unknown option '%s'; see 'autocast %s --help'",
	    a->command->name, t.data, a->command->name));
}

/* The argument of `option`, which may be stuck to it (`inside`), follow it,
 * or be missing. */
static int
take_value(struct ac_arguments *a, const struct ac_option *option,
    const char *shown, const char *inside)
{
	a->value = inside;
	if (!option->argument && inside)
		return stop(a, ac_say(AC_EXIT_USAGE,
		    "%s: option '%s' takes no argument", a->command->name,
		    shown));
	if (!option->argument || inside || ac_option_is_optional(option))
		return option->id;
	if (!*a->next)
		return stop(a, ac_say(AC_EXIT_USAGE,
		    "%s: option '%s' needs an argument: %s %s",
		    a->command->name, shown, shown, option->argument));
	a->value = *a->next++;
	return option->id;
}

static int
read_long(struct ac_arguments *a, const char *argument)
{
	const size_t length = strcspn(argument, "=");
	const struct ac_option *option = ac_option_find(a->command,
	    argument + 2);
	struct ac_text t = AC_TEXT_OF(64);

	ac_text_add_bytes(&t, argument, length);
	if (!strcmp(argument, "--help")) {
		ac_command_help(a->command);
		return stop(a, ac_say_done());
	}
	return option ? take_value(a, option, t.data,
	    argument[length] ? argument + length + 1 : NULL)
	    : unknown(a, argument, length);
}

/* With one dash, -emulate is no rule "mulate", but --emulate. */
static int
read_letter(struct ac_arguments *a, const char *argument)
{
	const char shown[3] = { '-', argument[1], '\0' };

	if (!strcmp(argument, "-h"))
		return read_long(a, "--help");
	if (argument[2] && ac_option_find(a->command, argument + 1))
		return unknown(a, argument, strcspn(argument, "="));
	for EACH_OPTION(option, a->command)
		if (option->id == argument[1])
			return take_value(a, option, shown,
			    argument[2] ? argument + 2 : NULL);
	return unknown(a, argument, strcspn(argument, "="));
}

double
ac_arguments_number(const char *s, double least, double most)
{
	double value;

	return *s && ac_text_number(s, strlen(s), &value) == strlen(s) &&
	    value >= least && value <= most ? value : -1;
}

double
ac_arguments_whole(const char *s, double least, double most)
{
	return s[strspn(s, "0123456789")] ? -1
	    : ac_arguments_number(s, least, most);
}

unsigned
ac_arguments_run(const char *s)
{
	const double which = *s == '@' ? ac_arguments_whole(s + 1, 1, 1e6) : 0;

	return which > 0 ? (unsigned)which : 0;
}

int
ac_arguments_next(struct ac_arguments *a)
{
	const char *argument = *a->next;

	if (!argument)
		return AC_ARGUMENT_END;
	if (!a->operands_only && !strcmp(argument, "--")) {
		a->operands_only = true;
		argument = *++a->next;
		if (!argument)
			return AC_ARGUMENT_END;
	}
	if (a->operands_only || argument[0] != '-' || !argument[1]) {
		a->operands_only |= a->command->ends_at_operand;
		a->value = argument;
		a->next++;
		return AC_ARGUMENT_OPERAND;
	}
	a->next++;
	return argument[1] == '-' ? read_long(a, argument)
	    : read_letter(a, argument);
}
