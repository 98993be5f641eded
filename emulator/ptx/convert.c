/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/convert.c -- conversions: cvt. */
#include "emulator/ptx/lanes.h"

#include <fenv.h>

uint64_t
ptx_narrowed(int type, uint64_t x)
{
	switch (type) {
	case T_B8: case T_U8: return (uint8_t)x;
	case T_S8: return (uint64_t)(int64_t)(int8_t)x;
	case T_B16: case T_U16: case T_F16: case T_BF16: return (uint16_t)x;
	case T_S16: return (uint64_t)(int64_t)(int16_t)x;
	case T_B32: case T_U32: case T_F32: return (uint32_t)x;
	case T_S32: return (uint64_t)(int64_t)(int32_t)x;
	default: return x;
	}
}

int
ptx_host_rounding(int round)
{
	switch (round) {
	case ROUND_RZ: case ROUND_RZI: return FE_TOWARDZERO;
	case ROUND_RM: case ROUND_RMI: return FE_DOWNWARD;
	case ROUND_RP: case ROUND_RPI: return FE_UPWARD;
	default: return FE_TONEAREST;
	}
}

/* Rounds to nearest and steps back. */
uint16_t
ptx_to_half(int type, double x, int round)
{
	uint16_t bits = type == T_F16 ? f16_from(x) : bf16_from(odd32(x));
	const double back = as_double(type, bits);

	if (x != x || round == ROUND_RN || round == ROUND_NONE || back == x)
		return bits;
	if (round == ROUND_RZ && fabs(back) > fabs(x))
		bits--;
	else if (round == ROUND_RM && back > x)
		bits = bits & 0x8000 ? bits + 1 : bits ? bits - 1 : 0x8001;
	else if (round == ROUND_RP && back < x)
		bits = bits & 0x8000 ? bits - 1 : bits + 1;
	return bits;
}

/* TF32 has FP32's exponents and 10 bits behind the point. */
static uint64_t
to_tf32(double x, int round)
{
	const uint32_t bits = bits_of((float)x);

	if (x != x)
		return 0x7fffffff;
	if ((bits & 0x7fffffff) >= 0x7f800000 || round == ROUND_RZ)
		return bits & 0xffffe000;
	return (bits + (round == ROUND_RNA ? 0x1000 : 0xfff + (bits >> 13 &
	    1))) & 0xffffe000;
}

static uint64_t
from_double(int type, double x, int round)
{
	volatile double in = x;
	volatile float y;

	switch (type) {
	case T_F16: case T_BF16:
		return ptx_to_half(type, x, round);
	case T_TF32:
		return to_tf32(x, round);
	case T_F32:
		fesetround(round <= ROUND_RP ? ptx_host_rounding(round)
		    : FE_TONEAREST);
		y = (float)in;
		fesetround(FE_TONEAREST);
		return bits_of(c32(y));
	default:
		return bits_of64(c64(x));
	}
}

static double
whole_number(double x, int round)
{
	switch (round) {
	case ROUND_RZI: case ROUND_RZ: return trunc(x);
	case ROUND_RMI: case ROUND_RM: return floor(x);
	case ROUND_RPI: case ROUND_RP: return ceil(x);
	default: return nearbyint(x);
	}
}

static uint64_t
to_integer(int type, int from, double x, int round)
{
	const int bits = ptx_type_bytes[type] * 8;
	const double low = is_signed(type) ? -ldexp(1, bits - 1) : 0;
	const double high = ldexp(1, is_signed(type) ? bits - 1 : bits);

	if (x != x)
		return from == T_F64 || bits == 64 ? 1ull << (bits - 1) : 0;
	x = whole_number(x, round);
	if (x < low)
		x = low;
	if (x >= high)
		return is_signed(type) ? (1ull << (bits - 1)) - 1
		    : bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	return is_signed(type) ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t
saturated(int type, int from, uint64_t x)
{
	const int bits = ptx_type_bytes[type] * 8;
	const int128 value = is_signed(from) ? (int128)(int64_t)x
	    : (int128)x;
	const int128 low = is_signed(type) ? -((int128)1 << (bits - 1)) : 0;
	const int128 high = ((int128)1 << (is_signed(type) ? bits - 1
	    : bits)) - 1;

	return (uint64_t)(value < low ? low : value > high ? high : value);
}

/* The low bits that a double has no room for, as a last bit. */
static double
odd_integer(int128 x)
{
	const int128 head = x / 4096;

	return x > -((int128)1 << 52) && x < (int128)1 << 52 ? (double)x
	    : odd_sum((double)head * 4096, (double)(x - head * 4096));
}

static uint64_t
from_integer(int type, int from, uint64_t x, int round)
{
	volatile uint64_t u = x;
	volatile int64_t s = (int64_t)x;
	volatile float y = 0;
	volatile double z = 0;

	fesetround(ptx_host_rounding(round));
	if (type == T_F64)
		z = is_signed(from) ? (double)s : (double)u;
	else if (type == T_F32)
		y = is_signed(from) ? (float)s : (float)u;
	fesetround(FE_TONEAREST);
	if (type == T_F32)
		return bits_of(y);
	if (type == T_F64)
		return bits_of64(z);
	return ptx_to_half(type, is_signed(from) ? odd_integer((int64_t)x)
	    : odd_integer((int128)x), round);
}

static uint64_t
float_to_float(const struct ptx_instruction *in, double value)
{
	const int type = in->type;
	uint64_t x;

	if (in->round >= ROUND_RNI && in->round <= ROUND_RPI)
		value = whole_number(value, in->round);
	if (in->flags & FLAG_SAT)
		value = value > 0 ? value < 1 ? value : 1 : 0;
	if (in->flags & FLAG_RELU && value <= 0)
		value = 0;
	x = from_double(type, value, in->round >= ROUND_RNI &&
	    in->round <= ROUND_RPI ? ROUND_RN : in->round);
	if (in->flags & FLAG_FTZ && type == T_F32)
		x = bits_of(flush(f32_of((uint32_t)x)));
	return x;
}

static uint64_t
converted(const struct ptx_instruction *in, uint64_t x)
{
	const int type = in->type, from = in->from;
	double value;

	x = ptx_narrowed(from, x);
	if (!is_float(from)) {
		if (is_float(type))
			return from_integer(type, from, x, in->round);
		return ptx_narrowed(type, in->flags & FLAG_SAT
		    ? saturated(type, from, x) : x);
	}
	value = as_double(from, x);
	if (in->flags & FLAG_FTZ && from == T_F32)
		value = (double)flush(f32_of((uint32_t)x));
	return is_float(type) ? float_to_float(in, value)
	    : ptx_narrowed(type, to_integer(type, from, value, in->round));
}

/* Two numbers into one register. */
static void
convert_pair(const struct lanes *l)
{
	struct ptx_instruction half = *l->in;
	const struct ptx_operand *o = half.operand;

	half.type = half.type == T_F16X2 ? T_F16 : T_BF16;
	for (int i = 0; i < LANES; i++)
		if (l->mask >> i & 1)
			lane_store(l->base, &o[0], i, converted(&half,
			    lane_value(l->base, &o[1], i)) << 16 |
			    converted(&half, lane_value(l->base, &o[2], i)));
}

void
ptx_convert(const struct lanes *l)
{
	if (l->in->type == T_F16X2 || l->in->type == T_BF16X2) {
		convert_pair(l);
		return;
	}
	for (int i = 0; i < LANES; i++)
		if (l->mask >> i & 1)
			lane_store(l->base, &l->in->operand[0], i,
			    converted(l->in, lane_value(l->base,
			    &l->in->operand[1], i)));
}
