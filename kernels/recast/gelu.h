/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/gelu.h -- GELU, its form with tanh, and its gradient, once for
 * the GPU and the CPU.
 *
 * In FP32. gelu(y) = y / (1 + e^-2u), u = sqrt(2 / pi) (y + 0.044715 y^3), is
 * off by 1e-7 |y| and the gradient by 2e-7 (all y in steps of 1e-4); a library
 * that computes 1 + tanh(u) in FP32 is off by 1.3e-7 |y| and 5.6e-7. Together
 * that is less than 2^-20: what an output is off by so little says nothing of
 * its product. */
#ifndef AC_KERNELS_GELU_H
#define AC_KERNELS_GELU_H

#include "kernels/recast/cast.h"

struct ac_recast_gelu {
	float share;    /* gelu(y) / y */
	float slope;    /* gelu'(y) */
};

/* The slope at an infinity is NaN, as cublasLt has it (bench/results, n9).
 * e^-2u = 2^power, whose fraction is in [-1/2, 1/2]: of its series the term
 * after the last is 1.2e-7. Beyond 10 nothing is left of it in FP32. */
AC_CAST_BODY struct ac_recast_gelu
ac_recast_gelu(float y)
{
	const float near = y > 10 ? 10 : y < -10 ? -10 : y;
	const float square = near * near;
	const float power = near * (-2.302208198f - 0.1029432397f * square);
	const float whole = power + 0x1.8p23f; /* in its last bits */
	const float x = power - (whole - 0x1.8p23f);
	const float scale = ac_cast_float((ac_cast_bits(whole) << 23)
	    + (127u << 23));
	const float e = scale * (1 + x * (0.693147181f + x * (0.240226507f
	    + x * (0.0555041087f + x * (0.00961812911f + x * (0.00133335581f
	    + x * 0.000154035304f))))));
	struct ac_recast_gelu gelu;

	gelu.share = y < -10 ? 0 : 1 / (1 + e);
	gelu.slope = gelu.share + near * (1.5957691216f + 0.2140644488f
	    * square) * (e * gelu.share * gelu.share) + (y - y);
	return gelu;
}

#endif
