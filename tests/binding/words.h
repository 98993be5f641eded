/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/words.h -- every wrapped function as the machine sees it: so
 * many argument words, and for a counted-only one the vector registers too.
 * The test makes ROWS_FILE of the rows in shim/: ROW(shape, symbol). */
#ifndef TESTS_BINDING_WORDS_H
#define TESTS_BINDING_WORDS_H

enum { WORDS = 24, REALS = 8 };

/* MARKER: all there may be. */
enum {
#define SHAPE(id, operation, has_recipe, arguments, fate) \
	WORDS_##id = arguments,
#include "../../shim/bind/entries.def"
	WORDS_MARKER = WORDS
};

#define WORD_PARAMS \
	long w0, long w1, long w2, long w3, long w4, long w5, long w6, \
	long w7, long w8, long w9, long w10, long w11, long w12, long w13, \
	long w14, long w15, long w16, long w17, long w18, long w19, \
	long w20, long w21, long w22, long w23, double r0, double r1, \
	double r2, double r3, double r4, double r5, double r6, double r7

#define ROW(shape, symbol) int symbol(WORD_PARAMS);
#include ROWS_FILE
#undef ROW

#endif
