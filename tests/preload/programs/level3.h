/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/level3.h -- what programs of products that are not
 * GEMM share: words that say how to call, and matrices. Words:
 *   calls=N       so many calls, each on the same C (1)
 *   pad=N         leading dimensions are so much larger than they need be
 *   ld=N          the program says which is N
 *   null=NAME     that argument is NULL
 *   captured=N    then one call is captured, and replayed N times */
#ifndef TESTS_PRELOAD_PROGRAMS_LEVEL3_H
#define TESTS_PRELOAD_PROGRAMS_LEVEL3_H

#include "gemm_client.h"

#include <math.h>

struct words {
	const char *null;
	int64_t calls, pad, ld, captured;
};

/* Unless null= names it. */
#define OR_NULL(name, value) \
	(words.null && !strcmp(words.null, #name) ? NULL : (value))

/* NULL: it was one of those. Else its value. */
static inline char *
words_take(struct words *words, char *text)
{
	char *value = strchr(text, '=') + 1;
	const struct {
		const char *name;
		int64_t *number;
	} all[] = {
		{ "calls=", &words->calls }, { "pad=", &words->pad },
		{ "ld=", &words->ld }, { "captured=", &words->captured }
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strncmp(text, all[i].name, strlen(all[i].name))) {
			*all[i].number = strtoll(value, NULL, 10);
			return NULL;
		}
	if (strncmp(text, "null=", 5))
		return value;
	words->null = value;
	return NULL;
}

/* What is between the elements is NaN. */
static inline float *
blank(int64_t count)
{
	float *x = client_allocate((size_t)count, sizeof *x);

	for (int64_t i = 0; i < count; i++)
		x[i] = NAN;
	return x;
}

static inline cublasFillMode_t
triangle_of(const char *word)
{
	return *word == 'l' ? CUBLAS_FILL_MODE_LOWER : *word == 'u'
	    ? CUBLAS_FILL_MODE_UPPER : (cublasFillMode_t)2;
}

static inline cublasOperation_t
operation_of(const char *word)
{
	return *word == 'n' ? CUBLAS_OP_N : *word == 't' ? CUBLAS_OP_T
	    : *word == 'c' ? CUBLAS_OP_C : (cublasOperation_t)17;
}

#endif
