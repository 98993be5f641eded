/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_sample.c -- describes a convolution for the sampling kernel
 * (kernels/conv/conv_check.h). */
#include "shim/conv/conv_plan.h"

#include "kernels/conv/conv_check.h"
#include "shim/conv/descriptors.h"

static struct ac_conv_view
view_of(const struct ac_conv_tensor *tensor, const void *data)
{
	struct ac_conv_view view = { .data = data };

	for (int i = 0; i < AC_CONV_DIMS; i++) {
		view.dim[i] = i < tensor->dims ? tensor->dim[i] : 1;
		view.stride[i] = i < tensor->dims ? tensor->stride[i] : 0;
	}
	return view;
}

static void
add_epilogue(const struct ac_conv *conv, const struct ac_conv_data *data,
    struct ac_conv_check *check)
{
	for (int i = 0; i < conv->steps; i++) {
		const struct ac_conv_step *step = &conv->step[i];

		if (step->mode == CUDNN_POINTWISE_RELU_FWD) {
			check->relu = 1;
		} else if (step->other.uid == AC_CONV_Z) {
			check->z = view_of(&step->other,
			    data->of[AC_CONV_Z - 1]);
			check->alpha2 = (float)conv->scalars.alpha2[i];
		} else {
			check->bias = data->of[AC_CONV_BIAS - 1];
		}
	}
}

bool
ac_conv_sample(const struct ac_conv_site *site, const struct ac_conv_data *data,
    const struct ac_turn *turn, ac_cu_address post,
    const struct ac_place *place, uint32_t *scratch)
{
	const struct ac_conv *conv = &site->query.conv;
	struct ac_conv_check check = {
		.x = view_of(&conv->x, data->of[AC_CONV_X - 1]),
		.w = view_of(&conv->w, data->of[AC_CONV_W - 1]),
		.y = view_of(conv->steps ? ac_conv_last_output(conv)
		    : &conv->y, data->of[AC_CONV_Y - 1]),
		.operation = (uint32_t)(conv->operation - AC_OP_CONV_FPROP),
		.flip = conv->mode == CUDNN_CONVOLUTION,
		.groups = (uint32_t)(conv->x.dim[1] / conv->w.dim[1]),
		.alpha = (float)conv->scalars.alpha,
		.seed = (uint64_t)site->record->id << 32
		    ^ turn->number,
		.scratch = (double *)(void *)scratch,
		.post = (struct ac_conv_post *)(uintptr_t)post,
		.number = turn->number,
	};

	for (int i = 0; i < AC_CONV_SPACE; i++) {
		const bool is_there = i < conv->space;

		check.pad[i] = is_there ? (int32_t)conv->pad[i] : 0;
		check.stride[i] = is_there ? (int32_t)conv->stride[i] : 1;
		check.dilation[i] = is_there ? (int32_t)conv->dilation[i] : 1;
	}
	add_epilogue(conv, data, &check);
	return !ac_conv_check(place->kernels, &check, place->stream);
}
