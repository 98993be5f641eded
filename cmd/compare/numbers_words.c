/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/numbers_words.c -- a binary output that the user says is an array
 * of floating-point words. A header before them, of whole words, is the same in
 * all runs and harms nobody. */
#include "cmd/compare/numbers_lines.h"
#include "base/text.h"

#include <string.h>

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

void
ac_numbers_pair_words(const struct ac_numbers_pass *pass)
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
