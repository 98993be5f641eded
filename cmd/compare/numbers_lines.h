/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/numbers_lines.h -- inside of cmd/compare/numbers.h: what is known
 * of an output, for cmd/compare/numbers.c, which owns it,
 * cmd/compare/numbers_lines.c, which pairs lines, and
 * cmd/compare/numbers_words.c, which pairs floating-point words. */
#ifndef AC_CMD_NUMBERS_LINES_H
#define AC_CMD_NUMBERS_LINES_H

#include "cmd/compare/numbers.h"

struct ac_numbers_text {
	const char *bytes;
	size_t      count;
	size_t     *starts;          /* of lines; one more at the end */
	size_t      lines;
	bool        is_binary;
};

struct ac_numbers {
	struct ac_numbers_text text; /* the reference */
	size_t        *firsts;       /* ordinal of each line's first number */
	unsigned char *unstable, *differing, *beyond;     /* bits by number */
	unsigned char *unstable_lines, *differing_lines;  /* bits by line */
	unsigned char *unstable_gaps, *differing_gaps;    /* before each line */
	size_t         word;         /* bytes of a floating-point word, or 0 */
	struct ac_numbers_result result;
};

/* One comparison of the reference with another text. */
struct ac_numbers_pass {
	struct ac_numbers *numbers;
	const struct ac_numbers_text *other;
	bool               learns;
	double             tol;
	size_t             ahead_bytes; /* that may still be read for it */
};

/* Find the lines of `bytes`, which are borrowed; free(text_out->starts). False
 * without memory. */
bool ac_numbers_split(struct ac_numbers_text *text_out, const char *bytes,
    size_t count);

/* Line i, from 0, without its newline. */
struct ac_piece_line ac_numbers_line(const struct ac_numbers_text *text,
    size_t i);

/* Note that number n of the reference differs so much; whether that counts. */
bool ac_numbers_note(const struct ac_numbers_pass *pass, size_t n,
    double difference);

/* Carry out `pass` on arrays of words. */
void ac_numbers_pair_words(const struct ac_numbers_pass *pass);

/* Carry out `pass` on texts that are not binary. */
void ac_numbers_pair_lines(struct ac_numbers_pass *pass);

#endif
