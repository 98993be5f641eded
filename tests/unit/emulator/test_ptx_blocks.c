/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx_blocks.c -- blocks of one launch on several
 * threads of the host: atomics lose nothing, blocks wait for each other, one
 * that stops stops all; what does not depend on the order of blocks is as on
 * one thread. TAP. */
#include "emulator/ptx/ptx.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* %r3 is the number of the thread in the grid. */
#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n" \
	".extern .func (.param .b32 r) vprintf (.param .b64 f, " \
	".param .b64 v); " \
	".global .align 1 .b8 line[3] = {37, 117, 0};\n" \
	".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; " \
	".reg .b32 %r<29>; .reg .b64 %d<9>; .reg .f32 %f<9>; " \
	".reg .b16 %h<9>; .reg .f64 %g<9>; .shared .align 8 .b32 s[64]; " \
	".local .align 8 .b32 own[2];\n" \
	"ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1; " \
	"mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r4, %ntid.x; " \
	"mov.u32 %r5, %nctaid.x; mad.lo.u32 %r3, %r2, %r4, %r1; " \
	"mul.wide.u32 %d2, %r3, 4; add.u64 %d3, %d1, %d2;\n"
#define TAIL "\nret; }\n"

enum { BLOCKS = 64, SIZE = 64, ALL = BLOCKS * SIZE, ROOM = 2 * ALL,
	THREADS = 4, STREAMS = 8 };

static int number, failed;
static _Alignas(64) uint32_t memory[ROOM], other[ROOM];

static void
say(bool good, const char *what)
{
	failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
}

static struct ptx_module *
load(const char *text)
{
	char message[256] = "";
	struct ptx_module *m = ptx_module_load(text, strlen(text), message,
	    sizeof message);

	if (!m || ptx_module_unsupported(m, stdout)) {
		printf("# %s\n", message);
		exit(1);
	}
	return m;
}

/* On `to`, which is not cleared. */
static bool
launch(struct ptx_module *m, uint32_t *to, unsigned blocks, unsigned threads,
    const struct ptx_options *options, struct ptx_result *result)
{
	const unsigned grid[3] = { blocks, 1, 1 }, block[3] = { threads, 1, 1 };
	void *params[] = { &to };

	*result = (struct ptx_result){0};
	return ptx_launch(ptx_module_kernel(m, "k"), grid, block, 0, params,
	    options, result);
}

static const struct ptx_options several = { .threads = THREADS,
	.any_order = true };

static bool
run(const char *text, unsigned blocks, unsigned threads,
    const struct ptx_options *options)
{
	struct ptx_options with = *options;
	struct ptx_result result;
	struct ptx_module *m = load(text);
	bool good;

	with.report = stdout;
	memset(memory, 0, sizeof memory);
	good = launch(m, memory, blocks, threads, &with, &result);
	ptx_module_free(m);
	return good;
}

/* ---- Atomics ----------------------------------------------------------- */

/* One operation per thread on word 0: of 1, or of a number that depends on %r3
 * and is in %r6, or %d4 with 64 bits. */
