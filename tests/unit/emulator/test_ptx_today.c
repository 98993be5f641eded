/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx_today.c -- what today's programs use, as nvcc
 * writes it: barriers of grids, copies and arrivals that come later, elections,
 * hints; and what is refused, with which sentence. TAP. */
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START ".version 8.0\n.target sm_90\n.address_size 64\n"
#define BODY "{\n.reg .pred %p<9>; .reg .b32 %r<29>; .reg .b64 %d<9>; " \
	".reg .f32 %f<9>; .shared .align 16 .b8 s[2048];\n" \
	"ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; " \
	"mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
#define HEAD START ".visible .entry k(.param .u64 p)" BODY
#define TAIL "\nret; }\n"

enum { WORDS = 1024 };
static int number, failed;
static _Alignas(256) uint32_t memory[WORDS];

struct expectation {
	unsigned blocks, threads;
	bool cooperative;
	int finding;            /* -1: none */
	const char *sentence;   /* in what it says, or NULL */
	int word;               /* -1: none is compared */
	uint32_t value;
};

static void
check(const char *what, const char *text, struct expectation e)
{
	const struct ptx_region region = { (uintptr_t)memory,
		(uintptr_t)(memory + WORDS), false, "memory" };
	char *said = NULL;
	size_t bytes = 0;
	FILE *report = open_memstream(&said, &bytes);
	const struct ptx_options options = { .check = true,
		.region = &region, .region_count = 1, .spin_limit = 1 << 18,
		.cooperative = e.cooperative, .report = report };
	const unsigned grid[3] = { e.blocks, 1, 1 };
	const unsigned block[3] = { e.threads, 1, 1 };
	struct ptx_result result = {0};
	uint32_t *at = memory;
	void *params[] = { &at };
	char message[256] = "";
	struct ptx_module *m = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	bool good = m != NULL;

	for (int i = 0; i < WORDS; i++)
		memory[i] = 1000 + (uint32_t)i;
	if (m) {
		good &= ptx_launch(ptx_module_kernel(m, "k"), grid, block, 0,
		    params, &options, &result) == (e.finding < 0 ||
		    e.finding == PTX_MEMBERS);
		ptx_module_free(m);
	}
	fclose(report);
	for (int i = 0; i < PTX_FINDINGS; i++)
		good &= (result.findings[i] != 0) == (i == e.finding);
	good &= !e.sentence || strstr(said, e.sentence);
	good &= e.word < 0 || memory[e.word] == e.value;
	failed += !good;
	printf("%sok %d - %s%s%s\n", good ? "" : "not ", ++number, what,
	    *message ? ": " : "", message);
	if (!good)
		printf("# %s# word %d: %u\n", *said ? said : "\n", e.word,
		    e.word < 0 ? 0 : memory[e.word]);
	free(said);
}
#define RIGHT(blocks, threads, word, value) \
	(struct expectation){ blocks, threads, false, -1, NULL, word, value }
#define REFUSED(finding, sentence) \
	(struct expectation){ 1, 32, false, finding, sentence, -1, 0 }

/* grid.sync() as cooperative_groups.h has it, then a word of another block. */
#define GRID "mov.u32 %r3, %envreg2; mov.u32 %r4, %envreg1; " \
	"mov.b64 %d4, {%r3, %r4}; setp.eq.s64 %p1, %d4, 0; @%p1 trap;\n" \
	"mul.wide.u32 %d5, %r2, 4; add.s64 %d5, %d1, %d5; " \
	"st.global.u32 [%d5], %r2; barrier.sync 0; setp.ne.u32 %p2, %r1, 0; " \
	"@%p2 bra W; mov.u32 %r5, %nctaid.x; sub.u32 %r6, %r5, 1; " \
	"mov.u32 %r7, 0x80000000; sub.u32 %r7, %r7, %r6; setp.eq.u32 %p3, " \
	"%r2, 0; selp.u32 %r8, %r7, 1, %p3; fence.acq_rel.gpu; " \
	"atom.add.release.gpu.u32 %r9, [%d4+4], %r8;\n" \
	"L: ld.acquire.gpu.u32 %r10, [%d4+4]; xor.b32 %r11, %r10, %r9; " \
	"setp.gt.s32 %p4, %r11, -1; @%p4 bra L;\nW: barrier.sync 0; " \
	"sub.u32 %r12, %r5, %r2; sub.u32 %r12, %r12, 1; setp.ne.u32 %p5, " \
	"%r1, 0; @%p5 ret; mul.wide.u32 %d6, %r12, 4; add.s64 %d6, %d1, %d6; " \
	"ld.global.u32 %r13, [%d6]; st.global.u32 [%d5+2048], %r13;"

