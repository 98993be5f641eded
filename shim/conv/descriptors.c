/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/descriptors.c -- a call of the older interface as a struct ac_conv,
 * which cuDNN's own getters read from the program's descriptors. */
#include "shim/conv/descriptors.h"

#include <string.h>

enum { DIMS = 8, SPACE = 6 }; /* what the getters take (doc/design.md D7) */

/* Of an address: as cuDNN counts it, up to 16 bytes. */
static int64_t
alignment_of(const void *pointer)
{
	const uintptr_t bits = (uintptr_t)pointer | 16;

	return (int64_t)(bits & -bits);
}

static bool
set_tensor(struct ac_conv_tensor *tensor, int64_t uid, const void *data,
    cudnnDataType_t type, int dims, const int *dim)
{
	if (dims < 3 || dims > AC_CONV_DIMS)
		return false;
	tensor->uid = uid;
	tensor->alignment = alignment_of(data);
	tensor->dims = dims;
	tensor->type = (int32_t)type;
	for (int i = 0; i < dims; i++)
		tensor->dim[i] = dim[i];
	return true;
}

static bool
read_tensor(struct ac_provider *provider, cudnnTensorDescriptor_t descriptor,
    const void *data, int64_t uid, struct ac_conv_tensor *tensor)
{
	__typeof__(&cudnnGetTensorNdDescriptor) get =
	    PROVIDER(provider, cudnnGetTensorNdDescriptor);
	int dims = 0, dim[DIMS], stride[DIMS];
	cudnnDataType_t type;

	if (!descriptor || !get || get(descriptor, DIMS, &type, &dims, dim,
	    stride) || !set_tensor(tensor, uid, data, type, dims, dim))
		return false;
	for (int i = 0; i < dims; i++)
		tensor->stride[i] = stride[i];
	return true;
}

/* Filters are packed: k outermost, and c innermost in NHWC. */
static bool
read_filter(struct ac_provider *provider, cudnnFilterDescriptor_t descriptor,
    const void *data, struct ac_conv_tensor *tensor)
{
	__typeof__(&cudnnGetFilterNdDescriptor) get =
	    PROVIDER(provider, cudnnGetFilterNdDescriptor);
	int dims = 0, dim[DIMS];
	cudnnTensorFormat_t format;
	cudnnDataType_t type;
	int64_t stride = 1;

	if (!descriptor || !get || get(descriptor, DIMS, &type, &format, &dims,
	    dim) || (format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC)
	    || !set_tensor(tensor, AC_CONV_W, data, type, dims, dim))
		return false;
	if (format == CUDNN_TENSOR_NHWC) {
		tensor->stride[1] = 1;
		stride = dim[1];
	}
	for (int i = dims - 1; i >= 0; i--) {
		if (i == 1 && format == CUDNN_TENSOR_NHWC)
			continue;
		tensor->stride[i] = stride;
		stride *= dim[i];
	}
	return true;
}

static bool
read_geometry(const struct ac_conv_call *call, struct ac_conv *conv,
    cudnnMathType_t *math_out)
{
	struct ac_provider *provider = call->provider;
	__typeof__(&cudnnGetConvolutionNdDescriptor) get =
	    PROVIDER(provider, cudnnGetConvolutionNdDescriptor);
	__typeof__(&cudnnGetConvolutionMathType) get_math =
	    PROVIDER(provider, cudnnGetConvolutionMathType);
	int space = 0, pad[SPACE], stride[SPACE], dilation[SPACE];
	cudnnConvolutionMode_t mode;
	cudnnDataType_t type;

	if (!call->conv_desc || !get || !get_math || get(call->conv_desc, SPACE,
	    &space, pad, stride, dilation, &mode, &type)
	    || get_math(call->conv_desc, math_out)
	    || space < 1 || space > AC_CONV_SPACE)
		return false;
	conv->space = space;
	conv->mode = (int32_t)mode;
	conv->type = (int32_t)type;
	for (int i = 0; i < space; i++) {
		conv->pad[i] = conv->post_pad[i] = pad[i];
		conv->stride[i] = stride[i];
		conv->dilation[i] = dilation[i];
	}
	return true;
}