static const struct {
	const char *text;
	uint64_t before, after;
} sums[] = {
	{ "red.global.add.u32 [%d1], 1", 0, ALL },
	{ "red.global.add.s32 [%d1], -1", 0, (uint32_t)-ALL },
	{ "red.global.add.u64 [%d1], 0x100000001", 0,
	    ALL * UINT64_C(0x100000001) },
	{ "red.global.add.f32 [%d1], 0f3F800000", 0, 0x45800000 },
	{ "red.global.add.f64 [%d1], 0d3FF0000000000000", 0,
	    0x40b0000000000000 },
	{ "mov.b32 %r7, 0x00003c00; setp.ne.u32 %p1, %r1, 0; mov.b32 {%h1, "
	    "%h2}, %r7; @!%p1 red.global.add.noftz.f16 [%d1], %h1", 0,
	    0x5400 },
	{ "mov.b32 %r7, 0x00003f80; setp.ne.u32 %p1, %r1, 0; mov.b32 {%h1, "
	    "%h2}, %r7; @!%p1 red.global.add.noftz.bf16 [%d1], %h1", 0,
	    0x4280 },
	{ "mov.b32 %r7, 0x3c004000; setp.ne.u32 %p1, %r1, 0; @!%p1 "
	    "red.global.add.noftz.f16x2 [%d1], %r7", 0, 0x54005800 },
	{ "mov.b32 %r7, 0x3f804000; setp.ne.u32 %p1, %r1, 0; @!%p1 "
	    "red.global.add.noftz.bf16x2 [%d1], %r7", 0, 0x42804300 },
	{ "red.global.min.u32 [%d1], %r6", 0xffffffff, 7 },
	{ "red.global.max.u32 [%d1], %r6", 0, ALL + 6 },
	{ "neg.s32 %r7, %r6; red.global.min.s32 [%d1], %r7", 0,
	    (uint32_t)-(ALL + 6) },
	{ "neg.s32 %r7, %r6; red.global.max.s32 [%d1], %r7", 0x80000000,
	    (uint32_t)-7 },
	{ "red.global.min.u64 [%d1], %d4", UINT64_MAX, 7 },
	{ "red.global.max.u64 [%d1], %d4", 0, ALL + 6 },
	{ "neg.s64 %d4, %d4; red.global.min.s64 [%d1], %d4", 0,
	    (uint64_t)-(ALL + 6) },
	{ "neg.s64 %d4, %d4; red.global.max.s64 [%d1], %d4", INT64_MIN,
	    (uint64_t)-7 },
	{ "and.b32 %r7, %r3, 31; shl.b32 %r8, 1, %r7; not.b32 %r8, %r8; "
	    "red.global.and.b32 [%d1], %r8", 0xffffffff, 0 },
	{ "and.b32 %r7, %r3, 31; shl.b32 %r8, 1, %r7; "
	    "red.global.or.b32 [%d1], %r8", 0, 0xffffffff },
	{ "red.global.xor.b32 [%d1], %r3", 5, 5 },
	{ "and.b32 %r7, %r3, 63; shl.b64 %d5, 1, %r7; "
	    "red.global.or.b64 [%d1], %d5", 0, UINT64_MAX },
	{ "and.b32 %r7, %r3, 63; shl.b64 %d5, 1, %r7; not.b64 %d5, %d5; "
	    "red.global.and.b64 [%d1], %d5", UINT64_MAX, 0 },
	{ "red.global.xor.b64 [%d1], %d4", 9, 0x1009 },
	{ "red.global.inc.u32 [%d1], 0x7fffffff", 3, 3 + ALL },
	{ "red.global.inc.u32 [%d1], 6", 0, ALL % 7 },
	{ "red.global.dec.u32 [%d1], 0x7fffffff", 2 * ALL, ALL },
	/* By compare and swap; its value from an earlier read. */
	{ "AGAIN: ld.relaxed.gpu.global.u32 %r7, [%d1]; add.u32 %r8, %r7, 1; "
	    "atom.global.cas.b32 %r9, [%d1], %r7, %r8; setp.ne.u32 %p1, %r9, "
	    "%r7; @%p1 bra AGAIN", 0, ALL },
	{ "AGAIN: ld.relaxed.gpu.global.u64 %d5, [%d1]; add.u64 %d6, %d5, 1; "
	    "atom.global.cas.b64 %d7, [%d1], %d5, %d6; setp.ne.u64 %p1, %d7, "
	    "%d5; @%p1 bra AGAIN", 0, ALL },
	{ "AGAIN: ld.volatile.global.u16 %h1, [%d1]; add.u16 %h2, %h1, 1; "
	    "atom.global.cas.b16 %h3, [%d1], %h1, %h2; setp.ne.u16 %p1, %h3, "
	    "%h1; @%p1 bra AGAIN", 0, ALL },
	/* A lock, and a sum that it guards. */
	{ "L: setp.ne.u32 %p1, %r1, 0; @%p1 bra OUT; AGAIN: "
	    "atom.global.exch.b32 %r7, [%d1+8], 1; setp.ne.u32 %p2, %r7, 0; "
	    "@%p2 bra AGAIN; membar.gl; ld.global.u64 %d5, [%d1]; add.u64 "
	    "%d5, %d5, 1; st.global.u64 [%d1], %d5; membar.gl; "
	    "st.volatile.global.u32 [%d1+8], 0; OUT:", 0, BLOCKS },
};

