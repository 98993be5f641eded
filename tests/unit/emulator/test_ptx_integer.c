/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx_integer.c -- integers and bits of PTX against
 * sums and products of 128 bits, and against the ISA's own words. TAP. */
#include "tests/unit/emulator/ptx_isa.h"

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

static int
bits_of(enum isa_type type)
{
	return isa_bytes(type) * 8;
}

/* As a number. */
static int128
of(enum isa_type type, uint64_t x)
{
	const int bits = bits_of(type);

	if (isa_is_signed(type) && x >> (bits - 1) & 1)
		return (int128)x - ((int128)1 << bits);
	return (int128)x;
}

/* A reference: x, y, z are the operands as numbers. */
#define REFERENCE(name, e) \
static uint64_t \
name(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c) \
{ \
	const int128 x = of(r->a, a), y = of(r->b, b), z = of(r->c, c); \
 \
	(void)x, (void)y, (void)z, (void)a, (void)b, (void)c; \
	return (uint64_t)(e); \
}

/* ---- Arithmetic -------------------------------------------------------- */

/* Of two numbers of 64 bits, in 128. */
static uint128
product(int128 x, int128 y)
{
	return (uint128)x * (uint128)y;
}

/* Its upper half. */
static int128
upper(enum isa_type type, int128 x, int128 y)
{
	return isa_is_signed(type) ? (int128)product(x, y) >> bits_of(type)
	    : (int128)(product(x, y) >> bits_of(type));
}

static int128
limited(enum isa_type type, int128 x)
{
	const int bits = bits_of(type);
	const int128 low = isa_is_signed(type) ? -((int128)1 << (bits - 1))
	    : 0;
	const int128 high = ((int128)1 << (isa_is_signed(type) ? bits - 1
	    : bits)) - 1;

	return x < low ? low : x > high ? high : x;
}

REFERENCE(sum, x + y)
REFERENCE(difference, x - y)
REFERENCE(low, product(x, y))
REFERENCE(high, upper(r->a, x, y))
REFERENCE(low_sum, (int128)product(x, y) + z)
REFERENCE(high_sum, upper(r->a, x, y) + z)
/* By zero, GPUs give all ones, and the dividend; the ISA leaves it open. */
REFERENCE(quotient, y ? x / y : -1)
REFERENCE(rest, y ? x % y : x)
REFERENCE(least, x < y ? x : y)
REFERENCE(most, x > y ? x : y)
REFERENCE(magnitude, x < 0 ? -x : x)
REFERENCE(minus, -x)
REFERENCE(sad, (x > y ? x - y : y - x) + z)
REFERENCE(limited_sum, limited(r->d, x + y))
REFERENCE(limited_difference, limited(r->d, x - y))
REFERENCE(limited_high_sum, limited(r->d, upper(r->a, x, y) + z))
REFERENCE(converted, x)
REFERENCE(limited_conversion, limited(r->d, x))

/* The low 24 bits of a number. */
static int128
of24(enum isa_type type, uint64_t x)
{
	x &= 0xffffff;
	return isa_is_signed(type) && x >> 23 ? (int128)x - (1 << 24)
	    : (int128)x;
}
REFERENCE(low24, of24(r->a, a) * of24(r->b, b) + (r->c ? z : 0))
REFERENCE(high24, (of24(r->a, a) * of24(r->b, b) >> 16) + (r->c ? z : 0))

/* The part of `bits` bits at `at`. */
static int64_t
part(enum isa_type type, uint64_t x, int at, int bits)
{
	const int64_t limit = INT64_C(1) << bits;
	const int64_t v = (int64_t)(x >> at & (uint64_t)(limit - 1));

	return isa_is_signed(type) && v >> (bits - 1) ? v - limit : v;
}

static uint64_t
dot4(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	for (int k = 0; k < 32; k += 8)
		c += (uint64_t)(part(r->a, a, k, 8) *
		    part(r->b, b, k, 8));
	return c;
}

static uint64_t
dot2(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	for (int k = 0; k < 2; k++)
		c += (uint64_t)part(r->a, a, 16 * k, 16) *
		    (uint64_t)part(r->b, b, 16 * r->how + 8 * k, 8);
	return c;
}

/* ---- Bits -------------------------------------------------------------- */

