/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/shim/test_chain.c -- who has a part in a sum, in letters. */
#include "shim/trial/chain.h"
#include "tests/unit/cases.h"

static struct ac_origin *
origin(char letter)
{
	return (struct ac_origin *)((uintptr_t)letter << 12);
}

/* One row: calls by "ORIGIN KIND FROM BYTES", then whose sum, who wrote there
 * before its last call, and all who have a part in it, in order. */
struct row {
	const char *calls;
	char whose, last;
	const char *all;
};

/* Each row has addresses of its own. */
static char
play(const char *calls, uintptr_t base)
{
	struct ac_origin *last = NULL;
	char letter, kind;
	unsigned from, bytes;
	int used;

	for (; sscanf(calls, " %c%c%u+%u%n", &letter, &kind, &from, &bytes,
	    &used) == 4; calls += used)
		last = ac_chain_note(origin(letter), (const void *)(base
		    + from), bytes, kind == '=' ? AC_CHAIN_WRITES
		    : kind == '+' ? AC_CHAIN_ADDS : AC_CHAIN_READS);
	return last ? (char)((uintptr_t)last >> 12) : '-';
}

static const char *
writers(char whose)
{
	static char text[AC_CHAIN_MOST + 1];
	struct ac_origin *found[AC_CHAIN_MOST];
	const unsigned count = ac_chain_writers(origin(whose), found);
	bool has[256] = { false };
	unsigned used = 0;

	for (unsigned i = 0; i < count; i++)
		has[(uintptr_t)found[i] >> 12] = true;
	for (unsigned c = 0; c < 256; c++)
		if (has[c])
			text[used++] = (char)c;
	text[used] = '\0';
	return text;
}

CASE(test_writers)
{
	static const struct row rows[] = {
		{ "a=0+100 b+0+100", 'b', 'a', "a" },
		/* Only since it was last written whole; twice counts once. */
		{ "c=0+100 d=0+100 e+0+100", 'e', 'd', "d" },
		{ "f=0+100 g+0+100 f=0+100 g+0+100 f=0+100", 'g', '-', "f" },
		/* Who comes after the sum has no part in it. */
		{ "h=0+100 i+0+100 j=0+100", 'i', '-', "h" },
		/* It begins the next sum, too, before it is asked. */
		{ "J=0+100 K+0+100 J+0+100 J=0+100", 'J', '-', "K" },
		/* A part of a C, and all of it. */
		{ "k=0+500 l+200+100", 'l', '-', "k" },
		{ "m=200+100 n+0+500", 'n', '-', "m" },
		{ "o=0+100 p+100+100", 'p', '-', "" },
		{ "q=0+500 r=200+100 s+200+100", 's', 'r', "r" },
		/* More than a few. */
		{ "A=0+100 B+0+100 C+0+100 D+0+100 E+0+100 F+0+100 G+0+100 "
		    "H+0+100 I+0+100", 'I', 'H', "ABCDEFGH" },
		/* By way of another C. */
		{ "t=0+100 u<0+100 u=300+100 v+300+100", 'v', 'u', "tu" },
		/* Whose C it is nobody knows. */
		{ "w+0+100", 'w', '-', "" }, { "x+0+100 x+0+100", 'x', 'x', "" }
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		const char last = play(r->calls, (i + 1) << 30);

		if (last != r->last || strcmp(writers(r->whose), r->all))
			fail_msg("%s: %c before, not %c; %s, not %s", r->calls,
			    last, r->last, writers(r->whose), r->all);
	}
}

/* How many of the first `count` are known. */
static unsigned
known_of(const uintptr_t *c, int count)
{
	unsigned known = 0;

	for (int i = 0; i < count; i++)
		known += ac_chain_note(origin('z'), (const void *)c[i], 64,
		    AC_CHAIN_READS) == origin('y');
	return known;
}

/* A table of 1024, by a hash, each entry at most 15 behind its place: 1000 Cs
 * but for those that find no room; of a quarter all do. */
CASE(test_how_many)
{
	enum { CS = 1000, FEW = 256 };
	uintptr_t c[CS];
	uint64_t seed = 20261127;

	for (int i = 0; i < CS; i++) {
		if (i == FEW) /* wherever they lie */
			assert_int_equal(known_of(c, FEW), FEW);
		seed = seed * UINT64_C(6364136223846793005)
		    + UINT64_C(1442695040888963407);
		c[i] = (uintptr_t)(seed >> 20) << 8;
		(void)ac_chain_note(origin('y'), (const void *)c[i], 64,
		    AC_CHAIN_WRITES);
	}
	assert_in_range(known_of(c, CS), 880, 950);
}

CASES_RUN(NULL, NULL)