static void
check_sums(void)
{
	char text[2048], what[160];

	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
		struct ptx_module *m;
		struct ptx_result result;
		uint64_t after;
		bool good;

		snprintf(text, sizeof text, "%s%s%s;%s", HEAD, "add.u32 %r6, "
		    "%r3, 7; cvt.u64.u32 %d4, %r6; ", sums[i].text, TAIL);
		m = load(text);
		memset(memory, 0, sizeof memory);
		memcpy(memory, &sums[i].before, 8);
		good = launch(m, memory, BLOCKS, SIZE, &several, &result);
		memcpy(&after, memory, 8);
		good &= after == sums[i].after;
		snprintf(what, sizeof what, "many blocks: %.100s",
		    sums[i].text);
		say(good, what);
		if (!good)
			printf("# %#llx\n", (unsigned long long)after);
		ptx_module_free(m);
	}
}

/* Results of atomics: nobody has that of another. */
static void
check_tickets(void)
{
	static const char *const ways[] = {
		"atom.global.add.u32 %r7, [%d1], 1",
		"atom.global.inc.u32 %r7, [%d1], 0x7fffffff",
		"add.u32 %r8, %r3, 1; atom.global.exch.b32 %r7, [%d1], %r8" };
	char text[2048];

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		bool good;

		snprintf(text, sizeof text, "%s%s%s", HEAD, ways[i], "; "
		    "mul.wide.u32 %d4, %r7, 4; add.u64 %d4, %d4, %d1; "
		    "red.global.add.u32 [%d4+16], 1;" TAIL);
		good = run(text, BLOCKS, SIZE, &several);
		/* Of exch, one is left in the word. */
		for (uint32_t k = 0; k < ALL; k++)
			good &= memory[4 + k] == 1 || (i == 2 && k ==
			    memory[0]);
		say(good, ways[i]);
	}
}

/* ---- Blocks that wait ---------------------------------------------------- */

/* Each for the one before it: in word i, 1 + that of i - 1. */
#define CHAIN HEAD "mul.wide.u32 %d4, %r2, 4; add.u64 %d4, %d4, %d1; " \
	"mov.u32 %r7, 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra FIRST; AGAIN: " \
	"ld.volatile.global.u32 %r7, [%d4]; setp.eq.u32 %p2, %r7, 0; @%p2 " \
	"bra AGAIN; FIRST: add.u32 %r7, %r7, 1; st.volatile.global.u32 " \
	"[%d4+4], %r7;" TAIL

/* Prefix sums as scans do it in one pass: a word of state (0: nothing, 1: of
 * the block alone, 2: of all up to it) and a sum. */
#define LOOK_BACK HEAD "mul.wide.u32 %d4, %r2, 8; add.u64 %d4, %d4, %d1; " \
	"add.u32 %r6, %r2, 1; cvt.u64.u32 %d5, %r6; or.b64 %d6, %d5, " \
	"0x100000000; st.release.gpu.global.u64 [%d4], %d6; mov.u64 %d7, " \
	"%d4; mov.u32 %r7, %r2; NEXT: setp.eq.u32 %p1, %r7, 0; @%p1 bra " \
	"DONE; AGAIN: ld.acquire.gpu.global.u64 %d6, [%d7+-8]; shr.u64 %d8, " \
	"%d6, 32; setp.eq.u64 %p2, %d8, 0; @%p2 bra AGAIN; and.b64 %d6, %d6," \
	" 0xffffffff; add.u64 %d5, %d5, %d6; setp.eq.u64 %p3, %d8, 2; @%p3 " \
	"bra DONE; sub.u64 %d7, %d7, 8; sub.u32 %r7, %r7, 1; bra NEXT; DONE: "\
	"or.b64 %d6, %d5, 0x200000000; st.release.gpu.global.u64 [%d4], %d6;" \
	TAIL

