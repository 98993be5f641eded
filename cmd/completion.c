/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/completion.c -- autocast completion: what a shell must know to complete
 * command lines, from the tables of the verbs. */
#include "cmd/command.h"

#include <stdio.h>
#include <string.h>

/* ---- What an argument may be -------------------------------------------- */

struct values {
	char words[128];           /* by blanks; "": not to be known */
	bool is_file;              /* or the name of a file */
};

/* The words of "h200, a100 or t4", with blanks between them. */
static void
add_words(struct ac_text *t, const char *list)
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

/* An argument with bars in it lists its values: "work|gain". */
static struct values
values_of(const struct ac_option *option)
{
	const char *argument = option->argument;
	struct values values = { .words = "" };
	struct ac_text t;

	ac_text_init(&t, values.words, sizeof values.words);
	if (!strcmp(argument, "P")) {
		add_words(&t, AC_POLICY_PROFILES);
		values.is_file = true;
	} else if (!strcmp(argument, "[=MODEL]")) {
		add_words(&t, AC_EMULATED_MODELS);
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

/* The operands that are words of ours, or may be. */
static const char *
words_of(const struct ac_command *command)
{
	static char operations[512];
	struct ac_text t;

	if (!strcmp(command->name, "policy"))
		return "check show where";
	if (!strcmp(command->name, "list"))
		return "rates";
	if (!strcmp(command->name, "explain")) {
		ac_text_init(&t, operations, sizeof operations);
		for (int i = 0; i < AC_OP_COUNT; i++)
			ac_text_addf(&t, "%s ", ac_operation_names[i]);
		ac_text_add(&t, "gpu=");
		return operations;
	}
	return strcmp(command->name, "completion") ? "" : "bash zsh fish";
}

/* What may follow an operand, and what the runs that are kept have; for bash,
 * which takes = and @ for words. */
static const struct operand {
	const char *verb, *before;
	const char *list;          /* as add_words() reads it */
	const char *asked;         /* or what says them */
	bool        or_file;
} operands[] = {
	{ "policy", "check|show", AC_POLICY_PROFILES, "", true },
	{ "explain", "gpu", AC_EMULATED_MODELS, "", false },
	{ "explain", "@", "", "$(_autocast_runs) ", false },
	{ "explain", "explain|[0-9]*", "", "$words $(_autocast_sites)", false },
	{ "report", "@", "", "$(_autocast_runs) ", false },
	{ "report", "report", "", "$(_autocast_runs @)", true },
};

/* Behind the last option of the verb's, and of a word that is no option. */
static void
bash_operands(const struct ac_command *command)
{
	char words[128];
	struct ac_text t;

	for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
		const struct operand *o = &operands[i];

		if (strcmp(o->verb, command->name))
			continue;
		ac_text_init(&t, words, sizeof words);
		add_words(&t, o->list);
		printf("\t\t%s) [ \"${word:0:1}\" = - ] || "
		    "values=\"%s%s\" files=%s ;;\n", o->before, words,
		    o->asked, o->or_file ? "yes" : "");
	}
}

static bool
is_optional(const struct ac_option *option)
{
	return option->argument && *option->argument == '[';
}

/* The option as it is typed: "--policy", "-e". */
static const char *
typed(const struct ac_option *option)
{
	static char word[64];
	struct ac_text t;

	ac_text_init(&t, word, sizeof word);
	if (option->name)
		ac_text_addf(&t, "--%s", option->name);
	else
		ac_text_addf(&t, "-%c", option->id);
	return word;
}

#define EACH_VERB(command) \
	(const struct ac_command *const *v = ac_commands, *command; \
	    (command = *v); v++)
#define EACH_OPTION(option, command) \
	(const struct ac_option *option = (command)->options; \
	    option < (command)->options + AC_OPTIONS && option->id; option++)

/* ---- bash ---------------------------------------------------------------- */

static void
bash_verb(const struct ac_command *command)
{
	printf("\t%s)\n\t\toptions='", command->name);
	for EACH_OPTION(option, command)
		printf("%s ", typed(option));
	printf("--help'\n\t\ttakes='");
	for EACH_OPTION(option, command)
		if (option->argument && !is_optional(option))
			printf("%s ", typed(option));
	printf("'\n\t\twords='%s' program=%s\n\t\tcase $before in\n",
	    words_of(command), command->ends_at_operand ? "yes" : "");
	for EACH_OPTION(option, command)
		if (option->argument) {
			const struct values values = values_of(option);

			printf("\t\t%s) values='%s' files=%s ;;\n",
			    typed(option), values.words,
			    values.is_file ? "yes" : "");
		}
	bash_operands(command);
	printf("\t\tesac ;;\n");
}

static void
bash(void)
{
	fputs("# bash completion of autocast, by: autocast completion bash\n"
	    "_autocast_runs()\n{\n\tautocast report --list 2>/dev/null |\n"
	    "\t    sed -n \"s/^@\\([0-9]*\\) .*/$1\\1/p\"\n}\n"
	    "_autocast_sites()\n{\n\tautocast report --csv 2>/dev/null |\n"
	    "\t    sed -n '2,$s/,.*//p'\n}\n"
	    "_autocast()\n{\n"
	    "\tlocal word=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1))\n"
	    "\tlocal before options='' takes='' words='' program='' "
	    "values='' files='' i\n"
	    "\tCOMPREPLY=()\n"
	    "\t[ \"$word\" != '=' ] || word=''\n"
	    "\t[ \"${COMP_WORDS[at]}\" != '=' ] || at=$((at - 1))\n"
	    "\tbefore=${COMP_WORDS[at]}\n"
	    "\t[ \"$word\" != @ ] || word='' before=@\n"
	    "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	    "\t\toptions='--help --version' words='", stdout);
	for EACH_VERB(command)
		printf("%s%s", v == ac_commands ? "" : " ", command->name);
	fputs("'\n\tfi\n\t[ \"$COMP_CWORD\" = 1 ] || "
	    "case ${COMP_WORDS[1]} in\n", stdout);
	for EACH_VERB(command)
		bash_verb(command);
	fputs("\tesac\n"
	    "\t# Behind the program's name the line is the program's.\n"
	    "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	    "\t\tcase ${COMP_WORDS[i]},$program in\n"
	    "\t\t--,yes) i=$((i + 1)); break ;;\n"
	    "\t\t-*) case \" $takes \" in *\" ${COMP_WORDS[i]} \"*) "
	    "i=$((i + 1)) ;; esac\n"
	    "\t\t\t[ \"${COMP_WORDS[i + 1]}\" != '=' ] || i=$((i + 2)) ;;\n"
	    "\t\t*,yes) break ;;\n"
	    "\t\tesac\n"
	    "\tdone\n"
	    "\tif [ -n \"$values$files\" ]; then\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
	    "\t\t[ -z \"$files\" ] || "
	    "COMPREPLY+=($(compgen -f -- \"$word\"))\n"
	    "\telif [ -n \"$program\" ] && [ \"$i\" -lt \"$COMP_CWORD\" ]; "
	    "then\n"
	    "\t\tif declare -F _command_offset >/dev/null; then "
	    "_command_offset \"$i\"\n"
	    "\t\telse COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
	    "\telif [ \"${word:0:1}\" = - ]; then\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	    "\telif [ -n \"$words\" ]; then\n"
	    "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	    "\telse\n"
	    "\t\tCOMPREPLY=($(compgen -f -- \"$word\")"
	    " ${program:+$(compgen -c -- \"${word:-/}\")})\n"
	    "\tfi\n}\ncomplete -o filenames -F _autocast autocast\n", stdout);
}

/* ---- zsh ----------------------------------------------------------------- */

/* `s` within single quotes and a bracket of _arguments. */
static void
print_quoted(const char *s, const char *escaped)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr(escaped, *s) ? "\\" : "", *s);
	}
}

