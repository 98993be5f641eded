/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx.c -- the interpreter of PTX, on kernels of a few
 * lines: it finds what is wrong, and nothing where all is right. TAP. */
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n" \
	".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; " \
	".reg .b32 %r<29>; .reg .b64 %d<9>; .reg .f32 %f<9>; " \
	".reg .b16 %h<9>; .reg .f64 %g<9>; .shared .align 8 .b8 s[512];\n" \
	"ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1; " \
	"mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; " \
	"mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
#define TAIL "\nret; }\n"

static int number, failed;
static _Alignas(64) uint32_t memory[64];

/* Runs `text`; whether it found exactly `finding` (-1: nothing). */
static void
check(const char *what, const char *text, unsigned blocks, unsigned threads,
    int finding, int word, uint32_t expected)
{
	const struct ptx_region region = { (uintptr_t)memory,
		(uintptr_t)(memory + 64), false, "memory" };
	const struct ptx_options options = { .check = true,
		.region = &region, .region_count = 1, .spin_limit = 1 << 16 };
	const unsigned grid[3] = { blocks, 1, 1 }, block[3] = { threads, 1, 1 };
	struct ptx_result result = {0};
	uint32_t *at = memory;
	void *params[] = { &at };
	char message[128] = "";
	struct ptx_module *m = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	bool good = m != NULL;

	memset(memory, 0, sizeof memory);
	if (m) {
		ptx_launch(ptx_module_kernel(m, "k"), grid, block, 0, params,
		    &options, &result);
		for (int i = 0; i < PTX_FINDINGS; i++)
			good &= (result.findings[i] != 0) == (i == finding);
		good &= word < 0 || memory[word] == expected;
		ptx_module_free(m);
	}
	failed += !good;
	printf("%sok %d - %s%s%s\n", good ? "" : "not ", ++number, what,
	    *message ? ": " : "", message);
	if (!good && word >= 0)
		printf("# word %d is %#x\n", word, memory[word]);
}

/* Runs `text` by a warp; whether `words` are in what is found. */
static void
says(const char *what, const char *text, const char *words)
{
	const struct ptx_region region = { (uintptr_t)memory,
		(uintptr_t)(memory + 64), false, "memory" };
	const unsigned grid[3] = { 1, 1, 1 }, block[3] = { 32, 1, 1 };
	char said[512] = "", message[128] = "";
	FILE *report = fmemopen(said, sizeof said, "w");
	const struct ptx_options options = { .check = true, .report = report,
		.region = &region, .region_count = 1, .spin_limit = 1 << 16 };
	struct ptx_result result = {0};
	uint32_t *at = memory;
	void *params[] = { &at };
	struct ptx_module *m = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	bool good;

	if (m)
		ptx_launch(ptx_module_kernel(m, "k"), grid, block, 0, params,
		    &options, &result);
	ptx_module_free(m);
	fclose(report);
	good = strstr(said, words) != NULL;
	failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
	if (!good)
		printf("# %s%s\n", message, said);
}

