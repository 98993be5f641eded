/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_ptx_float.c -- floats of PTX against numbers of 113
 * bits that are rounded here, step by step; quotients and roots against the
 * host, in its rounding modes. All 16-bit numbers are converted, and FP32 of
 * all exponents. TAP. */
#include "tests/unit/emulator/ptx_isa.h"

#include <fenv.h>
#include <math.h>

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

enum round { RN, RZ, RM, RP, RNA };
/* More of an instruction, in `how`, next to its rounding. */
enum { FTZ = 8, SAT = 16, RELU = 32, NANS = 64, SUB = 128, DOUBLES = 256 };

/* A format: bits, digits of its numbers, exponents, what a NaN becomes. */
struct format {
	int bits, digits, least, most;
	uint64_t nan;
};
static const struct format half = { 16, 11, -14, 15, 0x7fff },
    brain = { 16, 8, -126, 127, 0x7fff },
    single = { 32, 24, -126, 127, 0x7fffffff },
    twice = { 64, 53, -1022, 1023, 0x7ff8000000000000 };

static const struct format *
format_of(enum isa_type type)
{
	switch (type) {
	case F16: case F16X2: return &half;
	case BF16: case BF16X2: return &brain;
	case F64: return &twice;
	default: return &single;
	}
}

/* ---- Numbers ----------------------------------------------------------- */

static quad
power(int e)
{
	return (quad)ldexpl(1, e);
}

static quad
decoded(const struct format *f, uint64_t x)
{
	const int tail = f->digits - 1, width = f->bits - f->digits;
	const uint64_t hidden = UINT64_C(1) << tail;
	const int field = (int)(x >> tail & ((1u << width) - 1));
	const uint64_t rest = x & (hidden - 1);
	const quad sign = x >> (f->bits - 1) & 1 ? -1 : 1;

	if (field == (1 << width) - 1)
		return rest ? (quad)NAN : sign * (quad)INFINITY;
	return sign * (quad)(field ? rest | hidden : rest) *
	    power((field ? field : 1) - 1 + f->least - tail);
}

static bool
is_negative(quad x)
{
	return x == 0 ? 1 / x < 0 : x < 0;
}

static uint64_t
overflowed(const struct format *f, bool sign, enum round mode)
{
	const uint64_t infinite = ((UINT64_C(1) << (f->bits - f->digits)) - 1)
	    << (f->digits - 1);
	const bool stays = mode == RZ || (mode == RM && !sign) ||
	    (mode == RP && sign);

	return (uint64_t)sign << (f->bits - 1) | (infinite - stays);
}

/* x, and a bit more (`lost` > 0) or less, in that format. */
static uint64_t
encoded(const struct format *f, quad x, int lost, enum round mode)
{
	const bool sign = is_negative(x);
	const uint64_t hidden = UINT64_C(1) << (f->digits - 1);
	const quad a = sign ? -x : x;
	uint64_t n;
	quad rest;
	int e = 0, side;
	bool up;

	if (x != x)
		return f->nan;
	if (a == (quad)INFINITY)
		return overflowed(f, sign, RN);
	(void)frexpl((long double)a, &e);
	while (a != 0 && power(e) > a)
		e--;
	if (a == 0 || e < f->least)
		e = f->least;
	lost = sign ? -lost : lost;
	if (lost < 0 && a == power(e) && e > f->least)
		e--;
	rest = a / power(e - f->digits + 1);
	n = (uint64_t)rest;
	rest -= (quad)n;
	if (rest == 0 && lost < 0) {
		n--;
		rest = 0.75;
	}
	side = rest < 0.5 ? -1 : rest > 0.5 ? 1 : lost;
	up = mode == RN ? side > 0 || (side == 0 && n & 1) : mode == RNA
	    ? side >= 0 : (rest != 0 || lost) && mode == (sign ? RM : RP);
	n += up;
	if (n == 2 * hidden) {
		n = hidden;
		e++;
	}
	if (e > f->most)
		return overflowed(f, sign, mode);
	return (uint64_t)sign << (f->bits - 1) | (n < hidden ? n
	    : ((uint64_t)(e - f->least + 1) << (f->digits - 1)) + (n -
	    hidden));
}