static void
check_waiting(void)
{
	check("a barrier of a grid of 200 blocks", HEAD GRID TAIL,
	    (struct expectation){ 200, 64, true, -1, NULL, 512, 199 });
	check("... which only a cooperative launch has", HEAD GRID TAIL,
	    (struct expectation){ 2, 32, false, PTX_TRAP, NULL, -1, 0 });
	check("cp.async, 16 bytes", HEAD "mov.u32 %r3, s; shl.b32 %r4, %r1, 4;"
	    "add.u32 %r5, %r3, %r4; mul.wide.u32 %d4, %r1, 16; add.s64 %d4, "
	    "%d1, %d4; cp.async.cg.shared.global.L2::128B [%r5], [%d4], 16; "
	    "cp.async.commit_group; cp.async.wait_group 0; bar.sync 0; "
	    "xor.b32 %r4, %r4, 16; add.u32 %r5, %r3, %r4; "
	    "ld.shared.u32 %r6, [%r5+4]; st.global.u32 [%d3+2048], %r6;" TAIL,
	    RIGHT(1, 64, 514, 1013));
	check("... some of which are zero, or ignored", HEAD "mov.u32 %r3, s; "
	    "cp.async.ca.shared.global [%r3], [%d1+16], 8, 4; setp.ge.u32 "
	    "%p1, %r1, 0; cp.async.ca.shared.global [%r3+8], [%d1], 8, %p1;"
	    "cp.async.wait_all; ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3];"
	    "add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; add.u32 %r4, %r4, "
	    "%r7; st.global.u32 [%d3], %r4;" TAIL, RIGHT(1, 1, 0, 1004));
	check("an mbarrier between two warps, by its state", HEAD
	    "mov.u32 %r3, s; setp.ne.u32 %p1, %r1, 0; @!%p1 "
	    "mbarrier.init.shared::cta.b64 [%r3], 64; bar.sync 0; shl.b32 "
	    "%r4, %r1, 2; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4+64], %r1;"
	    "mbarrier.arrive.shared.b64 %d4, [%r3];\n"
	    "L: mbarrier.try_wait.shared.b64 %p2, [%r3], %d4; @!%p2 bra L;\n"
	    "xor.b32 %r4, %r4, 128; ld.shared.u32 %r5, [%r4+64]; "
	    "st.global.u32 [%d3], %r5;" TAIL, RIGHT(1, 64, 40, 8));
	check("... by parity, twice, with a count", HEAD
	    "mov.u32 %r3, s; setp.ne.u32 %p1, %r1, 0; @!%p1 "
	    "mbarrier.init.shared.b64 [%r3], 2; bar.sync 0; shr.u32 %r4, %r1, "
	    "5; setp.eq.u32 %p2, %r4, 1; @%p2 bra A;\n"
	    "@!%p1 st.shared.u32 [%r3+8], 77; @%p1 bra B; mbarrier.arrive"
	    ".shared.b64 _, [%r3], 2;\nB: bra E;\n"
	    "A: mbarrier.test_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 "
	    "bra A; ld.shared.u32 %r5, [%r3+8]; st.global.u32 [%d3], %r5;\nE:"
	    TAIL, RIGHT(1, 64, 35, 77));
	check("an mbarrier that nobody arrives at", HEAD "mov.u32 %r3, s; "
	    "mbarrier.init.shared.b64 [%r3], 2;\nL: mbarrier.try_wait.parity"
	    ".shared.b64 %p1, [%r3], 0; @!%p1 bra L;" TAIL,
	    (struct expectation){ 1, 1, false, PTX_SPIN, "line 8", -1, 0 });
	check("copies that arrive at an mbarrier", HEAD "mov.u32 %r3, s; "
	    "setp.ne.u32 %p1, %r1, 0; @!%p1 mbarrier.init.shared.b64 [%r3], "
	    "32; bar.warp.sync -1; shl.b32 %r4, %r1, 2; add.u32 %r4, %r4, %r3;"
	    "cp.async.ca.shared.global [%r4+64], [%d3], 4; cp.async.mbarrier"
	    ".arrive.noinc.shared.b64 [%r3];\nL: mbarrier.test_wait.parity"
	    ".shared.b64 %p2, [%r3], 0; @!%p2 bra L; xor.b32 %r4, %r4, 4; "
	    "ld.shared.u32 %r5, [%r4+64]; st.global.u32 [%d3+128], %r5;" TAIL,
	    RIGHT(1, 32, 34, 1003));
	check("nanosleep, until another warp has come", HEAD "shr.u32 %r3, "
	    "%r1, 5; setp.eq.u32 %p1, %r3, 1; @%p1 bra B;\nA: nanosleep.u32 "
	    "20; ld.relaxed.gpu.global.u32 %r4, [%d1+4000]; setp.ne.u32 %p2, "
	    "%r4, 5; @%p2 bra A; bra C;\nB: st.relaxed.gpu.global.u32 "
	    "[%d1+4000], 5;\nC: st.global.u32 [%d3], 6;" TAIL,
	    RIGHT(1, 64, 0, 6));
}

