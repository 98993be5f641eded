/* SPDX-License-Identifier: Apache-2.0 */
/* bench/gpu-day/graph.c -- one convolution by cuDNN's graph interface, which
 * alone takes FP16 in and gives FP32; and its view of the device. */
#include "conv.h"

#include <stdlib.h>

enum { PLANS = 4, CONFIGS = 16, MADE = 128 };

typedef cudnnBackendDescriptor_t descriptor;

/* What graph_release() destroys. */
static struct {
	descriptor made[MADE];
	int count;
} pool;

static descriptor
create(cudnnBackendDescriptorType_t type)
{
	descriptor d;

	MUST(dnn.cudnnBackendCreateDescriptor(type, &d));
	gpu_must(pool.count == MADE, "too many descriptors");
	return pool.made[pool.count++] = d;
}

void
graph_release(void)
{
	MUST(cudaStreamSynchronize(gpu.stream));
	while (pool.count)
		MUST(dnn.cudnnBackendDestroyDescriptor(
		    pool.made[--pool.count]));
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

static descriptor
tensor(const struct conv *c, enum conv_tensor t, cudnnDataType_t type)
{
	const descriptor d = create(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	const int64_t alignment = 16, id = 'a' + (int)t;
	int size[4];
	size_t stride[4];
	int64_t sizes[4], strides[4];

	conv_layout(c, t, size, stride);
	for (int i = 0; i < 4; i++) {
		sizes[i] = size[i];
		strides[i] = (int64_t)stride[i];
	}
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

static const struct operation {
	cudnnBackendDescriptorType_t type;
	cudnnBackendAttributeName_t tensor[CONV_TENSORS], convolution, alpha,
	    beta;
} operations[CONV_OPS] = {
	{ CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
	  { CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	    CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y },
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA },
	{ CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
	  { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
	    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
	    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY },
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA },
	{ CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
	  { CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
	    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
	    CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY },
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
	  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA },
};

/* NULL: cuDNN has no such operation. */
static descriptor
operation_graph(const struct conv *c, cudnnDataType_t in, cudnnDataType_t out)
{
	const struct operation *is = &operations[c->op];
	const descriptor operation = create(is->type);
	descriptor graph;
	const float one = 1, zero = 0;

	for (int i = 0; i < CONV_TENSORS; i++) {
		const enum conv_tensor t = (enum conv_tensor)i;

		set_descriptor(operation, is->tensor[t], tensor(c, t,
		    t == conv_output(c->op) ? out : in));
	}
	set_descriptor(operation, is->convolution,
	    convolution(c->layer.rs / 2, c->layer.stride));
	set(operation, is->alpha, CUDNN_TYPE_FLOAT, 1, &one);
	set(operation, is->beta, CUDNN_TYPE_FLOAT, 1, &zero);
	if (dnn.cudnnBackendFinalize(operation))
		return NULL;
	graph = create(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
	set_descriptor(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, operation);
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

static bool
plan_make(descriptor config, struct graph_plan *plan_out)
{
	struct graph_plan p = { create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
		NULL, 0 };
	int64_t count;

	set_descriptor(p.plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	set(p.plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
	    &dnn.handle);
	if (dnn.cudnnBackendFinalize(p.plan) ||
	    dnn.cudnnBackendGetAttribute(p.plan,
	    CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
	    &count, &p.workspace) || p.workspace > CONV_WORKSPACE)
		return false;
	*plan_out = p;
	return true;
}

static void
pack_make(const struct conv *c, bool half, struct graph_plan *p)
{
	int64_t ids[CONV_TENSORS];
	void *pointers[CONV_TENSORS];

	for (int t = 0; t < CONV_TENSORS; t++) {
		ids[t] = 'a' + t;
		pointers[t] = c->data[t][half &&
		    t != (int)conv_output(c->op)];
	}
	p->pack = create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
	set(p->pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
	    CONV_TENSORS, ids);
	set(p->pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
	    CUDNN_TYPE_VOID_PTR, CONV_TENSORS, pointers);
	set(p->pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
	    &c->workspace);
	MUST(dnn.cudnnBackendFinalize(p->pack));
}

int
graph_plans(const struct conv *c, cudnnDataType_t in, cudnnDataType_t out,
    int room, struct graph_plan *plans_out)
{
	const descriptor graph = operation_graph(c, in, out);
	descriptor configs[CONFIGS];
	const int64_t count = graph ? configurations(graph, configs) : 0;
	int made = 0;

	for (int64_t i = 0; i < count && made < room; i++) {
		struct graph_plan *p = &plans_out[made];

		if (!plan_make(configs[i], p))
			continue;
		pack_make(c, in == CUDNN_DATA_HALF, p);
		/* A plan may be refused as late as here. */
		if (!dnn.cudnnBackendExecute(dnn.handle, p->plan, p->pack))
			made++;
	}
	return made;
}

void
graph_call(void *plan)
{
	const struct graph_plan *p = plan;

	MUST(dnn.cudnnBackendExecute(dnn.handle, p->plan, p->pack));
}

double
graph_seconds(const struct conv *c, cudnnDataType_t in, cudnnDataType_t out)
{
	struct graph_plan plans[PLANS];
	const int count = graph_plans(c, in, out, PLANS, plans);
	double best = 0;

	for (int i = 0; i < count; i++) {
		const double seconds = gpu_time(graph_call, &plans[i]).median;

		if (!(best > 0) || seconds < best)
			best = seconds;
	}
	graph_release();
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
	graph_release();
	return text;
}
