/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/rare.c -- rare instructions: bit fields, 24-bit products, masks,
 * tests. */
#include "emulator/ptx/lanes.h"

#include <stdlib.h>

static uint64_t
field(uint64_t x, uint32_t from, uint32_t count, int bits, bool is_signed)
{
	const uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	uint64_t value, sign;

	from &= 255;
	count &= 255;
	x &= mask;
	if (!count)
		return 0;
	sign = x >> (from + count - 1 < (unsigned)bits ? from + count - 1
	    : (unsigned)bits - 1) & 1;
	value = from < 64 ? x >> from : 0;
	if (count < 64)
		value &= (1ull << count) - 1;
	if (is_signed && sign) {
		const uint32_t have = from + count > (unsigned)bits
		    ? from < (unsigned)bits ? (unsigned)bits - from : 0
		    : count;

		if (have < 64)
			value |= UINT64_MAX << have;
	}
	return value & mask;
}

static bool
tested(int mode, double x)
{
	switch (mode) {
	case MODE_FINITE: return isfinite(x);
	case MODE_INFINITE: return isinf(x);
	case MODE_NUMBER: return x == x;
	case MODE_NOTANUMBER: return x != x;
	default: return false;
	}
}

/* One lane. */
struct one {
	uint64_t x, y, z, more;
	int bits;
};

static uint64_t
insert(const struct one *v)
{
	const uint32_t from = v->z & 255, count = v->more & 255;
	const uint64_t ones = count >= 64 ? UINT64_MAX : (1ull << count) - 1;

	return from < 64 ? (v->y & ~(ones << from)) | ((v->x & ones) << from)
	    : v->y;
}

static uint64_t
find_bit(const struct ptx_instruction *in, const struct one *o)
{
	uint64_t v = ptx_narrowed(in->type, o->x);
	uint32_t at;

	if (is_signed(in->type) && (int64_t)v < 0)
		v = ~v;
	if (o->bits == 32)
		v = (uint32_t)v;
	if (!v)
		return UINT32_MAX;
	at = (uint32_t)(63 - __builtin_clzll(v));
	return in->flags & FLAG_SHIFTAMT ? (uint32_t)o->bits - 1 - at : at;
}

static bool
test(const struct ptx_instruction *in, uint64_t x)
{
	int class;

	if (in->mode != MODE_NORMAL && in->mode != MODE_SUBNORMAL)
		return tested(in->mode, as_double(in->type, x));
	class = in->type == T_F32 ? fpclassify(f32_of((uint32_t)x))
	    : fpclassify(as_double(T_F64, x));
	return class == (in->mode == MODE_NORMAL ? FP_NORMAL : FP_SUBNORMAL);
}

static uint64_t
sum_of_differences(const struct ptx_instruction *in, const struct one *v)
{
	const int64_t x = (int64_t)ptx_narrowed(in->type, v->x);
	const int64_t y = (int64_t)ptx_narrowed(in->type, v->y);

	if (is_signed(in->type))
		return (x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y -
		    (uint64_t)x) + v->z;
	return (v->x > v->y ? v->x - v->y : v->y - v->x) + v->z;
}

static uint64_t
multiply24(const struct ptx_instruction *in, const struct one *v)
{
	const bool is_s32 = in->type == T_S32;
	const int64_t a = is_s32 ? (int32_t)(v->x << 8) >> 8
	    : (int64_t)(v->x & 0xffffff);
	const int64_t b = is_s32 ? (int32_t)(v->y << 8) >> 8
	    : (int64_t)(v->y & 0xffffff);
	const uint64_t r = (uint64_t)(a * b) >> (in->mode == MODE_HI ? 16 : 0);

	return in->op == OP_mad24 ? r + v->z : r;
}

/* The n-th set bit from a base on. */
static uint64_t
nth_bit(const struct one *v)
{
	int64_t n = (int32_t)v->z;
	const int64_t step = n >= 0 ? 1 : -1;

	if (!n)
		return v->y < 32 && v->x >> v->y & 1 ? v->y : UINT32_MAX;
	n *= step;
	for (int64_t at = (int64_t)v->y; at >= 0 && at < 32; at += step)
		if (v->x >> at & 1 && !--n)
			return (uint64_t)at;
	return UINT32_MAX;
}

static uint64_t
mask_of(const struct ptx_instruction *in, const struct one *v)
{
	const uint32_t wrap = in->mode == MODE_WRAP ? 31 : UINT32_MAX;
	const uint32_t a = (uint32_t)v->x & wrap, b = (uint32_t)v->y & wrap;

	return a >= 32 ? 0 : (b >= 32 ? UINT32_MAX : (1u << b) - 1) << a;
}

