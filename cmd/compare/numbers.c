/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/numbers.c -- one output of several runs: which of its numbers and
 * lines differ, and which do between plain runs too. */
#include "cmd/compare/numbers_lines.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- Words ------------------------------------------------------------- */

/* What the user says is an array of floating-point words. A header before them,
 * of whole words, is the same in all runs and harms nobody. */
enum { DIGITS = 9 };

static double
word(const char *bytes, size_t size)
{
	double fp64;
	float fp32;

	if (size == sizeof fp64) {
		memcpy(&fp64, bytes, size);
		return fp64;
	}
	memcpy(&fp32, bytes, sizeof fp32);
	return (double)fp32;
}

static void
keep_worst(struct ac_numbers_result *r, size_t at, double plain, double recast,
    double difference)
{
	struct ac_text t;

	if (r->worst_byte && difference <= r->worst)
		return;
	r->worst = difference;
	r->worst_byte = at + 1;
	ac_text_init(&t, r->worst_plain, sizeof r->worst_plain);
	ac_text_add_double(&t, plain, DIGITS);
	ac_text_init(&t, r->worst_recast, sizeof r->worst_recast);
	ac_text_add_double(&t, recast, DIGITS);
}

/* What is behind the last word of both. */
static void
pair_rest(const struct ac_numbers_pass *pass, size_t at)
{
	const struct ac_numbers_text *a = &pass->numbers->text,
				     *b = pass->other;
	const size_t rest = (a->count > b->count ? a : b)->count - at;

	if (a->count != b->count ||
	    memcmp(a->bytes + at, b->bytes + at, rest))
		ac_numbers_note_bytes(pass, rest, at);
}

static void
pair_words(const struct ac_numbers_pass *pass)
{
	const struct ac_numbers_text *a = &pass->numbers->text,
				     *b = pass->other;
	const size_t size = pass->numbers->word;
	const size_t words = (a->count < b->count ? a : b)->count / size;

	for (size_t i = 0; i < words; i++) {
		const size_t at = i * size;
		double x, y, difference;

		if (!memcmp(a->bytes + at, b->bytes + at, size))
			continue;
		x = word(a->bytes + at, size);
		y = word(b->bytes + at, size);
		difference = ac_number_difference(x, y);
		if (ac_numbers_note(pass, i, difference))
			keep_worst(&pass->numbers->result, at, x, y,
			    difference);
	}
	pair_rest(pass, words * size);
}

/* Read at most, in all, while looking for lines that match. */
enum { AHEAD_BYTES = 1 << 26 };

/* ---- Bytes ------------------------------------------------------------- */

static void
compare_bytes(const struct ac_numbers_pass *pass)
{
	const struct ac_numbers_text *a = &pass->numbers->text,
				     *b = pass->other;
	const size_t common = a->count < b->count ? a->count : b->count;
	uint64_t differing = a->count + b->count - 2 * common, first = common;

	for (size_t i = common; i-- > 0;) {
		if (a->bytes[i] == b->bytes[i])
			continue;
		differing++;
		first = i;
	}
	ac_numbers_note_bytes(pass, differing, first);
}

/* ---- The door ---------------------------------------------------------- */

static bool
count_numbers(struct ac_numbers *numbers)
{
	struct ac_piece piece;

	numbers->firsts = calloc(numbers->text.lines + 1,
	    sizeof *numbers->firsts);
	if (!numbers->firsts)
		return false;
	for (size_t i = 0; i < numbers->text.lines; i++) {
		struct ac_piece_line line = ac_numbers_line(&numbers->text, i);

		numbers->firsts[i + 1] = numbers->firsts[i];
		while (ac_piece_next(&line, &piece))
			numbers->firsts[i + 1] += piece.is_number;
	}
	return true;
}

struct ac_numbers *
ac_numbers_create(const char *bytes, size_t count)
{
	struct ac_numbers *numbers = calloc(1, sizeof *numbers);
	size_t found, lines;

	if (!numbers || !ac_numbers_split(&numbers->text, bytes, count) ||
	    !count_numbers(numbers)) {
		ac_numbers_destroy(numbers);
		return NULL;
	}
	lines = numbers->text.lines;
	found = numbers->firsts[lines];
	/* One more: a line that ends the text has no number of its own. */
	numbers->number = calloc(found + 1, 1);
	numbers->line = calloc(lines + 1, 1);
	numbers->gap = calloc(lines + 1, 1);
	if (!numbers->number || !numbers->line || !numbers->gap) {
		ac_numbers_destroy(numbers);
		return NULL;
	}
	numbers->result.is_binary = numbers->text.is_binary;
	numbers->result.numbers = found;
	numbers->result.lines = lines;
	numbers->result.bytes = count;
	return numbers;
}

static bool
is_ascii(const struct ac_numbers_text *text)
{
	for (size_t i = 0; i < text->count; i++) {
		const unsigned char byte = (unsigned char)text->bytes[i];

		if (byte > '~' || (byte < ' ' && !strchr("\t\n\v\f\r", byte)))
			return false;
	}
	return !text->is_binary;
}

bool
ac_numbers_use_words(struct ac_numbers *numbers, size_t word)
{
	const size_t words = numbers->text.count / word;

	if (is_ascii(&numbers->text))
		return true;
	free(numbers->number);
	numbers->number = calloc(words + 1, 1);
	numbers->word = word;
	numbers->result.is_binary = numbers->result.has_words = true;
	numbers->result.numbers = words;
	numbers->result.lines = 0;
	return numbers->number != NULL;
}

void
ac_numbers_destroy(struct ac_numbers *numbers)
{
	if (!numbers)
		return;
	free(numbers->text.starts);
	free(numbers->firsts);
	free(numbers->number);
	free(numbers->line);
	free(numbers->gap);
	free(numbers);
}

static bool
pass_over(struct ac_numbers *numbers, const char *bytes, size_t count,
    bool learns, double tol)
{
	struct ac_numbers_text other;
	struct ac_numbers_pass pass = { .numbers = numbers, .other = &other,
	    .learns = learns, .tol = tol, .ahead_bytes = AHEAD_BYTES };

	if (!ac_numbers_split(&other, bytes, count))
		return false;
	if (other.is_binary)
		numbers->result.is_binary = true;
	if (numbers->word)
		pair_words(&pass);
	else if (numbers->result.is_binary)
		compare_bytes(&pass);
	else
		ac_numbers_pair_lines(&pass);
	free(other.starts);
	return true;
}

bool
ac_numbers_learn(struct ac_numbers *numbers, const char *bytes, size_t count)
{
	return pass_over(numbers, bytes, count, true, 0);
}

bool
ac_numbers_compare(struct ac_numbers *numbers, const char *bytes, size_t count,
    double tol)
{
	return pass_over(numbers, bytes, count, false, tol);
}

void
ac_numbers_result(const struct ac_numbers *numbers,
    struct ac_numbers_result *result_out)
{
	*result_out = numbers->result;
}