static uint64_t
flushed(const struct format *f, uint64_t x)
{
	const uint64_t sign = UINT64_C(1) << (f->bits - 1);

	return (x & (sign - 1)) >> (f->digits - 1) ? x : x & sign;
}

/* x + y with the sign of what is lost; an exact zero has the sign of its
 * rounding. */
static uint64_t
sum_of(const struct format *f, quad x, quad y, enum round mode)
{
	const quad sum = x + y, back = sum - x;
	const quad lost = (x - (sum - back)) + (y - back);

	if (sum == 0 && (is_negative(x) != is_negative(y) || x != 0))
		return mode == RM ? UINT64_C(1) << (f->bits - 1) : 0;
	return encoded(f, sum, lost > 0 ? 1 : lost < 0 ? -1 : 0, mode);
}

/* What .ftz, .sat and .relu make of a result. */
static uint64_t
finished(const struct format *f, int how, uint64_t x)
{
	const quad v = decoded(f, x);

	if (how & FTZ)
		x = flushed(f, x);
	if (how & SAT)
		return v > 0 ? v < 1 ? x : encoded(f, 1, 0, RN) : 0;
	if (how & RELU && (v < 0 || x >> (f->bits - 1)) && v == v)
		return 0;
	return x;
}

/* ---- References -------------------------------------------------------- */

enum op { ADD, MULTIPLY, FUSED, LEAST, MOST };

static uint64_t
lesser(const struct format *f, int how, uint64_t a, uint64_t b, bool most)
{
	const quad x = decoded(f, a), y = decoded(f, b);

	if (how & NANS && (x != x || y != y))
		return f->nan;
	if (x != x)
		return y != y ? f->nan : b;
	if (y != y)
		return a;
	if (x == y)
		return (is_negative(x) != most) ? a : b;
	return (x < y) != most ? a : b;
}

static uint64_t
one(enum op op, const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const struct format *f = format_of(r->d);
	const enum round mode = r->how & 7;
	quad x, y;

	if (r->how & FTZ) {
		a = flushed(f, a);
		b = flushed(f, b);
		c = flushed(f, c);
	}
	x = decoded(f, a);
	y = decoded(f, b);
	switch (op) {
	case ADD:
		a = sum_of(f, x, r->how & SUB ? -y : y, mode);
		break;
	case MULTIPLY:
		a = encoded(f, x * y, 0, mode);
		break;
	case FUSED:
		a = sum_of(f, x * y, decoded(f, c), mode);
		break;
	default:
		a = lesser(f, r->how, a, b, op == MOST);
		break;
	}
	return finished(f, r->how, a);
}

/* Both halves of a pair. */
static uint64_t
either(enum op op, const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	if (r->d != F16X2 && r->d != BF16X2)
		return one(op, r, a, b, c);
	return one(op, r, a & 0xffff, b & 0xffff, c & 0xffff) |
	    one(op, r, a >> 16, b >> 16, c >> 16) << 16;
}

#define REFERENCE(name, e) \
static uint64_t \
name(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c) \
{ \
	(void)a, (void)b, (void)c; \
	return (uint64_t)(e); \
}
REFERENCE(sum, either(ADD, r, a, b, c))
REFERENCE(product, either(MULTIPLY, r, a, b, c))
REFERENCE(fused, either(FUSED, r, a, b, c))
REFERENCE(least, either(LEAST, r, a, b, c))
REFERENCE(most, either(MOST, r, a, b, c))

static const int host_mode[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
	FE_UPWARD };
enum { QUOTIENT, RECIPROCAL, ROOT };

