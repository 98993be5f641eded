/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/half.c -- 16-bit floats, alone or in pairs, computed in a wider
 * type. */
#include "emulator/ptx/lanes.h"

/* The lesser one. NaN only if both are, unless .NaN is set; -0 is below +0. */
static double
least(const struct ptx_instruction *in, double x, double y)
{
	if (x != x || y != y)
		return in->flags & FLAG_NAN ? (double)NAN : x == x ? x : y;
	if (x == y)
		return signbit(x) ? x : y;
	return x < y ? x : y;
}

static uint16_t
flush16(uint16_t x)
{
	return x & 0x7c00 ? x : x & 0x8000;
}

static uint16_t
half_result(const struct ptx_instruction *in, int type, uint16_t a, uint16_t b,
    uint16_t c)
{
	const double x = as_double(type, a), y = as_double(type, b);
	const double z = as_double(type, c);
	double r;

	switch (in->op) {
	case OP_add: r = odd_sum(x, y); break;
	case OP_sub: r = odd_sum(x, -y); break;
	case OP_mul: r = x * y; break;
	case OP_fma: case OP_mad: r = odd_sum(x * y, z); break; /* exact */
	case OP_neg: return a ^ 0x8000;
	case OP_abs: return a & 0x7fff;
	case OP_min: r = least(in, x, y); break;
	case OP_max: r = -least(in, -x, -y); break;
	case OP_ex2: r = exp2(x); break;
	default: r = tanh(x); break;
	}
	if (in->flags & FLAG_SAT)
		r = r > 0 ? r < 1 ? r : 1 : 0;
	if (in->flags & FLAG_RELU)
		r = r > 0 ? r : r == r ? 0 : r;
	return ptx_to_half(type, r, ROUND_RN);
}

bool
ptx_half(const struct lanes *l)
{
	const struct ptx_instruction *in = l->in;
	const int count = in->type == T_F16X2 || in->type == T_BF16X2 ? 2 : 1;
	const int type = in->type == T_F16X2 || in->type == T_F16 ? T_F16
	    : T_BF16;

	const bool ftz = in->flags & FLAG_FTZ && type == T_F16;

	switch (in->op) {
	case OP_add: case OP_sub: case OP_mul: case OP_fma: case OP_mad:
	case OP_min: case OP_max: case OP_neg: case OP_abs: case OP_ex2:
	case OP_tanh:
		break;
	default:
		return false;
	}
	for (int i = 0; i < LANES * count; i++) {
		uint16_t x[3];

		if (!(l->mask >> i / count & 1))
			continue;
		for (int k = 0; k < 3; k++)
			x[k] = ftz ? flush16(S(uint16_t, k + 1)[i])
			    : S(uint16_t, k + 1)[i];
		x[0] = half_result(in, type, x[0], x[1], x[2]);
		((uint16_t *)(void *)l->d)[i] = ftz ? flush16(x[0]) : x[0];
	}
	return true;
}