/* All blocks wait for all, ten times; each counts what others did before. */
#define TOGETHER HEAD "mov.u32 %r9, 0; ROUND: red.global.add.u32 [%d1+4], 1;" \
	" bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra HERE; membar.gl; " \
	"atom.global.add.u32 %r7, [%d1], 1; mad.lo.u32 %r8, %r9, %r5, %r5; " \
	"AGAIN: ld.volatile.global.u32 %r7, [%d1]; setp.lt.u32 %p2, %r7, %r8;" \
	" @%p2 bra AGAIN; membar.gl; HERE: bar.sync 0; " \
	"ld.volatile.global.u32 %r10, [%d1+4]; mul.lo.u32 %r11, %r8, %r4; " \
	"setp.lt.u32 %p3, %r10, %r11; setp.eq.and.u32 %p4, %r1, 0, %p3; @%p4 " \
	"red.global.add.u32 [%d1+8], 1; add.u32 %r9, %r9, 1; setp.lt.u32 %p5,"\
	" %r9, 10; @%p5 bra ROUND;" TAIL

/* Each block leaves the sum of its threads; the last one adds those up. */
#define LAST HEAD "mov.u32 %r6, s; setp.ne.u32 %p1, %r1, 0; @!%p1 " \
	"st.shared.u32 [%r6], 0; bar.sync 0; add.u32 %r7, %r3, 1; " \
	"red.shared.add.u32 [%r6], %r7; bar.sync 0; @%p1 bra OUT; " \
	"ld.shared.u32 %r8, [%r6]; mul.wide.u32 %d4, %r2, 4; add.u64 %d4, " \
	"%d4, %d1; st.global.u32 [%d4+16], %r8; membar.gl; sub.u32 %r9, %r5, " \
	"1; atom.global.inc.u32 %r10, [%d1], %r9; setp.ne.u32 %p2, %r10, %r9;"\
	" @%p2 bra OUT; membar.gl; mov.u32 %r11, 0; mov.u32 %r12, 0; NEXT: " \
	"mul.wide.u32 %d5, %r12, 4; add.u64 %d5, %d5, %d1; ld.global.u32 " \
	"%r13, [%d5+16]; add.u32 %r11, %r11, %r13; add.u32 %r12, %r12, 1; " \
	"setp.lt.u32 %p3, %r12, %r5; @%p3 bra NEXT; st.global.u32 [%d1+4], " \
	"%r11; OUT:" TAIL

static void
check_waits(void)
{
	struct ptx_options all = several;
	bool good = run(HEAD "red.global.add.u32 [%d1], 1;" TAIL, 50000, 1,
	    &several);

	say(good && memory[0] == 50000, "each block runs once");
	good = run(CHAIN, 500, 1, &several);
	for (uint32_t i = 1; i <= 500; i++)
		good &= memory[i] == i;
	say(good, "each block waits for the one before it");
	good = run(LOOK_BACK, 500, 1, &several);
	for (uint32_t i = 0; i < 500; i++)
		good &= memory[2 * i] == (i + 1) * (i + 2) / 2 &&
		    memory[2 * i + 1] == 2;
	say(good, "a scan in one pass looks back");
	good = run(LAST, 200, SIZE, &several);
	say(good && memory[1] == 200 * SIZE * (200 * SIZE + 1) / 2 &&
	    !memory[0], "the last block adds up what all have left");
	all.cooperative = true;
	good = run(TOGETHER, 24, 64, &all);
	say(good && memory[0] == 240 && memory[1] == 15360 && !memory[2],
	    "all blocks of a cooperative launch wait for all");
}

/* ---- Ends --------------------------------------------------------------- */

static void
check_ends(void)
{
	static const char *const others[] = { "AGAIN: bra AGAIN;",
		"AGAIN: ld.volatile.global.u32 %r7, [%d1]; setp.eq.u32 %p2, "
		"%r7, 0; @%p2 bra AGAIN;" };
	char text[2048];

	for (int i = 0; i < 2; i++) {
		struct ptx_result result;
		struct ptx_module *m;
		bool good;

		snprintf(text, sizeof text, "%s%s%s", HEAD "setp.eq.u32 %p1, "
		    "%r2, 3; @%p1 trap; ", others[i], TAIL);
		m = load(text);
		memset(memory, 0, sizeof memory);
		good = !launch(m, memory, BLOCKS, 32, &several, &result);
		say(good && result.findings[PTX_TRAP] == 1 &&
		    !result.findings[PTX_SPIN], i ? "a trap in one block ends "
		    "those that wait" : "a trap in one block ends those that "
		    "would never end");
		ptx_module_free(m);
	}
}