REFERENCE(both, a & b)
REFERENCE(either, a | b)
REFERENCE(one, a ^ b)
REFERENCE(none, ~a)
REFERENCE(is_zero, !a)
REFERENCE(left, b < (unsigned)bits_of(r->a) ? a << b : 0)
REFERENCE(right, b < (unsigned)bits_of(r->a) ? x >> b : x < 0 ? -1 : 0)
REFERENCE(chosen, c ? a : b)
REFERENCE(by_sign, z >= 0 ? a : b)

static uint64_t
ones(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t n = 0;

	(void)r, (void)b, (void)c;
	for (; a; a >>= 1)
		n += a & 1;
	return n;
}

static uint64_t
zeros(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	int n = 0;

	(void)b, (void)c;
	while (n < bits_of(r->a) && !(a >> (bits_of(r->a) - 1 - n) & 1))
		n++;
	return (uint64_t)n;
}

static uint64_t
mirror(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t to = 0;

	(void)b, (void)c;
	for (int i = 0; i < bits_of(r->a); i++)
		to = to << 1 | (a >> i & 1);
	return to;
}

/* The ISA's pseudocode of bfind, bfe, bfi, szext, bmsk, fns. */
static uint64_t
find(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const int msb = bits_of(r->a) - 1;
	const uint64_t bit = isa_is_signed(r->a) && a >> msb & 1 ? 0 : 1;

	(void)b, (void)c;
	for (int i = msb; i >= 0; i--)
		if ((a >> i & 1) == bit)
			return (uint64_t)(r->how ? msb - i : i);
	return UINT32_MAX;
}

static uint64_t
extract(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const int msb = bits_of(r->a) - 1;
	const int from = (int)(b & 255), count = (int)(c & 255);
	const int last = from + count - 1 < msb ? from + count - 1 : msb;
	const uint64_t fill = !count || !isa_is_signed(r->a) ? 0
	    : a >> last & 1;
	uint64_t d = 0;

	for (int i = 0; i <= msb; i++)
		d |= (i < count && from + i <= msb ? a >> (from + i) & 1
		    : fill) << i;
	return d;
}

static uint64_t
insert(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const int from = (int)(c & 255), count = (int)(c >> 8 & 255);

	for (int i = 0; i < count && from + i < bits_of(r->a); i++)
		b = (b & ~(UINT64_C(1) << (from + i))) |
		    (a >> i & 1) << (from + i);
	return b;
}

static uint64_t
extend(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t n = r->how ? b & 31 : b;

	(void)c;
	if (n > 31)
		return a;
	return n ? (uint64_t)part(r->a, a << 32 >> 32, 0, (int)n) : 0;
}

static uint64_t
mask(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t d = 0;

	(void)c;
	if (r->how)
		a &= 31, b &= 31;
	for (uint64_t i = 0; i < 32; i++)
		d |= (uint64_t)(i >= a && i - a < b) << i;
	return d;
}

static uint64_t
nth(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const int64_t n = (int64_t)of(S32, c);
	int64_t left_over = n < 0 ? -n : n ? n : 1;

	(void)r;
	b &= 31;
	for (int64_t i = (int64_t)b; i >= 0 && i < 32; i += n < 0 ? -1 : 1) {
		left_over -= a >> i & 1;
		if (!left_over)
			return (uint64_t)i;
		if (!n)
			break;
	}
	return UINT32_MAX;
}

