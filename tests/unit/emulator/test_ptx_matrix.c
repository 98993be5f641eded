/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx_matrix.c -- products of matrices in registers:
 * each lane's share as the ISA's tables have it, sums as a Tensor Core adds
 * them; matrices between memory and registers. TAP. */
#include "emulator/ptx/ptx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static _Alignas(256) unsigned char memory[1 << 16];
static int number, failed;

static void
say(bool good, const char *what, const char *more)
{
	failed += !good;
	printf("%sok %d - %s %s\n", good ? "" : "not ", ++number, what, more);
}

static bool
run(const char *text, int capability)
{
	const struct ptx_region region = { (uintptr_t)memory,
		(uintptr_t)(memory + sizeof memory), false, "memory" };
	const struct ptx_options options = { .check = true, .region = &region,
		.region_count = 1, .report = stdout,
		.capability = capability };
	const unsigned grid[3] = { 1, 1, 1 }, block[3] = { 32, 1, 1 };
	struct ptx_result result = {0};
	unsigned char *at = memory;
	void *params[] = { &at };
	char message[256] = "";
	struct ptx_module *m = ptx_module_load(text, strlen(text), message,
	    sizeof message);
	bool good;

	if (!m) {
		printf("# %s\n", message);
		return false;
	}
	good = ptx_launch(ptx_module_kernel(m, "k"), grid, block, 0, params,
	    &options, &result);
	for (int i = 0; i < PTX_FINDINGS; i++)
		good &= !result.findings[i];
	ptx_module_free(m);
	return good;
}

/* ---- Elements ---------------------------------------------------------- */

enum type { F16, BF16, TF32, S8, U8, F64, F32, S32 };
static const struct {
	const char *name;
	int bytes;
} types[] = { { "f16", 2 }, { "bf16", 2 }, { "tf32", 4 }, { "s8", 1 },
	{ "u8", 1 }, { "f64", 8 }, { "f32", 4 }, { "s32", 4 } };

/* A small whole number in that type. */
static uint64_t
bits_of(enum type type, int x)
{
	const float f = (float)x;
	const double d = x;
	uint64_t bits = 0;
	int e = 0;

	switch (type) {
	case F16:
		if (!x)
			return 0;
		while (x >> e > 1 || -x >> e > 1)
			e++;
		return (x < 0 ? 0x8000u : 0) | (unsigned)(e + 15) << 10 |
		    (((unsigned)(x < 0 ? -x : x) << (10 - e)) & 0x3ff);
	case BF16: case TF32: case F32:
		memcpy(&bits, &f, sizeof f);
		return type == BF16 ? bits >> 16 : bits;
	case F64:
		memcpy(&bits, &d, sizeof d);
		return bits;
	default:
		return (uint64_t)x;
	}
}

static void
put(enum type type, size_t at, int x)
{
	const uint64_t bits = bits_of(type, x);

	memcpy(memory + at, &bits, (size_t)types[type].bytes);
}

static bool
is(enum type type, size_t at, int x)
{
	const uint64_t bits = bits_of(type, x);

	return !memcmp(memory + at, &bits, (size_t)types[type].bytes);
}

/* The matrices of a test: small whole numbers. */
static int
a_of(enum type type, int i, int l)
{
	return (i * 5 + l * 3) % 7 - (type == U8 ? 0 : 3);
}

static int
b_of(enum type type, int l, int j)
{
	return (l * 2 + j * 3) % 5 - (type == U8 ? 0 : 2);
}

static int
c_of(int i, int j)
{
	return (i * 3 + j) % 9 - 4;
}

static int
d_of(enum type type, int k, int i, int j)
{
	int sum = c_of(i, j);

	for (int l = 0; l < k; l++)
		sum += a_of(type, i, l) * b_of(type, l, j);
	return sum;
}

/* ---- mma --------------------------------------------------------------- */

