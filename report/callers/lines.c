/* SPDX-License-Identifier: Apache-2.0 */
/* report/callers/lines.c -- the lines of the source that callers are at. The
 * tools that know may say anything: they read files that may hold anything. */
#include "report/callers/functions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESS_BYTES = 20 };

/* The next line of *text, cut out of it; NULL: there is none that ends. */
static char *
next_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	*text = end + 1;
	return line;
}

/* ---- Names ------------------------------------------------------------- */

/* "void net::gemm<float>(Tensor const&)" without its parameters. Parentheses in
 * <...> are of another name; those of operator() and (anonymous namespace) are
 * no parameters. */
static size_t
length_without_parameters(const char *name)
{
	static const char nameless[] = "(anonymous namespace)";
	static const char operator[] = "operator";
	size_t depth = 0, i = 0;

	while (name[i]) {
		if (!strncmp(name + i, operator, sizeof operator - 1)) {
			i += sizeof operator - 1;
			i += !strncmp(name + i, "()", 2) ? 2
			    : strspn(name + i, "<>=-");
			continue;
		}
		if (!strncmp(name + i, nameless, sizeof nameless - 1)) {
			i += sizeof nameless - 1;
			continue;
		}
		if (name[i] == '(' && !depth && i)
			break;
		if (name[i] == '<')
			depth++;
		else if (name[i] == '>' && depth)
			depth--;
		i++;
	}
	return i;
}

static void
set_name(struct ac_caller *caller, const char *name)
{
	struct ac_text t = AC_TEXT_IN(caller->name);

	if (!strcmp(name, "??"))
		return;
	ac_text_add_bytes(&t, name, length_without_parameters(name));
}

/* ---- Lines ------------------------------------------------------------- */

/* "FILE:LINE", with more behind it in parentheses. */
static void
set_place(struct ac_caller *caller, char *place)
{
	char *colon = strrchr(place, ':');
	const char *s = colon ? colon + 1 : "";
	uint32_t line = 0;

	caller->line = 0;
	*caller->file = '\0';
	for (; *s >= '0' && *s <= '9' && line < 100000000; s++)
		line = 10 * line + (uint32_t)(*s - '0');
	if (!line || (*s && *s != ' ') || *place == '?')
		return;
	*colon = '\0';
	/* Its end says more than its beginning. */
	if (strlen(place) >= sizeof caller->file)
		place += strlen(place) - (sizeof caller->file - 1);
	strcpy(caller->file, place);
	caller->line = line;
}

/* "0x1234" of the answer, which it may have with zeros in front. False: it is a
 * line of another kind. */
static bool
read_address(const char *line, uint64_t *address_out)
{
	return !strncmp(line, "0x", 2)
	    && !line[2 + ac_text_digits(line + 2, address_out)];
}

static int
by_address(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left;
	const uint64_t b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* An address, then pairs of lines, a function and where it is, from what was
 * inlined to what that is in. The last pair counts: it is of the function that
 * the symbol table names, and wrappers for all calls tell none apart. */
static void
read_lines(char *answer, const uint64_t *at, struct ac_caller *callers,
    size_t count)
{
	const uint64_t *found = NULL;
	uint64_t address;
	char *line;

	while ((line = next_line(&answer))) {
		char *place;

		if (read_address(line, &address)) {
			found = bsearch(&address, at, count, sizeof *at,
			    by_address);
			continue;
		}
		place = next_line(&answer);
		if (!place)
			return;
		if (!found)
			continue;
		set_name(&callers[found - at], line);
		set_place(&callers[found - at], place);
	}
}

void
ac_lines_find(const char *path, const uint64_t *at,
    struct ac_caller *callers, size_t count, double *seconds)
{
	const char *const argv[] = { "addr2line", "-e", path, "-a", "-f", "-C",
		"-i", NULL };
	char *input, *answer;
	struct ac_text t;

	if (count > AC_LINES_MOST)
		count = AC_LINES_MOST;
	input = malloc(count * ADDRESS_BYTES + 1);
	if (!input)
		return;
	ac_text_init(&t, input, count * ADDRESS_BYTES + 1);
	for (size_t i = 0; i < count; i++)
		ac_text_addf(&t, "0x%llx\n", (unsigned long long)at[i]);
	answer = ac_tool_ask(argv, input, t.used, seconds);
	if (answer)
		read_lines(answer, at, callers, count);
	free(answer);
	free(input);
}

/* ---- C++ --------------------------------------------------------------- */

static bool
is_mangled(const struct ac_caller *caller)
{
	return !strncmp(caller->function, "_Z", 2) && !*caller->name
	    && !strchr(caller->function, '\n')
	    /* What was cut says nothing. */
	    && strlen(caller->function) < sizeof caller->function - 1;
}

void
ac_lines_demangle(struct ac_caller *callers, size_t count, double *seconds)
{
	static const char *const argv[] = { "c++filt", NULL };
	const size_t most = AC_LINES_MOST * sizeof callers->function;
	char *input = NULL, *answer = NULL, *rest, *line;
	struct ac_text t;

	for (size_t i = 0; i < count; i++) {
		if (!is_mangled(&callers[i]))
			continue;
		if (!input) {
			input = malloc(most);
			if (!input)
				return;
			ac_text_init(&t, input, most);
		}
		ac_text_addf(&t, "%s\n", callers[i].function);
	}
	if (input && !t.truncated)
		answer = ac_tool_ask(argv, input, t.used, seconds);
	rest = answer;
	for (size_t i = 0; rest && i < count; i++)
		if (is_mangled(&callers[i])) {
			line = next_line(&rest);
			if (!line)
				break;
			if (strcmp(line, callers[i].function))
				set_name(&callers[i], line);
		}
	free(answer);
	free(input);
}