static uint64_t
by_host(const struct isa_row *r, uint64_t a, uint64_t b, int op)
{
	const struct format *f = format_of(r->d);
	volatile float x, y, s;
	volatile double u, v, d;
	uint32_t bits;

	if (r->how & FTZ) {
		a = flushed(f, a);
		b = flushed(f, b);
	}
	memcpy((void *)(uintptr_t)&x, &a, sizeof x);
	memcpy((void *)(uintptr_t)&y, &b, sizeof y);
	memcpy((void *)(uintptr_t)&u, &a, sizeof u);
	memcpy((void *)(uintptr_t)&v, &b, sizeof v);
	fesetround(host_mode[r->how & 7]);
	s = op == QUOTIENT ? x / y : op == RECIPROCAL ? 1 / x : sqrtf(x);
	d = op == QUOTIENT ? u / v : op == RECIPROCAL ? 1 / u : sqrt(u);
	fesetround(FE_TONEAREST);
	if (r->d == F64) {
		memcpy(&a, (const void *)(uintptr_t)&d, sizeof a);
		return d == d ? a : f->nan;
	}
	memcpy(&bits, (const void *)(uintptr_t)&s, sizeof bits);
	return finished(f, r->how, s == s ? bits : f->nan);
}
REFERENCE(quotient, by_host(r, a, b, QUOTIENT))
REFERENCE(reciprocal, by_host(r, a, b, RECIPROCAL))
REFERENCE(root, by_host(r, a, b, ROOT))

/* ---- Signs, tests, comparisons ----------------------------------------- */

static uint64_t
signs(const struct isa_row *r)
{
	const uint64_t sign = UINT64_C(1) << (format_of(r->d)->bits - 1);

	return r->d == F16X2 || r->d == BF16X2 ? 0x80008000 : sign;
}
REFERENCE(minus, a ^ signs(r))
REFERENCE(magnitude, a & ~signs(r))
REFERENCE(with_sign, (a & signs(r)) | (b & ~signs(r)))

static const char *const tests[] = { "finite", "infinite", "number",
	"notanumber", "normal", "subnormal" };
enum { FINITE, INFINITE, NUMBER, NOT_A_NUMBER, NORMAL, SUBNORMAL };
static uint64_t
tested(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const struct format *f = format_of(r->a);
	const quad x = decoded(f, a);
	const bool finite = x - x == 0, small = flushed(f, a) != a;

	(void)b, (void)c;
	switch (r->how) {
	case FINITE: return finite;
	case INFINITE: return !finite && x == x;
	case NUMBER: return x == x;
	case NOT_A_NUMBER: return x != x;
	case NORMAL: return finite && x != 0 && !small;
	default: return small;
	}
}

/* Twelve comparisons, the last six also true of NaN; num, nan. */
static bool
compares(const struct format *f, int how, uint64_t a, uint64_t b)
{
	const quad x = decoded(f, how & FTZ << 4 ? flushed(f, a) : a);
	const quad y = decoded(f, how & FTZ << 4 ? flushed(f, b) : b);
	const bool nan = x != x || y != y;
	const bool is[6] = { x == y, x < y || x > y, x < y, x <= y, x > y,
		x >= y };

	how &= 15;
	if (how >= 12)
		return nan == (how == 13);
	return how >= 6 ? nan || is[how - 6] : !nan && is[how];
}

static uint64_t
compared(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const struct format *f = format_of(r->a);
	const uint64_t yes = r->d == F32 ? 0x3f800000 : r->d == F16X2 ? 0x3c00
	    : r->d == BF16X2 ? 0x3f80 : r->d == PRED ? 1 : UINT32_MAX;

	(void)c;
	if (r->a == F16X2 || r->a == BF16X2)
		return (compares(f, r->how, a & 0xffff, b & 0xffff)
		    ? yes & 0xffff : 0) | (compares(f, r->how, a >> 16, b >> 16)
		    ? yes << 16 & 0xffff0000 : 0);
	return compares(f, r->how, a, b) ? yes : 0;
}
REFERENCE(selected, decoded(&single, r->how ? flushed(&single, c) : c) >= 0
    ? a : b)

/* ---- Conversions ------------------------------------------------------- */

