/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/completion_bash.c -- what bash must know, by the tables of verbs. */
#include "cmd/completion.h"

#include <stdio.h>
#include <string.h>

/* What may follow an operand, and what the runs that are kept have; for bash,
 * which takes = and @ for words. */
static const struct operand {
	const char *verb, *before;
	const char *list;          /* as ac_values_add() reads it */
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
	for (size_t i = 0; i < sizeof operands / sizeof *operands; i++) {
		const struct operand *o = &operands[i];
		struct ac_text words = AC_TEXT_OF(128);

		if (strcmp(o->verb, command->name))
			continue;
		ac_values_add(&words, o->list);
		printf("\t\t%s) [ \"${word:0:1}\" = - ] || "
		    "values=\"%s%s\" files=%s ;;\n", o->before, words.data,
		    o->asked, o->or_file ? "yes" : "");
	}
}

static void
bash_verb(const struct ac_command *command)
{
	printf("\t%s)\n\t\toptions='", command->name);
	for EACH_PART(of, command->name)
		for EACH_OPTION(option, of)
			printf("%s ", ac_option_typed(option));
	printf("%s--help'\n\t\ttakes='", strcmp(command->name, "report")
	    ? "" : "--live ");
	for EACH_PART(of, command->name)
		for EACH_OPTION(option, of)
			if (option->argument && !ac_option_is_optional(option))
				printf("%s ", ac_option_typed(option));
	printf("'\n\t\twords='%s' program=%s\n\t\tcase $before in\n",
	    ac_verb_words(command), command->ends_at_operand ? "yes" : "");
	for EACH_PART(of, command->name)
		for EACH_OPTION(option, of)
			if (option->argument) {
				const struct ac_values values =
				    ac_values_of(option);

				printf("\t\t%s) values='%s' files=%s ;;\n",
				    ac_option_typed(option), values.words,
				    values.is_file ? "yes" : "");
			}
	bash_operands(command);
	printf("\t\tesac ;;\n");
}

void
ac_print_bash(void)
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
