/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/graph.c -- one forward convolution by cuDNN's graph interface,
 * which alone takes FP16 in and gives FP32; and its view of the device. */
#include "conv.h"

#include <stdlib.h>

enum { X = 'x', W = 'w', Y = 'y', PLANS = 4, CONFIGS = 16 };

typedef cudnnBackendDescriptor_t descriptor;

static descriptor
create(cudnnBackendDescriptorType_t type)
{
	descriptor d;

	MUST(dnn.cudnnBackendCreateDescriptor(type, &d));
	return d;
}

static void
set(descriptor d, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	MUST(dnn.cudnnBackendSetAttribute(d, name, type, count, values));
}

static void
set_descriptor(descriptor d, cudnnBackendAttributeName_t name, descriptor to)
{
	set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &to);
}

/* N, C, H, W; as NHWC lies in memory. */
static descriptor
tensor(int64_t id, cudnnDataType_t type, const int64_t sizes[4])
{
	const descriptor d = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	const int64_t alignment = 16, strides[4] = {
		sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3],
		sizes[1] };

	set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 4, sizes);
	set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, 4, strides);
	set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
	set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
	    &alignment);
	MUST(dnn.cudnnBackendFinalize(d));
	return d;
}

static descriptor
convolution(int64_t padding, int64_t stride)
{
	const descriptor d = create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
	const cudnnDataType_t compute = CUDNN_DATA_FLOAT;
	const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	const int64_t dimensions = 2, ones[2] = { 1, 1 };
	const int64_t pads[2] = { padding, padding };
	const int64_t strides[2] = { stride, stride };

	set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &compute);
	set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
	    1, &mode);
	set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1,
	    &dimensions);
	set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
	set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, 2, pads);
	set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, 2, ones);
	set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, 2,
	    strides);
	MUST(dnn.cudnnBackendFinalize(d));
	return d;
}

/* NULL: cuDNN has no such operation. */
static descriptor
operation_graph(const struct layer *l, cudnnDataType_t in, cudnnDataType_t out)
{
	const int64_t side = conv_y_side(l);
	const int64_t x[4] = { l->n, l->c, l->hw, l->hw };
	const int64_t w[4] = { l->k, l->c, l->rs, l->rs };
	const int64_t y[4] = { l->n, l->k, side, side };
	const descriptor forward = create(
	    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
	descriptor graph;
	const float one = 1, zero = 0;

	set_descriptor(forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	    tensor(X, in, x));
	set_descriptor(forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	    tensor(W, in, w));
	set_descriptor(forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
	    tensor(Y, out, y));
	set_descriptor(forward,
	    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
	    convolution(l->rs / 2, l->stride));
	set(forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
	    CUDNN_TYPE_FLOAT, 1, &one);
	set(forward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
	    CUDNN_TYPE_FLOAT, 1, &zero);
	if (dnn.cudnnBackendFinalize(forward))
		return NULL;
	graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	set_descriptor(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, forward);
	set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &dnn.handle);
	return dnn.cudnnBackendFinalize(graph) ? NULL : graph;
}

/* Engine configurations, best first: how many. */
static int64_t
configurations(descriptor graph, descriptor configs[CONFIGS])
{
	const descriptor heuristic = create(
	    CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
	const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
	int64_t count = 0;

	set_descriptor(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
	    graph);
	set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
	    &mode);
	if (dnn.cudnnBackendFinalize(heuristic))
		return 0;
	for (int i = 0; i < CONFIGS; i++)
		configs[i] = create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	if (dnn.cudnnBackendGetAttribute(heuristic,
	    CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
	    CONFIGS, &count, configs))
		return 0;
	return count < CONFIGS ? count : CONFIGS;
}

struct plan {
	descriptor plan, pack;
};

static void
call(void *context)
{
	const struct plan *p = context;

	MUST(dnn.cudnnBackendExecute(dnn.handle, p->plan, p->pack));
}

static bool
plan_make(descriptor config, struct plan *plan_out)
{
	struct plan p = { create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
		NULL };
	int64_t bytes = 0, count;

	set_descriptor(p.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	set(p.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &dnn.handle);
	if (dnn.cudnnBackendFinalize(p.plan) ||
	    dnn.cudnnBackendGetAttribute(p.plan,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
	    &count, &bytes) || bytes > CONV_WORKSPACE)
		return false;
	*plan_out = p;
	return true;
}

static void
pack_make(const struct conv *c, bool half, struct plan *p)
{
	const int64_t ids[3] = { X, W, Y };
	void *pointers[3] = { c->data[CONV_X][half], c->data[CONV_W][half],
		c->data[CONV_Y][0] };

	p->pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	set(p->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, 3,
	    ids);
	set(p->pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
	    CUDNN_TYPE_VOID_PTR, 3, pointers);
	set(p->pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &c->workspace);
	MUST(dnn.cudnnBackendFinalize(p->pack));
}

double
graph_seconds(const struct conv *c, cudnnDataType_t in, cudnnDataType_t out)
{
	const descriptor graph = operation_graph(&c->layer, in, out);
	descriptor configs[CONFIGS];
	const int64_t count = graph ? configurations(graph, configs) : 0;
	struct plan plan;
	double best = 0;
	int tried = 0;

	for (int64_t i = 0; i < count && tried < PLANS; i++) {
		double seconds;

		if (!plan_make(configs[i], &plan))
			continue;
		pack_make(c, in == CUDNN_DATA_HALF, &plan);
		/* A plan may be refused as late as here. */
		if (dnn.cudnnBackendExecute(dnn.handle, plan.plan, plan.pack))
			continue;
		tried++;
		seconds = gpu_time(call, &plan).median;
		if (!(best > 0) || seconds < best)
			best = seconds;
	}
	return best;
}

char *
graph_device(void)
{
	const descriptor d = create(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	const int32_t device = 0;
	int64_t size = 0;
	char *text = NULL;

	set(d, CUDNN_ATTR_DEVICEPROP_DEVICE_ID, CUDNN_TYPE_INT32, 1, &device);
	if (!dnn.cudnnBackendFinalize(d) && !dnn.cudnnBackendGetAttribute(d,
	    CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0,
	    &size, NULL) && size > 0 &&
	    (text = calloc((size_t)size + 1, 1)) &&
	    dnn.cudnnBackendGetAttribute(d,
	    CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, size,
	    &size, text)) {
		free(text);
		text = NULL;
	}
	MUST(dnn.cudnnBackendDestroyDescriptor(d));
	return text;
}