static uint64_t
table(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t d = 0;

	for (int i = 0; i < 32; i++)
		d |= (uint64_t)(r->how >> ((a >> i & 1) << 2 |
		    (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
	return d;
}

enum { LEFT, RIGHT, WRAP = 2 };
static uint64_t
funnel(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t n = r->how & WRAP ? c & 31 : c > 32 ? 32 : c;
	const uint64_t both_words = b << 32 | a;

	return r->how & RIGHT ? both_words >> n : both_words << n >> 32;
}

/* Bytes 0 to 3 of the result, by number, as the ISA's tables have them. */
static const char *const modes[] = { "0123123423453456", "0765107621073210",
	"0000111122223333", "0123112322233333", "0000011101220123",
	"0101232301012323" };
static uint64_t
permuted(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t bytes = b << 32 | a;
	uint64_t d = 0;

	for (int i = 0; i < 4; i++) {
		const uint64_t pick = r->how < 0 ? c >> 4 * i & 15
		    : (uint64_t)(modes[r->how][(c & 3) * 4 +
		    (unsigned)i] - '0');
		uint64_t byte = bytes >> (pick & 7) * 8 & 255;

		if (pick & 8)
			byte = byte & 128 ? 255 : 0;
		d |= byte << 8 * i;
	}
	return d;
}

/* ---- Comparisons, words side by side ----------------------------------- */

REFERENCE(compared, r->how == 0 ? x == y : r->how == 1 ? x != y : r->how == 2
    ? x < y : r->how == 3 ? x <= y : r->how == 4 ? x > y : x >= y)
REFERENCE(compared_ones, x < y ? UINT32_MAX : 0)
REFERENCE(compared_one, x < y ? 0x3f800000 : 0)

/* Two words from the carry of the lower ones: A:C and B:C. */
REFERENCE(carried, r->how ? (((uint128)a << 32 | c) - ((uint128)b << 32 | b))
    >> 32 : (((uint128)a << 32 | c) + ((uint128)b << 32 | b)) >> 32)
REFERENCE(carried64, r->how ? a - b - (c < b) : a + b + (c + b < c))
REFERENCE(carried_product, (((uint128)a * b + ((uint128)a << 32 | c)) >> 32))

static uint64_t
halves(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t d = 0;

	(void)c;
	for (int k = 0; k < 32; k += 16) {
		const int x = part(r->a, a, k, 16), y = part(r->b, b, k, 16);
		const int v = r->how & 1 ? x < y ? x : y : x > y ? x : y;

		d |= (uint64_t)((r->how & 4 ? x + y : r->how & 2 && v < 0 ? 0
		    : v) & 0xffff) << k;
	}
	return d;
}

static uint64_t
differences(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t d = r->how ? c : 0;

	for (int k = 0; k < 32; k += 8) {
		const int x = part(r->a, a, k, 8), y = part(r->b, b, k, 8);
		const uint64_t v = (uint64_t)(x > y ? x - y : y - x);

		d += r->how ? v : (v & 255) << k;
	}
	return d;
}

#define T2(op, t, T, ref) { op "." t " D, A, B;", T, T, T, NONE, ref, 0, 0 },
#define T3(op, t, T, ref) { op "." t " D, A, B, C;", T, T, T, T, ref, 0, 0 },
#define T1(op, t, T, ref) { op "." t " D, A;", T, T, NONE, NONE, ref, 0, 0 },
#define ALL(row, op, ref) row(op, "u16", U16, ref) row(op, "s16", S16, ref) \
	row(op, "u32", U32, ref) row(op, "s32", S32, ref) \
	row(op, "u64", U64, ref) row(op, "s64", S64, ref)
#define SIGNED(row, op, ref) row(op, "s16", S16, ref) \
	row(op, "s32", S32, ref) row(op, "s64", S64, ref)
#define BITS(row, op, ref) row(op, "b16", U16, ref) row(op, "b32", U32, ref) \
	row(op, "b64", U64, ref)
#define WIDE(t, T, W) \
	{ "mul.wide." t " D, A, B;", W, T, T, NONE, low, 0, 0 }, \
	{ "mad.wide." t " D, A, B, C;", W, T, T, W, low_sum, 0, 0 },
#define SHIFT(op, t, T, ref) { op "." t " D, A, B;", T, T, U32, NONE, ref, 0, \
	1 },
#define COUNT(op, t, T, ref, how) { op "." t " D, A;", U32, T, NONE, NONE, \
	ref, how, 0 },
#define FINDS(t, T) COUNT("bfind", t, T, find, 0) \
	COUNT("bfind.shiftamt", t, T, find, 1)
#define FIELD(t, T) { "bfe." t " D, A, B, C;", T, T, U32, U32, extract, 0, 2 },
#define COMPARES(t, T) \
	{ "setp.eq." t " D, A, B;", PRED, T, T, NONE, compared, 0, 0 }, \
	{ "setp.ne." t " D, A, B;", PRED, T, T, NONE, compared, 1, 0 }, \
	{ "setp.lt." t " D, A, B;", PRED, T, T, NONE, compared, 2, 0 }, \
	{ "setp.le." t " D, A, B;", PRED, T, T, NONE, compared, 3, 0 }, \
	{ "setp.gt." t " D, A, B;", PRED, T, T, NONE, compared, 4, 0 }, \
	{ "setp.ge." t " D, A, B;", PRED, T, T, NONE, compared, 5, 0 }, \
	{ "set.lt.u32." t " D, A, B;", U32, T, T, NONE, compared_ones, 0, 0 }, \
	{ "set.lt.f32." t " D, A, B;", F32, T, T, NONE, compared_one, 0, 0 }, \
	{ "selp." t " D, A, B, C;", T, T, T, PRED, chosen, 0, 0 }, \
	{ "slct." t ".s32 D, A, B, C;", T, T, T, S32, by_sign, 0, 0 },
#define CVT(to, T, from, F) \
	{ "cvt." to "." from " D, A;", T, F, NONE, NONE, converted, 0, 0 },
#define CVT_SAT(to, T, from, F) \
	{ "cvt.sat." to "." from " D, A;", T, F, NONE, NONE, \
	    limited_conversion, 0, 0 },
#define CVTS(row, from, F) row("u8", U8, from, F) row("s8", S8, from, F) \
	row("u16", U16, from, F) row("s16", S16, from, F) \
	row("u32", U32, from, F) row("s32", S32, from, F) \
	row("u64", U64, from, F) row("s64", S64, from, F)
#define DOTS(t, u, T, U) \
	{ "dp4a." t "." u " D, A, B, C;", U32, T, U, U32, dot4, 0, 0 }, \
	{ "dp2a.lo." t "." u " D, A, B, C;", U32, T, U, U32, dot2, 0, 0 }, \
	{ "dp2a.hi." t "." u " D, A, B, C;", U32, T, U, U32, dot2, 1, 0 },
#define PERMUTE(mode, how) { "prmt.b32" mode " D, A, B, C;", U32, U32, U32, \
	U32, permuted, how, 0 },