static quad
whole(quad x, enum round mode)
{
	const quad down = (quad)floorl((long double)x), up = down + 1;

	if (x - x != 0 || x == down)
		return x;
	switch (mode) {
	case RZ: return x < 0 ? up : down;
	case RM: return down;
	case RP: return up;
	default: return x - down < up - x ? down : x - down > up - x ? up
	    : down / 2 == (quad)floorl((long double)down / 2) ? down : up;
	}
}

static uint64_t
to_float(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const struct format *f = format_of(r->a), *to = format_of(r->d);
	uint64_t x;

	(void)b, (void)c;
	if (r->how & FTZ && r->a == F32)
		a = flushed(f, a);
	x = encoded(to, decoded(f, a), 0, r->how & 7);
	return finished(to, r->d == F32 ? r->how : r->how & ~FTZ, x);
}

/* TF32 is FP32 whose last 13 bits are not there. */
static uint64_t
to_tf32(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	static const struct format tf32 = { 19, 11, -126, 127, 0x3ffff };

	(void)b, (void)c;
	return decoded(&single, a) != decoded(&single, a) ? 0x7fffffff
	    : encoded(&tf32, decoded(&single, a), 0, r->how & 7) << 13;
}

static uint64_t
to_pair(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const struct isa_row one_of = { .a = F32, .d = r->d, .how = r->how };

	return to_float(&one_of, a, 0, c) << 16 | to_float(&one_of, b, 0, c);
}

static uint64_t
to_whole(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const struct format *f = format_of(r->a);

	(void)b, (void)c;
	if (r->how & FTZ)
		a = flushed(f, a);
	return finished(f, r->how, encoded(f, whole(decoded(f, a), r->how &
	    7), 0, RN) | (decoded(f, a) == decoded(f, a) ? a & signs(r) : 0));
}

static uint64_t
to_integer(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const struct format *f = format_of(r->a);
	const int bits = isa_bytes(r->d) * 8;
	const bool is_signed = isa_is_signed(r->d);
	const quad low = is_signed ? -power(bits - 1) : 0;
	const quad high = power(is_signed ? bits - 1 : bits) - 1;
	quad x = decoded(f, a);

	(void)b, (void)c;
	if (x != x)
		return r->a == F64 || bits == 64 ? UINT64_C(1) << (bits - 1)
		    : 0;
	x = whole(x, r->how & 7);
	x = x < low ? low : x > high ? high : x;
	return x < 0 ? -(uint64_t)-x : (uint64_t)x;
}

static uint64_t
from_integer(const struct isa_row *r, uint64_t a, uint64_t b, uint64_t c)
{
	const int bits = isa_bytes(r->a) * 8;
	const bool minus_it = isa_is_signed(r->a) && a >> (bits - 1) & 1;
	const quad x = minus_it ? (quad)a - power(bits) : (quad)a;

	(void)b, (void)c;
	return encoded(format_of(r->d), x, 0, r->how & 7);
}

/* ---- The table --------------------------------------------------------- */

#define MODES2(op, t, T, ref, how) \
	{ op ".rn" t " D, A, B;", T, T, T, NONE, ref, RN | (how), 0 }, \
	{ op ".rz" t " D, A, B;", T, T, T, NONE, ref, RZ | (how), 0 }, \
	{ op ".rm" t " D, A, B;", T, T, T, NONE, ref, RM | (how), 0 }, \
	{ op ".rp" t " D, A, B;", T, T, T, NONE, ref, RP | (how), 0 },
#define MODES1(op, t, T, ref, how) \
	{ op ".rn" t " D, A;", T, T, NONE, NONE, ref, RN | (how), 0 }, \
	{ op ".rz" t " D, A;", T, T, NONE, NONE, ref, RZ | (how), 0 }, \
	{ op ".rm" t " D, A;", T, T, NONE, NONE, ref, RM | (how), 0 }, \
	{ op ".rp" t " D, A;", T, T, NONE, NONE, ref, RP | (how), 0 },
#define MODES3(op, t, T, ref, how) \
	{ op ".rn" t " D, A, B, C;", T, T, T, T, ref, RN | (how), 0 }, \
	{ op ".rz" t " D, A, B, C;", T, T, T, T, ref, RZ | (how), 0 }, \
	{ op ".rm" t " D, A, B, C;", T, T, T, T, ref, RM | (how), 0 }, \
	{ op ".rp" t " D, A, B, C;", T, T, T, T, ref, RP | (how), 0 },