static const struct mma {
	int m, n, k;
	enum type type, sum;
} products[] = {
	{ 16, 8, 8, F16, F32 }, { 16, 8, 16, F16, F32 },
	{ 16, 8, 16, F16, F16 }, { 16, 8, 8, F16, F16 },
	{ 16, 8, 8, BF16, F32 }, { 16, 8, 16, BF16, F32 },
	{ 16, 8, 4, TF32, F32 }, { 16, 8, 8, TF32, F32 },
	{ 8, 8, 16, S8, S32 }, { 16, 8, 16, S8, S32 }, { 16, 8, 32, S8, S32 },
	{ 16, 8, 32, U8, S32 }, { 8, 8, 4, F64, F64 }, { 16, 8, 16, F64, F64 }
};

/* Row and column of element i of a lane of A, and of B, in the ISA's words. */
static void
place_a(const struct mma *p, int lane, int i, int *row, int *col)
{
	const int g = lane / 4, t = lane % 4, each = types[p->type].bytes < 4
	    ? 4 / types[p->type].bytes : 1;
	const int part = i / each, tall = p->m == 16;

	*row = g + (tall && part & 1 ? 8 : 0);
	*col = t * each + i % each + 4 * each * (tall ? part / 2 : part);
}

static void
place_b(const struct mma *p, int lane, int i, int *row, int *col)
{
	const int each = types[p->type].bytes < 4 ? 4 / types[p->type].bytes
	    : 1;

	*row = lane % 4 * each + i % each + 4 * each * (i / each);
	*col = lane / 4;
}

static void
place_c(int lane, int i, int *row, int *col)
{
	*row = lane / 4 + 8 * (i / 2);
	*col = lane % 4 * 2 + i % 2;
}

enum { AT_A = 0, AT_B = 8192, AT_C = 16384, AT_D = 24576, LANE = 64 };

static void
fill(const struct mma *p)
{
	int row, col;

	for (int lane = 0; lane < 32; lane++) {
		for (int i = 0; i < p->m * p->k / 32; i++) {
			place_a(p, lane, i, &row, &col);
			put(p->type, (size_t)(AT_A + lane * LANE + i *
			    types[p->type].bytes), a_of(p->type, row, col));
		}
		for (int i = 0; i < p->n * p->k / 32; i++) {
			place_b(p, lane, i, &row, &col);
			put(p->type, (size_t)(AT_B + lane * LANE + i *
			    types[p->type].bytes), b_of(p->type, row, col));
		}
		for (int i = 0; i < p->m * p->n / 32; i++) {
			place_c(lane, i, &row, &col);
			put(p->sum, (size_t)(AT_C + lane * LANE + i *
			    types[p->sum].bytes), c_of(row, col));
		}
	}
}

