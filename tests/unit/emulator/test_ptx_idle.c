/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx_idle.c -- launches that get nowhere end; those
 * that get somewhere do not, however long they take. Both are told apart by
 * what they do: the limits here are small, and the kernels that end run for
 * several times as long. TAP. */
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BODY ".version 8.0\n.target sm_80\n.address_size 64\n" \
	".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; " \
	".reg .b32 %r<29>; .reg .b64 %d<9>; .shared .align 4 .b8 s[64];\n" \
	"ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; "
#define TAIL "\nret; }\n"
/* Rounds of three instructions. */
#define COUNT(label, rounds) "mov.u32 %r9, 0;\n" label ": " \
	"add.u32 %r9, %r9, 1; " \
	"setp.lt.u32 %p8, %r9, " rounds "; @%p8 bra " label ";\n"

enum { IDLE = 1 << 16, SPIN = 1 << 25 };
static int number, failed;
static _Alignas(256) uint32_t memory[64];

/* Both limits are of warps' instructions. `ends`: as it should; else with
 * PTX_SPIN, after `most` instructions. */
static void
check(const char *what, const char *text, unsigned blocks, unsigned threads,
    bool cooperative, bool ends, uint64_t most)
{
	const struct ptx_region region = { (uintptr_t)memory,
		(uintptr_t)(memory + 64), false, "memory" };
	const struct ptx_options options = { .bounds = true,
		.region = &region, .region_count = 1, .spin_limit = SPIN,
		.idle_limit = IDLE, .cooperative = cooperative };
	const unsigned grid[3] = { blocks, 1, 1 }, block[3] = { threads, 1, 1 };
	struct ptx_result result = {0};
	uint32_t *at = memory;
	void *params[] = { &at };
	char message[256] = "";
	struct ptx_module *m = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	bool good = m != NULL;

	memset(memory, 0, sizeof memory);
	if (m) {
		good &= ptx_launch(ptx_module_kernel(m, "k"), grid, block, 0,
		    params, &options, &result) == ends;
		ptx_module_free(m);
	}
	good &= (result.findings[PTX_SPIN] != 0) == !ends;
	good &= ends ? result.instructions > most && memory[0] == 7
	    : result.instructions <= most && result.instructions > IDLE;
	failed += !good;
	printf("%sok %d - %s%s%s\n", good ? "" : "not ", ++number, what,
	    *message ? ": " : "", message);
	if (!good)
		printf("# %llu instructions, word 0: %u\n", (unsigned long long)
		    result.instructions, memory[0]);
}
/* A round comes back to the same instruction after as many looks as it has
 * instructions, at most. A state is kept for 1, 2, 4... looks: those before one
 * that is long enough, that one, and one more round are less than five of it. A
 * look comes after 2^14 instructions of a warp. */
#define ENDLESS(what, text, blocks, threads, rounds) \
	check(what, text, blocks, threads, false, false, 2 * IDLE + \
	    ((uint64_t)(blocks) * (((threads) + 31) / 32) * (rounds) * 5 * \
	    (1 << 14)))
#define RIGHT(what, text, blocks, threads) \
	check(what, text, blocks, threads, false, true, 4 * (uint64_t)IDLE)

#define POLL(label, value) "\n" label ": " \
	"ld.volatile.global.u32 %r3, [%d1+4]; " \
	"setp.ne.u32 %p1, %r3, " value "; @%p1 bra " label ";\n"
#define EIGHT "mov.u32 %r5, 1; mov.u32 %r5, 2; mov.u32 %r5, 3; " \
	"mov.u32 %r5, 4; mov.u32 %r5, 5; mov.u32 %r5, 6; mov.u32 %r5, 7; " \
	"mov.u32 %r5, 8; "
#define SET "st.volatile.global.u32 [%d1], 7; "

static uint64_t
milliseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* A host has that time to write what is waited for, however fast this is. */
static void
waits_for_the_host(void)
{
	enum { TIME = 500 };
	static const char text[] = BODY POLL("A", "1") TAIL;
	const struct ptx_region region = { (uintptr_t)memory,
		(uintptr_t)(memory + 64), false, "memory" };
	const struct ptx_options options = { .bounds = true,
		.region = &region, .region_count = 1, .spin_limit = UINT64_MAX,
		.idle_limit = 1, .idle_milliseconds = TIME };
	const unsigned one[3] = { 1, 1, 1 };
	struct ptx_result result = {0};
	uint32_t *at = memory;
	void *params[] = { &at };
	char message[256] = "";
	struct ptx_module *m = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	const uint64_t start = milliseconds();
	bool good = m && !ptx_launch(ptx_module_kernel(m, "k"), one, one, 0,
	    params, &options, &result) && result.findings[PTX_SPIN];

	good &= milliseconds() - start >= TIME;
	ptx_module_free(m);
	failed += !good;
	printf("%sok %d - not before its time has passed\n", good ? "" :
	    "not ", ++number);
}

