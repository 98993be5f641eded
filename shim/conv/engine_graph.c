/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/engine_graph.c -- builds cuDNN's operation graph of a convolution.
 * cuDNN copies what it is given, so all but the graph is destroyed at once. */
#include "shim/conv/engine.h"

#include "shim/conv/builder.h"

struct graph {
	struct ac_builder builder;
	const struct ac_conv *conv;
	cudnnDataType_t type;
	cudnnBackendDescriptor_t operation[1 + AC_CONV_STEPS];
};

/* The attributes of each kind of convolution, in the order of enum role. */
enum role { ALPHA, BETA, CONVOLUTION, FILTER, IMAGE, RESPONSE, ROLES };
static const struct {
	enum ac_operation operation;
	cudnnBackendDescriptorType_t type;
	cudnnBackendAttributeName_t name[ROLES];
} kinds[] = {
	{ AC_OP_CONV_FPROP,
	  CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR, {
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y } },
	{ AC_OP_CONV_DGRAD,
	  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR, {
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY } },
	{ AC_OP_CONV_WGRAD,
	  CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR, {
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY } },
};

static void
set_child(struct graph *graph, cudnnBackendDescriptor_t parent,
    cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t child)
{
	ac_builder_set(&graph->builder, parent, name,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &child);
}

