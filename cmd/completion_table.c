/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/completion_table.c -- what the tables of verbs say, for completion. */
#include "cmd/completion.h"

#include <string.h>

void
ac_values_add(struct ac_text *t, const char *list)
{
	while (*list) {
		const size_t length = strcspn(list, ", ");

		if (length && !(length == 2 && !strncmp(list, "or", 2))) {
			ac_text_add(t, t->used ? " " : "");
			ac_text_add_bytes(t, list, length);
		}
		list += length + strspn(list + length, ", ");
	}
}

struct ac_values
ac_values_of(const struct ac_option *option)
{
	const char *argument = option->argument;
	struct ac_values values = { .words = "" };
	struct ac_text t = AC_TEXT_IN(values.words);

	if (!strcmp(argument, "P")) {
		ac_values_add(&t, AC_POLICY_PROFILES);
		values.is_file = true;
	} else if (!strcmp(argument, "[=MODEL]")) {
		ac_values_add(&t, AC_EMULATED_MODELS);
	} else if (!strcmp(argument, "FILE") || !strcmp(argument, "GLOB")) {
		values.is_file = true;
	} else if (strchr(argument, '|')) {
		for (; *argument; argument++)
			if (*argument != '[' && *argument != '='
			    && *argument != ']')
				ac_text_add_bytes(&t, *argument == '|' ? " "
				    : argument, 1);
	}
	return values;
}

const char *
ac_verb_words(const struct ac_command *command)
{
	static char operations[512];
	struct ac_text t;

	if (!strcmp(command->name, "policy"))
		return "check show where freeze validate";
	if (!strcmp(command->name, "report"))
		return "--live";
	if (!strcmp(command->name, "explain")) {
		ac_text_init(&t, operations, sizeof operations);
		for (int i = 0; i < AC_OP_COUNT; i++)
			ac_text_addf(&t, "%s ", ac_operation_names[i]);
		ac_text_add(&t, "gpu=");
		return operations;
	}
	return strcmp(command->name, "completion") ? "" : "bash zsh fish";
}

const char *
ac_option_typed(const struct ac_option *option)
{
	static char word[64];
	struct ac_text t = AC_TEXT_IN(word);

	if (option->name)
		ac_text_addf(&t, "--%s", option->name);
	else
		ac_text_addf(&t, "-%c", option->id);
	return word;
}

const struct ac_command *const *
ac_verb_next(const struct ac_command *const *v, const char *verb)
{
	for (; *v; v++) {
		const size_t first = strcspn((*v)->name, " ");

		if (verb ? strlen(verb) == first && !strncmp((*v)->name, verb,
		    first) : !(*v)->name[first])
			break;
	}
	return v;
}