/* "{%a0,%a1}", and what loads or stores those registers. */
static int
registers(char *list, char *moves, char name, int count, int bytes, int from)
{
	int n = 0, k = 0;

	for (int i = 0; i < count; i++) {
		k += sprintf(list + k, "%c%%%c%d", i ? ',' : '{', name, i);
		n += from < 0 ? sprintf(moves + n, "st.global.b%d [%%rd3+%d], "
		    "%%%c%d; ", bytes * 8, AT_D + i * bytes, name, i)
		    : sprintf(moves + n, "ld.global.b%d %%%c%d, [%%rd3+%d]; ",
		    bytes * 8, name, i, from + i * bytes);
	}
	strcpy(list + k, "}");
	return n;
}

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry " \
	"k(.param .u64 p) {\n.reg .b64 %%rd<9>; .reg .b32 %%r<9>; mov.u32 " \
	"%%r1, %%tid.x; ld.param.u64 %%rd1, [p]; "

static void
multiply(const struct mma *p)
{
	const int wide = p->type == F64 ? 8 : 4;
	const int as = p->m * p->k / 32 * types[p->type].bytes / wide;
	const int bs = p->n * p->k / 32 * types[p->type].bytes / wide;
	const int cs = p->m * p->n / 32 * types[p->sum].bytes / wide;
	char a[64], b[64], c[64], d[64], la[512], lb[512], lc[512], sd[512];
	char text[4096], what[128];
	bool good = true;

	registers(a, la, 'a', as, wide, AT_A);
	registers(b, lb, 'b', bs, wide, AT_B);
	registers(c, lc, 'c', cs, wide, AT_C);
	registers(d, sd, 'd', cs, wide, -1);
	snprintf(what, sizeof what, "mma.sync.aligned.m%dn%dk%d.row.col."
	    "%s.%s.%s.%s", p->m, p->n, p->k, types[p->sum].name,
	    types[p->type].name, types[p->type].name, types[p->sum].name);
	snprintf(text, sizeof text, HEAD "mul.wide.u32 %%rd2, %%r1, 64; "
	    "add.u64 %%rd3, %%rd1, %%rd2;\n.reg .b%d %%a<8>; .reg .b%d %%b<8>;"
	    " .reg .b%d %%c<8>; .reg .b%d %%d<8>;\n%s\n%s\n%s\n%s %s, %s, %s, "
	    "%s;\n%s ret; }\n", wide * 8, wide * 8, wide * 8, wide * 8, la, lb,
	    lc, what, d, a, b, c, sd);
	fill(p);
	good &= run(text, 80);
	for (int lane = 0; lane < 32; lane++)
		for (int i = 0; i < p->m * p->n / 32; i++) {
			int row, col;

			place_c(lane, i, &row, &col);
			good &= is(p->sum, (size_t)(AT_D + lane * LANE + i *
			    types[p->sum].bytes), d_of(p->type, p->k, row,
			    col));
		}
	say(good, what, "");
}

/* ---- wmma -------------------------------------------------------------- */

static const struct wmma {
	int m, n, k;
	enum type type, sum;
	bool a_col, b_col, c_col;
} fragments[] = {
	{ 16, 16, 16, F16, F32, 0, 1, 0 }, { 16, 16, 16, F16, F16, 1, 0, 1 },
	{ 32, 8, 16, F16, F32, 0, 0, 0 }, { 8, 32, 16, F16, F32, 1, 1, 1 },
	{ 32, 8, 16, F16, F16, 0, 1, 0 }, { 16, 16, 16, BF16, F32, 0, 0, 1 },
	{ 8, 32, 16, BF16, F32, 1, 0, 0 }, { 16, 16, 8, TF32, F32, 0, 1, 0 },
	{ 16, 16, 16, S8, S32, 0, 0, 0 }, { 32, 8, 16, U8, S32, 1, 1, 1 },
	{ 8, 32, 16, S8, S32, 0, 1, 0 }, { 8, 8, 4, F64, F64, 1, 0, 1 }
};

static size_t
element(int start, enum type type, bool col_major, int ld, int row, int col)
{
	return (size_t)(start + (col_major ? col * ld + row : row * ld + col) *
	    types[type].bytes);
}

static char *
list(char *to, char name, int count)
{
	int n = 0;

	for (int i = 0; i < count; i++)
		n += sprintf(to + n, "%c%%%c%d", i ? ',' : '{', name, i);
	strcpy(to + n, "}");
	return to;
}

/* Registers of a fragment of that many elements; FP16's are all of one size. */
static int
registers_of(enum type type, int elements, bool operand)
{
	if (type == F16 && operand)
		return 8;
	return elements / 32 * types[type].bytes / (type == F64 ? 8 : 4);
}

static void
fragment(const struct wmma *p)
{
	static const char *const layout[] = { "row", "col" };
	const char *t = types[p->type].name, *s = types[p->sum].name;
	const int bits = p->type == F64 ? 64 : 32, ld = 40;
	const int cs = registers_of(p->sum, p->m * p->n, false);
	char a[64], b[64], c[64], d[64], shape[32], kinds[64], text[4096];
	bool good = true;

	snprintf(shape, sizeof shape, "m%dn%dk%d", p->m, p->n, p->k);
	snprintf(kinds, sizeof kinds, p->type == F16 ? "%s.%s"
	    : "%s.%s.%s.%s", s, p->type == F16 ? s : t, t, s);
	snprintf(text, sizeof text, HEAD ".reg .b%d %%a<8>; .reg .b%d %%b<8>; "
	    ".reg .b%d %%c<8>; .reg .b%d %%d<8>;\n"
	    "wmma.load.a.sync.aligned.%s.%s.global.%s %s, [%%rd1], %d;\n"
	    "wmma.load.b.sync.aligned.%s.%s.global.%s %s, [%%rd1+%d], %d;\n"
	    "wmma.load.c.sync.aligned.%s.%s.global.%s %s, [%%rd1+%d], %d;\n"
	    "wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n"
	    "wmma.store.d.sync.aligned.%s.%s.global.%s [%%rd1+%d], %s, %d;\n"
	    "ret; }\n", bits, bits, bits, bits, layout[p->a_col], shape, t,
	    list(a, 'a', registers_of(p->type, p->m * p->k, true)), ld,
	    layout[p->b_col], shape, t, list(b, 'b', registers_of(p->type,
	    p->n * p->k, true)), AT_B, ld, layout[p->c_col], shape, s,
	    list(c, 'c', cs), AT_C, ld, layout[p->a_col], layout[p->b_col],
	    shape, kinds, list(d, 'd', cs), a, b, c, layout[p->c_col], shape,
	    s, AT_D, d, ld);
	for (int l = 0; l < p->k; l++) {
		for (int i = 0; i < p->m; i++)
			put(p->type, element(AT_A, p->type, p->a_col, ld, i,
			    l), a_of(p->type, i, l));
		for (int j = 0; j < p->n; j++)
			put(p->type, element(AT_B, p->type, p->b_col, ld, l,
			    j), b_of(p->type, l, j));
	}
	for (int i = 0; i < p->m; i++)
		for (int j = 0; j < p->n; j++)
			put(p->sum, element(AT_C, p->sum, p->c_col, ld, i, j),
			    c_of(i, j));
	good &= run(text, 75);
	for (int i = 0; i < p->m; i++)
		for (int j = 0; j < p->n; j++)
			good &= is(p->sum, element(AT_D, p->sum, p->c_col, ld,
			    i, j), d_of(p->type, p->k, i, j));
	snprintf(text, sizeof text, "%s.%s.%s.%s.%s", layout[p->a_col],
	    layout[p->b_col], layout[p->c_col], shape, kinds);
	say(good, "wmma", text);
}

/* ---- ldmatrix, stmatrix; sums ------------------------------------------ */

static void
load_matrices(void)
{
	static const char body[] = ".shared .align 16 .b8 s[512]; mov.u32 %r2, "
	    "s; shl.b32 %r3, %r1, 4; add.u32 %r2, %r2, %r3; .reg .b32 %a<9>; "
	    "mul.wide.u32 %rd2, %r1, 16; add.u64 %rd3, %rd1, %rd2;"
	    "ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd3]; "
	    "st.shared.v4.b32 [%r2], {%a0, %a1, %a2, %a3}; bar.warp.sync -1; "
	    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%a0, %a1, %a2, %a3}, "
	    "[%r2]; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%a4, %a5},"
	    " [%r2]; st.global.v4.b32 [%rd3+8192], {%a0, %a1, %a2, %a3}; "
	    "bar.warp.sync -1; stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 "
	    "[%r2], {%a0, %a1}; bar.warp.sync -1; ld.shared.v2.b32 {%a0, %a1},"
	    " [%r2]; st.global.v4.b32 [%rd3+16384], {%a4, %a5, %a0, %a1}; "
	    "ret; }\n";
	char text[4096];
	uint16_t *x = (uint16_t *)(void *)memory;
	bool good = true;

	snprintf(text, sizeof text, HEAD "%s", body);
	for (int i = 0; i < 256; i++)
		x[i] = (uint16_t)i;
	good &= run(text, 80);
	/* Lane i: of matrix k, row i / 4, columns i % 4 * 2 and the next. */
	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 4; k++)
			for (int h = 0; h < 2; h++)
				good &= x[4096 + i * 8 + k * 2 + h] == k * 64 +
				    i / 4 * 8 + i % 4 * 2 + h;
	say(good, "ldmatrix", "x4");
	for (int i = 0; i < 32; i++)
		for (int k = 0; k < 2; k++)
			for (int h = 0; h < 2; h++)
				good &= x[8192 + i * 8 + k * 2 + h] == k * 64 +
				    (i % 4 * 2 + h) * 8 + i / 4;
	say(good, "ldmatrix", "x2.trans");
	/* Lanes 0 to 15 have rows of what was transposed; 4 numbers each. */
	for (int i = 0; i < 16; i++)
		for (int h = 0; h < 4; h++)
			good &= x[8192 + i * 8 + 4 + h] == i / 8 * 64 + h * 8 +
			    i % 8;
	say(good, "stmatrix", "x2.trans");
}

