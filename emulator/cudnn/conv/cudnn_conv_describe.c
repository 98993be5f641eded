/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/conv/cudnn_conv_describe.c -- what legacy descriptors mean,
 * which of cuDNN's algorithms can do it, and the workspace that these need.
 * Computes nothing. */
#include "emulator/cudnn/base/cudnn_descriptor.h"

/* Types of tensors, and the type that they are computed in. */
static bool
is_supported(const struct emu_conv *conv, cudnnDataType_t compute)
{
	const cudnnDataType_t type = conv->x.type;
	const struct emu_model *model =
	    emu_device_model(emu_context_device());

	if (conv->w.type != type || conv->y.type != type)
		return false;
	switch ((int)type) {
	case CUDNN_DATA_HALF:
		return compute == CUDNN_DATA_FLOAT ||
		    compute == CUDNN_DATA_HALF;
	case CUDNN_DATA_BFLOAT16:
		return compute == CUDNN_DATA_FLOAT &&
		    model->rate[EMU_BF16] > 0;
	case CUDNN_DATA_FLOAT:
	case CUDNN_DATA_DOUBLE:
		return compute == type;
	default:
		return false;
	}
}

cudnnStatus_t
emu_conv_describe(enum emu_conv_operation operation,
    cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
    struct emu_conv *out)
{
	struct emu_conv conv = { .operation = operation };

	if (!x || !w || !convolution || !y)
		return CUDNN_STATUS_BAD_PARAM;
	if (convolution->space > EMU_CONV_SPACE)
		return CUDNN_STATUS_NOT_SUPPORTED;
	conv.space = convolution->space;
	conv.x = x->tensor;
	conv.w = w->tensor;
	conv.y = y->tensor;
	conv.mode = convolution->mode;
	for (int i = 0; i < conv.space; i++) {
		conv.pad[i] = conv.post_pad[i] = convolution->pad[i];
		conv.stride[i] = convolution->stride[i];
		conv.dilation[i] = convolution->dilation[i];
	}
	if (!emu_conv_is_valid(&conv) ||
	    conv.x.dim[1] != conv.w.dim[1] * convolution->groups)
		return CUDNN_STATUS_BAD_PARAM;
	if (!is_supported(&conv, convolution->compute))
		return CUDNN_STATUS_NOT_SUPPORTED;
	conv.arithmetic = emu_conv_arithmetic(emu_context_device(),
	    convolution->math, conv.x.type, conv.w.type);
	*out = conv;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- algorithms ---------------------------------------------------------- */

enum { NEVER, ALWAYS, PLANAR, WINOGRAD };
static const struct {
	int count;
	struct {
		unsigned char when, deterministic;
	} algorithm[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
} operations[] = {
	[EMU_CONV_FPROP] = { CUDNN_CONVOLUTION_FWD_ALGO_COUNT, {
		[CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM] = { ALWAYS, 1 },
		[CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM] =
			{ ALWAYS, 1 },
		[CUDNN_CONVOLUTION_FWD_ALGO_GEMM] = { PLANAR, 1 },
		[CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED] =
			{ WINOGRAD, 1 } } },
	[EMU_CONV_DGRAD] = { CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, {
		[CUDNN_CONVOLUTION_BWD_DATA_ALGO_0] = { ALWAYS, 0 },
		[CUDNN_CONVOLUTION_BWD_DATA_ALGO_1] = { ALWAYS, 1 },
		[CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED] =
			{ WINOGRAD, 1 } } },
	[EMU_CONV_WGRAD] = { CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, {
		[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0] = { ALWAYS, 0 },
		[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1] = { ALWAYS, 1 },
		[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3] = { PLANAR, 0 },
		[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED] =
			{ WINOGRAD, 1 } } },
};

int
emu_conv_algorithms(enum emu_conv_operation operation)
{
	return operations[operation].count;
}

static bool
is_winograd(const struct emu_conv *conv)
{
	for (int i = 0; i < conv->space; i++)
		if (conv->w.dim[2 + i] != 3 || conv->stride[i] != 1 ||
		    conv->dilation[i] != 1)
			return false;
	return conv->space == 2 && conv->x.type != CUDNN_DATA_DOUBLE &&
	    conv->x.dim[1] == conv->w.dim[1];
}

bool
emu_conv_algorithm_fits(const struct emu_conv *conv, int algorithm)
{
	switch (operations[conv->operation].algorithm[algorithm].when) {
	case ALWAYS:
		return true;
	case PLANAR:
		return conv->space == 2;
	case WINOGRAD:
		return is_winograd(conv);
	default:
		return false;
	}
}

bool
emu_conv_algorithm_is_deterministic(enum emu_conv_operation operation,
    int algorithm)
{
	return operations[operation].algorithm[algorithm].deterministic;
}

/* As in cuDNN: for Tensor Cores the inputs are rearranged in the workspace. The
 * first algorithm of each operation needs none; programs rely on that. */
size_t
emu_conv_workspace(const struct emu_conv *conv, int algorithm)
{
	size_t bytes = 4096 + (size_t)(algorithm + 1) *
	    (size_t)emu_tensor_elements(&conv->w) * sizeof(float);

	if (!algorithm)
		return 0;
	if (conv->arithmetic != EMU_FP32 && conv->arithmetic != EMU_FP64)
		bytes += (size_t)emu_tensor_elements(&conv->x) * sizeof(float);
	return (bytes + 255) & ~(size_t)255;
}
