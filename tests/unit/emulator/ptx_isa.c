/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/ptx_isa.c -- one instruction in a kernel, on the edges of
 * its types and on numbers drawn from a seed, against its reference. */
#include "tests/unit/emulator/ptx_isa.h"

#include "emulator/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1 << 14, BLOCK = 128, DRAWN = 256, EDGES = 48, WORDS = 4 };

static const struct {
	const char *name, *move; /* of registers; of memory */
	int bytes;
} types[] = {
	[NONE] = { "b32", "b32", 4 }, [PRED] = { "pred", "b32", 4 },
	[U8] = { "u16", "b8", 1 }, [S8] = { "s16", "b8", 1 },
	[U16] = { "u16", "b16", 2 }, [S16] = { "s16", "b16", 2 },
	[U32] = { "u32", "b32", 4 }, [S32] = { "s32", "b32", 4 },
	[U64] = { "u64", "b64", 8 }, [S64] = { "s64", "b64", 8 },
	[F16] = { "b16", "b16", 2 }, [BF16] = { "b16", "b16", 2 },
	[F32] = { "f32", "b32", 4 }, [F64] = { "f64", "b64", 8 },
	[F16X2] = { "b32", "b32", 4 }, [BF16X2] = { "b32", "b32", 4 },
	[TF32] = { "b32", "b32", 4 }
};

static const uint64_t whole_edges[] = { 0, 1, 2, 3, 5, 7, 8, 15, 16, 24, 31,
	32, 33, 63, 64, 65, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff,
	0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe,
	0xffffffff, 0x100000000, 0x5555555555555555, 0x7fffffffffffffff,
	0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff };
static const uint64_t f32_edges[] = { 0, 0x80000000, 1, 0x80000001, 0x7fffff,
	0x807fffff, 0x800000, 0x80800000, 0x3f800000, 0xbf800000, 0x3f800001,
	0x3f7fffff, 0x3f000000, 0x40400000, 0xc0400000, 0x34000000, 0x33800000,
	0x33800001, 0x4b800000, 0x4b000001, 0x4effffff, 0x4f000000, 0xcf000000,
	0xcf000001, 0x5f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
	0x7fc00000, 0xffc00001, 0x7f800001, 0x477fefff, 0x477ff000, 0x38800000,
	0x387fffff, 0x33000000, 0x33000001, 0x3f008000, 0x3f018000, 0x40200000,
	0x3fffffff };
static const uint64_t f64_edges[] = { 0, 0x8000000000000000, 1,
	0x800fffffffffffff, 0x0010000000000000, 0x3ff0000000000000,
	0xbff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff,
	0x4008000000000000, 0x3ca0000000000000, 0x3ca0000000000001,
	0x4340000000000001, 0x41efffffffe00000, 0x41f0000000000000,
	0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000,
	0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
	0x7ff8000000000000, 0xfff0000000000001, 0x47efffffe0000000,
	0x47effffff0000000, 0x36a0000000000000, 0x3690000000000001,
	0x40efffdfffffffff, 0x40effe0000000000, 0x3ff0020000000000 };
static const uint64_t half_edges[] = { 0, 0x8000, 1, 0x8001, 0x3ff, 0x83ff,
	0x400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x7bff, 0xfbff, 0x7c00,
	0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x1400, 0x1000, 0x3f80, 0xbf80, 0x3f81,
	0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0x0080, 0x007f, 0x3555, 0x6400, 0x4248,
	0x3b80, 0x4300, 0xc300 };

static _Alignas(64) uint64_t in[MOST][WORDS];
static _Alignas(64) uint64_t out[MOST];
static uint64_t seed = 1;
static int number, failed;

int
isa_bytes(enum isa_type type)
{
	return types[type].bytes;
}

bool
isa_is_signed(enum isa_type type)
{
	return type == S8 || type == S16 || type == S32 || type == S64;
}

/* ---- Operands ---------------------------------------------------------- */

static uint64_t
drawn(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed ^ seed >> 29) * 0x9e3779b97f4a7c15;
}

