/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/ptx/directed.c -- FP32 and FP64 arithmetic that rounds in a
 * direction other than to nearest. */
#include "emulator/ptx/lanes.h"

#include <fenv.h>
#include <math.h>

static float
directed32(int op, volatile float x, volatile float y, volatile float z)
{
	volatile float r;

	switch (op) {
	case OP_add: r = x + y; break;
	case OP_sub: r = x - y; break;
	case OP_mul: r = x * y; break;
	case OP_mad: case OP_fma: r = fmaf(x, y, z); break;
	case OP_div: r = x / y; break;
	case OP_rcp: r = 1 / x; break;
	default: r = sqrtf(x); break;
	}
	return r;
}

static double
directed64(int op, volatile double x, volatile double y, volatile double z)
{
	volatile double r;

	switch (op) {
	case OP_add: r = x + y; break;
	case OP_sub: r = x - y; break;
	case OP_mul: r = x * y; break;
	case OP_mad: case OP_fma: r = fma(x, y, z); break;
	case OP_div: r = x / y; break;
	case OP_rcp: r = 1 / x; break;
	default: r = sqrt(x); break;
	}
	return r;
}

void
ptx_directed(const struct lanes *l)
{
	const int op = l->in->op;

	fesetround(ptx_host_rounding(l->in->round));
	for (int i = 0; i < LANES; i++)
		if (!(l->mask >> i & 1))
			continue;
		else if (l->in->type == T_F32)
			((float *)(void *)l->d)[i] = c32(directed32(op,
			    S(float, 1)[i], S(float, 2)[i], S(float, 3)[i]));
		else
			((double *)(void *)l->d)[i] = c64(directed64(op,
			    S(double, 1)[i], S(double, 2)[i],
			    S(double, 3)[i]));
	fesetround(FE_TONEAREST);
}
