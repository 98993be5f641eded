/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/quick_more.h -- a part of quick.h: comparisons, predicates,
 * conversions, rounding in a direction. */
#ifndef AC_EMULATOR_PTX_QUICK_MORE_H
#define AC_EMULATOR_PTX_QUICK_MORE_H

#include "emulator/ptx/quick.h"

/* ---- Comparisons ------------------------------------------------------- */

static const uint32_t lane_bit[LANES] = {
	1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7,
	1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14,
	1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
	1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28,
	1u << 29, 1u << 30, 1u << 31
};

#define WHERE(e) { uint32_t m = 0; \
	for (int i = 0; i < LANES; i++) { m |= (e) ? lane_bit[i] : 0; } \
	return m; }
#define COMPARED(name, T) \
static uint32_t \
compared_##name(int compare, const T *x, const T *y) \
{ \
	switch (compare) { \
	case CMP_EQ: WHERE(x[i] == y[i]) \
	case CMP_NE: WHERE((x[i] < y[i]) | (x[i] > y[i])) \
	case CMP_LT: WHERE(x[i] < y[i]) \
	case CMP_LE: WHERE(x[i] <= y[i]) \
	case CMP_GT: WHERE(x[i] > y[i]) \
	case CMP_GE: WHERE(x[i] >= y[i]) \
	case CMP_EQU: WHERE(!((x[i] < y[i]) | (x[i] > y[i]))) \
	case CMP_NEU: WHERE(!(x[i] == y[i])) \
	case CMP_LTU: WHERE(!(x[i] >= y[i])) \
	case CMP_LEU: WHERE(!(x[i] > y[i])) \
	case CMP_GTU: WHERE(!(x[i] <= y[i])) \
	case CMP_GEU: WHERE(!(x[i] < y[i])) \
	case CMP_NUM: WHERE((x[i] == x[i]) & (y[i] == y[i])) \
	default: WHERE((x[i] != x[i]) | (y[i] != y[i])) \
	} \
}

static uint32_t
combined(int how, uint32_t a, uint32_t c)
{
	return how == MODE_AND ? a & c : how == MODE_OR ? a | c
	    : how == MODE_XOR ? a ^ c : a;
}

QUICK_LOOP
set_both(const struct ptx_instruction *in, unsigned char *const base[4],
    uint32_t mask, uint32_t m)
{
	const uint32_t c = in->combine ? predicate(base, &in->operand[3]) : 0;

	set_predicate(base, &in->operand[0], mask, combined(in->combine, m,
	    c));
	set_predicate(base, &in->second, mask, combined(in->combine, ~m, c));
	return true;
}

#define COMPARE(name, T) \
COMPARED(name, T) \
QUICK_LOOP \
setp_##name(ARGUMENTS) \
{ \
	(void)w; \
	return set_both(in, base, mask, compared_##name(in->compare, \
	    FROM(T, 1), FROM(T, 2))); \
}
COMPARE(U16, uint16_t)
COMPARE(S16, int16_t)
COMPARE(U32, uint32_t)
COMPARE(S32, int32_t)
COMPARE(U64, uint64_t)
COMPARE(S64, int64_t)
COMPARE(F32, float)
COMPARE(F64, double)

QUICK_LOOP
setp_F32_ftz(ARGUMENTS)
{
	const float *const x = FROM(float, 1), *const y = FROM(float, 2);
	float a[LANES], b[LANES];

	(void)w;
	for (int i = 0; i < LANES; i++) {
		a[i] = flush(x[i]);
		b[i] = flush(y[i]);
	}
	return set_both(in, base, mask, compared_F32(in->compare, a, b));
}

#define PREDICATE(op, e) \
QUICK_LOOP \
op##_PRED(ARGUMENTS) \
{ \
	const uint32_t x = predicate(base, &in->operand[1]); \
	const uint32_t y = predicate(base, &in->operand[2]); \
 \
	(void)w; \
	(void)y; \
	set_predicate(base, &in->operand[0], mask, e); \
	return true; \
}
PREDICATE(and, x & y)
PREDICATE(or, x | y)
PREDICATE(xor, x ^ y)
PREDICATE(not, ~x)
PREDICATE(mov, x)

/* ---- Conversions: where registers are as wide as the types ------------- */

static inline int32_t
toward_zero(float x)
{
	return x != x ? 0 : x < -0x1p31f ? INT32_MIN : x >= 0x1p31f ? INT32_MAX
	    : (int32_t)x;
}

/* To, from, roundings, flags. */
#define CONVERT_ROWS(X) \
	X(U64, U32, uint64_t, uint32_t, true, 0, x) \
	X(S64, S32, int64_t, int32_t, true, 0, x) \
	X(U32, U64, uint32_t, uint64_t, true, 0, x) \
	X(S32, S64, uint32_t, uint64_t, true, 0, x) \
	X(U16, U32, uint16_t, uint32_t, true, 0, x) \
	X(U32, U16, uint32_t, uint16_t, true, 0, x) \
	X(S32, S16, int32_t, int16_t, true, 0, x) \
	X(F32, S32, float, int32_t, round <= ROUND_RN, 0, x) \
	X(F32, U32, float, uint32_t, round <= ROUND_RN, 0, x) \
	X(F64, S32, double, int32_t, round <= ROUND_RN, 0, x) \
	X(F64, U32, double, uint32_t, round <= ROUND_RN, 0, x) \
	X(F64, F32, double, float, round == ROUND_NONE, 0, c64((double)x)) \
	X(F32, F16, float, uint16_t, round == ROUND_NONE, 0, c32(f16_to(x))) \
	X(F32, F64, float, double, round == ROUND_RN, 0, c32((float)x)) \
	X(F16, F32, uint16_t, float, round == ROUND_RN, 0, f16_from32(x)) \
	X(F32, F32, float, float, round == ROUND_NONE, FLAG_SAT, \
	    saturated32(x)) \
	X(S32, F32, int32_t, float, round == ROUND_RZI, 0, toward_zero(x))
#define CONVERT(to, from, D, T, when, flags, e) \
	ROW(cvt_##to##_##from, D, T, T, T, e)
CONVERT_ROWS(CONVERT)
ROW(cvt_F32_F32_ftz, float, float, float, float, saturated32(flush(x)))

/* ---- Rounding in a direction ------------------------------------------- */

#ifdef __SSE__
/* Between these, arithmetic rounds as `in` says: all of its operands and its
 * results are in memory. */
static inline unsigned
round_as(const struct ptx_instruction *in)
{
	const unsigned before = __builtin_ia32_stmxcsr();
	const unsigned bits = in->round == ROUND_RZ ? 3 : in->round == ROUND_RP
	    ? 2 : 1;

	__builtin_ia32_ldmxcsr((before & ~0x6000u) | bits << 13);
	__asm__ volatile("" ::: "memory");
	return before;
}

static inline void
round_again(unsigned before)
{
	__asm__ volatile("" ::: "memory");
	__builtin_ia32_ldmxcsr(before);
}

#define DIRECTED(op) \
QUICK_LOOP \
op##_directed(ARGUMENTS) \
{ \
	const unsigned before = round_as(in); \
 \
	(void)(in->flags & FLAG_FTZ ? op##_F32_ftz(PASS) : op##_F32(PASS)); \
	round_again(before); \
	return true; \
}
DIRECTED(add)
DIRECTED(sub)
DIRECTED(mul)
DIRECTED(fma)
#endif

#endif