static uint64_t
extend(const struct ptx_instruction *in, const struct one *v)
{
	const uint32_t n = (uint32_t)v->y & (in->mode == MODE_WRAP ? 31
	    : UINT32_MAX);

	if (n >= 32)
		return v->x;
	if (!n)
		return 0;
	return in->type == T_S32 ? (uint64_t)(int64_t)((int32_t)(v->x <<
	    (32 - n)) >> (32 - n)) : v->x & ((1u << n) - 1);
}

/* False: not known. */
static bool
worked_out(const struct ptx_instruction *in, const struct one *v,
    uint64_t *r_out)
{
	const bool ftz = in->flags & FLAG_FTZ;

	switch (in->op) {
	case OP_bfe:
		*r_out = field(v->x, (uint32_t)v->y, (uint32_t)v->z, v->bits,
		    is_signed(in->type));
		return true;
	case OP_slct:
		*r_out = (in->from == T_F32 ? f32_of((uint32_t)v->z) >= 0 ||
		    (ftz && bits_of(flush(f32_of((uint32_t)v->z))) << 1 == 0)
		    : (int32_t)v->z >= 0) ? v->x : v->y;
		return true;
	case OP_bfi: *r_out = insert(v); return true;
	case OP_bfind: *r_out = find_bit(in, v); return true;
	case OP_testp: *r_out = test(in, v->x); return true;
	case OP_sad: *r_out = sum_of_differences(in, v); return true;
	case OP_mul24: case OP_mad24: *r_out = multiply24(in, v); return true;
	case OP_fns: *r_out = nth_bit(v); return true;
	case OP_bmsk: *r_out = mask_of(in, v); return true;
	case OP_szext: *r_out = extend(in, v); return true;
	default: return false;
	}
}

static uint32_t
dot4(const struct ptx_instruction *in, uint32_t a, uint32_t b, uint32_t sum)
{
	for (int k = 0; k < 32; k += 8) {
		const int x = in->type == T_S32 ? (int8_t)(a >> k)
		    : (uint8_t)(a >> k);
		const int y = in->from == T_S32 ? (int8_t)(b >> k)
		    : (uint8_t)(b >> k);

		sum += (uint32_t)(x * y);
	}
	return sum;
}

/* Two 16-bit numbers of a with two bytes of b. */
static uint32_t
dot2(const struct ptx_instruction *in, uint32_t a, uint32_t b, uint32_t sum)
{
	if (in->mode == MODE_HI)
		b >>= 16;
	for (int k = 0; k < 2; k++) {
		const int x = in->type == T_S32 ? (int16_t)(a >> 16 * k)
		    : (uint16_t)(a >> 16 * k);
		const int y = in->from == T_S32 ? (int8_t)(b >> 8 * k)
		    : (uint8_t)(b >> 8 * k);

		sum += (uint32_t)(x * y);
	}
	return sum;
}

/* vabsdiff4: bytes, or the third operand and their sum. */
static uint32_t
differences(const struct ptx_instruction *in, uint32_t a, uint32_t b,
    uint32_t sum)
{
	uint32_t bytes = 0;

	for (int k = 0; k < 32; k += 8) {
		const int x = in->type == T_S32 ? (int8_t)(a >> k)
		    : (uint8_t)(a >> k);
		const int y = in->type == T_S32 ? (int8_t)(b >> k)
		    : (uint8_t)(b >> k);

		sum += (uint32_t)abs(x - y);
		bytes |= ((uint32_t)abs(x - y) & 255) << k;
	}
	return in->mode == MODE_ADD ? sum : bytes;
}

void
ptx_rare(const struct lanes *l)
{
	const struct ptx_instruction *in = l->in;
	struct one v = { .bits = ptx_type_bytes[in->type] * 8 };
	uint64_t r;

	for (int i = 0; i < LANES; i++) {
		if (!(l->mask >> i & 1))
			continue;
		v.x = lane_value(l->base, &in->operand[1], i);
		v.y = lane_value(l->base, &in->operand[2], i);
		v.z = lane_value(l->base, &in->operand[3], i);
		v.more = lane_value(l->base, &in->operand[4], i);
		if (in->op == OP_dp4a) {
			r = dot4(in, (uint32_t)v.x, (uint32_t)v.y,
			    (uint32_t)v.z);
		} else if (in->op == OP_dp2a) {
			r = dot2(in, (uint32_t)v.x, (uint32_t)v.y,
			    (uint32_t)v.z);
		} else if (in->op == OP_vabsdiff4) {
			r = differences(in, (uint32_t)v.x, (uint32_t)v.y,
			    (uint32_t)v.z);
		} else if (!worked_out(in, &v, &r)) {
			ptx_found(l->w, in, i, PTX_UNSUPPORTED,
			    "operation %d of type %d", in->op, in->type);
			ptx_stop(l->w->block->worker);
		}
		lane_store(l->base, &in->operand[0], i, r);
	}
}
