/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx_torture.c [PROGRAMS [SEED]] -- random programs
 * of nested loops, breaks, switches and early returns: 64 threads in a block,
 * whose lanes part and meet, against 64 blocks of one thread each, which never
 * part. TAP. */
#include "emulator/ptx/ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 400, THREADS = 64, WORDS = 6, ROOM = 1 << 17, DEPTH = 5,
	STATEMENTS = 60 };

/* A program in the making. Some bodies are put off to the end of the text, as
 * compilers do with what is rare. */
struct text {
	char     now[ROOM], later[ROOM];
	size_t   length, late;
	int      labels, statements;
	int      out, again;    /* of the loop around; 0: there is none */
};
static struct text text;
static uint64_t seed;
static uint32_t memory[2][THREADS * WORDS];

static unsigned
any(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

__attribute__((format(printf, 1, 2))) static void
say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	text.length += (size_t)vsnprintf(text.now + text.length, ROOM -
	    text.length, format, list);
	va_end(list);
	if (text.length >= ROOM)
		abort();
}

/* ---- Statements -------------------------------------------------------- */

static void statements(int depth);

static void
assign(void)
{
	static const char *const ops[] = { "add.u32", "sub.u32", "mul.lo.u32",
		"xor.b32", "and.b32", "or.b32", "min.u32", "max.s32" };
	const unsigned to = any(4), from = any(4);

	say("%s %%x%u, %%x%u, %u; ", ops[any(8)], to, from, any(1000));
	say("add.u32 %%x%u, %%x%u, %%x%u;\n", any(4), any(4), any(4));
}

/* Sets %q, for about half of the lanes or for few of them. */
static void
condition(void)
{
	static const char *const compares[] = { "lt", "ge", "eq", "ne", "gt" };

	say("shr.u32 %%t, %%x%u, %u; and.b32 %%t, %%t, %u; "
	    "setp.%s.u32 %%q, %%t, %u;\n", any(4), any(6), any(2) ? 3 : 15,
	    compares[any(5)], any(8));
}

/* if, with its other branch in place, none, or put off to the end. */
static void
branch(int depth)
{
	const int other = ++text.labels, join = ++text.labels;
	const unsigned kind = any(3);
	size_t from;

	condition();
	say("@%s%%q bra L%d;\n", any(2) ? "!" : "", other);
	statements(depth + 1);
	if (kind == 0) {
		say("L%d:\n", other);
		return;
	}
	say("bra%s L%d;\n", any(2) ? ".uni" : "", join);
	from = text.length;
	say("L%d:\n", other);
	statements(depth + 1);
	if (kind == 1) {
		say("L%d:\n", join);
		return;
	}
	say("bra L%d;\n", join);
	if (text.late + text.length - from >= ROOM)
		abort();
	memcpy(text.later + text.late, text.now + from, text.length - from);
	text.late += text.length - from;
	text.length = from;
	say("L%d:\n", join);
}

/* At most seven rounds, each lane its own number of them. */
static void
loop(int depth)
{
	const int head = ++text.labels, out = text.out, again = text.again;

	text.out = ++text.labels;
	text.again = ++text.labels;
	say("and.b32 %%c%d, %%x%u, %u; add.u32 %%c%d, %%c%d, 1;\nL%d:\n",
	    depth, any(4), any(2) ? 3 : 6, depth, depth, head);
	statements(depth + 1);
	say("L%d: sub.u32 %%c%d, %%c%d, 1; setp.ne.u32 %%q, %%c%d, 0; @%%q "
	    "bra L%d;\nL%d:\n", text.again, depth, depth, depth, head,
	    text.out);
	text.out = out;
	text.again = again;
}

/* Cases that fall through, or do not. */
static void
choose(int depth)
{
	const unsigned cases = 2 + any(4);
	const int first = text.labels + 1, end = first + (int)cases;

	text.labels = end;
	say("rem.u32 %%t, %%x%u, %u; T%d: .branchtargets ", any(4), cases,
	    first);
	for (unsigned i = 0; i < cases; i++)
		say("%sL%d", i ? ", " : "", first + (int)i);
	say("; brx.idx %%t, T%d;\n", first);
	for (unsigned i = 0; i < cases; i++) {
		say("L%d:\n", first + (int)i);
		statements(depth + 1);
		if (any(3))
			say("bra L%d;\n", end);
	}
	say("L%d:\n", end);
}