static cudnnBackendDescriptor_t
make_tensor(struct graph *graph, const struct ac_conv_tensor *tensor)
{
	struct ac_builder *builder = &graph->builder;
	const bool is_virtual = tensor->is_virtual;
	const cudnnDataType_t type = is_virtual
	    ? (cudnnDataType_t)tensor->type : graph->type;
	cudnnBackendDescriptor_t d = ac_builder_new(builder,
	    CUDNN_BACKEND_TENSOR_DESCRIPTOR);

	ac_builder_set(builder, d, CUDNN_ATTR_TENSOR_DATA_TYPE,
	    CUDNN_TYPE_DATA_TYPE, 1, &type);
	ac_builder_set(builder, d, CUDNN_ATTR_TENSOR_DIMENSIONS,
	    CUDNN_TYPE_INT64, tensor->dims, tensor->dim);
	ac_builder_set(builder, d, CUDNN_ATTR_TENSOR_STRIDES,
	    CUDNN_TYPE_INT64, tensor->dims, tensor->stride);
	ac_builder_set(builder, d, CUDNN_ATTR_TENSOR_UNIQUE_ID,
	    CUDNN_TYPE_INT64, 1, &tensor->uid);
	ac_builder_set(builder, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,
	    CUDNN_TYPE_INT64, 1, &tensor->alignment);
	if (is_virtual)
		ac_builder_set(builder, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL,
		    CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
	ac_builder_finalize(builder, d);
	return d;
}

static cudnnBackendDescriptor_t
make_convolution(struct graph *graph)
{
	const struct ac_conv *conv = graph->conv;
	struct ac_builder *builder = &graph->builder;
	const cudnnDataType_t type = (cudnnDataType_t)conv->type;
	const cudnnConvolutionMode_t mode = (cudnnConvolutionMode_t)conv->mode;
	const int64_t space = conv->space;
	cudnnBackendDescriptor_t d = ac_builder_new(builder,
	    CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

	ac_builder_set(builder, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
	    CUDNN_TYPE_DATA_TYPE, 1, &type);
	ac_builder_set(builder, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
	    CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
	ac_builder_set(builder, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
	    CUDNN_TYPE_INT64, 1, &space);
	ac_builder_set(builder, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS,
	    CUDNN_TYPE_INT64, space, conv->pad);
	ac_builder_set(builder, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS,
	    CUDNN_TYPE_INT64, space, conv->post_pad);
	ac_builder_set(builder, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
	    CUDNN_TYPE_INT64, space, conv->stride);
	ac_builder_set(builder, d, CUDNN_ATTR_CONVOLUTION_DILATIONS,
	    CUDNN_TYPE_INT64, space, conv->dilation);
	ac_builder_finalize(builder, d);
	return d;
}

static void
set_scalar(struct graph *graph, cudnnBackendDescriptor_t d,
    cudnnBackendAttributeName_t name, double value)
{
	const float single = (float)value;

	if (graph->conv->scalar_type == CUDNN_DATA_DOUBLE)
		ac_builder_set(&graph->builder, d, name, CUDNN_TYPE_DOUBLE, 1,
		    &value);
	else
		ac_builder_set(&graph->builder, d, name, CUDNN_TYPE_FLOAT, 1,
		    &single);
}

/* Returns what the convolution writes. */
static cudnnBackendDescriptor_t
make_first(struct graph *graph)
{
	const struct ac_conv *conv = graph->conv;
	cudnnBackendDescriptor_t x, w, y, d;
	unsigned kind = 0;

	while (kind < 2 && (int32_t)kinds[kind].operation != conv->operation)
		kind++;
	x = make_tensor(graph, &conv->x);
	w = make_tensor(graph, &conv->w);
	y = make_tensor(graph, &conv->y);
	d = make_convolution(graph);
	graph->operation[0] = ac_builder_new(&graph->builder, kinds[kind].type);
	set_child(graph, graph->operation[0], kinds[kind].name[CONVOLUTION], d);
	set_child(graph, graph->operation[0], kinds[kind].name[FILTER], w);
	set_child(graph, graph->operation[0], kinds[kind].name[IMAGE], x);
	set_child(graph, graph->operation[0], kinds[kind].name[RESPONSE], y);
	set_scalar(graph, graph->operation[0], kinds[kind].name[ALPHA],
	    conv->scalars.alpha);
	set_scalar(graph, graph->operation[0], kinds[kind].name[BETA],
	    conv->scalars.beta);
	ac_builder_finalize(&graph->builder, graph->operation[0]);
	return ac_conv_output(conv) == &conv->y ? y
	    : ac_conv_output(conv) == &conv->x ? x : w;
}

static cudnnBackendDescriptor_t
make_pointwise(struct graph *graph, const struct ac_conv_step *step)
{
	static const cudnnBackendAttributeName_t names[] = {
		CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP,
		CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP,
		CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE
	};
	const double clip[] = { step->lower_clip, step->upper_clip,
		step->slope };
	const cudnnPointwiseMode_t mode = (cudnnPointwiseMode_t)step->mode;
	const cudnnDataType_t type = (cudnnDataType_t)step->type;
	struct ac_builder *builder = &graph->builder;
	cudnnBackendDescriptor_t d = ac_builder_new(builder,
	    CUDNN_BACKEND_POINTWISE_DESCRIPTOR);

	ac_builder_set(builder, d, CUDNN_ATTR_POINTWISE_MODE,
	    CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
	ac_builder_set(builder, d, CUDNN_ATTR_POINTWISE_MATH_PREC,
	    CUDNN_TYPE_DATA_TYPE, 1, &type);
	for (unsigned i = 0; i < 3; i++)
		if (step->is_clipped >> i & 1)
			ac_builder_set(builder, d, names[i], CUDNN_TYPE_DOUBLE,
			    1, &clip[i]);
	ac_builder_finalize(builder, d);
	return d;
}

/* Returns what the step writes. */
static cudnnBackendDescriptor_t
make_step(struct graph *graph, unsigned i, cudnnBackendDescriptor_t in)
{
	const struct ac_conv_step *step = &graph->conv->step[i];
	struct ac_builder *builder = &graph->builder;
	const struct ac_conv_scalars *scalars = &graph->conv->scalars;
	const float alpha1 = (float)scalars->alpha1[i];
	const float alpha2 = (float)scalars->alpha2[i];
	cudnnBackendDescriptor_t out = make_tensor(graph, &step->out);
	cudnnBackendDescriptor_t pointwise = make_pointwise(graph, step);
	cudnnBackendDescriptor_t d = ac_builder_new(builder,
	    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);

	graph->operation[1 + i] = d;
	set_child(graph, d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
	    pointwise);
	set_child(graph, d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, in);
	ac_builder_set(builder, d, CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1,
	    CUDNN_TYPE_FLOAT, 1, &alpha1);
	if (step->other.dims) {
		set_child(graph, d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
		    make_tensor(graph, &step->other));
		ac_builder_set(builder, d,
		    CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, CUDNN_TYPE_FLOAT,
		    1, &alpha2);
	}
	set_child(graph, d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, out);
	ac_builder_finalize(builder, d);
	return out;
}

__attribute__((cold))
cudnnBackendDescriptor_t
ac_engine_graph(const struct ac_engine_device *device,
    const struct ac_conv *conv, cudnnDataType_t type)
{
	struct graph graph = { .builder.provider = device->provider,
		.conv = conv, .type = type };
	struct ac_builder *builder = &graph.builder;
	cudnnBackendDescriptor_t last, d;

	if (conv->steps < 0 || conv->steps > AC_CONV_STEPS)
		return NULL;
	last = make_first(&graph);
	for (int32_t i = 0; i < conv->steps; i++)
		last = make_step(&graph, (unsigned)i, last);
	d = ac_builder_new(builder, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	if (device->handle)
		ac_builder_set(builder, d, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
		    CUDNN_TYPE_HANDLE, 1, &device->handle);
	ac_builder_set(builder, d, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1 + conv->steps, graph.operation);
	ac_builder_finalize(builder, d);
	return ac_builder_end(builder, d);
}
