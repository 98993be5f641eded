/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/float.c -- functions of FP32 and FP64, rounded to nearest, and
 * what else quick.h does not have. */
#include "emulator/ptx/lanes.h"

/* min.NaN, max.NaN. */
static bool
least_and_most(const struct lanes *l)
{
	switch (l->in->op * T_TYPES + l->in->type) {
	case K(min, F32): BINARY(float, x[i] == x[i] && y[i] == y[i]
	    ? min32(x[i], y[i]) : nan32.x)
	case K(max, F32): BINARY(float, x[i] == x[i] && y[i] == y[i]
	    ? max32(x[i], y[i]) : nan32.x)
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
	return l->in->op == OP_min || l->in->op == OP_max ? least_and_most(l)
	    : functions(l);
}
