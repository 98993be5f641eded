/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/arguments.c -- reads options by a command's table and prints its help
 * from the same table. Every mistake is one line that says what to type. */
#include "cmd/command.h"

#include <stdio.h>
#include <string.h>

enum { OPTION_COLUMN = 26 };

const struct ac_command *const *ac_commands;

static bool
is_optional(const struct ac_option *option)
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
	char buffer[96];
	struct ac_text t;

	ac_text_init(&t, buffer, sizeof buffer);
	ac_text_add(&t, "  ");
	if (has_letter(option))
		ac_text_addf(&t, "-%c", option->id);
	if (has_letter(option) && option->name)
		ac_text_add(&t, ", ");
	if (option->name)
		ac_text_addf(&t, "--%s", option->name);
	if (option->argument)
		ac_text_addf(&t, "%s%s", is_optional(option) ? "" : " ",
		    option->argument);
	if (t.used + 1 < OPTION_COLUMN)
		ac_text_pad(&t, OPTION_COLUMN);
	else
		ac_text_add(&t, "  ");
	printf("%s%s\n", buffer, option->meaning);
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
	for (int i = 0; i < AC_OPTIONS && command->options[i].id; i++)
		print_option(&command->options[i]);
}

/* ---- Reading ----------------------------------------------------------- */

static int
stop(struct ac_arguments *a, int status)
{
	a->status = status;
	return AC_ARGUMENT_STOP;
}

static int
unknown(struct ac_arguments *a, const char *argument, size_t length)
{
	const char *names[AC_OPTIONS], *near = NULL;
	size_t count = 0;
	char typed[64];
	struct ac_text t;

	ac_text_init(&t, typed, sizeof typed);
	ac_text_add_bytes(&t, argument, length);
	for (int i = 0; i < AC_OPTIONS && a->command->options[i].id; i++)
		if (a->command->options[i].name)
			names[count++] = a->command->options[i].name;
	if (count && length > 2)
		near = ac_text_nearest(typed + 2, names, count);
	if (near)
		return stop(a, ac_say(AC_EXIT_USAGE,
		    "%s: unknown option '%s'; did you mean '--%s'?",
		    a->command->name, typed, near));
	return stop(a, ac_say(AC_EXIT_USAGE,
	    "%s: unknown option '%s'; see 'autocast %s --help'",
	    a->command->name, typed, a->command->name));
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
	if (!option->argument || inside || is_optional(option))
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
	char shown[64];
	struct ac_text t;

	ac_text_init(&t, shown, sizeof shown);
	ac_text_add_bytes(&t, argument, length);
	if (!strcmp(argument, "--help")) {
		ac_command_help(a->command);
		return stop(a, ac_say_done());
	}
	for (int i = 0; i < AC_OPTIONS && a->command->options[i].id; i++) {
		const struct ac_option *option = &a->command->options[i];

		if (option->name && !strcmp(shown + 2, option->name))
			return take_value(a, option, shown,
			    argument[length] ? argument + length + 1 : NULL);
	}
	return unknown(a, argument, length);
}

static int
read_letter(struct ac_arguments *a, const char *argument)
{
	const char shown[3] = { '-', argument[1], '\0' };

	if (!strcmp(argument, "-h"))
		return read_long(a, "--help");
	for (int i = 0; i < AC_OPTIONS && a->command->options[i].id; i++)
		if (a->command->options[i].id == argument[1])
			return take_value(a, &a->command->options[i], shown,
			    argument[2] ? argument + 2 : NULL);
	return unknown(a, argument, strlen(argument));
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
