/* SPDX-License-Identifier: Apache-2.0 */
/* policy/language/problems.c -- diagnostics: file:line:column, the line, a
 * caret. What it prints is printable and bounded, for any text. */
#include "policy/language/problems.h"

#include "base/text.h"
#include "policy/language/lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_MESSAGE = 512, SHOWN_BEFORE = 60, SHOWN_AFTER = 40 };

struct ac_problem {
	struct ac_problem *next;
	struct ac_spot     place;
	bool               is_error;
	char               message[];
};

/* In order of statements; within one statement, in order of places. */
static bool
comes_before(const struct ac_problem *a, const struct ac_problem *b)
{
	if (a->place.sequence != b->place.sequence)
		return a->place.sequence < b->place.sequence;
	return a->place.source == b->place.source && a->place.at < b->place.at;
}

static void
insert(struct ac_problem_list *list, struct ac_problem *problem)
{
	struct ac_problem **at = &list->first;

	if (list->last != NULL && !comes_before(problem, list->last))
		at = &list->last->next;
	while (*at != NULL && !comes_before(problem, *at))
		at = &(*at)->next;
	problem->next = *at;
	*at = problem;
	if (problem->next == NULL)
		list->last = problem;
}

static void
add(struct ac_problem_list *list, const struct ac_spot *place,
    bool is_error, const char *format, va_list ap)
{
	char message[LONGEST_MESSAGE];
	struct ac_problem *problem;

	if (is_error)
		list->errors++;
	else
		list->warnings++;
	if (list->stored >= AC_PROBLEMS_SHOWN)
		return;
	vsnprintf(message, sizeof(message), format, ap);
	problem = ac_arena_take(&list->arena,
	    sizeof(*problem) + strlen(message) + 1);
	if (problem == NULL)
		return;
	problem->place = *place;
	problem->is_error = is_error;
	memcpy(problem->message, message, strlen(message) + 1);
	insert(list, problem);
	list->stored++;
}

void
ac_problem_error(struct ac_problem_list *list, const struct ac_spot *place,
    const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(list, place, true, format, ap);
	va_end(ap);
}

void
ac_problem_warn(struct ac_problem_list *list, const struct ac_spot *place,
    const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	add(list, place, false, format, ap);
	va_end(ap);
}

static bool
is_control(char c)
{
	return ((unsigned char)c < ' ' && c != '\t') || c == 0x7f;
}

/* Text from a file may hold terminal controls, or be no text at all. */
static void
add_printable(struct ac_text *text, const char *s, size_t count)
{
	const char *end = s + count, *noise = ac_lex_find_noise(s, count);

	for (; s < end; s++) {
		if (s == noise)
			noise = ac_lex_find_noise(s + 1,
			    (size_t)(end - s - 1));
		else if (!is_control(*s)) {
			ac_text_add_bytes(text, s, 1);
			continue;
		}
		ac_text_add(text, "?");
	}
}

static bool
continues_character(const char *s)
{
	return ((unsigned char)*s & 0xc0) == 0x80;
}

/* The line of `place` and a caret below the column, both cut to a window when
 * the line is very long. */
static void
add_line(struct ac_text *text, const struct ac_spot *place)
{
	const char *end = place->source->text + place->source->count;
	const char *start = place->line_start, *stop = place->at, *s;

	if (stop - start > SHOWN_BEFORE)
		start = stop - SHOWN_BEFORE;
	while (start > place->line_start && continues_character(start))
		start--;
	while (stop < end && *stop != '\n' && *stop != '\r' &&
	    stop - place->at < SHOWN_AFTER)
		stop++;
	while (stop < end && continues_character(stop))
		stop++;
	ac_text_add(text, "  ");
	add_printable(text, start, (size_t)(stop - start));
	ac_text_add(text, "\n  ");
	for (s = start; s < place->at; s++)
		if (!continues_character(s))
			ac_text_add(text, *s == '\t' ? "\t" : " ");
	ac_text_add(text, "^\n");
}

static void
add_problem(struct ac_text *text, const struct ac_problem *problem)
{
	const struct ac_spot *place = &problem->place;

	add_printable(text, place->source->name, strlen(place->source->name));
	if (place->at != NULL)
		ac_text_addf(text, ":%u:%u", place->line,
		    ac_lex_column(place->line_start, place->at));
	ac_text_add(text, problem->is_error ? ": " : ": warning: ");
	add_printable(text, problem->message, strlen(problem->message));
	ac_text_add(text, "\n");
	if (place->at != NULL)
		add_line(text, place);
}

void
ac_problem_report(struct ac_problem_list *list,
    struct ac_policy_problems *problems)
{
	const unsigned total = list->errors + list->warnings;
	const struct ac_problem *problem;

	problems->errors += list->errors;
	problems->warnings += list->warnings;
	if (problems->text != NULL) {
		for (problem = list->first; problem != NULL;
		    problem = problem->next)
			add_problem(problems->text, problem);
		if (total > list->stored)
			ac_text_addf(problems->text, "%u more problems\n",
			    total - list->stored);
	}
	ac_arena_release(&list->arena);
	memset(list, 0, sizeof(*list));
}
