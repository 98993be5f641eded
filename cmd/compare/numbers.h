/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/compare/numbers.h -- two texts compared as a reader would: numbers as
 * numbers, the rest as text. What differs anyway between runs that should be
 * equal is learnt first and then left out.
 *
 * Nothing here trusts its input: binary bytes, lines of any length, numbers of
 * any size. Work and memory grow with the input, never with its square. */
#ifndef AC_CMD_NUMBERS_H
#define AC_CMD_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Words of a line (cmd/compare/numbers_piece.c) --------------------- */

/* A number is [+-]DIGITS[.DIGITS][e[+-]DIGITS], .5, 5., nan or inf, standing
 * alone or before a unit of up to three letters. Text: 0x1f, 1,234,567, v1.2,
 * 1.2.3, fp16, 5f3a91c2. */
struct ac_piece {
	const char *start;
	size_t      length;
	bool        is_number;
	double      value;         /* of a number */
};

struct ac_piece_line {
	const char *begin, *at, *end; /* `at` begins at `begin` */
};

/* The next word; blanks around it are skipped. False at the line's end. */
bool ac_piece_next(struct ac_piece_line *line, struct ac_piece *piece_out);

/* Whether two texts are equal but for the number of blanks between words. */
bool ac_piece_same_text(const struct ac_piece *a, const struct ac_piece *b);

/* |a - b| relative to the larger of them: 0 to 2. Infinite if one is finite
 * and the other is not; NaNs are equal. */
double ac_number_difference(double a, double b);

/* The same of two numbers as they are written: whole ones beyond 2^53, and
 * those too large for a double, are told apart by their digits. */
double ac_piece_difference(const struct ac_piece *x, const struct ac_piece *y);

/* ---- Outputs (cmd/compare/numbers.c) ----------------------------------- */

enum { AC_NUMBERS_WORD = 32, AC_NUMBERS_LINE = 72 };

/* Text with a NUL byte in it is binary, and is compared byte by byte, or word
 * by word. Lines, columns (in bytes) and bytes count from 1; 0: there is none.
 * Of words `differing_bytes` are those behind the last word of both. */
struct ac_numbers_result {
	bool     is_binary, has_words;
	uint64_t numbers, unstable;      /* in the reference; not compared */
	uint64_t differing, beyond;      /* at all; by more than `tol` */
	double   worst;                  /* relative */
	uint64_t worst_line, worst_column; /* of text */
	uint64_t worst_byte;             /* of words */
	char     worst_plain[AC_NUMBERS_WORD], worst_recast[AC_NUMBERS_WORD];
	uint64_t lines, unstable_lines, differing_lines; /* as text */
	uint64_t first_line;             /* of the differing ones */
	char     first_plain[AC_NUMBERS_LINE], first_recast[AC_NUMBERS_LINE];
	uint64_t bytes, differing_bytes; /* of binary outputs */
	uint64_t first_byte;             /* from 1 */
	bool     unstable_bytes;
};

/* One output: a reference, and what other runs made of it. */
struct ac_numbers;

/* `bytes` are borrowed until the end. NULL without memory. */
struct ac_numbers *ac_numbers_create(const char *bytes, size_t count);
void ac_numbers_destroy(struct ac_numbers *numbers);

/* Before all else: read a reference that is not ASCII text as words of so many
 * bytes, 4 (FP32) or 8 (FP64). False without memory. */
bool ac_numbers_use_words(struct ac_numbers *numbers, size_t word);

/* What another run that should be equal wrote. All of these come before the
 * first of the next. False without memory. */
bool ac_numbers_learn(struct ac_numbers *numbers, const char *bytes,
    size_t count);

/* What a run that is judged wrote. The sum over all of them is kept. */
bool ac_numbers_compare(struct ac_numbers *numbers, const char *bytes,
    size_t count, double tol);

void ac_numbers_result(const struct ac_numbers *numbers,
    struct ac_numbers_result *result_out);

#endif