static uint64_t
cut(enum isa_type type, uint64_t x)
{
	const int bytes = types[type].bytes;

	if (type == PRED)
		return x & 1;
	return bytes == 8 ? x : x & ((UINT64_C(1) << 8 * bytes) - 1);
}

static const uint64_t *
edges_of(enum isa_type type, size_t *count)
{
#define EDGES_OF(list) (*count = sizeof (list) / sizeof *(list), (list))
	switch (type) {
	case F32: case TF32: return EDGES_OF(f32_edges);
	case F64: return EDGES_OF(f64_edges);
	case F16: case BF16: case F16X2: case BF16X2:
		return EDGES_OF(half_edges);
	default: return EDGES_OF(whole_edges);
	}
#undef EDGES_OF
}

/* Number i of an operand's edges, each of them once. */
static size_t
operands_of(enum isa_type type, bool amount, uint64_t edges[EDGES])
{
	size_t count, kept = 0;
	const uint64_t *all = edges_of(amount ? U32 : type, &count);

	if (type == NONE)
		return edges[0] = 0, 1;
	for (size_t i = 0; i < count; i++) {
		uint64_t x = cut(type, all[i]);
		bool again = false;

		if (type == F16X2 || type == BF16X2)
			x |= all[(i * 7 + 3) % count] << 16;
		for (size_t k = 0; k < kept; k++)
			again |= edges[k] == x;
		if (!again)
			edges[kept++] = x;
	}
	return kept;
}

static uint64_t
any_operand(enum isa_type type, bool amount)
{
	const uint64_t x = drawn();

	/* Of floats, exponents that are near each other. */
	if (type == F32 && x >> 62)
		return (x & 0x807fffff) | (uint32_t)(115 + (x >> 32) % 24)
		    << 23;
	if (type == F64 && x >> 62)
		return (x & 0x800fffffffffffff) | (1015 + (drawn() >> 40) %
		    20) << 52;
	return cut(type, amount ? x >> 40 & 63 : x);
}

/* All combinations of edges, as far as there is room, and drawn numbers. */
static size_t
fill(const struct isa_row *row)
{
	uint64_t a[EDGES], b[EDGES], c[EDGES];
	const size_t as = operands_of(row->a, false, a);
	const size_t bs = operands_of(row->b, row->shift, b);
	const size_t cs = operands_of(row->c, row->shift == 2, c);
	/* Of three operands, not all combinations: a prime as the step. */
	const size_t all = as * bs * cs, step = all > MOST / 2 ? 31 : 1;
	size_t count = 0;

	for (size_t i = 0; i < all && count < MOST - DRAWN; i += step) {
		in[count][0] = a[i % as];
		in[count][1] = b[i / as % bs];
		in[count++][2] = c[i / as / bs];
	}
	for (int i = 0; i < DRAWN; i++, count++) {
		in[count][0] = any_operand(row->a, false);
		in[count][1] = any_operand(row->b, row->shift);
		in[count][2] = any_operand(row->c, row->shift == 2);
	}
	return count;
}

/* ---- The kernel -------------------------------------------------------- */

static int
load_text(char *at, size_t room, char name, enum isa_type type, int offset)
{
	if (type == PRED)
		return snprintf(at, room, ".reg .pred %c; ld.global.b32 t, "
		    "[%%rd3+%d]; setp.ne.u32 %c, t, 0;\n", name, offset, name);
	return snprintf(at, room, ".reg .%s %c; ld.global.%s %c, [%%rd3+%d];\n",
	    types[type].name, name, types[type].move, name, offset);
}