/* Threads that have printed; the first one waits until there is another. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t another = PTHREAD_COND_INITIALIZER;
static pthread_t printer;
static unsigned printers, lines;
static bool in_order;

static void
meet(const char *format, const void *values)
{
	struct timespec until;

	(void)format;
	(void)values;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 120;
	pthread_mutex_lock(&lock);
	if (!printers || (printers == 1 && !pthread_equal(printer,
	    pthread_self()))) {
		printers++;
		printer = pthread_self();
		pthread_cond_broadcast(&another);
	}
	while (printers < 2 && !pthread_cond_timedwait(&another, &lock,
	    &until))
		;
	pthread_mutex_unlock(&lock);
}

static void
note(const char *format, const void *values)
{
	uint32_t block;

	(void)format;
	memcpy(&block, values, sizeof block);
	in_order &= block == lines++ && pthread_equal(printer,
	    pthread_self());
}

#define PRINT HEAD ".param .b64 a; .param .b64 b; .param .b32 c; " \
	"setp.ne.u32 %p1, %r1, 0; @%p1 bra OUT; " \
	"mov.u64 %d4, own; cvta.local.u64 %d4, %d4; st.u32 [%d4], %r2; " \
	"mov.u64 %d5, line; cvta.global.u64 %d5, %d5; st.param.b64 [a], %d5; " \
	"st.param.b64 [b], %d4; call.uni (c), vprintf, (a, b); OUT:" TAIL

static void
check_prints(void)
{
	struct ptx_options with = several;
	bool good;

	with.print = meet;
	good = run(PRINT, BLOCKS, 32, &with);
	say(good && printers == 2, "two threads run blocks of one launch");
	with.any_order = false;
	with.print = note;
	printer = pthread_self();
	in_order = true;
	good = run(PRINT, 2000, 512, &with);
	say(good && in_order && lines == 2000, "blocks that print come in "
	    "order, on the thread that launches");
}

/* ---- As on one thread --------------------------------------------------- */

/* Of each thread its own number of rounds of FP32 arithmetic. */
#define ALONE HEAD "cvt.rn.f32.u32 %f1, %r3; and.b32 %r6, %r3, 63; add.u32 " \
	"%r6, %r6, %r2; NEXT: fma.rn.f32 %f1, %f1, 0f3F7FF000, 0f3F800000; " \
	"sqrt.rn.f32 %f2, %f1; add.f32 %f1, %f1, %f2; sub.u32 %r6, %r6, 1; " \
	"setp.gt.s32 %p1, %r6, 0; @%p1 bra NEXT; st.global.f32 [%d3], %f1;" \
	TAIL

static void
check_same(void)
{
	const struct ptx_options one = { .threads = 1 };
	struct ptx_result first, second;
	struct ptx_module *m = load(ALONE);
	bool good;

	memset(memory, 0, sizeof memory);
	memset(other, 0, sizeof other);
	good = launch(m, memory, BLOCKS, SIZE, &one, &first) &&
	    launch(m, other, BLOCKS, SIZE, &several, &second);
	say(good && !memcmp(memory, other, sizeof memory), "blocks that do "
	    "not meet have the bits of one thread");
	say(first.instructions == second.instructions && first.instructions
	    && first.bytes == second.bytes && first.bytes == 4 * ALL,
	    "instructions and bytes are counted as on one thread");
	ptx_module_free(m);
}

/* A sum that rounds, of numbers with any sign. */
#define ROUNDS HEAD "mul.lo.u32 %r6, %r3, 0x9e3779b1; cvt.rn.f32.s32 %f1, " \
	"%r6; red.global.add.f32 [%d1], %f1;" TAIL