/* The groups are implied by the channels; a program that says otherwise gets
 * cuDNN's own answer. */
static bool
groups_agree(const struct ac_conv_call *call, const struct ac_conv *conv)
{
	__typeof__(&cudnnGetConvolutionGroupCount) get =
	    PROVIDER(call->provider, cudnnGetConvolutionGroupCount);
	int groups = 1;

	return get && !get(call->conv_desc, &groups) && groups > 0
	    && conv->x.dim[1] == conv->w.dim[1] * groups
	    && conv->w.dim[0] % groups == 0;
}

/* ---- conv + add z + bias + activation ---------------------------------- */

static struct ac_conv_step *
add_step(struct ac_conv *conv, cudnnPointwiseMode_t mode,
    const struct ac_conv_tensor *out)
{
	struct ac_conv_step *step = &conv->step[conv->steps];

	step->mode = (int32_t)mode;
	step->type = CUDNN_DATA_FLOAT;
	conv->scalars.alpha1[conv->steps] = conv->scalars.alpha2[conv->steps] =
	    1;
	step->out = *out;
	step->out.uid = AC_CONV_VIRTUAL + 1 + conv->steps++;
	step->out.is_virtual = 1;
	return step;
}

/* cuDNN refuses tensors of other extents; the sample would read beyond them. */
static bool
read_epilogue(const struct ac_conv_call *call, struct ac_conv *conv)
{
	__typeof__(&cudnnGetActivationDescriptor) get =
	    PROVIDER(call->provider, cudnnGetActivationDescriptor);
	const struct ac_conv_tensor out = conv->y;
	struct ac_conv_tensor z = { .uid = 0 };
	cudnnActivationMode_t mode;
	cudnnNanPropagation_t propagation;
	double coefficient;

	if (!get || get(call->activation, &mode, &propagation, &coefficient)
	    || (mode != CUDNN_ACTIVATION_RELU
	    && mode != CUDNN_ACTIVATION_IDENTITY))
		return false;
	/* No other algorithm goes without an activation (cuDNN's manual). */
	if (mode == CUDNN_ACTIVATION_IDENTITY && call->algo
	    != (int)CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM)
		return false;
	conv->y.uid = AC_CONV_VIRTUAL;
	conv->y.is_virtual = 1;
	/* cuDNN looks at it even where it is not read. */
	if (!read_tensor(call->provider, call->z_desc, call->z, AC_CONV_Z, &z)
	    || !ac_conv_is_like(&z, &out, false)
	    || (*call->beta == 0 && z.type != out.type))
		return false;
	if (*call->beta != 0) {
		add_step(conv, CUDNN_POINTWISE_ADD, &out)->other = z;
		conv->scalars.alpha2[0] = (double)*call->beta;
	}
	if (!read_tensor(call->provider, call->bias_desc, call->bias,
	    AC_CONV_BIAS, &add_step(conv, CUDNN_POINTWISE_ADD, &out)->other)
	    || !ac_conv_is_like(&conv->step[conv->steps - 1].other, &out, true)
	    || conv->step[conv->steps - 1].other.stride[1] != 1)
		return false;
	if (mode == CUDNN_ACTIVATION_RELU)
		add_step(conv, CUDNN_POINTWISE_RELU_FWD, &out);
	conv->step[conv->steps - 1].out = out;
	conv->scales = conv->scalars.alpha != 1
	    || (*call->beta != 0 && *call->beta != 1);
	return true;
}