#define TRUTH(n) { "lop3.b32 D, A, B, C, " #n ";", U32, U32, U32, U32, table, \
	n, 0 },
#define FUNNEL(mode, how) { "shf." mode ".b32 D, A, B, C;", U32, U32, U32, \
	U32, funnel, how, 0 },
#define PAIRS(op, T, how) { op " D, A, B;", T, T, T, NONE, halves, how, 0 },

static const struct isa_row rows[] = {
	ALL(T2, "add", sum) ALL(T2, "sub", difference) ALL(T2, "mul.lo", low)
	ALL(T2, "mul.hi", high) ALL(T3, "mad.lo", low_sum)
	ALL(T3, "mad.hi", high_sum) ALL(T2, "div", quotient)
	ALL(T2, "rem", rest) ALL(T2, "min", least) ALL(T2, "max", most)
	SIGNED(T1, "abs", magnitude) SIGNED(T1, "neg", minus)
	ALL(T3, "sad", sad)
	WIDE("u16", U16, U32) WIDE("s16", S16, S32) WIDE("u32", U32, U64)
	WIDE("s32", S32, S64)
	T2("add.sat", "s32", S32, limited_sum)
	T2("sub.sat", "s32", S32, limited_difference)
	T3("mad.hi.sat", "s32", S32, limited_high_sum)
	T2("mul24.lo", "u32", U32, low24) T2("mul24.lo", "s32", S32, low24)
	T2("mul24.hi", "u32", U32, high24) T2("mul24.hi", "s32", S32, high24)
	T3("mad24.lo", "u32", U32, low24) T3("mad24.lo", "s32", S32, low24)
	T3("mad24.hi", "u32", U32, high24) T3("mad24.hi", "s32", S32, high24)
	DOTS("u32", "u32", U32, U32) DOTS("u32", "s32", U32, S32)
	DOTS("s32", "u32", S32, U32) DOTS("s32", "s32", S32, S32)
	BITS(T2, "and", both) BITS(T2, "or", either) BITS(T2, "xor", one)
	BITS(T1, "not", none) BITS(T1, "cnot", is_zero)
	BITS(SHIFT, "shl", left) BITS(SHIFT, "shr", right)
	ALL(SHIFT, "shr", right)
	COUNT("popc", "b32", U32, ones, 0) COUNT("popc", "b64", U64, ones, 0)
	COUNT("clz", "b32", U32, zeros, 0) COUNT("clz", "b64", U64, zeros, 0)
	T1("brev", "b32", U32, mirror) T1("brev", "b64", U64, mirror)
	FINDS("u32", U32) FINDS("s32", S32) FINDS("u64", U64) FINDS("s64", S64)
	FIELD("u32", U32) FIELD("s32", S32) FIELD("u64", U64) FIELD("s64", S64)
	{ ".reg .u32 n; shr.u32 n, C, 8; bfi.b32 D, A, B, C, n;", U32, U32,
	    U32, U32, insert, 0, 0 },
	{ ".reg .u32 n; shr.u32 n, C, 8; bfi.b64 D, A, B, C, n;", U64, U64,
	    U64, U32, insert, 0, 0 },
	{ "szext.clamp.u32 D, A, B;", U32, U32, U32, NONE, extend, 0, 1 },
	{ "szext.clamp.s32 D, A, B;", S32, S32, U32, NONE, extend, 0, 1 },
	{ "szext.wrap.u32 D, A, B;", U32, U32, U32, NONE, extend, 1, 1 },
	{ "szext.wrap.s32 D, A, B;", S32, S32, U32, NONE, extend, 1, 1 },
	{ "bmsk.clamp.b32 D, A, B;", U32, U32, U32, NONE, mask, 0, 1 },
	{ "bmsk.wrap.b32 D, A, B;", U32, U32, U32, NONE, mask, 1, 1 },
	{ "and.b32 B, B, 31; fns.b32 D, A, B, C;", U32, U32, U32, S32, nth, 0,
	    0 },
	TRUTH(0x00) TRUTH(0x01) TRUTH(0x1e) TRUTH(0x80) TRUTH(0x96) TRUTH(0xca)
	TRUTH(0xe8) TRUTH(0xf8) TRUTH(0xfe) TRUTH(0x6a)
	FUNNEL("l.clamp", LEFT) FUNNEL("r.clamp", RIGHT)
	FUNNEL("l.wrap", LEFT | WRAP) FUNNEL("r.wrap", RIGHT | WRAP)
	PERMUTE("", -1) PERMUTE(".f4e", 0) PERMUTE(".b4e", 1)
	PERMUTE(".rc8", 2) PERMUTE(".ecl", 3) PERMUTE(".ecr", 4)
	PERMUTE(".rc16", 5)
	COMPARES("u16", U16) COMPARES("s16", S16) COMPARES("u32", U32)
	COMPARES("s32", S32) COMPARES("u64", U64) COMPARES("s64", S64)
	CVTS(CVT, "u8", U8) CVTS(CVT, "s8", S8) CVTS(CVT, "u16", U16)
	CVTS(CVT, "s16", S16) CVTS(CVT, "u32", U32) CVTS(CVT, "s32", S32)
	CVTS(CVT, "u64", U64) CVTS(CVT, "s64", S64)
	CVTS(CVT_SAT, "u16", U16) CVTS(CVT_SAT, "s16", S16)
	CVTS(CVT_SAT, "u32", U32) CVTS(CVT_SAT, "s32", S32)
	CVTS(CVT_SAT, "u64", U64) CVTS(CVT_SAT, "s64", S64)
	{ ".reg .u32 t0; add.cc.u32 t0, C, B; addc.u32 D, A, B;", U32, U32,
	    U32, U32, carried, 0, 0 },
	{ ".reg .u32 t0; sub.cc.u32 t0, C, B; subc.u32 D, A, B;", U32, U32,
	    U32, U32, carried, 1, 0 },
	{ ".reg .u64 t0; add.cc.u64 t0, C, B; addc.u64 D, A, B;", U64, U64,
	    U64, U64, carried64, 0, 0 },
	{ ".reg .u64 t0; sub.cc.u64 t0, C, B; subc.u64 D, A, B;", U64, U64,
	    U64, U64, carried64, 1, 0 },
	{ ".reg .u32 t0; mad.lo.cc.u32 t0, A, B, C; madc.hi.u32 D, A, B, A;",
	    U32, U32, U32, U32, carried_product, 0, 0 },
	PAIRS("min.u16x2", U32, 1) PAIRS("max.u16x2", U32, 0)
	PAIRS("min.s16x2", S32, 1) PAIRS("max.s16x2", S32, 0)
	PAIRS("min.relu.s16x2", S32, 3) PAIRS("max.relu.s16x2", S32, 2)
	PAIRS("add.u16x2", U32, 4) PAIRS("add.s16x2", S32, 4)
	{ "vabsdiff4.u32.u32.u32 D, A, B, C;", U32, U32, U32, U32, differences,
	    0, 0 },
	{ "vabsdiff4.u32.u32.u32.add D, A, B, C;", U32, U32, U32, U32,
	    differences, 1, 0 }
};

int
main(void)
{
	isa_check_all(rows, sizeof rows / sizeof *rows);
	return isa_end();
}
