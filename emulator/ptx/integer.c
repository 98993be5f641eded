/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/integer.c -- arithmetic of integers that quick.h does not
 * have. */
#include "emulator/ptx/lanes.h"

/* .hi */
static bool
multiply(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(mul, U64): BINARY(uint64_t, high64(x[i], y[i]))
	case K(mul, S64): BINARY(int64_t, high64s(x[i], y[i]))
	case K(mad, U64): TERNARY(uint64_t, high64(x[i], y[i]) + z[i])
	case K(mad, S64): TERNARY(uint64_t, (uint64_t)high64s((int64_t)x[i],
	    (int64_t)y[i]) + z[i])
	default: return false;
	}
	return true;
}

static bool
divide(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	/* By zero: all ones, as GPUs do; the ISA leaves it open. */
	case K(div, U16): BINARY_ONLY(uint16_t, y[i] ? x[i] / y[i] : -1)
	case K(div, S16): BINARY_ONLY(int16_t, y[i] ? x[i] / y[i] : -1)
	case K(div, U64): BINARY_ONLY(uint64_t, y[i] ? x[i] / y[i]
	    : UINT64_MAX)
	case K(div, S64): BINARY_ONLY(int64_t, !y[i] ? -1 : y[i] == -1
	    ? (int64_t)(0 - (uint64_t)x[i]) : x[i] / y[i])
	case K(rem, U16): BINARY_ONLY(uint16_t, y[i] ? x[i] % y[i] : x[i])
	case K(rem, S16): BINARY_ONLY(int16_t, y[i] ? x[i] % y[i] : x[i])
	case K(rem, U64): BINARY_ONLY(uint64_t, y[i] ? x[i] % y[i] : x[i])
	case K(rem, S64): BINARY_ONLY(int64_t, !y[i] ? x[i] : y[i] == -1 ? 0
	    : x[i] % y[i])
	default: return false;
	}
	return true;
}

static uint32_t
reversed(uint32_t v)
{
	v = (v & 0x55555555) << 1 | (v >> 1 & 0x55555555);
	v = (v & 0x33333333) << 2 | (v >> 2 & 0x33333333);
	v = (v & 0x0f0f0f0f) << 4 | (v >> 4 & 0x0f0f0f0f);
	return __builtin_bswap32(v);
}

/* The result of popc and clz is one of 32 bits. */
#define COUNT64(e) { const uint64_t *const x = S(uint64_t, 1); \
	EACH(uint32_t, e); break; }

static bool
count_bits(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(popc, B32): UNARY(uint32_t, __builtin_popcount(x[i]))
	case K(popc, B64): COUNT64(__builtin_popcountll(x[i]))
	case K(clz, B32): UNARY(uint32_t, x[i] ? __builtin_clz(x[i]) : 32)
	case K(clz, B64): COUNT64(x[i] ? __builtin_clzll(x[i]) : 64)
	case K(brev, B32): UNARY(uint32_t, reversed(x[i]))
	case K(brev, B64): UNARY(uint64_t, (uint64_t)reversed((uint32_t)x[i])
	    << 32 | reversed((uint32_t)(x[i] >> 32)))
	default: return false;
	}
	return true;
}

/* Signed, at its limits instead of around them. */
static bool
saturate(const struct lanes *l)
{
	const struct ptx_instruction *in = l->in;
	const int32_t *const x = S(int32_t, 1), *const y = S(int32_t, 2);
	const int32_t *const z = S(int32_t, 3);

	if (in->type != T_S32 || (in->op != OP_add && in->op != OP_sub &&
	    (in->op != OP_mad || in->mode != MODE_HI)))
		return false;
	for (int i = 0; i < LANES; i++) {
		int64_t r = in->op == OP_add ? (int64_t)x[i] + y[i]
		    : in->op == OP_sub ? (int64_t)x[i] - y[i]
		    : ((int64_t)x[i] * y[i] >> 32) + z[i];

		r = r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r;
		if (l->mask >> i & 1)
			((int32_t *)(void *)l->d)[i] = (int32_t)r;
	}
	return true;
}

/* Two numbers of 16 bits in a register. */
#define PAIRS(T, e) { const T *const x = S(T, 1), *const y = S(T, 2); \
	for (int i = 0; i < 2 * LANES; i++) \
		if (l->mask >> i / 2 & 1) \
			((T *)(void *)l->d)[i] = (T)(e); \
	break; }

static bool
pairs(const struct lanes *l)
{
	const bool relu = l->in->flags & FLAG_RELU;

	switch (l->in->op * T_TYPES + l->in->type) {
	case K(add, U16X2): case K(add, S16X2): PAIRS(uint16_t, x[i] + y[i])
	case K(min, U16X2): PAIRS(uint16_t, x[i] < y[i] ? x[i] : y[i])
	case K(max, U16X2): PAIRS(uint16_t, x[i] > y[i] ? x[i] : y[i])
	case K(min, S16X2): PAIRS(int16_t, relu && (x[i] < 0 || y[i] < 0) ? 0
	    : x[i] < y[i] ? x[i] : y[i])
	case K(max, S16X2): PAIRS(int16_t, relu && x[i] < 0 && y[i] < 0 ? 0
	    : x[i] > y[i] ? x[i] : y[i])
	default: return false;
	}
	return true;
}

bool
ptx_integer(const struct lanes *l)
{
	if (l->in->flags & FLAG_SAT)
		return saturate(l);
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(abs, S16): UNARY(int16_t, x[i] < 0 ? -x[i] : x[i])
	case K(abs, S32): UNARY(uint32_t, x[i] >> 31 ? -x[i] : x[i])
	case K(abs, S64): UNARY(uint64_t, x[i] >> 63 ? -x[i] : x[i])
	default:
		return multiply(l) || divide(l) || count_bits(l) || pairs(l);
	}
	return true;
}
