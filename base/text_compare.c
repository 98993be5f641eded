/* SPDX-License-Identifier: Apache-2.0 */
/* base/text_compare.c -- the comparing half of text.h: globs, misspelt words,
 * hashes. Pure; never allocates. */
#include "base/text.h"

#include <string.h>

bool
ac_text_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *resume = NULL;

	while (*s != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			resume = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star != NULL) {
			/* Only the last star ever needs to take more. */
			pattern = star + 1;
			s = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

enum { LONGEST_WORD = 31 };

static char
fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Insertions, deletions, substitutions and swaps of neighbours that lead from
 * `a` to `b`, case ignored; both at most LONGEST_WORD long. */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST_WORD + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2], *spare;
	size_t best;

	for (size_t j = 0; j <= strlen(b); j++)
		last[j] = j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		now[0] = i;
		for (size_t j = 1; b[j - 1] != '\0'; j++) {
			best = last[j - 1] + (fold(a[i - 1]) != fold(b[j - 1]));
			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 &&
			    fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]) &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		spare = before;
		before = last;
		last = now;
		now = spare;
	}
	return last[strlen(b)];
}

/* "wgrad" for "conv.wgrad", "pedant" for "pedantic". */
static bool
is_part(const char *word, const char *whole)
{
	const size_t length = strlen(word), total = strlen(whole);

	if (length < 3 || length >= total)
		return false;
	if (strncmp(whole, word, length) == 0)
		return true;
	return whole[total - length - 1] == '.' &&
	    strcmp(whole + total - length, word) == 0;
}

static size_t
common_prefix(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] != '\0' && fold(a[i]) == fold(b[i]))
		i++;
	return i;
}

/* Whether `word` is nearer to `a` than to `b`: fewer edits, then a longer
 * common beginning ("of" means "off", not "on"). `b` may be NULL. */
static bool
is_nearer(const char *word, const char *a, const char *b)
{
	size_t to_a, to_b;

	if (b == NULL)
		return true;
	to_a = edit_distance(word, a);
	to_b = edit_distance(word, b);
	if (to_a != to_b)
		return to_a < to_b;
	return common_prefix(word, a) > common_prefix(word, b);
}

const char *
ac_text_nearest(const char *word, const char *const *words, size_t count)
{
	const char *nearest = NULL;
	size_t longer, distance;

	if (strlen(word) > LONGEST_WORD)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		longer = strlen(words[i]);
		if (longer > LONGEST_WORD)
			continue;
		if (strlen(word) > longer)
			longer = strlen(word);
		distance = edit_distance(word, words[i]);
		if (distance <= (longer + 1) / 3 && distance < longer &&
		    is_nearer(word, words[i], nearest))
			nearest = words[i];
	}
	for (size_t i = 0; nearest == NULL && i < count; i++)
		if (is_part(word, words[i]))
			nearest = words[i];
	return nearest;
}

uint32_t
ac_text_hash(uint32_t hash, const void *bytes, size_t count)
{
	const unsigned char *b = bytes;

	for (; count > 0; count--)
		hash = (hash ^ *b++) * 16777619u;
	return hash;
}
