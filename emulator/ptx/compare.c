/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/compare.c -- comparisons: set, and setp of 16-bit floats. */
#include "emulator/ptx/lanes.h"

static uint32_t
compared(int type, int compare, const void *x, const void *y)
{
	float a[LANES], b[LANES];

	if (type != T_F16 && type != T_BF16)
		return ptx_compared(type, compare, x, y);
	for (int i = 0; i < LANES; i++) {
		const uint16_t u = ((const uint16_t *)x)[i];
		const uint16_t v = ((const uint16_t *)y)[i];

		a[i] = type == T_F16 ? f16_to(u) : bf16_to(u);
		b[i] = type == T_F16 ? f16_to(v) : bf16_to(v);
	}
	return ptx_compared(T_F32, compare, a, b);
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
