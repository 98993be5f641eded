/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/float.c -- arithmetic of FP32 and FP64, rounded to nearest. */
#include "emulator/ptx/lanes.h"

static inline float
min32(float x, float y)
{
	if (x != x)
		return c32(y);
	if (y != y)
		return x;
	if (x == y) /* -0 below +0 */
		return f32_of(bits_of(x) | bits_of(y));
	return x < y ? x : y;
}

static inline float
max32(float x, float y)
{
	if (x != x)
		return c32(y);
	if (y != y)
		return x;
	if (x == y)
		return f32_of(bits_of(x) & bits_of(y));
	return x > y ? x : y;
}

static inline double
min64(double x, double y)
{
	if (x != x || y != y)
		return x == x ? x : c64(y);
	return x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static inline double
max64(double x, double y)
{
	if (x != x || y != y)
		return x == x ? x : c64(y);
	return x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static bool
add_multiply(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(add, F32): BINARY(float, c32(x[i] + y[i]))
	case K(sub, F32): BINARY(float, c32(x[i] - y[i]))
	case K(mul, F32): BINARY(float, c32(x[i] * y[i]))
	case K(add, F64): BINARY(double, c64(x[i] + y[i]))
	case K(sub, F64): BINARY(double, c64(x[i] - y[i]))
	case K(mul, F64): BINARY(double, c64(x[i] * y[i]))
	case K(mad, F32):
	case K(fma, F32): TERNARY(float, c32(__builtin_fmaf(x[i], y[i], z[i])))
	case K(mad, F64):
	case K(fma, F64): TERNARY(double, c64(__builtin_fma(x[i], y[i], z[i])))
	case K(div, F32): BINARY(float, c32(x[i] / y[i]))
	case K(div, F64): BINARY(double, c64(x[i] / y[i]))
	case K(rcp, F32): UNARY(float, c32(1 / x[i]))
	case K(rcp, F64): UNARY(double, c64(1 / x[i]))
	default: return false;
	}
	return true;
}

static bool
signs(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(neg, F32): UNARY(uint32_t, x[i] ^ 0x80000000)
	case K(neg, F64): UNARY(uint64_t, x[i] ^ 1ull << 63)
	case K(abs, F32): UNARY(uint32_t, x[i] & 0x7fffffff)
	case K(abs, F64): UNARY(uint64_t, x[i] & ~(1ull << 63))
	case K(copysign, F32): BINARY(uint32_t, (x[i] & 0x80000000) |
	    (y[i] & 0x7fffffff))
	case K(copysign, F64): BINARY(uint64_t, (x[i] & 1ull << 63) |
	    (y[i] & ~(1ull << 63)))
	default: return false;
	}
	return true;
}

static bool
least_and_most(const struct lanes *l)
{
	const bool nan = l->in->flags & FLAG_NAN;

	switch (l->in->op * T_TYPES + l->in->type) {
	case K(min, F32): BINARY(float, nan && !(x[i] == x[i] && y[i] == y[i])
	    ? nan32.x : min32(x[i], y[i]))
	case K(max, F32): BINARY(float, nan && !(x[i] == x[i] && y[i] == y[i])
	    ? nan32.x : max32(x[i], y[i]))
	case K(min, F64): BINARY(double, min64(x[i], y[i]))
	case K(max, F64): BINARY(double, max64(x[i], y[i]))
	default: return false;
	}
	return true;
}

#define FUNCTION32(op, e) case K(op, F32): { const float *const x = \
	S(float, 1); ONLY(float, c32((float)(e))); break; }

static bool
functions(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(sqrt, F32): UNARY(float, c32(__builtin_sqrtf(x[i])))
	case K(sqrt, F64): UNARY(double, c64(__builtin_sqrt(x[i])))
	case K(rsqrt, F32): UNARY(float, c32((float)(1 / __builtin_sqrt(
	    (double)x[i]))))
	case K(rsqrt, F64): UNARY(double, c64(1 / __builtin_sqrt(x[i])))
	FUNCTION32(sin, sin((double)x[i]))
	FUNCTION32(cos, cos((double)x[i]))
	FUNCTION32(lg2, log2((double)x[i]))
	FUNCTION32(ex2, exp2((double)x[i]))
	FUNCTION32(tanh, tanh((double)x[i]))
	default: return false;
	}
	return true;
}

bool
ptx_float(const struct lanes *l)
{
	switch (l->in->op) {
	case OP_add: case OP_sub: case OP_mul: case OP_mad: case OP_fma:
	case OP_div: case OP_rcp:
		return add_multiply(l);
	case OP_min: case OP_max:
		return least_and_most(l);
	case OP_neg: case OP_abs: case OP_copysign:
		return signs(l);
	default:
		return functions(l);
	}
}