/* break, continue, return. */
static void
jump(void)
{
	const unsigned kind = any(4);

	condition();
	if (text.out && kind < 3)
		say("@%%q bra L%d;\n", kind ? text.out : text.again);
	else if (kind == 3 && !any(3))
		say("st.global.u32 [%%d3], %%x0; st.global.u32 [%%d3+20], 7; "
		    "@%%q %s;\n", any(2) ? "ret" : "exit");
	else
		say("@%%q add.u32 %%x1, %%x1, 5;\n");
}

static void
statements(int depth)
{
	for (unsigned count = 1 + any(3); count; count--) {
		const unsigned kind = any(8);

		if (depth >= DEPTH || ++text.statements > STATEMENTS ||
		    kind < 2)
			assign();
		else if (kind < 4)
			branch(depth);
		else if (kind < 6)
			loop(depth);
		else if (kind < 7)
			choose(depth);
		else
			jump();
	}
}

static void
write_program(void)
{
	memset(&text, 0, sizeof text);
	say(".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param "
	    ".u64 p) {\n.reg .pred %%q; .reg .b32 %%r<9>, %%x<4>, %%c<%d>, "
	    "%%t; .reg .b64 %%d<9>;\nld.param.u64 %%d1, [p]; mov.u32 %%r1, "
	    "%%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x; "
	    "mad.lo.u32 %%r4, %%r2, %%r3, %%r1; mul.wide.u32 %%d2, %%r4, %d; "
	    "add.u64 %%d3, %%d1, %%d2;\n", DEPTH + 1, 4 * WORDS);
	for (int i = 0; i < 4; i++)
		say("mad.lo.u32 %%x%d, %%r4, %u, %u;\n", i, any(1 << 30),
		    any(1 << 30));
	for (int i = 0; i < 3; i++)
		statements(0);
	for (int i = 0; i < 4; i++)
		say("st.global.u32 [%%d3+%d], %%x%d;\n", 4 * i, i);
	say("st.global.u32 [%%d3+16], 99; ret;\n%.*s}\n", (int)text.late,
	    text.later);
}

/* ---- Both ways --------------------------------------------------------- */

static bool
run(struct ptx_function *kernel, unsigned blocks, unsigned threads,
    uint64_t schedule, uint32_t *to, uint64_t *instructions)
{
	const struct ptx_options options = { .report = stdout,
		.schedule = schedule, .fill = schedule };
	const unsigned grid[3] = { blocks, 1, 1 }, block[3] = { threads, 1, 1 };
	struct ptx_result result = {0};
	void *params[] = { &to };
	bool good;

	memset(to, 0, sizeof memory[0]);
	good = ptx_launch(kernel, grid, block, 0, params, &options, &result);
	*instructions += result.instructions;
	return good;
}

static bool
try_program(uint64_t instructions[2])
{
	char message[256] = "";
	struct ptx_module *m;
	struct ptx_function *k;
	bool good;

	write_program();
	m = ptx_module_load(text.now, text.length, message, sizeof message);
	if (!m || ptx_module_unsupported(m, stdout)) {
		printf("# %s\n", message);
		return false;
	}
	k = ptx_module_kernel(m, "k");
	good = run(k, THREADS, 1, 0, memory[0], &instructions[0]) &&
	    run(k, 1, THREADS, 0, memory[1], &instructions[1]) &&
	    !memcmp(memory[0], memory[1], sizeof memory[0]) &&
	    run(k, 2, THREADS / 2, seed | 1, memory[1], &instructions[1]) &&
	    !memcmp(memory[0], memory[1], sizeof memory[0]);
	ptx_module_free(m);
	return good;
}

int
main(int argc, char **argv)
{
	const int programs = argc > 1 ? atoi(argv[1]) : PROGRAMS;
	const uint64_t start = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	uint64_t instructions[2] = {0};
	int failed = 0;

	for (int i = 0; i < programs && failed < 4; i++) {
		seed = (start + (uint64_t)i) * 0x9e3779b97f4a7c15;
		if (try_program(instructions))
			continue;
		failed++;
		printf("# program %llu differs\n", (unsigned long long)
		    (start + (uint64_t)i));
		if (getenv("TORTURE_TEXT"))
			printf("%.*s\n", (int)text.length, text.now);
	}
	printf("%sok 1 - %d programs: lanes that part and meet do what threads "
	    "do alone\n# %llu instructions of one thread, %llu of warps\n"
	    "1..1\n", failed ? "not " : "", programs,
	    (unsigned long long)instructions[0],
	    (unsigned long long)instructions[1]);
	return failed != 0;
}