int
main(void)
{
	printf("1..18\n");
	waits_for_the_host();
	ENDLESS("a loop of one branch", BODY "\nA: bra A;" TAIL, 1, 32, 1);
	ENDLESS("... in many warps and blocks", BODY "\nA: bra A;" TAIL, 9, 128,
	    1);
	ENDLESS("... in one lane of one of them", BODY "setp.ne.u32 %p1, %r1, "
	    "40; mov.u32 %r4, %ctaid.x; setp.ne.or.u32 %p1, %r4, 3, %p1; @%p1 "
	    "ret;\nA: bra A;" TAIL, 9, 128, 1);
	ENDLESS("a longer one", BODY "\nA: add.u32 %r3, %r3, 1; and.b32 %r3, "
	    "%r3, 15; xor.b32 %r4, %r3, 5; bra A;" TAIL, 1, 64, 64);
	ENDLESS("a word that nobody writes", BODY POLL("A", "1") TAIL, 3, 64,
	    1);
	ENDLESS("... read so that others need not come first", BODY "\nA: "
	    "ld.global.u32 %r3, [%d1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra A;"
	    TAIL, 1, 64, 3);
	ENDLESS("a lock that nobody gives back", BODY "\nA: "
	    "atom.global.cas.b32 %r3, [%d1], 1, 2; setp.ne.u32 %p1, %r3, 1; "
	    "@%p1 bra A;" TAIL, 2, 64, 3);
	ENDLESS("barriers, again and again", BODY "\nA: bar.sync 0; bra A;"
	    TAIL, 1, 128, 2);
	ENDLESS("calls, again and again", ".version 8.0\n.target sm_80\n"
	    ".address_size 64\n.func (.param .b32 y) f(.param .b32 x) {\n"
	    ".reg .b32 %r<3>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, 1; "
	    "st.param.b32 [y], %r2; ret; }\n.visible .entry k(.param .u64 p) "
	    "{\n.reg .b32 %r<3>; mov.u32 %r1, 5;\nA: { .param .b32 a; .param "
	    ".b32 b; st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 "
	    "%r2, [b]; } bra A; }\n", 1, 32, 16);

	RIGHT("counting for long", BODY COUNT("A", "300000") SET TAIL, 1, 32);
	RIGHT("... in the first of many blocks, while others wait for it", BODY
	    "setp.ne.u32 %p2, %r2, 0; @%p2 bra B;" COUNT("A", "300000")
	    "st.volatile.global.u32 [%d1+4], 1; " SET "ret;" POLL("B", "1")
	    TAIL, 20, 64);
	check("... the same in a cooperative launch", BODY
	    "setp.ne.u32 %p2, %r2, 0; @%p2 bra B;" COUNT("A", "300000")
	    "st.volatile.global.u32 [%d1+4], 1; " SET "ret;" POLL("B", "1")
	    TAIL, 20, 64, true, true, 4 * (uint64_t)IDLE);
	RIGHT("... in the last of the warps that may wait for it", BODY
	    "setp.lt.u32 %p2, %r1, 992; @%p2 bra B;" COUNT("A", "300000")
	    "st.volatile.global.u32 [%d1+4], 1; " SET "ret;" POLL("B", "1")
	    TAIL, 1, 1024);
	RIGHT("... in the lane that the others of its warp wait for", BODY
	    "setp.ne.u32 %p2, %r1, 31; @%p2 bra B;" COUNT("C", "300000")
	    "st.volatile.global.u32 [%d1+4], 1; " SET "ret;\nB: " EIGHT EIGHT
	    EIGHT "ld.volatile.global.u32 %r3, [%d1+4]; setp.ne.u32 %p1, %r3, "
	    "1; @%p1 bra B;" TAIL, 1, 32);
	RIGHT("... in memory", BODY "\nA: ld.global.u32 %r3, [%d1+8]; add.u32 "
	    "%r3, %r3, 1; st.global.u32 [%d1+8], %r3; setp.lt.u32 %p1, %r3, "
	    "100000; @%p1 bra A; " SET TAIL, 1, 1);
	RIGHT("... that registers seldom show", BODY "\nA: ld.global.u32 %r3, "
	    "[%d1+8]; add.u32 %r3, %r3, 1; st.global.u32 [%d1+8], %r3; shr.u32 "
	    "%r3, %r3, 16; setp.eq.u32 %p1, %r3, 0; @%p1 bra A; " SET TAIL, 1,
	    1);
	RIGHT("... by atomics", BODY "\nA: red.global.add.u32 [%d1+8], 1; "
	    "ld.global.u32 %r3, [%d1+8]; shr.u32 %r3, %r3, 16; setp.eq.u32 "
	    "%p1, %r3, 0; @%p1 bra A; " SET TAIL, 1, 1);
	return failed != 0;
}
