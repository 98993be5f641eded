/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/ptx_hostile.c -- PTX that asks for too much: it is refused in a
 * sentence with its line, before any memory is taken; and texts with very many
 * names, whose parsing takes as long as they are. TAP. */
#include "emulator/ptx/ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

/* Of what the process has resident, in KiB: what is refused takes none of it.
 * The parser's own books do, as much as for 65536 functions at most. */
enum { MOST_GROWTH = 512 << 10 };
/* Four times the text may take that much longer; sixteen times would be the
 * square. */
enum { TIMES = 4, MOST_RATIO = 10, TRIES = 3 };

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define BODY ".entry k() {\n"

/* `each` comes `count` times, with its number for each %u, twice at most.
 * `says`: part of what refuses the text or its kernel; NULL: it is taken. */
static const struct hostile {
	const char *what, *before, *each;
	unsigned    count;
	const char *after, *says;
} hostile[] = {
	{ "a shared variable", HEAD ".shared .b8 x[99999999999];", "", 0, "",
	    "line 4: too large" },
	{ "shared memory of a kernel", HEAD BODY ".shared .b8 x[99999999999];",
	    "", 0, "ret; }", "line 5: too large" },
	{ "shared memory in pieces", HEAD BODY,
	    ".shared .b8 x%u[1000000000];\n", 9, "ret; }",
	    "too much shared memory" },
	{ "shared memory of a module, unused", HEAD,
	    ".shared .b8 x%u[1000000000];\n", 9, BODY "ret; }", NULL },
	{ "shared memory of a module, used", HEAD,
	    ".shared .b8 x%u[1000000000];\n", 9, BODY
	    ".reg .b32 %r; mov.u32 %r, x3; ret; }", "too much shared memory" },
	{ "one global variable", HEAD ".global .b8 x[2147483648];", "", 0, "",
	    "line 4: too much global memory" },
	{ "a global variable of wide elements", HEAD
	    ".global .v4 .b32 x[2000000000];", "", 0, "",
	    "too much global memory" },
	{ "a product of sizes", HEAD ".global .b8 x[65536][65536][65536];", "",
	    0, "", "x is too large" },
	{ "registers", HEAD BODY ".reg .b32 %r<4000000000>;", "", 0, "ret; }",
	    "line 5: too large" },
	{ "ranges of registers", HEAD BODY, ".reg .b64 %%r%u_<1000000>;\n",
	    2000, "ret; }", "too many registers" },
	{ "local memory", HEAD BODY ".local .b8 x[2000000000];", "", 0,
	    "ret; }", "too much memory of a thread" },
	{ "parameters", HEAD ".entry k(", ".param .b32 p%u,", 20000, ") {}",
	    "too many parameters" },
	{ "an alignment", HEAD ".global .align 2147483648 .b8 x[4];", "", 0,
	    "", "x is aligned to 2147483648" },
	{ "an alignment of 2^32", HEAD ".global .align 4294967296 .b8 x[4];",
	    "", 0, "", "x is aligned to 4294967296" },
	{ "an alignment that is no power of two", HEAD
	    ".global .align 12 .b8 x[4];", "", 0, "", "x is aligned to 12" },
	{ "braces in braces", HEAD BODY, "{", 1000000, "",
	    "braces do not close" },
	{ "values in braces", HEAD ".global .b32 x[4] = ", "{", 1000000, "",
	    "is not known" },
	{ "a variable of predicates", HEAD ".shared .pred x;", "", 0, "",
	    "x has no type that memory can have" },
	{ "an attribute without an end", HEAD ".global .attribute(.managed",
	    "", 0, "", "an attribute does not end" },
	{ "a comment without an end", HEAD "/*", "", 0, "", NULL },
	{ "a long word", HEAD BODY ".reg .b32 ", "a", 5000, "; }",
	    "a word is too long" },
	{ "lists of targets", HEAD BODY, "t%u: .branchtargets L;\n", 20000,
	    "L: ret; }", "too many targets" },
	{ "functions", HEAD, ".func f%u();\n", 70000, "",
	    "too many functions" },
};

/* Names that are looked up. */
static const struct hostile many[] = {
	{ "labels", HEAD BODY, "L%u: bra L%u;\n", 20000, "ret; }", NULL },
	{ "kernels", HEAD, ".entry k%u() { ret; }\n", 15000, "", NULL },
	{ "scopes with a name", HEAD BODY, "{ .reg .b32 r; mov.u32 r, %u; }\n",
	    15000, "ret; }", NULL },
};

static char *text;
static size_t length;

__attribute__((format(printf, 1, 2)))
static void
say(const char *format, ...)
{
	enum { LINE = 6000 };
	static size_t room;
	va_list list;

	if (room - length < LINE) {
		room = 2 * room + LINE;
		text = realloc(text, room);
	}
	if (!text)
		abort();
	va_start(list, format);
	length += (size_t)vsnprintf(text + length, LINE, format, list);
	va_end(list);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void
write_text(const struct hostile *h, unsigned count)
{
	length = 0;
	say("%s", h->before);
	for (unsigned i = 0; i < count; i++)
		say(h->each, i, count - 1 - i);
	say("%s", h->after);
}
#pragma GCC diagnostic pop

static long
resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What refuses the text, or a kernel of it, to be freed; empty: nothing. */
static char *
refusal(void)
{
	char message[200] = "", *said = NULL;
	size_t bytes;
	FILE *out = open_memstream(&said, &bytes);
	struct ptx_module *m = ptx_module_load(text, length, message,
	    sizeof message);

	if (!out)
		abort();
	if (m) {
		(void)ptx_module_unsupported(m, out);
		ptx_module_free(m);
	} else {
		fputs(message, out);
	}
	fclose(out);
	return said;
}

static bool
is_right(const struct hostile *h)
{
	bool right;
	long before, grown;
	char *said;

	write_text(h, h->count);
	before = resident();
	said = refusal();
	grown = resident() - before;
	right = h->says ? strstr(said, "line ") && strstr(said, h->says)
	    : !*said;
	if (!right)
		printf("# %.100s\n", said);
	if (grown > MOST_GROWTH)
		printf("# it took %ld KiB\n", grown);
	free(said);
	return right && grown <= MOST_GROWTH;
}

static double
parsing(const struct hostile *h, unsigned count)
{
	double best = 0;

	write_text(h, count);
	for (int i = 0; i < TRIES; i++) {
		const double start = seconds();
		char *said = refusal();
		const double took = seconds() - start;

		if (*said)
			printf("# %.100s\n", said);
		free(said);
		if (!i || took < best)
			best = took;
	}
	return best;
}

int
main(void)
{
	const int rows = sizeof hostile / sizeof *hostile;
	const int more = sizeof many / sizeof *many;
	bool all = true, good;

	for (int i = 0; i < rows; i++) {
		all &= good = is_right(&hostile[i]);
		printf("%sok %d - %s\n", good ? "" : "not ", i + 1,
		    hostile[i].what);
	}
	for (int i = 0; i < more; i++) {
		const double once = parsing(&many[i], many[i].count);
		const double times = parsing(&many[i], many[i].count * TIMES)
		    / once;

		all &= good = times < MOST_RATIO;
		printf("# %.1f times as long for %d times as many\n"
		    "%sok %d - %u %s take no longer than their text\n", times,
		    TIMES, good ? "" : "not ", rows + i + 1,
		    many[i].count * TIMES, many[i].what);
	}
	free(text);
	printf("1..%d\n", rows + more);
	return !all;
}