/* D of lane 0 for one row of A, one column of B: what is added first and what
 * is cut off differs between architectures. */
static float
sum_of(int capability, const char *kinds, const uint16_t a[4],
    const uint16_t b[4])
{
	char text[4096];
	float d;

	memset(memory, 0, 4096);
	/* Row 0 of A: lanes 0 and 1, registers 0 and 2; column 0 of B. */
	for (int i = 0; i < 4; i++) {
		const int at = i / 2 * LANE + i % 2 * 2;

		memcpy(memory + at, &a[i], 2);
		memcpy(memory + 2048 + at, &b[i], 2);
	}
	snprintf(text, sizeof text, HEAD "mul.wide.u32 %%rd2, %%r1, 64; "
	    "add.u64 %%rd3, %%rd1, %%rd2; .reg .b32 %%a<4>, %%b<2>, z; .reg "
	    ".f32 %%d<4>; mov.b32 z, 0; ld.global.b32 %%a0, [%%rd3]; "
	    "ld.global.b32 %%b0, [%%rd3+2048]; mma.sync.aligned.m16n8k16.row."
	    "col.%s {%%d0, %%d1, %%d2, %%d3}, {%%a0, z, z, z}, {%%b0, z}, "
	    "{0f00000000, 0f00000000, 0f00000000, 0f00000000}; "
	    "st.global.f32 [%%rd3+4096], %%d0; ret; }\n", kinds);
	if (!run(text, capability))
		return -1;
	memcpy(&d, memory + 4096, sizeof d);
	return d;
}

