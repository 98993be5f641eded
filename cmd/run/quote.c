/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/quote.c -- quotes words for a shell, and the command of a run.
 * Pure. */
#include "cmd/run/launch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool
is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:@%+-";

	return *word && !word[strspn(word, plain)];
}

static bool
has_control(const char *word)
{
	for (; *word; word++)
		if ((unsigned char)*word < ' ' || *word == 127)
			return true;
	return false;
}

/* $'...' keeps the command on one line, and the terminal as it is. */
static void
quote_control(struct ac_text *text, const char *word)
{
	ac_text_add(text, "$'");
	for (; *word; word++) {
		const unsigned char c = (unsigned char)*word;

		if (c < ' ' || c == 127)
			ac_text_addf(text, "\\%03o", c);
		else if (c == '\'' || c == '\\')
			ac_text_addf(text, "\\%c", c);
		else
			ac_text_add_bytes(text, word, 1);
	}
	ac_text_add(text, "'");
}

void
ac_quote(struct ac_text *text, const char *word)
{
	if (is_plain(word)) {
		ac_text_add(text, word);
		return;
	}
	if (has_control(word)) {
		quote_control(text, word);
		return;
	}
	ac_text_add(text, "'");
	for (; *word; word++)
		if (*word == '\'')
			ac_text_add(text, "'\\''");
		else
			ac_text_add_bytes(text, word, 1);
	ac_text_add(text, "'");
}

void
ac_quotef(struct ac_text *text, const char *format, ...)
{
	const char *at;
	va_list words;

	va_start(words, format);
	for (; (at = strstr(format, "%s")); format = at + 2) {
		ac_text_add_bytes(text, format, (size_t)(at - format));
		ac_quote(text, va_arg(words, const char *));
	}
	va_end(words);
	ac_text_add(text, format);
}

void
ac_quote_all(struct ac_text *text, char *const *words)
{
	for (; *words; words++)
		ac_quotef(text, " %s", *words);
}

/* ---- The command of a run ---------------------------------------------- */

void
ac_launch_add_options(struct ac_text *text, const struct ac_launch *launch)
{
	char *rules = launch->chosen.rules.data, *rule;
	char *copy = rules ? strdup(rules) : NULL, *rest = copy;

	if (launch->chosen.policy)
		ac_quotef(text, " --policy %s", launch->chosen.policy);
	while (rest && (rule = strsep(&rest, "\n")))
		ac_quotef(text, " -e %s", rule);
	if (launch->emulate)
		ac_text_add(text, " --emulate");
	if (launch->emulate && launch->model)
		ac_quotef(text, "=%s", launch->model);
	free(copy);
}

void
ac_launch_add_command(struct ac_text *text, const char *verb,
    const struct ac_launch *launch, char **arguments)
{
	ac_text_addf(text, "autocast %s", verb);
	ac_launch_add_options(text, launch);
	ac_text_add(text, " --");
	ac_quote_all(text, arguments);
}