static void
zsh_option(const struct ac_option *option)
{
	printf("\t\t\t'*%s%s[", typed(option), !option->argument ? ""
	    : is_optional(option) ? "=-" : option->name ? "=" : "+");
	print_quoted(option->meaning, "[]:\\");
	printf("]");
	if (option->argument) {
		const struct values values = values_of(option);

		printf("%s:", is_optional(option) ? "::" : ":value");
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
		print_quoted(command->summary, ":\\");
		printf("'\n");
	}
	printf("\t)\n\t_arguments -C '--help[print usage]' "
	    "'--version[print the version]' \\\n"
	    "\t    '1:verb:->verb' '*::argument:->argument'\n"
	    "\tcase $state in\n\tverb) _describe verb verbs ;;\n"
	    "\targument)\n\t\tcase $line[1] in\n");
	for EACH_VERB(command) {
		printf("\t\t%s) _arguments \\\n", command->name);
		for EACH_OPTION(option, command)
			zsh_option(option);
		if (command->ends_at_operand)
			printf("\t\t\t'(-)1:program:_command_names -e' "
			    "'*::argument:_normal' ;;\n");
		else if (*words_of(command))
			printf("\t\t\t'1:word:(%s)' '*:file:_files' ;;\n",
			    words_of(command));
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
		const struct values values = values_of(option);

		printf("%s", is_optional(option) ? "" : values.is_file
		    ? "-r -F " : "-x ");
		if (*values.words)
			printf("-a '%s' ", values.words);
	}
	printf("-d '");
	for (const char *s = option->meaning; *s; s++)
		printf("%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
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
		for (const char *s = command->summary; *s; s++)
			printf("%s%c", *s == '\'' ? "\\" : "", *s);
		printf("'\n");
		for EACH_OPTION(option, command)
			fish_option(command, option);
		if (*words_of(command))
			printf("complete -c autocast -n "
			    "'__fish_seen_subcommand_from %s' -a '%s'\n",
			    command->name, words_of(command));
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
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };
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
	    "it can bash, zsh and fish", shell)
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
