/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified_apart.h -- what becomes of a product that is apart:
 * one output, and the order in which a row of them is added up, once for both
 * sides. A NaN is always written as the GPU makes it. */
#ifndef AC_KERNELS_VERIFIED_APART_H
#define AC_KERNELS_VERIFIED_APART_H

#include "kernels/recast/gelu.h"
#include "kernels/verified/verified_body.h"

AC_CAST_BODY bool
ac_verified_is_apart(const struct ac_verified *v)
{
	return v->output.d || v->output.d_array;
}

/* 0 where the product is what is asked for. */
AC_CAST_BODY float
ac_verified_beta(const struct ac_verified *v)
{
	return ac_verified_is_apart(v) ? ac_cast_scalar_read(&v->output.beta)
	    : 0;
}

/* Whether D's errors are not the product's, relative to what is left. */
AC_CAST_BODY bool
ac_verified_adds(const struct ac_verified *v, float beta)
{
	return beta != 0 || (ac_verified_is_apart(v) && v->output.tail.bias);
}

/* ---- Places ------------------------------------------------------------ */

AC_CAST_BODY float *
ac_verified_d(const struct ac_verified *v, int64_t matrix)
{
	const struct ac_verified_output *o = &v->output;

	return o->d ? o->d + matrix * o->d_stride : o->d_array[matrix];
}

AC_CAST_BODY const float *
ac_verified_c(const struct ac_verified *v, int64_t matrix)
{
	const struct ac_verified_output *o = &v->output;

	return o->c ? o->c + matrix * o->c_stride : o->c_array[matrix];
}

AC_CAST_BODY int64_t
ac_verified_aux_at(const struct ac_verified *v, int64_t matrix, int64_t row,
    int64_t col)
{
	const struct ac_verified_tail *t = &v->output.tail;

	return matrix * t->aux_stride + col * t->aux_ld + row;
}

/* Whether bits are written for the gradient. */
AC_CAST_BODY bool
ac_verified_has_bits(const struct ac_verified_tail *t)
{
	return t->aux && t->activation == AC_ACTIVATION_RELU;
}

/* ---- One output -------------------------------------------------------- */

/* product + beta C; beta is not 0. */
AC_CAST_BODY float
ac_verified_sum(float product, float beta, float c)
{
	return product + beta * c;
}

/* What DGELU reads; of DRELU 1 where the bit is set, else 0. */
AC_CAST_BODY float
ac_verified_aux(const void *aux, uint32_t activation, int64_t at)
{
	if (activation == AC_ACTIVATION_DGELU)
		return ((const float *)aux)[at];
	if (activation == AC_ACTIVATION_DRELU)
		return (float)(((const uint8_t *)aux)[at / 8] >> (at & 7) & 1);
	return 0;
}

AC_CAST_BODY float
ac_verified_number(float x)
{
	return (ac_cast_bits(x) & 0x7fffffff) > AC_CAST_INF
	    ? ac_cast_float(0x7fffffff) : x;
}

/* D of y = product + beta C + bias. */
AC_CAST_BODY float
ac_verified_activate(uint32_t activation, float aux, float y)
{
	float d = y;

	if (activation == AC_ACTIVATION_RELU)
		d = y <= 0 ? 0 : y;
	if (activation == AC_ACTIVATION_DRELU)
		d = aux != 0 ? y : 0;
	if (activation == AC_ACTIVATION_GELU
	    || activation == AC_ACTIVATION_DGELU) {
		const bool done = activation == AC_ACTIVATION_GELU;
		const struct ac_recast_gelu gelu = ac_recast_gelu(done ? y
		    : aux);

		d = y * (done ? gelu.share : gelu.slope);
	}
	return ac_verified_number(d);
}

/* y of a product; `c` is not read with a beta of 0. */
AC_CAST_BODY float
ac_verified_y(const struct ac_verified *v, int64_t matrix, int64_t row,
    int64_t col, float product, float beta, const float *c)
{
	const struct ac_verified_tail *t = &v->output.tail;
	const float sum = beta != 0 ? ac_verified_sum(product, beta, *c)
	    : product;

	return t->bias ? sum + t->bias[matrix * t->bias_stride
	    + (t->bias_is_row ? col : row)] : sum;
}

/* D of y, and what goes to aux but for bits. */
AC_CAST_BODY float
ac_verified_follow(const struct ac_verified *v, int64_t matrix, int64_t row,
    int64_t col, float y)
{
	const struct ac_verified_tail *t = &v->output.tail;
	const int64_t at = ac_verified_aux_at(v, matrix, row, col);

	if (t->aux && t->activation == AC_ACTIVATION_GELU)
		((float *)t->aux)[at] = ac_verified_number(y);
	return ac_verified_activate(t->activation, ac_verified_aux(t->aux,
	    t->activation, at), y);
}

/* ---- Sums of rows ------------------------------------------------------ */

/* A row is added up in FP64: 64 columns from their first on, without those that
 * are mended for themselves unless the row is; then these, 64 at a time; then
 * the parts in this order. Of a call mended whole there is nothing apart. */
AC_CAST_BODY double *
ac_verified_partial(const struct ac_verified *v, int64_t matrix, int64_t part)
{
	const int64_t parts = 2 * ((v->n + AC_VERIFIED_SIDE - 1)
	    / AC_VERIFIED_SIDE);

	return v->output.tail.partials + (matrix * parts + part) * v->m;
}

#endif
