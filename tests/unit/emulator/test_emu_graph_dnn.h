/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_graph_dnn.h -- what the tests of cuDNN's
 * emulated graph interface share: descriptors, graphs of a convolution with an
 * epilogue, engines of a described device. */
#ifndef AC_TEST_EMU_GRAPH_DNN_H
#define AC_TEST_EMU_GRAPH_DNN_H

#include "tests/unit/emulator/test_emu.h"

#include <cudnn.h>

typedef cudnnBackendDescriptor_t descriptor;

enum { DNN_X = 'x', DNN_W = 'w', DNN_Y = 'y', DNN_Z = 'z', DNN_B = 'b',
	DNN_OUT = 'o' };
enum { DNN_CONFIGS = 16 };

/* All that a test lets go of at its end. */
static descriptor dnn_all[4096];
static int dnn_count;

static inline descriptor
dnn_new(cudnnBackendDescriptorType_t type)
{
	descriptor d = NULL;

	OK(cudnnBackendCreateDescriptor(type, &d));
	assert_true(dnn_count < (int)(sizeof dnn_all / sizeof *dnn_all));
	dnn_all[dnn_count++] = d;
	return d;
}

static inline int
dnn_release(void **state)
{
	(void)state;
	while (dnn_count)
		cudnnBackendDestroyDescriptor(dnn_all[--dnn_count]);
	return 0;
}

static inline void
dnn_set(descriptor d, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	OK(cudnnBackendSetAttribute(d, name, type, count, values));
}

static inline void
dnn_put(descriptor d, cudnnBackendAttributeName_t name, descriptor value)
{
	dnn_set(d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

struct dnn_shape {
	int64_t n, c, hw, k, rs, pad;
	bool    nhwc;
};

static const struct dnn_shape dnn_small = { 2, 4, 5, 3, 3, 1, false };

static inline void
dnn_strides(const int64_t dim[4], bool nhwc, int64_t stride[4])
{
	stride[0] = dim[1] * dim[2] * dim[3];
	stride[1] = nhwc ? 1 : dim[2] * dim[3];
	stride[2] = nhwc ? dim[1] * dim[3] : dim[3];
	stride[3] = nhwc ? dim[1] : 1;
}

static inline descriptor
dnn_tensor_of(int64_t id, cudnnDataType_t type, int64_t dims,
    const int64_t *dim, const int64_t *stride, bool is_virtual)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
	const int64_t alignment = 8;

	dnn_set(d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
	dnn_set(d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, dims, dim);
	dnn_set(d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, dims, stride);
	dnn_set(d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &id);
	dnn_set(d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1,
	    &alignment);
	dnn_set(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1,
	    &is_virtual);
	OK(cudnnBackendFinalize(d));
	return d;
}

static inline descriptor
dnn_tensor(int64_t id, cudnnDataType_t type, const int64_t dim[4], bool nhwc,
    bool is_virtual)
{
	int64_t stride[4];

	dnn_strides(dim, nhwc, stride);
	return dnn_tensor_of(id, type, 4, dim, stride, is_virtual);
}

/* Not final yet. */
static inline descriptor
dnn_geometry(int64_t space, const int64_t *pre, const int64_t *post,
    const int64_t *stride, const int64_t *dilation,
    cudnnConvolutionMode_t mode, cudnnDataType_t compute)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);

	dnn_set(d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
	    &compute);
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
	    CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1,
	    &space);
	if (space < 1)
		return d;
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64,
	    space, pre);
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64,
	    space, post);
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, space,
	    dilation);
	dnn_set(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64,
	    space, stride);
	return d;
}

static inline descriptor
dnn_convolution(int64_t pad)
{
	const int64_t pads[2] = { pad, pad }, ones[2] = { 1, 1 };
	const descriptor d = dnn_geometry(2, pads, pads, ones, ones,
	    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);

	OK(cudnnBackendFinalize(d));
	return d;
}

/* What a graph computes: out = relu(conv + z + b), or the first part of it. */
enum dnn_op { DNN_FPROP, DNN_DGRAD, DNN_WGRAD };
struct dnn_wish {
	struct dnn_shape shape;
	cudnnDataType_t type;
	enum dnn_op op;
	float  beta;
	bool   add, bias;
	int    activation;      /* a pointwise mode, or 0 */
};

