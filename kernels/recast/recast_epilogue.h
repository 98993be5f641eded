/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_epilogue.h -- what the library does to a product before
 * it is D, once for both sides: done to a reference, undone from an output.
 *
 * gelu.h says how far off a GELU is. */
#ifndef AC_KERNELS_RECAST_EPILOGUE_H
#define AC_KERNELS_RECAST_EPILOGUE_H

#include "kernels/recast/gelu.h"
#include "kernels/recast/recast_out.h"

enum {
	AC_RECAST_NEWTON = 3,     /* steps that undo a GELU */
	AC_RECAST_USABLE = 16     /* outputs that an estimate needs */
};

/* ---- Places ------------------------------------------------------------ */

/* What the library reads for one output. */
struct ac_recast_follower {
	const float *bias;        /* NULL: none */
	const void  *aux;
	int64_t  aux_at;
	uint32_t activation;
};

AC_CAST_BODY struct ac_recast_follower
ac_recast_follower_of(const struct ac_recast *r, int64_t matrix, int64_t row,
    int64_t col)
{
	const struct ac_recast_epilogue *e = &r->epilogue;
	struct ac_recast_follower follower;

	follower.bias = e->bias ? e->bias + matrix * e->bias_stride + row
	    : NULL;
	follower.aux = e->aux;
	follower.aux_at = matrix * e->aux_stride + col * e->aux_ld + row;
	follower.activation = e->activation;
	return follower;
}

/* What DGELU reads; of DRELU 1 where the bit is set, else 0. */
AC_CAST_BODY float
ac_recast_aux(const struct ac_recast_follower *f)
{
	if (f->activation == AC_ACTIVATION_DGELU)
		return ((const float *)f->aux)[f->aux_at];
	if (f->activation == AC_ACTIVATION_DRELU)
		return (float)(((const uint8_t *)f->aux)[f->aux_at / 8]
		    >> f->aux_at % 8 & 1);
	return 0;
}

AC_CAST_BODY double
ac_recast_bias(const struct ac_recast_follower *f)
{
	return f->bias ? (double)*f->bias : 0;
}

/* ---- Done -------------------------------------------------------------- */

/* D, and how fast it follows y. */
struct ac_recast_outcome {
	double value;
	float  slope;
};

AC_CAST_ONCE struct ac_recast_outcome
ac_recast_activate(uint32_t activation, float aux, double y)
{
	const bool open = activation == AC_ACTIVATION_DRELU ? aux != 0
	    : activation != AC_ACTIVATION_RELU || !(y <= 0);
	struct ac_recast_outcome outcome;

	outcome.value = open ? y : 0;
	outcome.slope = open;
	if (activation == AC_ACTIVATION_GELU
	    || activation == AC_ACTIVATION_DGELU) {
		const bool done = activation == AC_ACTIVATION_GELU;
		const struct ac_recast_gelu gelu = ac_recast_gelu(done
		    ? (float)y : aux);

		outcome.value = y * (double)(done ? gelu.share : gelu.slope);
		outcome.slope = gelu.slope;
	}
	return outcome;
}

/* ---- Undone ------------------------------------------------------------ */

/* y of an output D where it tells. GELU: for y > 0, where it rises by half of
 * y at least. Newton's steps come from the right, where it is as good as
 * convex, from min(2 D, D + 0.1701): gelu(y) is at least y / 2, and at least
 * y - 0.17004. After three y is off by 2e-7 of itself. That is 1e-3 of a
 * difference with something that is 2^12 times as large: nothing to a norm.
 * DGELU: where it is a quarter at least, so its own error is 1e-6 of it. A NaN
 * tells: a sample shall see it. */
AC_CAST_BODY bool
ac_recast_deactivate(uint32_t activation, float aux, float *d)
{
	const float out = *d;

	if (activation == AC_ACTIVATION_DGELU) {
		const float slope = ac_recast_gelu(aux).slope;

		*d = out / slope;
		return ac_recast_absolute(slope) >= 0.25f;
	}
	if (activation == AC_ACTIVATION_GELU) {
		float y = 2 * out < out + 0.1701f ? 2 * out : out + 0.1701f;

		AC_CAST_ROLLED
		for (int i = 0; i < AC_RECAST_NEWTON; i++) {
			const struct ac_recast_gelu gelu = ac_recast_gelu(y);

			y = y - (y * gelu.share - out) / gelu.slope;
		}
		*d = y;
	}
	return activation == AC_ACTIVATION_DRELU ? aux != 0
	    : !activation || !(out <= 0);
}

#endif