static void
write_kernel(const struct isa_row *row, char *text, size_t room)
{
	size_t n = (size_t)snprintf(text, room, ".version 8.0\n.target sm_90\n"
	    ".address_size 64\n.visible .entry k(.param .u64 in, .param .u64 "
	    "out, .param .u32 count) {\n.reg .pred %%p<2>; .reg .b32 %%r<8>; "
	    ".reg .b64 %%rd<8>; .reg .b32 t;\nmov.u32 %%r1, %%tid.x; mov.u32 "
	    "%%r2, %%ctaid.x; mov.u32 %%r3, %%ntid.x; mad.lo.u32 %%r4, %%r2, "
	    "%%r3, %%r1;\nld.param.u32 %%r5, [count]; setp.ge.u32 %%p1, %%r4, "
	    "%%r5; @%%p1 ret;\nld.param.u64 %%rd1, [in]; mul.wide.u32 %%rd2, "
	    "%%r4, 32; add.u64 %%rd3, %%rd1, %%rd2;\nld.param.u64 %%rd4, "
	    "[out]; mul.wide.u32 %%rd5, %%r4, 8; add.u64 %%rd6, %%rd4, %%rd5;"
	    "\n.reg .%s D;\n", types[row->d].name);

	n += (size_t)load_text(text + n, room - n, 'A', row->a, 0);
	if (row->b)
		n += (size_t)load_text(text + n, room - n, 'B', row->b, 8);
	if (row->c)
		n += (size_t)load_text(text + n, room - n, 'C', row->c, 16);
	n += (size_t)snprintf(text + n, room - n, "%s\n", row->text);
	if (row->d == PRED)
		snprintf(text + n, room - n, "selp.b32 t, 1, 0, D; "
		    "st.global.b32 [%%rd6], t; ret; }\n");
	else
		snprintf(text + n, room - n, "st.global.%s [%%rd6], D; ret; "
		    "}\n", types[row->d].move);
}

static bool
run(const struct isa_row *row, size_t count)
{
	const struct ptx_options options = { .report = stdout };
	const unsigned grid[3] = { (unsigned)(count + BLOCK - 1) / BLOCK, 1,
		1 }, block[3] = { BLOCK, 1, 1 };
	struct ptx_result result = {0};
	void *from = in, *to = out, *params[] = { &from, &to, &count };
	char text[4096], message[256] = "";
	struct ptx_module *m;
	bool good;

	write_kernel(row, text, sizeof text);
	m = ptx_module_load(text, strlen(text), message, sizeof message);
	memset(out, 0, sizeof out);
	good = m && ptx_launch(ptx_module_kernel(m, "k"), grid, block, 0,
	    params, &options, &result);
	if (m)
		ptx_module_free(m);
	else
		printf("# %s\n", message);
	return good;
}

/* ---- Results ----------------------------------------------------------- */

void
isa_say(bool good, const char *what)
{
	failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
}

/* How many of the first results are wrong; more than all if none came. */
static size_t
wrong(const struct isa_row *row, size_t count)
{
	size_t said = 0;

	if (!run(row, count))
		return count + 1;
	for (size_t i = 0; i < count; i++) {
		const uint64_t right = cut(row->d, row->reference(row,
		    in[i][0], in[i][1], in[i][2]));

		if (out[i] == right || said++ >= 4)
			continue;
		printf("# %s: %#llx, %#llx, %#llx: %#llx, not %#llx\n",
		    row->text, (unsigned long long)in[i][0],
		    (unsigned long long)in[i][1],
		    (unsigned long long)in[i][2], (unsigned long long)out[i],
		    (unsigned long long)right);
	}
	return said;
}

bool
isa_check(const struct isa_row *row)
{
	const bool good = !wrong(row, fill(row));

	isa_say(good, row->text);
	return good;
}

bool
isa_check_every(const struct isa_row *row, uint64_t count,
    uint64_t (*spread)(uint64_t i))
{
	bool good = true;

	for (uint64_t i = 0; i < count && good;) {
		size_t n = 0;

		for (; n < MOST && i < count; n++, i++)
			in[n][0] = spread ? spread(i) : i;
		good = !wrong(row, n);
	}
	isa_say(good, row->text);
	return good;
}

void
isa_check_all(const struct isa_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)isa_check(&rows[i]);
}

int
isa_end(void)
{
	printf("1..%d\n", number);
	return failed != 0;
}
