/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/completion.h -- what the files of `autocast completion` share. */
#ifndef AC_CMD_COMPLETION_H
#define AC_CMD_COMPLETION_H

#include "cmd/command.h"

/* What an argument may be. */
struct ac_values {
	char words[128];           /* by blanks; "": not to be known */
	bool is_file;              /* or the name of a file */
};

/* An argument with bars in it lists its values: "work|gain". */
struct ac_values ac_values_of(const struct ac_option *option);
/* The words of "h200, a100 or t4", with blanks between them. */
void ac_values_add(struct ac_text *t, const char *list);

/* The operands of a verb that are words of ours, or may be. */
const char *ac_verb_words(const struct ac_command *command);
/* The option as it is typed: "--policy", "-e"; until the next call. */
const char *ac_option_typed(const struct ac_option *option);

/* The next command from `v` on whose name is one word; or whose first word is
 * `verb`. */
const struct ac_command *const *ac_verb_next(
    const struct ac_command *const *v, const char *verb);

#define EACH_VERB(command) \
	(const struct ac_command *const *v = ac_verb_next(ac_commands, \
	    NULL), *command; (command = *v); v = ac_verb_next(v + 1, \
	    NULL))
#define EACH_PART(part, verb) \
	(const struct ac_command *const *p = ac_verb_next(ac_commands, \
	    verb), *part; (part = *p); p = ac_verb_next(p + 1, verb))

/* bash's, on stdout. */
void ac_print_bash(void);

#endif
