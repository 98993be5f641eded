/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow_graph.c -- a graph's convolution, perhaps with a chain of
 * pointwise operations behind it, as plain numbers. Pure: reads frozen
 * shadows only (shim/graph/shadow_note.h). */
#include "shim/graph/shadow_note.h"

#include <string.h>

#define HAS(shadow, at) ((shadow)->numbers >> (at) & 1)

static bool
is_known(const struct ac_shadow *shadow, cudnnBackendDescriptorType_t type)
{
	return shadow && shadow->type == (uint8_t)type && shadow->is_frozen
	    && !shadow->is_strange;
}

static bool
read_tensor(const struct ac_shadow *shadow, struct ac_conv_tensor *tensor)
{
	const int64_t *number;

	if (!is_known(shadow, CUDNN_BACKEND_TENSOR_DESCRIPTOR))
		return false;
	number = shadow->number;
	if (!HAS(shadow, AC_TENSOR_UID) || !HAS(shadow, AC_TENSOR_DIMS)
	    || number[AC_TENSOR_DIMS] < 3
	    || number[AC_TENSOR_DIMS] != number[AC_TENSOR_STRIDES])
		return false;
	tensor->uid = number[AC_TENSOR_UID];
	tensor->dims = (int32_t)number[AC_TENSOR_DIMS];
	for (int32_t i = 0; i < tensor->dims; i++) {
		tensor->dim[i] = number[AC_TENSOR_DIMS + 1 + i];
		tensor->stride[i] = number[AC_TENSOR_STRIDES + 1 + i];
	}
	tensor->alignment = number[AC_TENSOR_ALIGNMENT];
	tensor->type = (int32_t)number[AC_TENSOR_TYPE];
	tensor->is_virtual = number[AC_TENSOR_VIRTUAL] != 0;
	return HAS(shadow, AC_TENSOR_TYPE) && HAS(shadow, AC_TENSOR_ALIGNMENT);
}

static bool
read_space(const struct ac_shadow *shadow, unsigned at, int32_t space,
    int64_t *to)
{
	if (shadow->number[at] != space)
		return false;
	for (int32_t i = 0; i < space; i++)
		to[i] = shadow->number[at + 1 + (unsigned)i];
	return true;
}

static bool
read_convolution(const struct ac_shadow *shadow, struct ac_conv *conv)
{
	const int64_t *number;

	if (!is_known(shadow, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR))
		return false;
	number = shadow->number;
	if (number[AC_CONVOLUTION_SPACE] < 1
	    || number[AC_CONVOLUTION_SPACE] > AC_CONV_SPACE
	    || !HAS(shadow, AC_CONVOLUTION_TYPE)
	    || !HAS(shadow, AC_CONVOLUTION_MODE))
		return false;
	conv->space = (int32_t)number[AC_CONVOLUTION_SPACE];
	conv->type = (int32_t)number[AC_CONVOLUTION_TYPE];
	conv->mode = (int32_t)number[AC_CONVOLUTION_MODE];
	return read_space(shadow, AC_CONVOLUTION_PAD, conv->space, conv->pad)
	    && read_space(shadow, AC_CONVOLUTION_POST_PAD, conv->space,
		conv->post_pad)
	    && read_space(shadow, AC_CONVOLUTION_STRIDE, conv->space,
		conv->stride)
	    && read_space(shadow, AC_CONVOLUTION_DILATION, conv->space,
		conv->dilation);
}

/* Which operation of the policy's it is; -1: none. */
static int
operation_of(const struct ac_shadow *shadow)
{
	switch (shadow ? shadow->type : -1) {
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
		return AC_OP_CONV_FPROP;
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
		return AC_OP_CONV_DGRAD;
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
		return AC_OP_CONV_WGRAD;
	default:
		return -1;
	}
}

static double
alpha_of(const struct ac_shadow *shadow, unsigned which)
{
	return shadow->reals >> which & 1 ? shadow->real[which] : 1;
}

static bool
read_first(const struct ac_shadow *shadow, struct ac_conv *conv)
{
	if (!shadow->is_frozen || shadow->is_strange
	    || !read_tensor(shadow->child[AC_CHILD_X], &conv->x)
	    || !read_tensor(shadow->child[AC_CHILD_OTHER], &conv->w)
	    || !read_tensor(shadow->child[AC_CHILD_Y], &conv->y)
	    || !read_convolution(shadow->child[AC_CHILD_DESCRIPTOR], conv))
		return false;
	conv->operation = operation_of(shadow);
	conv->scalars.alpha = alpha_of(shadow, AC_REAL_ALPHA);
	conv->scalars.beta = shadow->real[AC_REAL_BETA];
	conv->adds = conv->scalars.beta != 0;
	conv->scalar_type = shadow->scalar_type;
	return true;
}

