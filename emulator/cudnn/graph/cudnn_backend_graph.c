/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_graph.c -- what the operations of a graph
 * mean: a convolution, and pointwise operations behind it that are found by the
 * unique ids of their tensors. Anything else is a graph that no engine
 * knows. */
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <math.h>
#include <string.h>

void
emu_edge_read(const struct emu_body *tensor, struct emu_edge *out)
{
	const struct emu_value *dim = emu_body_find(tensor,
	    CUDNN_ATTR_TENSOR_DIMENSIONS);
	const struct emu_value *stride = emu_body_find(tensor,
	    CUDNN_ATTR_TENSOR_STRIDES);
	struct emu_edge edge = {
		.uid = emu_body_number(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID,
		    -1),
		.alignment = emu_body_number(tensor,
		    CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 1),
		.is_virtual = emu_body_number(tensor,
		    CUDNN_ATTR_TENSOR_IS_VIRTUAL, 0)
	};

	edge.tensor.type = (cudnnDataType_t)emu_body_number(tensor,
	    CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
	edge.tensor.dims = (int)dim->count;
	for (int i = 0; i < edge.tensor.dims && i < CUDNN_DIM_MAX; i++) {
		edge.tensor.dim[i] = dim->at.number[i];
		edge.tensor.stride[i] = stride->at.number[i];
	}
	*out = edge;
}

/* Where the operations keep what they have in common. */
static const struct {
	int type, x, w, y, descriptor, alpha, beta;
	enum emu_conv_operation operation;
} rows[] = {
#define ROW(t, a, x, w, y, op) {                                          \
	CUDNN_BACKEND_OPERATION_CONVOLUTION_##t##_DESCRIPTOR,             \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##x,                       \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##w,                       \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##y,                       \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_CONV_DESC,                 \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_ALPHA,                     \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_BETA, op }
	ROW(FORWARD, FORWARD, X, W, Y, EMU_CONV_FPROP),
	ROW(BACKWARD_DATA, BWD_DATA, DX, W, DY, EMU_CONV_DGRAD),
	ROW(BACKWARD_FILTER, BWD_FILTER, X, DW, DY, EMU_CONV_WGRAD),
#undef ROW
};

static void
read_space(const struct emu_body *body, int name, int space, int64_t *out)
{
	const struct emu_value *value = emu_body_find(body, name);

	for (int i = 0; i < space; i++)
		out[i] = value->at.number[i];
}

static bool
read_geometry(const struct emu_body *d, struct emu_graph *out)
{
	struct emu_conv *conv = &out->conv;

	conv->space = (int)emu_body_number(d,
	    CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);
	if (conv->space < 1 || conv->space > EMU_CONV_SPACE)
		return false;
	read_space(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, conv->space,
	    conv->pad);
	read_space(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, conv->space,
	    conv->post_pad);
	read_space(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, conv->space,
	    conv->stride);
	read_space(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, conv->space,
	    conv->dilation);
	conv->mode = (cudnnConvolutionMode_t)emu_body_number(d,
	    CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CONVOLUTION);
	out->compute = (cudnnDataType_t)emu_body_number(d,
	    CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
	return true;
}

bool
emu_graph_read_conv(const struct emu_body *operation, struct emu_graph *out)
{
	const struct emu_body *x, *w, *y, *descriptor;
	size_t i = 0;

	while (i < sizeof rows / sizeof *rows &&
	    rows[i].type != operation->type)
		i++;
	if (i == sizeof rows / sizeof *rows)
		return false;
	x = emu_body_child(operation, rows[i].x);
	w = emu_body_child(operation, rows[i].w);
	y = emu_body_child(operation, rows[i].y);
	descriptor = emu_body_child(operation, rows[i].descriptor);
	if (!x || !w || !y || !descriptor || !read_geometry(descriptor, out))
		return false;
	emu_edge_read(x, &out->x);
	emu_edge_read(w, &out->w);
	emu_edge_read(y, &out->y);
	out->conv.operation = rows[i].operation;
	out->conv.x = out->x.tensor;
	out->conv.w = out->w.tensor;
	out->conv.y = out->y.tensor;
	out->conv.alpha = emu_body_real(operation, rows[i].alpha, 1);
	out->conv.beta = emu_body_real(operation, rows[i].beta, 0);
	return emu_conv_is_valid(&out->conv);
}

bool
emu_graph_is_nhwc(const struct emu_graph *graph)
{
	return graph->conv.x.stride[1] == 1 && graph->conv.x.dim[1] > 1;
}

static cudnnPointwiseMode_t
mode_of(const struct emu_body *pointwise)
{
	return (cudnnPointwiseMode_t)emu_body_number(pointwise,
	    CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
}

bool
emu_graph_needs_other(const struct emu_body *pointwise)
{
	return mode_of(pointwise) == CUDNN_POINTWISE_ADD;
}

/* The pointwise operation that takes `uid`, as a step. */
static bool
read_step(const struct emu_body *operation, const struct emu_edge *in,
    struct emu_pointwise *out)
{
	const struct emu_body *p = emu_body_child(operation,
	    CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
	const struct emu_body *b = emu_body_child(operation,
	    CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
	struct emu_edge x, other = { .uid = -1 };
	struct emu_pointwise step = {
		.mode = mode_of(p),
		.alpha1 = emu_body_real(operation,
		    CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1),
		.alpha2 = emu_body_real(operation,
		    CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1),
		.lower = emu_body_real(p,
		    CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
		.upper = emu_body_real(p,
		    CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, HUGE_VAL),
		.slope = emu_body_real(p,
		    CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0)
	};

	emu_edge_read(emu_body_child(operation,
	    CUDNN_ATTR_OPERATION_POINTWISE_XDESC), &x);
	emu_edge_read(emu_body_child(operation,
	    CUDNN_ATTR_OPERATION_POINTWISE_YDESC), &step.out);
	if (b)
		emu_edge_read(b, &other);
	if (b && x.uid != in->uid && other.uid == in->uid) {
		const double alpha = step.alpha1;

		other = x;
		x.uid = in->uid;
		step.alpha1 = step.alpha2;
		step.alpha2 = alpha;
	}
	if (x.uid != in->uid)
		return false;
	step.other = other;
	*out = step;
	return true;
}

static const struct emu_edge *
output(const struct emu_graph *g)
{
	return g->conv.operation == EMU_CONV_FPROP ? &g->y :
	    g->conv.operation == EMU_CONV_DGRAD ? &g->x : &g->w;
}

/* Whether what it reads is in memory. */
static bool
has_inputs(const struct emu_graph *g)
{
	const struct emu_edge *const edges[] = { &g->x, &g->w, &g->y };

	for (int i = 0; i < 3; i++)
		if (edges[i] != output(g) && edges[i]->is_virtual)
			return false;
	return true;
}

/* Whether a step can follow on `in` and is known. */
static bool
is_known(const struct emu_pointwise *step, const struct emu_edge *in)
{
	const bool two = step->mode == CUDNN_POINTWISE_ADD;

	if (!two && step->mode != CUDNN_POINTWISE_RELU_FWD &&
	    step->mode != CUDNN_POINTWISE_TANH_FWD &&
	    step->mode != CUDNN_POINTWISE_SIGMOID_FWD &&
	    step->mode != CUDNN_POINTWISE_IDENTITY)
		return false;
	return two == (step->other.tensor.dims > 0) &&
	    emu_tensor_same_shape(&step->out.tensor, &in->tensor) &&
	    (!two || (!step->other.is_virtual &&
	    emu_tensor_broadcasts(&step->other.tensor, &in->tensor)));
}

cudnnStatus_t
emu_graph_read(const struct emu_value *operations, struct emu_graph *out)
{
	struct emu_graph g = { .is_convolution = false };
	const struct emu_edge *end;
	int convolutions = 0;
	int64_t used = 0;

	for (int64_t i = 0; i < operations->count; i++) {
		for (int64_t j = 0; j < i; j++)
			if (operations->at.body[i] == operations->at.body[j])
				return CUDNN_STATUS_BAD_PARAM;
		convolutions += emu_graph_read_conv(operations->at.body[i],
		    &g);
	}
	g.is_convolution = convolutions == 1 && has_inputs(&g);
	end = output(&g);
	for (bool more = true; more && g.is_convolution;) {
		more = false;
		for (int64_t i = 0; i < operations->count; i++) {
			const struct emu_body *b = operations->at.body[i];
			struct emu_pointwise *step = &g.step[g.steps];

			if (b->type !=
			    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
			    g.steps == EMU_GRAPH_STEPS ||
			    !read_step(b, end, step))
				continue;
			g.is_convolution &= is_known(step, end);
			g.steps++;
			used++;
			end = &step->out;
			more = true;
		}
	}
	/* Operations on the side, or a beta that would be read from a tensor
	 * that is nowhere: no engine. */
	if (used + 1 != operations->count || end->is_virtual ||
	    (g.conv.beta != 0 && g.steps))
		g.is_convolution = false;
	*out = g;
	return CUDNN_STATUS_SUCCESS;
}
