/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub_words.c -- every function of one library, each printing
 * the argument words that reached it (the lower half: the upper one of an int
 * is nobody's) and answering with a number of its own. */
#include "words.h"

#include <stdint.h>
#include <stdio.h>

static int
show(const char *name, const long *words, int count, const double *reals,
    int answer)
{
	dprintf(1, "%s", name);
	for (int i = 0; i < count; i++)
		dprintf(1, " %x", (unsigned)(words[i] & UINT32_MAX));
	for (int i = 0; i < REALS && count == WORDS; i++)
		dprintf(1, " %g", reals[i]);
	dprintf(1, "\n");
	return answer;
}

#define ROW(shape, symbol) \
int \
symbol(WORD_PARAMS) \
{ \
	const long words[] = { w0, w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, \
	    w11, w12, w13, w14, w15, w16, w17, w18, w19, w20, w21, w22, w23 }; \
	const double reals[] = { r0, r1, r2, r3, r4, r5, r6, r7 }; \
	return show(#symbol, words, WORDS_##shape, reals, 100 + __COUNTER__); \
}
#include ROWS_FILE
