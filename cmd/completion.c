/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/completion.c -- autocast completion: what a shell must know to complete
 * command lines, from the tables of the verbs. */
#include "cmd/completion.h"

#include <stdio.h>
#include <string.h>

/* ---- zsh ----------------------------------------------------------------- */

/* `s`, with `quote` in the place of a single quote. */
static void
print_quoted(const char *s, const char *quote, const char *escaped)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs(quote, stdout);
		else
			printf("%s%c", strchr(escaped, *s) ? "\\" : "", *s);
	}
}

static void
zsh_option(const struct ac_option *option)
{
	printf("\t\t\t'*%s%s[", ac_option_typed(option),
	    !option->argument ? "" : ac_option_is_optional(option) ? "=-"
	    : option->name ? "=" : "+");
	print_quoted(option->meaning, "'\\''", "[]:\\");
	printf("]");
	if (option->argument) {
		const struct ac_values values = ac_values_of(option);

		printf("%s:", ac_option_is_optional(option) ? "::"
		    : ":value");
		if (*values.words && values.is_file)
			printf("{_alternative \"w:value:(%s)\" "
			    "\"f:file:_files\"}", values.words);
		else if (*values.words)
			printf("(%s)", values.words);
		else if (values.is_file)
			printf("_files");
	}
	printf("' \\\n");
}

static void
zsh(void)
{
	printf("#compdef autocast\n"
	    "# zsh completion of autocast, by: autocast completion zsh\n"
	    "_autocast()\n{\n\tlocal context state line\n"
	    "\tlocal -a verbs=(\n");
	for EACH_VERB(command) {
		printf("\t\t'%s:", command->name);
		print_quoted(command->summary, "'\\''", ":\\");
		printf("'\n");
	}
	printf("\t)\n\t_arguments -C '--help[print usage]' "
	    "'--version[print the version]' \\\n"
	    "\t    '1:verb:->verb' '*::argument:->argument'\n"
	    "\tcase $state in\n\tverb) _describe verb verbs ;;\n"
	    "\targument)\n\t\tcase $line[1] in\n");
	for EACH_VERB(command) {
		printf("\t\t%s) _arguments \\\n", command->name);
		for EACH_PART(of, command->name)
			for EACH_OPTION(option, of)
				zsh_option(option);
		if (command->ends_at_operand)
			printf("\t\t\t'(-)1:program:_command_names -e' "
			    "'*::argument:_normal' ;;\n");
		else if (*ac_verb_words(command))
			printf("\t\t\t'1:word:(%s)' '*:file:_files' ;;\n",
			    ac_verb_words(command));
		else
			printf("\t\t\t'*:file:_files' ;;\n");
	}
	printf("\t\tesac ;;\n\tesac\n}\n"
	    "if [ \"$funcstack[1]\" = _autocast ]; then _autocast \"$@\"\n"
	    "else compdef _autocast autocast; fi\n");
}

/* ---- fish ---------------------------------------------------------------- */

static void
fish_option(const struct ac_command *command, const struct ac_option *option)
{
	printf("complete -c autocast -n '__fish_seen_subcommand_from %s' ",
	    command->name);
	if (option->name)
		printf("-l %s ", option->name);
	if (option->id < 256)
		printf("-s %c ", option->id);
	if (option->argument) {
		const struct ac_values values = ac_values_of(option);

		printf("%s", ac_option_is_optional(option) ? ""
		    : values.is_file ? "-r -F " : "-x ");
		if (*values.words)
			printf("-a '%s' ", values.words);
	}
	printf("-d '");
	print_quoted(option->meaning, "\\'", "\\");
	printf("'\n");
}

static void
fish(void)
{
	printf("# fish completion of autocast, by: autocast completion fish\n"
	    "complete -c autocast -n __fish_use_subcommand -f\n"
	    "complete -c autocast -n __fish_use_subcommand -l version\n");
	for EACH_VERB(command) {
		printf("complete -c autocast -n __fish_use_subcommand -a %s "
		    "-d '", command->name);
		print_quoted(command->summary, "\\'", "\\");
		printf("'\n");
		for EACH_PART(of, command->name)
			for EACH_OPTION(option, of)
				fish_option(command, option);
		if (*ac_verb_words(command))
			printf("complete -c autocast -n "
			    "'__fish_seen_subcommand_from %s' -a '%s'\n",
			    command->name, ac_verb_words(command));
		if (command->ends_at_operand)
			printf("complete -c autocast -n "
			    "'__fish_seen_subcommand_from %s' -a "
			    "'(__fish_complete_subcommand --fcs-skip=2)'\n",
			    command->name);
	}
}

/* ---- The verb ------------------------------------------------------------ */

static int
run(const struct ac_command *self, char **arguments)
{
	static const struct {
		const char *name;
		void      (*print)(void);
	} shells[] = {
		{ "bash", ac_print_bash }, { "zsh", zsh }, { "fish", fish }
	};
	struct ac_arguments a = { .command = self, .next = arguments };
	const char *shell = NULL;
	int option;

	while ((option = ac_arguments_next(&a)) == AC_ARGUMENT_OPERAND) {
		if (shell)
			return ac_say(AC_EXIT_USAGE, "completion: one shell "
			    "at a time; unexpected '%s'", a.value);
		shell = a.value;
	}
	if (option != AC_ARGUMENT_END)
		return a.status;
	for (size_t i = 0; shell && i < sizeof shells / sizeof *shells; i++)
		if (!strcmp(shell, shells[i].name)) {
			shells[i].print();
			return ac_say_done();
		}
	return shell ? ac_say(AC_EXIT_USAGE, "completion: unknown shell '%s'; "
	    "it knows bash, zsh and fish", shell)
	    : ac_say(AC_EXIT_USAGE, "completion: the shell is missing: bash, "
	    "zsh or fish");
}

const struct ac_command ac_command_completion = {
	.name = "completion",
	.operands = "bash | zsh | fish",
	.summary = "Print what completes command lines of autocast in a shell.",
	.details = "`make install` puts it where each shell looks. For this "
	    "shell alone:\n  bash, zsh:  source <(autocast completion bash)\n"
	    "  fish:       autocast completion fish | source\n",
	.run = run
};