static void
check_words(void)
{
	check("elect.sync", HEAD "setp.lt.u32 %p2, %r1, 4; @%p2 bra E; "
	    "elect.sync %r3|%p1, 0xfffffff0; @%p1 st.global.u32 [%d3], %r3;"
	    "\nE:" TAIL, RIGHT(1, 32, 4, 4));
	check("elect.sync of all", HEAD "elect.sync _|%p1, -1; @%p1 "
	    "st.global.u32 [%d1], 4;" TAIL, RIGHT(1, 32, 0, 4));
	check("redux.sync", HEAD "redux.sync.max.s32 %r3, %r1, -1; redux.sync"
	    ".add.u32 %r4, %r1, -1; redux.sync.xor.b32 %r5, %r1, -1; add.u32 "
	    "%r3, %r3, %r4; add.u32 %r3, %r3, %r5; st.global.u32 [%d3], %r3;"
	    TAIL, RIGHT(1, 32, 9, 527));
	check("hints", HEAD "createpolicy.fractional.L2::evict_last.b64 %d4, "
	    "1.0; ld.global.nc.L1::no_allocate.L2::cache_hint.L2::128B.v4.u32 "
	    "{%r3, %r4, %r5, %r6}, [%d1], %d4; prefetch.global.L2 [%d1]; "
	    "griddepcontrol.wait; st.global.L1::evict_first.u32 [%d3], %r6; "
	    "griddepcontrol.launch_dependents;" TAIL, RIGHT(1, 32, 0, 1003));
	check("a cluster of one block", HEAD "mov.u32 %r3, %cluster_nctarank; "
	    "mov.u32 %r4, %cluster_ctarank; add.u32 %r3, %r3, %r4; "
	    "st.global.u32 [%d3], %r3;" TAIL, RIGHT(1, 32, 3, 1));
	check("registers without a blank", HEAD "{.reg.b32 a,b; mov.b32 a, 5; "
	    "add.u32 b, a, a; st.global.u32 [%d3], b;}" TAIL, RIGHT(1, 1, 0,
	    10));
}

static void
check_refusals(void)
{
	check("textures are refused", HEAD "tex.2d.v4.f32.f32 {%f1, %f2, %f3, "
	    "%f4}, [%d4, {%f5, %f6}];" TAIL, REFUSED(PTX_UNSUPPORTED,
	    "line 7, block 0,0,0 thread 0,0,0: textures are not emulated: "
	    "tex.2d.v4.f32.f32"));
	check("a word that is not known", HEAD "\nwgmma.fence.sync.aligned;"
	    TAIL, REFUSED(PTX_UNSUPPORTED, "line 8, block 0,0,0 thread 0,0,0: "
	    "wgmma.fence.sync.aligned is not emulated"));
	check("a declaration that is not known", START ".visible .entry k("
	    ".param .u64 p) {\n.reg .b47 %r<3>;\nret; }\n", REFUSED(
	    PTX_UNSUPPORTED, "line 5: registers of type .b47"));
	check("... in another kernel", START ".visible .entry j(.param .u64 p)"
	    " {\n.reg .b47 %r<3>; { ret; }}\n.visible .entry k(.param .u64 p)"
	    BODY "st.global.u32 [%d3], 7;" TAIL, RIGHT(1, 1, 0, 7));
	check("a label that is not there, in another kernel", START
	    ".visible .entry j(.param .u64 p) {\nbra A; }\n.visible .entry k("
	    ".param .u64 p)" BODY "bra A;\nA: st.global.u32 [%d3], 8;" TAIL,
	    RIGHT(1, 1, 0, 8));
	check("FP32 in redux.sync", HEAD "redux.sync.min.f32 %f1, %f2, -1;"
	    TAIL, REFUSED(PTX_UNSUPPORTED, "redux.sync.min.f32"));
	check("registers of another width", HEAD "add.u64 %d1, %r1, %d2;" TAIL,
	    REFUSED(PTX_UNSUPPORTED, "add.u64"));
	check("barriers of clusters", HEAD "barrier.cluster.arrive;" TAIL,
	    REFUSED(PTX_UNSUPPORTED, "barrier.cluster.arrive"));
	check("recursion", START ".func f(.param .b32 x)\n{ .reg .b32 %r<3>; "
	    "ld.param.u32 %r1, [x]; { .param .b32 y; st.param.b32 [y], %r1; "
	    "call f, (y); }\nret; }\n.visible .entry k(.param .u64 p)" BODY
	    "{ .param .b32 y; st.param.b32 [y], %r1; call f, (y); }" TAIL,
	    REFUSED(PTX_UNSUPPORTED, "f is called by itself: recursion is not "
	    "emulated"));
	check("mma without all lanes", HEAD ".reg .b32 %a<9>; setp.gt.u32 "
	    "%p1, %r1, 30; @%p1 ret; mov.u32 %r3, s; shl.b32 %r4, %r1, 4; "
	    "add.u32 %r3, %r3, %r4; st.shared.v4.u32 [%r3], {%r1, %r1, %r1, "
	    "%r1}; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.shared.b16 "
	    "{%a1}, [s];" TAIL, REFUSED(PTX_MEMBERS, "only lanes 7fffffff take "
	    "part"));
	check("a kernel without end", HEAD "A: add.u32 %r3, %r3, 1; bra A;"
	    TAIL, REFUSED(PTX_SPIN, "instructions"));
}

int
main(void)
{
	check_waiting();
	check_words();
	check_refusals();
	printf("1..%d\n", number);
	return failed != 0;
}