#define ARITHMETIC(t, T, how) \
	MODES2("add", t, T, sum, how) MODES2("sub", t, T, sum, SUB | (how)) \
	MODES2("mul", t, T, product, how) MODES3("fma", t, T, fused, how) \
	MODES3("mad", t, T, fused, how) MODES2("div", t, T, quotient, how) \
	MODES1("rcp", t, T, reciprocal, how) MODES1("sqrt", t, T, root, how)
#define TWO(text, T, ref, how) { text " D, A, B;", T, T, T, NONE, ref, how, 0 },
#define ONE(text, T, ref) { text " D, A;", T, T, NONE, NONE, ref, 0, 0 },
#define THREE(text, T, how) { text " D, A, B, C;", T, T, T, T, fused, how, 0 },
#define HALVES(t, T) \
	TWO("add.rn." t, T, sum, 0) TWO("sub.rn." t, T, sum, SUB) \
	TWO("mul.rn." t, T, product, 0) THREE("fma.rn." t, T, 0) \
	THREE("fma.rn.relu." t, T, RELU) TWO("min." t, T, least, 0) \
	TWO("max." t, T, most, 0) TWO("min.NaN." t, T, least, NANS) \
	TWO("max.NaN." t, T, most, NANS) ONE("neg." t, T, minus) \
	ONE("abs." t, T, magnitude)
#define HALVES_MORE(t, T) \
	TWO("add.sat." t, T, sum, SAT) TWO("mul.sat." t, T, product, SAT) \
	TWO("add.ftz." t, T, sum, FTZ) THREE("fma.rn.sat." t, T, SAT) \
	THREE("fma.rn.ftz." t, T, FTZ) TWO("min.ftz." t, T, least, FTZ)
#define SETP(word, t, T, n) \
	{ "setp." word "." t " D, A, B;", PRED, T, T, NONE, compared, n, 0 },
#define COMPARES(t, T) SETP("eq", t, T, 0) SETP("ne", t, T, 1) \
	SETP("lt", t, T, 2) SETP("le", t, T, 3) SETP("gt", t, T, 4) \
	SETP("ge", t, T, 5) SETP("equ", t, T, 6) SETP("neu", t, T, 7) \
	SETP("ltu", t, T, 8) SETP("leu", t, T, 9) SETP("gtu", t, T, 10) \
	SETP("geu", t, T, 11) SETP("num", t, T, 12) SETP("nan", t, T, 13)
#define SET(to, D, t, T, word, n) { "set." word "." to "." t " D, A, B;", D, \
	T, T, NONE, compared, n, 0 },
#define CVT(text, D, A, how) { "cvt" text " D, A;", D, A, NONE, NONE, \
	to_float, how, 0 },
#define INTEGERS(row, t, T) row("u8", U8, t, T) row("s8", S8, t, T) \
	row("u16", U16, t, T) row("s16", S16, t, T) row("u32", U32, t, T) \
	row("s32", S32, t, T) row("u64", U64, t, T) row("s64", S64, t, T)
#define TO_ROW(mode, i, I, t, T, how) { "cvt." mode "." i "." t " D, A;", I, \
	T, NONE, NONE, to_integer, how, 0 },
#define TO(i, I, t, T) TO_ROW("rni", i, I, t, T, RN) \
	TO_ROW("rzi", i, I, t, T, RZ) TO_ROW("rmi", i, I, t, T, RM) \
	TO_ROW("rpi", i, I, t, T, RP)
#define FROM_ROW(mode, i, I, t, T, how) { "cvt." mode "." t "." i " D, A;", \
	T, I, NONE, NONE, from_integer, how, 0 },
#define FROM(i, I, t, T) FROM_ROW("rn", i, I, t, T, RN) \
	FROM_ROW("rz", i, I, t, T, RZ) FROM_ROW("rm", i, I, t, T, RM) \
	FROM_ROW("rp", i, I, t, T, RP)
