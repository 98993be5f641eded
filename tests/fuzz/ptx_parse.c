/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/ptx_parse.c [TURNS [SEED]] -- damaged PTX: each text is taken, or
 * refused with a line and a reason, and nothing else happens. Best with
 * sanitizers: make ptx-fuzz. TAP. */
#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 3000, ROOM = 8192, MOST_CHANGES = 4 };

/* Something of everything that the parser knows. */
static const char *const texts[] = {
	".version 8.0\n.target sm_90\n.address_size 64\n"
	".const .f32 c = 0f3f800000; .shared .align 16 .b8 dyn[];\n"
	".global .align 8 .u64 g[4] = { 1, 2, c, generic(c)+8 };\n"
	".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
	".func (.param .b32 out) f(.param .b32 x, .param .align 8 .b8 y[16])\n"
	"{ .reg .b32 %r<4>; ld.param.u32 %r1, [x]; add.s32 %r2, %r1, -7;\n"
	"st.param.b32 [out+0], %r2; ret; }\n"
	".visible .entry k(.param .u64 p, .param .align 4 .b8 q[12])\n"
	".maxntid 256, 1, 1 .minnctapersm 2\n{ .reg .pred %p<9>; .reg .b32 "
	"%r<29>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .b16 h; .local .align "
	"8 .b8 l[32]; .shared .f64 s[3][2];\n"
	"ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1; /* a */ // b\n"
	"mov.u32 %r1, %tid.x; mov.b64 {%r2, %r3}, %d1; mov.u64 %d2, l;\n"
	"$L_1: setp.lt.and.u32 %p1|%p2, %r1, 0x10U, !%p3; @!%p1 bra.uni $L_2;\n"
	"ld.global.nc.L1::no_allocate.v4.f32 {%f1, %f2, _, %f3}, [%d1+-16];\n"
	"fma.rn.ftz.sat.f32 %f1, %f2, 1.5e3, 0d3ff0000000000000; bra $L_1;\n"
	"{ .param .b32 a; .param .align 8 .b8 b[16]; .param .b32 r;\n"
	"st.param.b32 [a], 5; call.uni (r), f, (a, b); ld.param.b32 %r4, [r]; "
	"}\nt: .branchtargets $L_1, $L_2; brx.idx %r1, t;\n"
	"pr: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
	"$L_2: lop3.b32 %r5, %r1, %r2, 077, 0xca; bar.red.popc.u32 %r6, 1, 64, "
	"%p1; shfl.sync.bfly.b32 %r7|%p4, %r1, 16, 31, -1; trap; }\n",
	".version 7.0\n.target sm_80\n.entry k(.param .u64 p) { .reg.b32 r<9>; "
	".reg .b64 d<4>;\nldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r1, "
	"r2, r3, r4}, [r5+16]; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16."
	"f32 {r0, r1, r2, r3}, {r4, r5, r6, r7}, {r1, r2}, {r0, r1, r2, r3};\n"
	"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {r0, r1, r2, r3, "
	"r4, r5, r6, r7}, [d1], 16; wmma.mma.sync.aligned.row.col.m16n16k16."
	"f16.f16 {r0, r1, r2, r3}, {r0, r1, r2, r3, r4, r5, r6, r7}, {r0, r1, "
	"r2, r3, r4, r5, r6, r7}, {r0, r1, r2, r3};\n"
	"cp.async.cg.shared.global.L2::cache_hint [r1+4], [d2], 16, d3; "
	"mbarrier.try_wait.parity.shared::cta.b64 r1, [r2], 1, 20; "
	"createpolicy.fractional.L2::evict_last.b64 d1, 1.0; tex.2d.v4.f32.f32 "
	"{r1, r2, r3, r4}, [d1, {r1, r2}]; red.global.add.f32 [d1], r2; "
	"prmt.b32.f4e r1, r2, r3, 1; atom.shared.cas.b64 d1, [r1], d2, d3; }\n"
};
static const char *const pieces[] = { "{", "}", "[", "]", "(", ")", ";", ",",
	":", ".", "%", "@", "!", "|", "+", "-", "0x", "0f", "4294967296",
	"18446744073709551616", "<999999999>", "\"", "/*", "//", "ret;",
	".b128", ".pred", ".v4", ".param .b32 z;", ".reg .b64 zz<3>;",
	".entry e() {", ".shared .b8 w[99999999999];", "%d1", "bra x;",
	".align 0", ".align 3", ".shared .pred x;", ".attribute(",
	".global .b128 v = 5;", "[-1]", "_", "%envreg1", ".f16x2" };

static uint64_t seed;

static unsigned
any(size_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((seed >> 33) % below);
}

/* One change: a byte, a piece in the text, a stretch that goes or comes
 * twice. */
static size_t
change(char *text, size_t n)
{
	const char *piece = pieces[any(sizeof pieces / sizeof *pieces)];
	const size_t at = any(n), length = 1 + any(40);
	const size_t stretch = at + length < n ? length : n - at;

	switch (any(4)) {
	case 0:
		text[at] = (char)any(256);
		return n;
	case 1:
		memmove(text + at, text + at + stretch, n - at - stretch);
		return n - stretch;
	case 2:
		if (n + stretch > ROOM)
			return n;
		memmove(text + at + stretch, text + at, n - at);
		return n + stretch;
	default:
		if (n + strlen(piece) > ROOM)
			return n;
		memmove(text + at + strlen(piece), text + at, n - at);
		memcpy(text + at, piece, strlen(piece));
		return n + strlen(piece);
	}
}

/* In memory of its own size, so that sanitizers see what is read behind. */
static bool
parse(const char *text, size_t n, bool *taken)
{
	char message[200] = "", *copy = malloc(n + 1);
	struct ptx_module *m;

	if (!copy)
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	m = ptx_module_load(copy, n, message, sizeof message);
	*taken = m != NULL;
	if (m) {
		(void)ptx_module_unsupported(m, NULL);
		ptx_module_free(m);
	}
	free(copy);
	return m || !strncmp(message, "line ", 5);
}

int
main(int argc, char **argv)
{
	const int turns = argc > 1 ? atoi(argv[1]) : TURNS;
	const size_t count = sizeof texts / sizeof *texts;
	static char text[ROOM + 64];
	bool good = true, taken;
	int accepted = 0;

	seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	for (size_t i = 0; i < count; i++) {
		good &= parse(texts[i], strlen(texts[i]), &taken) && taken;
		if (!taken)
			printf("# text %zu is not taken\n", i + 1);
	}
	printf("%sok 1 - the texts are taken as they are\n", good ? ""
	    : "not ");
	for (int i = 0; i < turns && good; i++) {
		const char *from = texts[any(count)];
		size_t n = strlen(from);

		memcpy(text, from, n);
		for (unsigned k = any(MOST_CHANGES) + 1; k && n > 1; k--)
			n = change(text, n);
		good &= parse(text, n, &taken);
		accepted += taken;
	}
	printf("%sok 2 - %d damaged ones, %d of which are taken\n1..2\n",
	    good ? "" : "not ", turns, accepted);
	return !good;
}
