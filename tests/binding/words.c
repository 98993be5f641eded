/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/words.c -- words [FILE...]: call every wrapped function with
 * arguments that all differ, then with such as programs get wrong: zero,
 * negative and missing ones. With FILEs the functions are looked up in them,
 * else they are linked. Prints what is answered. */
#include "words.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef int (*function)(WORD_PARAMS);

static const struct row {
	const char *shape, *name;
	function    linked;
} rows[] = {
#define ROW(shape, symbol) { #shape, #symbol, symbol },
#include ROWS_FILE
};

enum { HANDLE, TRANSA, TRANSB, M, N, K };

static const struct edge {
	const char *name;
	int word;       /* which argument; 0: all but the handle */
	long value;
} edges[] = {
	{ "all differ", M, 0x4003 }, { "no m", M, 0 }, { "no n", N, 0 },
	{ "no k", K, 0 }, { "negative m", M, -1 }, { "negative k", K, -7 },
	{ "all zero", 0, 0 }
};

static void
call(const struct row *row, function f, const struct edge *edge)
{
	long w[WORDS];

	for (int i = 0; i < WORDS; i++)
		w[i] = edge->word || i == HANDLE ? 0x4000 + i : 0;
	w[edge->word ? edge->word : WORDS - 1] = edge->value;
	/* Arrays on the host, which would be read. */
	if (!strncmp(row->shape, "GROUPED", 7))
		w[M] = 0;
	dprintf(1, "%s: %d\n", edge->name, f(w[0], w[1], w[2], w[3], w[4],
	    w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14],
	    w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23],
	    0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5));
}

static function
find(const char *name, char **files)
{
	for (; *files; files++) {
		void *library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
		void *found = library ? dlsym(library, name) : NULL;

		if (found)
			return (function)(uintptr_t)found;
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const function f = argc > 1 ? find(rows[i].name, argv + 1)
		    : rows[i].linked;

		if (!f) {
			dprintf(1, "no %s\n", rows[i].name);
			return 1;
		}
		for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
			call(&rows[i], f, &edges[e]);
	}
	return 0;
}
