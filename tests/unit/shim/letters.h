/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/letters.h -- cases in letters: "g g b*3 -> turns=TTT". Left
 * of the arrow each letter is a call, or something that happens between two
 * calls, as often as *N says; right of it are facts, each NAME=VALUE, about
 * what they led to. What letters do and facts mean, the test says. */
#ifndef AC_TESTS_LETTERS_H
#define AC_TESTS_LETTERS_H

#include "tests/unit/cases.h"

/* The test's: all is as before the first call; one letter happens; the value of
 * a fact as it is now. */
static void begin(int how);
static void happen(char letter);
static void tell(const char *name, char *value_out, size_t bytes);

/* More of a list, after a comma; what there is no room for is left out. */
__attribute__((unused, format(printf, 2, 3))) static void
add_to_list(char list[256], const char *format, ...)
{
	const size_t used = strlen(list);
	va_list arguments;

	if (used > 240)
		return;
	va_start(arguments, format);
	list[used] = ',';
	(void)vsnprintf(list + used + (used > 0), 255 - used, format,
	    arguments);
	va_end(arguments);
}

/* Calls that are expected to end in `turns` had these. */
static int
ends_in(const char *all, const char *end)
{
	const size_t length = strlen(all), least = strlen(end);

	return length >= least && !strcmp(all + length - least, end);
}

static void
check_fact(const char *which, const char *fact)
{
	const char *equals = strchr(fact, '=');
	char name[32] = "", value[8192];

	assert_non_null(equals);
	memcpy(name, fact, (size_t)(equals - fact));
	tell(name, value, sizeof value);
	if (strcmp(name, "turns") ? strcmp(value, equals + 1)
	    : !ends_in(value, equals + 1))
		fail_msg("%s: %s, not %s", which, value, fact);
}

static void
play(const char *which)
{
	char line[512], *word, *rest = NULL;
	int is_left = 1;

	(void)snprintf(line, sizeof line, "%s", which);
	for (word = strtok_r(line, " ", &rest); word;
	    word = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(word, "->"))
			is_left = 0;
		else if (!is_left)
			check_fact(which, word);
		else
			for (int i = word[1] ? atoi(word + 2) : 1; i > 0; i--)
				happen(word[0]);
	}
	assert_false(is_left);
}

/* Each of `cases`, which end in NULL, from the beginning. */
static void
check(int how, const char *const *cases)
{
	for (; *cases; cases++) {
		begin(how);
		play(*cases);
	}
}

#endif
