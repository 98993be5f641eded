/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/numbers_lines.h -- inside of cmd/compare/numbers.h: what is known
 * of an output. */
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

/* Bits of what is noted: it differs between plain runs; it differs in a run
 * that is judged; by more than `tol`. */
enum { AC_NOTED_UNSTABLE = 1, AC_NOTED_DIFFERING = 2, AC_NOTED_BEYOND = 4 };

struct ac_numbers {
	struct ac_numbers_text text; /* the reference */
	size_t        *firsts;       /* ordinal of each line's first number */
	/* Bits of each number, of each line, of the gap before each line. */
	unsigned char *number, *line, *gap;
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

/* Note that so many bytes of the reference differ, the first of them at
 * `first`, from 0. */
void ac_numbers_note_bytes(const struct ac_numbers_pass *pass,
    uint64_t differing, uint64_t first);

/* Carry out `pass` on texts that are not binary. */
void ac_numbers_pair_lines(struct ac_numbers_pass *pass);

#endif