#define FROM_RN(i, I, t, T) FROM_ROW("rn", i, I, t, T, RN)
#define WHOLE(t, T, how) \
	{ "cvt.rni" t " D, A;", T, T, NONE, NONE, to_whole, RN | (how), 0 }, \
	{ "cvt.rzi" t " D, A;", T, T, NONE, NONE, to_whole, RZ | (how), 0 }, \
	{ "cvt.rmi" t " D, A;", T, T, NONE, NONE, to_whole, RM | (how), 0 }, \
	{ "cvt.rpi" t " D, A;", T, T, NONE, NONE, to_whole, RP | (how), 0 },

static const struct isa_row rows[] = {
	ARITHMETIC(".f32", F32, 0) ARITHMETIC(".ftz.f32", F32, FTZ)
	ARITHMETIC(".f64", F64, 0)
	TWO("add.sat.f32", F32, sum, SAT) TWO("mul.ftz.sat.f32", F32, product,
	    FTZ | SAT) THREE("fma.rn.sat.f32", F32, SAT)
	TWO("min.f32", F32, least, 0) TWO("max.f32", F32, most, 0)
	TWO("min.ftz.f32", F32, least, FTZ) TWO("max.ftz.f32", F32, most, FTZ)
	TWO("min.NaN.f32", F32, least, NANS) TWO("max.NaN.f32", F32, most, NANS)
	TWO("min.f64", F64, least, 0) TWO("max.f64", F64, most, 0)
	ONE("neg.f32", F32, minus) ONE("neg.f64", F64, minus)
	ONE("abs.f32", F32, magnitude) ONE("abs.f64", F64, magnitude)
	TWO("copysign.f32", F32, with_sign, 0)
	TWO("copysign.f64", F64, with_sign, 0)
	HALVES("f16", F16) HALVES("f16x2", F16X2) HALVES("bf16", BF16)
	HALVES("bf16x2", BF16X2) HALVES_MORE("f16", F16)
	HALVES_MORE("f16x2", F16X2)
	COMPARES("f32", F32) COMPARES("f64", F64) COMPARES("f16", F16)
	COMPARES("bf16", BF16)
	SETP("lt.ftz", "f32", F32, 2 | FTZ << 4)
	SETP("eq.ftz", "f32", F32, 0 | FTZ << 4)
	SET("u32", U32, "f32", F32, "ge", 5) SET("f32", F32, "f32", F32, "ltu",
	    8) SET("u32", U32, "f32", F32, "lt.ftz", 2 | FTZ << 4)
	SET("f32", F32, "f64", F64, "ne", 1)
	SET("f16x2", F16X2, "f16x2", F16X2, "eq", 0)
	SET("f16x2", F16X2, "f16x2", F16X2, "gtu", 10)
	SET("bf16x2", BF16X2, "bf16x2", BF16X2, "le", 3)
	SET("u32", U32, "f16x2", F16X2, "lt", 2)
	{ "slct.f32.f32 D, A, B, C;", F32, F32, F32, F32, selected, 0, 0 },
	{ "slct.ftz.u64.f32 D, A, B, C;", U64, U64, U64, F32, selected, 1, 0 },
	CVT(".f64.f32", F64, F32, 0) CVT(".rn.f32.f64", F32, F64, RN)
	CVT(".rz.f32.f64", F32, F64, RZ) CVT(".rm.f32.f64", F32, F64, RM)
	CVT(".rp.f32.f64", F32, F64, RP) CVT(".sat.f32.f32", F32, F32, SAT)
	CVT(".ftz.f32.f32", F32, F32, FTZ)
	CVT(".rn.ftz.f32.f64", F32, F64, RN | FTZ)
	CVT(".ftz.f64.f32", F64, F32, FTZ)
	CVT(".rn.f16.f64", F16, F64, RN) CVT(".rn.bf16.f64", BF16, F64, RN)
	CVT(".rz.bf16.f64", BF16, F64, RZ)
	CVT(".f64.f16", F64, F16, 0) CVT(".rn.sat.f16.f32", F16, F32, SAT)
	CVT(".rn.relu.f16.f32", F16, F32, RELU)
	CVT(".rn.relu.bf16.f32", BF16, F32, RELU)
	{ "cvt.rn.f16x2.f32 D, A, B;", F16X2, F32, F32, NONE, to_pair, RN, 0 },
	{ "cvt.rz.f16x2.f32 D, A, B;", F16X2, F32, F32, NONE, to_pair, RZ, 0 },
	{ "cvt.rn.bf16x2.f32 D, A, B;", BF16X2, F32, F32, NONE, to_pair, RN,
	    0 },
	{ "cvt.rn.relu.bf16x2.f32 D, A, B;", BF16X2, F32, F32, NONE, to_pair,
	    RN | RELU, 0 },
	{ "cvt.rna.tf32.f32 D, A;", TF32, F32, NONE, NONE, to_tf32, RNA, 0 },
	{ "cvt.rn.tf32.f32 D, A;", TF32, F32, NONE, NONE, to_tf32, RN, 0 },
	WHOLE(".f32.f32", F32, 0) WHOLE(".ftz.f32.f32", F32, FTZ)
	WHOLE(".sat.f32.f32", F32, SAT) WHOLE(".f64.f64", F64, 0)
	WHOLE(".f16.f16", F16, 0)
	INTEGERS(TO, "f32", F32) INTEGERS(TO, "f64", F64)
	INTEGERS(TO, "f16", F16)
	INTEGERS(FROM, "f32", F32) INTEGERS(FROM, "f64", F64)
	INTEGERS(FROM, "f16", F16) INTEGERS(FROM_RN, "bf16", BF16)
};
/* For all 16-bit numbers. */
static const struct isa_row all16[] = {
	CVT(".f32.f16", F32, F16, 0) CVT(".f32.bf16", F32, BF16, 0)
	ONE("neg.f16", F16, minus) ONE("abs.bf16", BF16, magnitude)
	TO("s32", S32, "f16", F16) WHOLE(".f16.f16", F16, 0)
};
/* For FP32 of all exponents. */
static const struct isa_row all_exponents[] = {
	CVT(".rn.f16.f32", F16, F32, RN) CVT(".rz.f16.f32", F16, F32, RZ)
	CVT(".rn.bf16.f32", BF16, F32, RN) CVT(".rz.bf16.f32", BF16, F32, RZ)
	TO("s32", S32, "f32", F32) TO("u64", U64, "f32", F32)
	{ "cvt.rna.tf32.f32 D, A;", TF32, F32, NONE, NONE, to_tf32, RNA, 0 }
};

