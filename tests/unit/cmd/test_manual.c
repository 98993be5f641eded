/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cmd/test_manual.c -- autocast-policy(5) against the product: its
 * examples parse, and it names every word of the language. */
#include "tests/unit/policy/with_policy.h"

#include "policy/guard.h"

static char page[1 << 17];

static int
read_page(void **state)
{
	const char *srcdir = getenv("srcdir");
	char path[1024];
	FILE *file;
	size_t count;

	snprintf(path, sizeof(path), "%s/man/autocast-policy.5",
	    srcdir == NULL ? "." : srcdir);
	file = fopen(path, "r");
	if (file == NULL)
		return 1;
	count = fread(page, 1, sizeof(page) - 1, file);
	fclose(file);
	page[count] = '\0';
	return count == sizeof(page) - 1;
}

/* The text of a display as a reader sees it: \e is a backslash. */
static void
read_display(const char *from, const char *to, struct ac_text *text)
{
	for (; from < to; from++) {
		ac_text_add_bytes(text, from, 1);
		if (from[0] == '\\' && from[1] == 'e')
			from++;
	}
}

CASE(test_examples)
{
	static char buffer[4096];
	static const char start[] = ".Bd -literal";
	struct ac_text text;
	const char *at = page, *end;
	unsigned found = 0;

	while ((at = strstr(at, start)) != NULL) {
		at = strchr(at, '\n') + 1;
		end = strstr(at, ".Ed");
		assert_non_null(end);
		ac_text_init(&text, buffer, sizeof(buffer));
		read_display(at, end, &text);
		assert_false(text.truncated);
		ac_policy_destroy(parse_good(buffer));
		if (strstr(said_buffer, "never") != NULL)
			fail_msg("%s", said_buffer);
		found++;
	}
	assert_true(found >= 8);
}

/* Whether `word` stands alone behind a macro or a quotation mark of `macro`
 * lines: ".It Ic keep", ".Ic m , n , k". */
static bool
is_described(const char *word)
{
	const size_t length = strlen(word);
	const char *line = page, *at;

	for (; line != NULL && *line != '\0';
	    line = strchr(line, '\n'), line += line != NULL) {
		if (strncmp(line, ".It Ic ", 7) != 0 &&
		    strncmp(line, ".Ic ", 4) != 0)
			continue;
		for (at = strstr(line, word); at != NULL &&
		    at < strchr(line, '\n'); at = strstr(at + 1, word))
			if (at[-1] == ' ' && (at[length] == ' ' ||
			    at[length] == '\n'))
				return true;
	}
	return false;
}

CASE(test_words)
{
	static const char *const words[] = {
#define RUNG(id, name, error, tol, base, terms, chunk) name,
#define REASON(id, name, meaning) name,
#define OPERATION(id, name, family) name,
#define QUANTITY(id, name, is_size, ops) name,
#define FACT(id, name, ops) name,
#define SETTING(id, name, values) name,
#define PROFILE(id, name) name,
#include "policy/words.def"
	};
	size_t i;

	for (i = 0; i < COUNT(words); i++)
		if (strcmp(words[i], "none") != 0 && !is_described(words[i]))
			fail_msg("the manual does not describe '%s'",
			    words[i]);
}

/* One paragraph for each reason, in the order of the list. */
CASE(test_reasons)
{
	const char *at = strstr(page, ".Sh WHY A CALL IS KEPT");
	char item[64];
	int reason;

	for (reason = AC_REASON_NONE + 1; reason < AC_REASON_COUNT; reason++) {
		snprintf(item, sizeof(item), "\n.It Ic %s\n",
		    ac_reason_names[reason]);
		at = at == NULL ? NULL : strstr(at, item);
		if (at == NULL)
			fail_msg("no paragraph for %s",
			    ac_reason_names[reason]);
	}
}

/* One for each finding of the guard. */
CASE(test_findings)
{
	const char *at = strstr(page, ".Sh THE GUARD");
	char item[64];
	int finding;

	for (finding = AC_FINDING_NONE + 1; finding < AC_FINDING_COUNT;
	    finding++) {
		snprintf(item, sizeof(item), "\n.It Ic %s\n",
		    ac_finding_names[finding]);
		at = at == NULL ? NULL : strstr(at, item);
		if (at == NULL)
			fail_msg("no paragraph for %s",
			    ac_finding_names[finding]);
	}
}

CASES_RUN(read_page, NULL)