/* alpha and beta are of `type`. */
static inline descriptor
dnn_conv_scaled(enum dnn_op what, descriptor x, descriptor w, descriptor y,
    descriptor convolution, cudnnBackendAttributeType_t type,
    const void *alpha, const void *beta)
{
	static const struct {
		cudnnBackendDescriptorType_t type;
		cudnnBackendAttributeName_t x, w, y, conv, alpha, beta;
	} rows[] = {
#define ROW(t, a, x, w, y) {                                              \
	CUDNN_BACKEND_OPERATION_CONVOLUTION_##t##_DESCRIPTOR,             \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##x,                       \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##w,                       \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_##y,                       \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_CONV_DESC,                 \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_ALPHA,                     \
	CUDNN_ATTR_OPERATION_CONVOLUTION_##a##_BETA }
		ROW(FORWARD, FORWARD, X, W, Y),
		ROW(BACKWARD_DATA, BWD_DATA, DX, W, DY),
		ROW(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
#undef ROW
	};
	const descriptor op = dnn_new(rows[what].type);

	dnn_put(op, rows[what].x, x);
	dnn_put(op, rows[what].w, w);
	dnn_put(op, rows[what].y, y);
	dnn_put(op, rows[what].conv, convolution);
	dnn_set(op, rows[what].alpha, type, 1, alpha);
	dnn_set(op, rows[what].beta, type, 1, beta);
	OK(cudnnBackendFinalize(op));
	return op;
}

static inline descriptor
dnn_conv_op(const struct dnn_wish *wish, descriptor x, descriptor w,
    descriptor y)
{
	const float one = 1;

	return dnn_conv_scaled(wish->op, x, w, y,
	    dnn_convolution(wish->shape.pad), CUDNN_TYPE_FLOAT, &one,
	    &wish->beta);
}

static inline descriptor
dnn_pointwise(cudnnPointwiseMode_t mode, descriptor x, descriptor b,
    descriptor y)
{
	const descriptor p = dnn_new(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
	const descriptor op = dnn_new(
	    CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
	const cudnnDataType_t type = CUDNN_DATA_FLOAT;

	dnn_set(p, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1,
	    &mode);
	dnn_set(p, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1,
	    &type);
	OK(cudnnBackendFinalize(p));
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, p);
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
	if (b)
		dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
	dnn_put(op, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y);
	OK(cudnnBackendFinalize(op));
	return op;
}

static inline descriptor
dnn_graph_of(int64_t count, const descriptor *operations, cudnnHandle_t handle)
{
	const descriptor graph = dnn_new(
	    CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);

	dnn_set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, count, operations);
	if (handle)
		dnn_set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE,
		    CUDNN_TYPE_HANDLE, 1, &handle);
	OK(cudnnBackendFinalize(graph));
	return graph;
}

/* Virtual tensors stay FP32, as the shim's twins have them. */
static inline descriptor
dnn_graph(const struct dnn_wish *wish, cudnnHandle_t handle)
{
	const struct dnn_shape *s = &wish->shape;
	const int64_t out = s->hw + 2 * s->pad - s->rs + 1;
	const int64_t x[4] = { s->n, s->c, s->hw, s->hw };
	const int64_t w[4] = { s->k, s->c, s->rs, s->rs };
	const int64_t y[4] = { s->n, s->k, out, out };
	const int64_t b[4] = { 1, s->k, 1, 1 };
	const int steps = wish->add + wish->bias + (wish->activation != 0);
	descriptor ops[4], last;
	int count = 0;

#define END(is_last) ((is_last) ? dnn_tensor(DNN_OUT, wish->type, y, s->nhwc, \
	false) : dnn_tensor(100 + count, CUDNN_DATA_FLOAT, y, s->nhwc, true))
	last = steps ? END(false) : dnn_tensor(DNN_Y, wish->type, y, s->nhwc,
	    false);
	ops[count++] = dnn_conv_op(wish, dnn_tensor(DNN_X, wish->type, x,
	    s->nhwc, false), dnn_tensor(DNN_W, wish->type, w, s->nhwc, false),
	    last);
	if (wish->add) {
		const descriptor next = END(count == steps);

		ops[count++] = dnn_pointwise(CUDNN_POINTWISE_ADD, last,
		    dnn_tensor(DNN_Z, wish->type, y, s->nhwc, false), next);
		last = next;
	}
	if (wish->bias) {
		const descriptor next = END(count == steps);

		ops[count++] = dnn_pointwise(CUDNN_POINTWISE_ADD, last,
		    dnn_tensor(DNN_B, wish->type, b, s->nhwc, false), next);
		last = next;
	}
	if (wish->activation) {
		const descriptor next = END(true);

		ops[count++] = dnn_pointwise(
		    (cudnnPointwiseMode_t)wish->activation, last, NULL, next);
	}