/* Sign, exponent, and the mantissas around each bit. */
enum { MANTISSAS = 4 * 23 };
static uint64_t
spread(uint64_t i)
{
	const uint64_t m = i % MANTISSAS, bit = UINT64_C(1) << m / 4;
	const uint64_t around[4] = { bit, bit - 1, bit * 3, 0x7fffff ^ bit };

	return i / MANTISSAS << 23 | (around[m % 4] & 0x7fffff);
}

int
main(void)
{
	isa_check_all(rows, sizeof rows / sizeof *rows);
	for (size_t i = 0; i < sizeof all16 / sizeof *all16; i++)
		(void)isa_check_every(&all16[i], 1 << 16, NULL);
	for (size_t i = 0; i < sizeof all_exponents / sizeof *all_exponents;
	    i++)
		(void)isa_check_every(&all_exponents[i], 512 * MANTISSAS,
		    spread);
	for (int i = 0; i < 2 * (SUBNORMAL + 1); i++) {
		char text[64] = "testp.";
		const struct isa_row row = { text, PRED, i % 2 ? F64 : F32,
			NONE, NONE, tested, i / 2, 0 };

		strcat(strcat(text, tests[i / 2]), i % 2 ? ".f64 D, A;"
		    : ".f32 D, A;");
		(void)isa_check(&row);
	}
	return isa_end();
}
