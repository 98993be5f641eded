/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/carry.c -- sums of several words: add.cc, addc and the like. */
#include "emulator/ptx/lanes.h"

/* The part of mad's product that `mode` selects. */
static uint64_t
product(const struct ptx_instruction *in, uint64_t x, uint64_t y)
{
	const bool wide = ptx_type_bytes[in->type] == 8;

	if (in->mode != MODE_HI)
		return wide ? x * y : (uint32_t)(x * y);
	if (wide)
		return is_signed(in->type) ? (uint64_t)high64s((int64_t)x,
		    (int64_t)y) : high64(x, y);
	return is_signed(in->type) ? (uint32_t)((int64_t)(int32_t)x *
	    (int32_t)y >> 32) : (uint32_t)(x * y >> 32);
}

/* One lane: x + y, or x * y + z, with the carry. */
static uint128
sum_of(const struct lanes *l, int i, bool carry)
{
	const struct ptx_instruction *in = l->in;
	const uint64_t ones = ptx_type_bytes[in->type] == 8 ? UINT64_MAX
	    : UINT32_MAX;
	const uint64_t x = lane_value(l->base, &in->operand[1], i);
	const uint64_t y = lane_value(l->base, &in->operand[2], i);

	switch (in->op) {
	case OP_add: case OP_addc:
		return (uint128)x + y + carry;
	case OP_sub: case OP_subc:
		return (uint128)x + (~y & ones) + carry;
	default:
		return (uint128)product(in, x, y) +
		    lane_value(l->base, &in->operand[3], i) + carry;
	}
}

void
ptx_carry(const struct lanes *l)
{
	const struct ptx_instruction *in = l->in;
	const int bits = ptx_type_bytes[in->type] * 8;
	const bool goes_in = in->op == OP_addc || in->op == OP_subc ||
	    in->op == OP_madc;

	for (int i = 0; i < LANES; i++) {
		uint128 sum;

		if (!(l->mask >> i & 1))
			continue;
		sum = sum_of(l, i, goes_in ? l->w->carry >> i & 1
		    : in->op == OP_sub);
		if (in->flags & FLAG_CC)
			l->w->carry = (l->w->carry & ~(1u << i)) |
			    (uint32_t)(sum >> bits & 1) << i;
		lane_store(l->base, &in->operand[0], i, (uint64_t)sum);
	}
}