static void
sums(void)
{
	/* 2^22 + 3/4: FP32 has halves there. */
	static const uint16_t x[4] = { 0x6800, 0x3800, 0x3800, 0x3800 };
	/* 2^22 - 2^22 + 2^-3, which is 25 bits below the largest. */
	static const uint16_t p[4] = { 0x6800, 0x6800, 0x3800, 0 };
	static const uint16_t q[4] = { 0x6800, 0xe800, 0x3400, 0 };
	static const char *const f16 = "f32.f16.f16.f32";
	static const uint16_t huge[4] = { 0x7c00, 0, 0, 0 };

	say(sum_of(80, f16, x, x) == 0x1p22f + 0.5f, "sums:", "truncated");
	say(sum_of(80, f16, p, q) == 0, "sums:", "24 bits on Ampere");
	say(sum_of(90, f16, p, q) == 0x1p-3f, "sums:", "25 bits on Hopper");
	say(isinf(sum_of(80, f16, huge, huge)), "sums:", "infinite");
}

int
main(void)
{
	for (size_t i = 0; i < sizeof products / sizeof *products; i++)
		multiply(&products[i]);
	for (size_t i = 0; i < sizeof fragments / sizeof *fragments; i++)
		fragment(&fragments[i]);
	load_matrices();
	sums();
	printf("1..%d\n", number);
	return failed != 0;
}
