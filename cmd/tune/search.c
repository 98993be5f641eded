/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/tune/search.c -- the search of cmd/tune/search.h. */
#include "cmd/tune/search.h"

#include <stdlib.h>
#include <string.h>

static size_t
count(const unsigned char *set, size_t units)
{
	size_t n = 0;

	for (size_t i = 0; i < units; i++)
		n += set[i] != 0;
	return n;
}

bool
ac_search_begin(struct ac_search *s, size_t units)
{
	*s = (struct ac_search){ .units = units };
	s->kept = calloc(3, units + 1);
	if (!s->kept)
		return false;
	s->found = s->kept + units;
	s->passed = s->found + units;
	memset(s->passed, 1, units);
	return true;
}

void
ac_search_end(struct ac_search *s)
{
	free(s->kept);
	s->kept = NULL;
}

/* What is known to be needed, and the first `prefix` units. */
static void
ask(struct ac_search *s, size_t prefix)
{
	memcpy(s->kept, s->found, s->units);
	memset(s->kept, 1, prefix);
}

/* A prefix between the two, so that either half weighs as much, a unit's weight
 * being 1 by its rank: what is ranked high is found soon. */
static size_t
middle(size_t low, size_t high)
{
	double left = 0, sum = 0;
	size_t at = low;

	for (size_t i = low; i < high; i++)
		left += 1.0 / (double)(i + 1);
	while (at + 1 < high && (at == low || sum < left / 2))
		sum += 1.0 / (double)(++at);
	return at;
}

/* Leave out the next unit from `from` on that was found. */
static void
ask_need(struct ac_search *s, size_t from)
{
	while (from < s->units && !s->found[from])
		from++;
	if (from == s->units) {
		s->state = AC_SEARCH_FOUND;
		return;
	}
	s->step = AC_SEARCH_NEED;
	s->last = from;
	ask(s, 0);
	s->kept[from] = 0;
}

/* A bisection ends where two prefixes are one unit apart. */
static void
bisect(struct ac_search *s)
{
	s->step = AC_SEARCH_BISECT;
	if (s->high - s->low > 1) {
		ask(s, middle(s->low, s->high));
		return;
	}
	s->last = s->high - 1;
	s->found[s->last] = 1;
	if (!memcmp(s->found, s->passed, s->units)) {
		ask_need(s, 0); /* it has just passed alone */
		return;
	}
	s->step = AC_SEARCH_ONLY;
	ask(s, 0);
}

/* Only what was found does not do: something in front of it is needed as well,
 * as with all of that it has passed. */
static void
go_on(struct ac_search *s)
{
	if (!s->last) {
		s->state = AC_SEARCH_CONTRADICTED;
		return;
	}
	s->low = 0;
	s->high = s->last;
	bisect(s);
}

void
ac_search_tell(struct ac_search *s, bool good)
{
	if (good && count(s->kept, s->units) <= count(s->passed, s->units))
		memcpy(s->passed, s->kept, s->units);
	switch (s->step) {
	case AC_SEARCH_NONE:
		s->high = s->units;
		if (good || !s->units)
			s->state = good ? AC_SEARCH_FOUND
			    : AC_SEARCH_CONTRADICTED;
		else
			bisect(s);
		break;
	case AC_SEARCH_BISECT:
		*(good ? &s->high : &s->low) = count(s->kept, s->units);
		/* Units found before stand behind the prefix. */
		*(good ? &s->high : &s->low) -= count(s->found, s->units);
		bisect(s);
		break;
	case AC_SEARCH_ONLY:
		if (good)
			ask_need(s, 0);
		else
			go_on(s);
		break;
	case AC_SEARCH_NEED:
		/* Without it nothing is kept, which has failed before. */
		if (good && count(s->found, s->units) == 1) {
			s->state = AC_SEARCH_CONTRADICTED;
			break;
		}
		if (good)
			s->found[s->last] = 0;
		ask_need(s, s->last + 1);
		break;
	}
}
