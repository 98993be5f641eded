/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/compare.c -- comparisons: setp, set. */
#include "emulator/ptx/lanes.h"

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
#define COMPARE(name, T) \
static uint32_t \
name(int compare, const void *a, const void *b) \
{ \
	const T *const x = a, *const y = b; \
 \
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
COMPARE(compare_u16, uint16_t)
COMPARE(compare_s16, int16_t)
COMPARE(compare_u32, uint32_t)
COMPARE(compare_s32, int32_t)
COMPARE(compare_u64, uint64_t)
COMPARE(compare_s64, int64_t)
COMPARE(compare_f32, float)
COMPARE(compare_f64, double)

static uint32_t
compared(int type, int compare, const void *x, const void *y)
{
	float a[LANES], b[LANES];

	switch (type) {
	case T_B16: case T_U16: return compare_u16(compare, x, y);
	case T_S16: return compare_s16(compare, x, y);
	case T_B32: case T_U32: return compare_u32(compare, x, y);
	case T_S32: return compare_s32(compare, x, y);
	case T_B64: case T_U64: return compare_u64(compare, x, y);
	case T_S64: return compare_s64(compare, x, y);
	case T_F32: return compare_f32(compare, x, y);
	case T_F64: return compare_f64(compare, x, y);
	case T_F16: case T_BF16:
		for (int i = 0; i < LANES; i++) {
			const uint16_t u = ((const uint16_t *)x)[i];
			const uint16_t v = ((const uint16_t *)y)[i];

			a[i] = type == T_F16 ? f16_to(u) : bf16_to(u);
			b[i] = type == T_F16 ? f16_to(v) : bf16_to(v);
		}
		return compare_f32(compare, a, b);
	default:
		return 0;
	}
}

static uint32_t
combined(int how, uint32_t a, uint32_t c)
{
	return how == MODE_AND ? a & c : how == MODE_OR ? a | c
	    : how == MODE_XOR ? a ^ c : a;
}

/* What set writes for true. */
static uint32_t
yes_of(int type)
{
	switch (type) {
	case T_F32: return 0x3f800000;
	case T_F16: case T_F16X2: return 0x3c00;
	case T_BF16: case T_BF16X2: return 0x3f80;
	default: return UINT32_MAX;
	}
}

static void
set(const struct lanes *l, uint32_t m)
{
	const uint32_t yes = yes_of(l->in->type);

	for (int i = 0; i < LANES; i++)
		if (l->mask >> i & 1)
			lane_store(l->base, &l->in->operand[0], i, m >> i & 1
			    ? yes : 0);
}

/* Pairs: each half for itself. setp has a predicate for each. */
static void
compare_pairs(const struct lanes *l, int type)
{
	const struct ptx_instruction *in = l->in;
	const uint32_t yes = yes_of(in->type) & 0xffff;
	uint32_t m[2];

	for (int h = 0; h < 2; h++) {
		uint16_t x[LANES], y[LANES];

		for (int i = 0; i < LANES; i++) {
			x[i] = S(uint16_t, 1)[2 * i + h];
			y[i] = S(uint16_t, 2)[2 * i + h];
		}
		m[h] = compared(type == T_F16X2 ? T_F16 : T_BF16, in->compare,
		    x, y);
		if (in->combine)
			m[h] = combined(in->combine, m[h], predicate(l->base,
			    &in->operand[3]));
	}
	if (in->op == OP_setp) {
		set_predicate(l->base, &in->operand[0], l->mask, m[0]);
		set_predicate(l->base, &in->second, l->mask, m[1]);
		return;
	}
	for (int i = 0; i < LANES; i++)
		if (l->mask >> i & 1)
			lane_store(l->base, &in->operand[0], i, (m[0] >> i & 1
			    ? yes : 0) | (m[1] >> i & 1 ? yes : 0) << 16);
}

void
ptx_compare(const struct lanes *l)
{
	const struct ptx_instruction *in = l->in;
	const int type = in->op == OP_set ? in->from : in->type;
	uint32_t m, c;

	if (type == T_F16X2 || type == T_BF16X2) {
		compare_pairs(l, type);
		return;
	}
	m = compared(type, in->compare, l->p[1], l->p[2]);
	c = in->combine ? predicate(l->base, &in->operand[3]) : 0;
	if (in->op == OP_set) {
		set(l, combined(in->combine, m, c));
		return;
	}
	set_predicate(l->base, &in->operand[0], l->mask,
	    combined(in->combine, m, c));
	set_predicate(l->base, &in->second, l->mask,
	    combined(in->combine, ~m, c));
}