bool
ac_conv_of_call(const struct ac_conv_call *call, struct ac_conv *conv_out,
    cudnnMathType_t *math_out)
{
	struct ac_conv *conv = conv_out;

	memset(conv, 0, sizeof *conv);
	conv->operation = (int32_t)call->operation;
	conv->scalar_type = CUDNN_DATA_FLOAT;
	if (!read_tensor(call->provider, call->x_desc, call->x, AC_CONV_X,
	    &conv->x)
	    || !read_tensor(call->provider, call->y_desc, call->y, AC_CONV_Y,
	    &conv->y)
	    || !read_filter(call->provider, call->w_desc, call->w, &conv->w)
	    || !read_geometry(call, conv, math_out)
	    || conv->x.dims != conv->space + 2 || conv->w.dims != conv->x.dims
	    || conv->y.dims != conv->x.dims || !groups_agree(call, conv))
		return false;
	conv->scalars.alpha = call->alpha ? (double)*call->alpha : 1;
	if (call->activation)
		return read_epilogue(call, conv);
	conv->scalars.beta = call->beta ? (double)*call->beta : 0;
	conv->adds = conv->scalars.beta != 0;
	conv->scales = conv->scalars.alpha != 1;
	return true;
}

/* ---- Memory ------------------------------------------------------------ */

uint64_t
ac_conv_extent(const struct ac_conv_tensor *tensor)
{
	uint64_t last = 0;

	for (int i = 0; i < tensor->dims; i++)
		last += (uint64_t)(tensor->dim[i] - 1)
		    * (uint64_t)tensor->stride[i];
	return (last + 1) * sizeof(float);
}

static bool
meets(const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes)
{
	const uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return a && b && x < y + b_bytes && y < x + a_bytes;
}

bool
ac_conv_overlaps(const struct ac_conv_data *data, const struct ac_conv *conv)
{
	enum { TENSORS = 3 + AC_CONV_STEPS };
	const struct ac_conv_tensor *out = ac_conv_last_output(conv);
	const struct ac_conv_tensor *all[TENSORS] = {
		&conv->x, &conv->w, &conv->y
	};
	const uint64_t bytes = ac_conv_extent(out);

	for (int i = 0; i < AC_CONV_STEPS; i++)
		all[3 + i] = &conv->step[i].other;
	for (int i = 0; i < TENSORS; i++)
		if (all[i]->dims && all[i]->uid <= AC_CONV_ROLES
		    && all[i]->uid != out->uid && meets(data->of[out->uid - 1],
		    bytes, data->of[all[i]->uid - 1], ac_conv_extent(all[i])))
			return true;
	return false;
}

/* A status that is not SUCCESS is what the call itself would answer. */
static cudnnStatus_t
own_bytes(const struct ac_conv_call *call, size_t *bytes_out)
{
	struct ac_provider *provider = call->provider;

#define ASK(of, algo_t, first, second, third)                                 \
	(PROVIDER(provider, cudnnGetConvolution##of##WorkspaceSize)           \
	    ? PROVIDER(provider, cudnnGetConvolution##of##WorkspaceSize)(     \
	    call->handle, call->first, call->second, call->conv_desc,         \
	    call->third, (algo_t)call->algo, bytes_out)                       \
	    : CUDNN_STATUS_NOT_SUPPORTED)
	switch (call->operation) {
	case AC_OP_CONV_DGRAD:
		return ASK(BackwardData, cudnnConvolutionBwdDataAlgo_t, w_desc,
		    y_desc, x_desc);
	case AC_OP_CONV_WGRAD:
		return ASK(BackwardFilter, cudnnConvolutionBwdFilterAlgo_t,
		    x_desc, y_desc, w_desc);
	default:
		return ASK(Forward, cudnnConvolutionFwdAlgo_t, x_desc, w_desc,
		    y_desc);
	}
#undef ASK
}

bool
ac_conv_is_good(const struct ac_conv_call *call, _Atomic int64_t *known)
{
	int64_t needed = atomic_load_explicit(known, memory_order_relaxed);
	size_t bytes;

	if (needed < 0) {
		needed = own_bytes(call, &bytes) ? INT64_MAX : (int64_t)bytes;
		atomic_store_explicit(known, needed, memory_order_relaxed);
	}
	return call->bytes >= (uint64_t)needed && (!needed || call->workspace);
}
