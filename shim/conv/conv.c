/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv.c -- which convolutions a rung of ours could serve. Pure. */
#include "shim/conv/conv.h"

#include <cudnn.h>

/* What does not fit here is no convolution of practice, and its products
 * overflow in what describes it. */
enum { LARGEST_SIDE = 1 << 30, LARGEST_FILTER = 1 << 15 };

const struct ac_conv_uids ac_conv_roles = {
	{ AC_CONV_X, AC_CONV_W, AC_CONV_Y, AC_CONV_Z, AC_CONV_BIAS }
};

static bool
is_fp32(const struct ac_conv_tensor *tensor)
{
	return tensor->type == CUDNN_DATA_FLOAT;
}

static bool
fits(const struct ac_conv_tensor *tensor)
{
	if (tensor->dims < 3 || tensor->dims > AC_CONV_DIMS)
		return false;
	for (int32_t i = 0; i < tensor->dims; i++)
		if (tensor->dim[i] < 1 || tensor->dim[i] > LARGEST_SIDE)
			return false;
	return true;
}

static bool
is_all_fp32(const struct ac_conv *conv)
{
	for (int32_t i = 0; i < conv->steps; i++) {
		const struct ac_conv_step *step = &conv->step[i];

		if ((step->other.dims && !is_fp32(&step->other))
		    || !is_fp32(&step->out) || step->type != CUDNN_DATA_FLOAT)
			return false;
	}
	return is_fp32(&conv->x) && is_fp32(&conv->w) && is_fp32(&conv->y)
	    && conv->type == CUDNN_DATA_FLOAT;
}

enum ac_reason
ac_conv_objection(const struct ac_conv *conv)
{
	const struct ac_conv_tensor *w = &conv->w;

	if (conv->has_more || conv->steps < 0 || conv->steps > AC_CONV_STEPS)
		return AC_REASON_UNSUPPORTED;
	if (!is_all_fp32(conv))
		return AC_REASON_TYPE;
	if (conv->operation < AC_OP_CONV_FPROP
	    || conv->operation > AC_OP_CONV_WGRAD || conv->adds
	    || !fits(&conv->x) || !fits(w) || !fits(&conv->y)
	    || conv->x.dims != w->dims || conv->y.dims != w->dims
	    || w->dims != conv->space + 2)
		return AC_REASON_UNSUPPORTED;
	for (int32_t i = 0; i < conv->space; i++)
		if (w->dim[2 + i] > LARGEST_FILTER
		    || conv->stride[i] > LARGEST_FILTER
		    || conv->dilation[i] > LARGEST_FILTER)
			return AC_REASON_UNSUPPORTED;
	return AC_REASON_NONE;
}

bool
ac_conv_is_like(const struct ac_conv_tensor *tensor,
    const struct ac_conv_tensor *y, bool is_bias)
{
	for (int32_t i = 0; i < y->dims; i++)
		if (tensor->dim[i] != (is_bias && i != 1 ? 1 : y->dim[i]))
			return false;
	return tensor->dims == y->dims;
}

void
ac_conv_rename(const struct ac_conv *conv, const struct ac_conv_uids *uids,
    struct ac_conv *conv_out)
{
	const int64_t *of = uids->of;
	uint64_t inner = 0;

	for (unsigned i = 0; i < AC_CONV_ROLES; i++)
		inner = (uint64_t)of[i] > inner ? (uint64_t)of[i] : inner;
	*conv_out = *conv;
	conv_out->x.uid = of[AC_CONV_X - 1];
	conv_out->w.uid = of[AC_CONV_W - 1];
	conv_out->y.uid = conv->steps ? (int64_t)++inner : of[AC_CONV_Y - 1];
	for (int32_t i = 0; i < conv->steps; i++) {
		struct ac_conv_step *step = &conv_out->step[i];

		if (step->other.dims)
			step->other.uid = of[step->other.uid - 1];
		step->out.uid = i + 1 < conv->steps ? (int64_t)++inner
		    : of[AC_CONV_Y - 1];
	}
}