/* Those that engines for a convolution's epilogue know, by their number of
 * inputs; what else is set of them than a step holds is strange. */
static unsigned
inputs_of(int32_t mode)
{
	switch (mode) {
	case CUDNN_POINTWISE_ADD:
		return 2;
	case CUDNN_POINTWISE_RELU_FWD:
	case CUDNN_POINTWISE_TANH_FWD:
	case CUDNN_POINTWISE_SIGMOID_FWD:
	case CUDNN_POINTWISE_ELU_FWD:
	case CUDNN_POINTWISE_GELU_FWD:
	case CUDNN_POINTWISE_IDENTITY:
		return 1;
	default:
		return 0;
	}
}

static bool
read_pointwise(const struct ac_shadow *shadow, struct ac_conv_step *step)
{
	if (!is_known(shadow, CUDNN_BACKEND_POINTWISE_DESCRIPTOR)
	    || !HAS(shadow, AC_POINTWISE_MODE)
	    || !HAS(shadow, AC_POINTWISE_TYPE))
		return false;
	step->mode = (int32_t)shadow->number[AC_POINTWISE_MODE];
	step->type = (int32_t)shadow->number[AC_POINTWISE_TYPE];
	step->is_clipped = shadow->reals;
	step->lower_clip = shadow->real[AC_POINTWISE_LOWER];
	step->upper_clip = shadow->real[AC_POINTWISE_UPPER];
	step->slope = shadow->real[AC_POINTWISE_SLOPE];
	return inputs_of(step->mode) != 0;
}

/* Whether `shadow` is a step that takes `in`, which it then is. A sum may have
 * it on either side. */
static bool
read_step(const struct ac_shadow *shadow, int64_t in, struct ac_conv *conv)
{
	struct ac_conv_step *step = &conv->step[conv->steps];
	double *alpha1 = &conv->scalars.alpha1[conv->steps];
	double *alpha2 = &conv->scalars.alpha2[conv->steps];
	struct ac_conv_tensor x;
	unsigned inputs;

	memset(&x, 0, sizeof x);
	memset(step, 0, sizeof *step);
	if (!is_known(shadow, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)
	    || !read_pointwise(shadow->child[AC_CHILD_DESCRIPTOR], step)
	    || !read_tensor(shadow->child[AC_CHILD_X], &x)
	    || !read_tensor(shadow->child[AC_CHILD_Y], &step->out))
		return false;
	inputs = inputs_of(step->mode);
	*alpha1 = alpha_of(shadow, AC_REAL_ALPHA);
	*alpha2 = alpha_of(shadow, AC_REAL_BETA);
	if ((shadow->child[AC_CHILD_OTHER] != NULL) != (inputs == 2)
	    || (inputs == 2 && !read_tensor(shadow->child[AC_CHILD_OTHER],
		&step->other)))
		return false;
	if (x.uid == in)
		return inputs == 1 || step->other.uid != in;
	if (inputs == 1 || step->other.uid != in)
		return false;
	step->other = x;
	*alpha1 = alpha_of(shadow, AC_REAL_BETA);
	*alpha2 = alpha_of(shadow, AC_REAL_ALPHA);
	return true;
}

/* The operations but `first` are a chain behind it, in whatever order they are
 * listed. */
static bool
read_chain(const struct ac_shadow *graph, unsigned first, unsigned count,
    struct ac_conv *conv)
{
	unsigned used = 1u << first;
	int64_t in = ac_conv_output(conv)->uid;

	while (used != (1u << count) - 1) {
		unsigned i = 0;

		while (i < count && (used >> i & 1
		    || !read_step(graph->child[i], in, conv)))
			i++;
		if (i == count)
			return false;
		used |= 1u << i;
		in = conv->step[conv->steps++].out.uid;
	}
	return true;
}

bool
ac_shadow_describe(const struct ac_shadow *graph, struct ac_conv *conv_out)
{
	const int64_t count = graph->number[AC_GRAPH_OPERATIONS];
	unsigned first = 0;

	_Static_assert(AC_SHADOW_CHILDREN <= 1 + AC_CONV_STEPS,
	    "a graph's operations fit");
	memset(conv_out, 0, sizeof *conv_out);
	if (graph->is_strange || count < 1 || count > AC_SHADOW_CHILDREN)
		return false;
	while (first < count && operation_of(graph->child[first]) < 0)
		first++;
	if (first == count || !read_first(graph->child[first], conv_out)) {
		memset(conv_out, 0, sizeof *conv_out);
		return false;
	}
	if (!read_chain(graph, first, (unsigned)count, conv_out)) {
		memset(conv_out->step, 0, sizeof conv_out->step);
		conv_out->steps = 0;
		conv_out->has_more = 1;
	}
	return true;
}