#undef END
	return dnn_graph_of(count, ops, handle);
}

/* A device of this compute capability times 100, by its description. */
static inline descriptor
dnn_device(int version)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
	char json[64];

	snprintf(json, sizeof json, "{\"warpSize\":32, \"deviceVer\": %d}",
	    version);
	dnn_set(d, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
	    (int64_t)strlen(json) + 1, json);
	OK(cudnnBackendFinalize(d));
	return d;
}

static inline descriptor
dnn_heuristics(descriptor graph, descriptor device, cudnnBackendHeurMode_t mode)
{
	const descriptor h = dnn_new(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);

	dnn_put(h, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
	if (device)
		dnn_put(h, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device);
	dnn_set(h, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
	OK(cudnnBackendFinalize(h));
	return h;
}

/* The heuristics' results: how many of at most `most`. */
static inline int
dnn_results(descriptor heuristics, int most, descriptor configs[DNN_CONFIGS])
{
	int64_t count = -1;

	for (int i = 0; i < DNN_CONFIGS; i++)
		configs[i] = dnn_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	OK(cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, most, &count, configs));
	return (int)count;
}

static inline descriptor
dnn_engine_of(descriptor config)
{
	descriptor engine = dnn_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
	int64_t count;

	OK(cudnnBackendGetAttribute(config, CUDNN_ATTR_ENGINECFG_ENGINE,
	    CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &engine));
	return engine;
}

static inline int64_t
dnn_number(descriptor d, cudnnBackendAttributeName_t name)
{
	int64_t value = -1, count = -1;

	OK(cudnnBackendGetAttribute(d, name, CUDNN_TYPE_INT64, 1, &count,
	    &value));
	assert_int_equal(count, 1);
	return value;
}

static inline bool
dnn_has_note(descriptor engine, cudnnBackendNumericalNote_t note)
{
	cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT];
	int64_t count = 0;

	OK(cudnnBackendGetAttribute(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
	    CUDNN_TYPE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count,
	    notes));
	for (int64_t i = 0; i < count; i++)
		if (notes[i] == note)
			return true;
	return false;
}

/* An engine by its index; the status of finalizing it. */
static inline cudnnStatus_t
dnn_engine(descriptor graph, descriptor device, int64_t index,
    descriptor *engine_out)
{
	const descriptor e = dnn_new(CUDNN_BACKEND_ENGINE_DESCRIPTOR);

	dnn_put(e, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph);
	if (device)
		dnn_put(e, CUDNN_ATTR_ENGINE_DEVICEPROP, device);
	dnn_set(e, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
	    &index);
	*engine_out = e;
	return cudnnBackendFinalize(e);
}

/* A plan of that engine. */
static inline descriptor
dnn_plan(descriptor graph, descriptor device, int64_t index)
{
	const descriptor config = dnn_new(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
	const descriptor plan = dnn_new(
	    CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
	descriptor engine;

	OK(dnn_engine(graph, device, index, &engine));
	dnn_put(config, CUDNN_ATTR_ENGINECFG_ENGINE, engine);
	OK(cudnnBackendFinalize(config));
	dnn_put(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
	OK(cudnnBackendFinalize(plan));
	return plan;
}

static inline descriptor
dnn_pack(int64_t count, const int64_t *ids, void *const *pointers,
    void *workspace)
{
	const descriptor d = dnn_new(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);

	dnn_set(d, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64,
	    count, ids);
	dnn_set(d, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
	    count, pointers);
	if (workspace)
		dnn_set(d, CUDNN_ATTR_VARIANT_PACK_WORKSPACE,
		    CUDNN_TYPE_VOID_PTR, 1, &workspace);
	OK(cudnnBackendFinalize(d));
	return d;
}

#endif
