/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/bits.c -- bits: logic, shifts, selections, moves. */
#include "emulator/ptx/lanes.h"

static uint32_t
byte_of(uint64_t x, uint32_t selector)
{
	uint32_t byte = (uint32_t)(x >> 8 * (selector & 7)) & 255;

	return selector & 8 ? byte & 128 ? 255 : 0 : byte;
}

static uint32_t
permute(uint32_t a, uint32_t b, uint32_t c, int mode)
{
	const uint64_t x = (uint64_t)b << 32 | a;
	uint32_t s = 0;

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t n = c & 3, k;

		switch (mode) {
		case MODE_F4E: k = n + i; break;
		case MODE_B4E: k = n - i; break;
		case MODE_RC8: k = n; break;
		case MODE_ECL: k = i > n ? i : n; break;
		case MODE_ECR: k = i < n ? i : n; break;
		case MODE_RC16: k = (n & 1) * 2 + (i & 1); break;
		default: k = c >> 4 * i & 15; break;
		}
		if (mode == MODE_F4E || mode == MODE_B4E)
			k &= 7;
		s |= byte_of(x, k) << 8 * i;
	}
	return s;
}

static uint32_t
truth(uint32_t a, uint32_t b, uint32_t c, unsigned table)
{
	uint32_t r = 0;

	if (table & 0x01) r |= ~a & ~b & ~c;
	if (table & 0x02) r |= ~a & ~b & c;
	if (table & 0x04) r |= ~a & b & ~c;
	if (table & 0x08) r |= ~a & b & c;
	if (table & 0x10) r |= a & ~b & ~c;
	if (table & 0x20) r |= a & ~b & c;
	if (table & 0x40) r |= a & b & ~c;
	if (table & 0x80) r |= a & b & c;
	return r;
}

#define ALIKE(op, e) \
	case K(op, B16): case K(op, U16): case K(op, S16): BINARY(uint16_t, e) \
	case K(op, B32): case K(op, U32): case K(op, S32): BINARY(uint32_t, e) \
	case K(op, B64): case K(op, U64): case K(op, S64): BINARY(uint64_t, e)
#define SHIFTS(op, type, T, e) \
	case K(op, type): { const T *const x = S(T, 1); \
	const uint32_t *const y = S(uint32_t, 2); EACH(T, e); break; }

static bool
predicates(const struct lanes *l)
{
	const struct ptx_operand *o = l->in->operand;
	const uint32_t x = predicate(l->base, &o[1]);
	uint32_t r;

	switch (l->in->op) {
	case OP_and: r = x & predicate(l->base, &o[2]); break;
	case OP_or: r = x | predicate(l->base, &o[2]); break;
	case OP_xor: r = x ^ predicate(l->base, &o[2]); break;
	case OP_not: r = ~x; break;
	case OP_mov: r = x; break;
	default: return false;
	}
	set_predicate(l->base, o, l->mask, r);
	return true;
}

static bool
logic(const struct lanes *l)
{
	const struct ptx_instruction *const in = l->in;

	switch (in->op * T_TYPES + in->type) {
	ALIKE(and, x[i] & y[i])
	ALIKE(or, x[i] | y[i])
	ALIKE(xor, x[i] ^ y[i])
	case K(not, B16): UNARY(uint16_t, ~x[i])
	case K(not, B32): UNARY(uint32_t, ~x[i])
	case K(not, B64): UNARY(uint64_t, ~x[i])
	case K(cnot, B16): UNARY(uint16_t, !x[i])
	case K(cnot, B32): UNARY(uint32_t, !x[i])
	case K(cnot, B64): UNARY(uint64_t, !x[i])
	case K(lop3, B32): TERNARY(uint32_t, truth(x[i], y[i], z[i], in->lut))
	case K(prmt, B32): TERNARY(uint32_t, permute(x[i], y[i], z[i],
	    in->mode))
	default: return false;
	}
	return true;
}

static bool
shift(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	SHIFTS(shl, B16, uint16_t, y[i] > 15 ? 0 : x[i] << y[i])
	SHIFTS(shl, B32, uint32_t, y[i] > 31 ? 0 : x[i] << (y[i] & 31))
	SHIFTS(shl, B64, uint64_t, y[i] > 63 ? 0 : x[i] << (y[i] & 63))
	case K(shr, B16):
	SHIFTS(shr, U16, uint16_t, y[i] > 15 ? 0 : x[i] >> y[i])
	case K(shr, B32):
	SHIFTS(shr, U32, uint32_t, y[i] > 31 ? 0 : x[i] >> (y[i] & 31))
	case K(shr, B64):
	SHIFTS(shr, U64, uint64_t, y[i] > 63 ? 0 : x[i] >> (y[i] & 63))
	SHIFTS(shr, S16, int16_t, x[i] >> (y[i] > 15 ? 15 : y[i]))
	SHIFTS(shr, S32, int32_t, x[i] >> (y[i] > 31 ? 31 : y[i]))
	SHIFTS(shr, S64, int64_t, x[i] >> (y[i] > 63 ? 63 : y[i]))
	default: return false;
	}
	return true;
}

/* Of two words side by side. */
static void
funnel(const struct lanes *l)
{
	const uint32_t *const x = S(uint32_t, 1), *const y = S(uint32_t, 2);
	const uint32_t *const z = S(uint32_t, 3);
	const bool wrap = l->in->combine == MODE_WRAP;

#define AMOUNT (wrap ? z[i] & 31 : z[i] > 32 ? 32 : z[i])
	if (l->in->mode == MODE_L)
		EACH(uint32_t, ((uint64_t)y[i] << 32 | x[i]) << AMOUNT >> 32);
	else
		EACH(uint32_t, ((uint64_t)y[i] << 32 | x[i]) >> AMOUNT);
#undef AMOUNT
}

#define SELECT(T) { const T *const x = S(T, 1), *const y = S(T, 2); \
	EACH(T, c >> i & 1 ? x[i] : y[i]); break; }

static bool
select_lanes(const struct lanes *l)
{
	const uint32_t c = predicate(l->base, &l->in->operand[3]);

	switch (ptx_type_bytes[l->in->type]) {
	case 2: SELECT(uint16_t)
	case 4: SELECT(uint32_t)
	case 8: SELECT(uint64_t)
	default: return false;
	}
	return true;
}

static bool
copy(const struct lanes *l)
{
	switch (ptx_type_bytes[l->in->type]) {
	case 2: UNARY(uint16_t, x[i])
	case 4: UNARY(uint32_t, x[i])
	case 8: UNARY(uint64_t, x[i])
	default: return false;
	}
	return true;
}

bool
ptx_bits(const struct lanes *l)
{
	if (l->in->type == T_PRED)
		return predicates(l);
	switch (l->in->op) {
	case OP_shl: case OP_shr:
		return shift(l);
	case OP_shf:
		funnel(l);
		return true;
	case OP_selp:
		return select_lanes(l);
	case OP_mov:
		return copy(l);
	default:
		return logic(l);
	}
}