static void
check_ordered(void)
{
	const struct ptx_options one = { .threads = 1 }, free_to = {
		.threads = THREADS };
	uint32_t expected;
	bool good = run(ROUNDS, BLOCKS << 8, SIZE, &one);

	expected = memory[0];
	for (int i = 0; i < 4; i++)
		good &= run(ROUNDS, BLOCKS << 8, SIZE, &free_to) &&
		    memory[0] == expected;
	say(good, "a sum that rounds has the same bits in each run");
}

/* Threads of block 3 and of those after it store too far away; block 3 waits
 * until another one has done it, and which of its warps sees that first is a
 * matter of time. */
static void
check_findings(void)
{
	static const char text[] = HEAD "setp.lt.u32 %p1, %r2, 3; @%p1 bra "
		"OUT; setp.gt.u32 %p2, %r2, 3; @%p2 bra FAR; AGAIN: "
		"ld.volatile.global.u32 %r7, [%d1]; setp.eq.u32 %p3, %r7, 0; "
		"@%p3 bra AGAIN; FAR: add.u64 %d4, %d3, 0x100000; "
		"st.global.u32 [%d4], 1; ld.global.u32 %r7, [%d4]; "
		"red.global.add.u32 [%d1], 1; OUT:" TAIL;
	const struct ptx_region region = { (uintptr_t)memory,
		(uintptr_t)(memory + ROOM), false, "memory" };
	struct ptx_options with = { .bounds = true, .region = &region,
		.region_count = 1, .threads = THREADS, .any_order = true };
	struct ptx_module *m = load(text);
	struct ptx_result result;
	char *said = NULL, *second, *first;
	size_t length;

	memset(memory, 0, sizeof memory);
	with.report = open_memstream(&said, &length);
	(void)launch(m, memory, BLOCKS, SIZE, &with, &result);
	fclose(with.report);
	second = strchr(said, '\n');
	first = strstr(said, "block 3,0,0 thread");
	say(first && second && first < second &&
	    strstr(second, "block 3,0,0 thread") &&
	    strchr(second + 1, '\n') == said + length - 1,
	    "findings are said once each, of the first block");
	say(result.findings[PTX_OUTSIDE] == 2 * (BLOCKS - 3) * SIZE,
	    "findings are all counted");
	free(said);
	ptx_module_free(m);
}

/* ---- Several launches ---------------------------------------------------- */

static struct ptx_module *module;

static void *
one_of_many(void *failures)
{
	uint32_t *const own = calloc(ROOM, sizeof *own);
	struct ptx_result result;

	for (int i = 0; own && i < 20; i++) {
		memset(own, 0, sizeof *own * ROOM);
		*(bool *)failures |= !launch(module, own, BLOCKS, SIZE,
		    &several, &result) || memcmp(own, memory, sizeof memory);
	}
	free(own);
	return NULL;
}

static void
check_many(void)
{
	pthread_t thread[STREAMS];
	bool bad[STREAMS] = { false }, any = false;
	int status = -1;
	pid_t child;

	if (!run(ALONE, BLOCKS, SIZE, &(struct ptx_options){ .threads = 1 }))
		any = true;
	module = load(ALONE);
	for (int i = 0; i < STREAMS; i++)
		if (pthread_create(&thread[i], NULL, one_of_many, &bad[i]))
			exit(99);
	for (int i = 0; i < STREAMS; i++) {
		pthread_join(thread[i], NULL);
		any |= bad[i];
	}
	say(!any, "eight launches at once");
	fflush(stdout);
	child = fork();
	if (!child) {
		any = false;
		(void)one_of_many(&any);
		_exit(any);
	}
	say(child > 0 && waitpid(child, &status, 0) == child && !status,
	    "a child of fork launches, too");
	any = false;
	(void)one_of_many(&any);
	say(!any, "and its parent goes on");
	ptx_module_free(module);
}

int
main(void)
{
	check_sums();
	check_tickets();
	check_waits();
	check_ends();
	check_prints();
	check_same();
	check_ordered();
	check_findings();
	check_many();
	printf("1..%d\n", number);
	return failed != 0;
}