int
main(void)
{
	check("lanes come together after a branch", HEAD
	    "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra A;\n"
	    "mov.u32 %r4, 5; bra B;\nA: mov.u32 %r4, 7;\nB:"
	    "shfl.sync.idx.b32 %r5, %r4, 1, 31, -1; st.global.u32 [%d3], %r5;"
	    TAIL, 1, 32, -1, 31, 5);
	check("a loop of different lengths", HEAD
	    "mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 2; add.u32 %r5, %r4, 0;"
	    "setp.lt.u32 %p1, %r5, %r1; @%p1 bra L;\n"
	    "st.global.u32 [%d3], %r4;" TAIL, 1, 32, -1, 31, 32);
	check("lanes that wait for others of their warp", HEAD
	    "setp.ne.u32 %p1, %r1, 0; @%p1 bra B;\n"
	    "A: ld.volatile.global.u32 %r4, [%d1+4]; setp.eq.u32 %p2, %r4, 0;"
	    "@%p2 bra A; bra C;\nB: st.volatile.global.u32 [%d1+4], 3;\nC:"
	    "st.global.u32 [%d3+128], %r1;" TAIL, 1, 32, -1, 63, 31);
	check("a block that waits for a later one", HEAD
	    "setp.ne.u32 %p1, %r2, 0; @%p1 bra B;\n"
	    "A: ld.volatile.global.u32 %r4, [%d1]; setp.eq.u32 %p2, %r4, 0;"
	    "@%p2 bra A; st.global.u32 [%d1+4], 9; bra C;\n"
	    "B: st.volatile.global.u32 [%d1], 3;\nC:" TAIL, 3, 1, -1, 1, 9);
	check("a block that waits for ever", HEAD
	    "A: ld.volatile.global.u32 %r4, [%d1]; setp.eq.u32 %p2, %r4, 0;"
	    "@%p2 bra A;" TAIL, 2, 1, PTX_SPIN, -1, 0);
	check("a barrier that some lanes do not come to", HEAD
	    "setp.gt.u32 %p1, %r1, 7; @%p1 bra A; bar.sync 0; bra B;\n"
	    "A: bar.sync 0;\nB: st.global.u32 [%d3], 1;" TAIL, 1, 64,
	    PTX_DIVERGENT_BARRIER, 40, 1);
	check("a barrier that a warp does not come to", HEAD
	    "shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r3, 0; @%p1 bra A;"
	    "bar.sync 0;\nA: bar.sync 1, 64;" TAIL, 1, 64, PTX_DEADLOCK, -1,
	    0);
	check("threads that have ended are not waited for", HEAD
	    "setp.gt.u32 %p1, %r1, 31; @%p1 ret; bar.sync 0;"
	    "st.global.u32 [%d3], 4;" TAIL, 1, 64, -1, 5, 4);
	check("bar.red", HEAD "setp.gt.u32 %p1, %r1, 9; setp.gt.u32 %p3, %r1, "
	    "63; bar.red.popc.u32 %r3, 0, %p1; bar.red.or.pred %p2, 0, %p3;"
	    "selp.u32 %r4, 100, 0, %p2; add.u32 %r3, %r3, %r4; and.b32 %r5, "
	    "%r1, 31; setp.ne.u32 %p4, %r1, %r5; @%p4 ret;"
	    "st.global.u32 [%d3], %r3;" TAIL, 1, 64, -1, 0, 54);
	check("past the end", HEAD "ld.global.u32 %r3, [%d1+256];" TAIL, 1, 1,
	    PTX_OUTSIDE, -1, 0);
	check("a word at an odd address", HEAD "st.global.u32 [%d1+2], %r1;"
	    TAIL, 1, 1, PTX_MISALIGNED, -1, 0);
	check("shared memory that nobody wrote", HEAD "mov.u32 %r3, s; "
	    "ld.shared.u32 %r4, [%r3+8];" TAIL, 1, 1, PTX_UNINITIALISED, -1,
	    0);
	check("two warps without a barrier", HEAD "mov.u32 %r3, s; shr.u32 "
	    "%r4, %r1, 5; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r4, 1;"
	    "@%p1 st.shared.u32 [%r3], 6; @%p2 ld.shared.u32 %r5, [%r3];" TAIL,
	    1, 64,
	    PTX_RACE_BLOCK, -1, 0);
	check("two warps with one", HEAD "mov.u32 %r3, s; setp.eq.u32 %p1, "
	    "%r1, 0; @%p1 st.shared.u32 [%r3], 8; bar.sync 0; ld.shared.u32 "
	    "%r5, [%r3]; and.b32 %r6, %r1, 15; mul.wide.u32 %d2, %r6, 4;"
	    "add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r5;" TAIL, 1, 64, -1,
	    3, 8);
	check("two lanes without bar.warp.sync", HEAD "shl.b32 %r3, %r1, 2; "
	    "mov.u32 %r4, s; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r1;"
	    "xor.b32 %r5, %r3, 4; ld.shared.u32 %r6, [%r5];" TAIL, 1, 32,
	    PTX_RACE_WARP, -1, 0);
	check("two lanes with it", HEAD "shl.b32 %r3, %r1, 2; "
	    "mov.u32 %r4, s; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r1;"
	    "bar.warp.sync -1; xor.b32 %r5, %r3, 4; ld.shared.u32 %r6, [%r5];"
	    "st.global.u32 [%d3], %r6;" TAIL, 1, 32, -1, 5, 4);
	check("a lane outside of its own mask", HEAD
	    "shfl.sync.idx.b32 %r5, %r1, 1, 31, 15;" TAIL, 1, 32, PTX_MEMBERS,
	    -1, 0);
	check("a shuffle from a lane that is not there", HEAD
	    "shfl.sync.down.b32 %r5, %r1, 8, 31, 65535;" TAIL, 1, 16,
	    PTX_SOURCE_LANE, -1, 0);
	check("rounding to zero", HEAD "mov.f32 %f1, 0f3f800001; mov.f32 %f2, "
	    "0f34000000; add.rz.f32 %f3, %f1, %f2; div.rn.f32 %f4, %f1, "
	    "0f40400000; st.global.f32 [%d1], %f3;" TAIL, 1, 1, -1, 0,
	    0x3f800002);
	check("a fused product", HEAD "mov.f32 %f1, 0f3f800001; fma.rn.f32 "
	    "%f3, %f1, %f1, 0fbf800002; st.global.f32 [%d1], %f3;" TAIL, 1, 1,
	    -1, 0, 0x28800000);
	check("NaN to an integer", HEAD "mov.f32 %f1, 0f7fc00000; "
	    "cvt.rzi.s32.f32 %r3, %f1; mov.f32 %f2, 0f4f800000; "
	    "cvt.rzi.s32.f32 %r4, %f2; add.u32 %r3, %r3, %r4; "
	    "st.global.u32 [%d1], %r3;" TAIL, 1, 1, -1, 0, 0x7fffffff);
	check("FP16 and back", HEAD "mov.f32 %f1, 0f477fefff; cvt.rn.f16.f32 "
	    "%h1, %f1; cvt.f32.f16 %f2, %h1; st.global.f32 [%d1], %f2;" TAIL,
	    1, 1, -1, 0, 0x477fe000);
	check("an atomic gives what was there", HEAD "atom.global.add.u32 "
	    "%r3, [%d1], 2; st.global.u32 [%d3+4], %r3;" TAIL, 1, 32, -1, 32,
	    62);
	check("a sum with a carry", HEAD "mov.u32 %r3, -1; add.cc.u32 %r4, "
	    "%r3, 1; addc.u32 %r5, %r4, 5; sub.cc.u32 %r6, %r4, 1; subc.u32 "
	    "%r7, %r5, 2; add.u32 %r5, %r5, %r7; st.global.u32 [%d1], %r5;"
	    TAIL, 1, 1, -1, 0, 9);
	check("a list of targets", HEAD "rem.u32 %r3, %r1, 3; mov.u32 %r4, 9;"
	    "T: .branchtargets X, Y, Z; brx.idx %r3, T;\nX: add.u32 %r4, %r4, "
	    "1;\nY: add.u32 %r4, %r4, 10;\nZ: st.global.u32 [%d3], %r4;" TAIL,
	    1, 32, -1, 31, 19);
	check("an instruction that is not known", HEAD
	    "setp.eq.u32 %p1, %r1, 99; @%p1 wmma.something.x {%r1}, 3;"
	    "st.global.u32 [%d1], 6;" TAIL, 1, 1, -1, 0, 6);
	check("... and that is run", HEAD "wmma.something.x {%r1}, 3;" TAIL,
	    1, 1, PTX_UNSUPPORTED, -1, 0);
	says("who wrote what is read too early", HEAD "shl.b32 %r3, %r1, 2; "
	    "mov.u32 %r4, s; add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], 1;"
	    "xor.b32 %r5, %r3, 4; ld.shared.u32 %r6, [%r5];" TAIL,
	    "shared byte 4, read after thread 1 had written it");
	says("who read what is written too early", HEAD "setp.eq.u32 %p1, "
	    "%r1, 0; @%p1 st.shared.u32 [s], 6; bar.sync 0; ld.shared.u32 "
	    "%r6, [s]; @%p1 st.shared.u32 [s], 7;" TAIL,
	    "shared byte 0, written after several threads had read it");
	says("... of one thread", HEAD "setp.eq.u32 %p1, %r1, 0; setp.eq.u32 "
	    "%p2, %r1, 9; @%p1 st.shared.u32 [s], 6; bar.sync 0; @%p2 "
	    "ld.shared.u32 %r6, [s]; @%p1 st.shared.u32 [s], 7;" TAIL,
	    "shared byte 0, written after thread 9 had read it");
	printf("1..%d\n", number);
	return failed != 0;
}
