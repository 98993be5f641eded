/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_final.c -- what a descriptor of the graph
 * interface must have before it is final. Sizes that no device has are refused
 * here, so that nothing behind it can overflow; cuDNN takes some of them. */
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <limits.h>
#include <stdlib.h>

enum { SPACE_MAX = 6 }; /* what cuDNN takes; it computes 3 at most */

static int64_t
count(const struct emu_body *body, int name)
{
	const struct emu_value *value = emu_body_find(body, name);

	return value ? value->count : 0;
}

/* Set, and all of them from `least` to INT_MAX. */
static bool
all_least(const struct emu_body *body, int name, int64_t least)
{
	const struct emu_value *value = emu_body_find(body, name);

	for (int64_t i = 0; value && i < value->count; i++)
		if (value->at.number[i] < least ||
		    value->at.number[i] > INT_MAX)
			return false;
	return value;
}

/* Whether its elements are fewer than 2^48, as are places from the first to
 * the last of them. */
static bool
fits_memory(const struct emu_body *b)
{
	const struct emu_value *dim = emu_body_find(b,
	    CUDNN_ATTR_TENSOR_DIMENSIONS);
	const struct emu_value *stride = emu_body_find(b,
	    CUDNN_ATTR_TENSOR_STRIDES);
	double elements = 1, places = 1;

	for (int64_t i = 0; i < dim->count; i++) {
		const double size = (double)dim->at.number[i];

		if (stride->at.number[i] < 0)
			return false;
		elements *= size;
		places += (size - 1) * (double)stride->at.number[i];
	}
	return elements < 0x1p48 && places < 0x1p48;
}

static cudnnStatus_t
final_tensor(const struct emu_body *b)
{
	const int64_t dims = count(b, CUDNN_ATTR_TENSOR_DIMENSIONS);
	const int64_t alignment = emu_body_number(b,
	    CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, 0);
	const size_t bytes = emu_dnn_bytes((cudnnDataType_t)emu_body_number(b,
	    CUDNN_ATTR_TENSOR_DATA_TYPE, -1));

	if (dims < 1 || dims > CUDNN_DIM_MAX ||
	    dims != count(b, CUDNN_ATTR_TENSOR_STRIDES) ||
	    !all_least(b, CUDNN_ATTR_TENSOR_DIMENSIONS, 1) ||
	    !fits_memory(b) || !bytes ||
	    alignment <= 0 || alignment % (int64_t)bytes)
		return CUDNN_STATUS_BAD_PARAM;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t
final_convolution(const struct emu_body *b)
{
	static const struct { int name, least; } rows[] = {
		{ CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0 },
		{ CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0 },
		{ CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1 },
		{ CUDNN_ATTR_CONVOLUTION_DILATIONS, 1 },
	};
	const int64_t space = emu_body_number(b,
	    CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, 0);

	if (space > SPACE_MAX)
		return CUDNN_STATUS_BAD_PARAM;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (count(b, rows[i].name) != space ||
		    !all_least(b, rows[i].name, rows[i].least))
			return CUDNN_STATUS_BAD_PARAM;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t
final_operation(const struct emu_body *b)
{
	struct emu_graph graph = { .is_convolution = false };

	return emu_graph_read_conv(b, &graph) ? CUDNN_STATUS_SUCCESS
	    : CUDNN_STATUS_BAD_PARAM;
}

static cudnnStatus_t
final_pointwise(const struct emu_body *b)
{
	const struct emu_body *p = emu_body_child(b,
	    CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);

	if (!p || !emu_body_child(b, CUDNN_ATTR_OPERATION_POINTWISE_XDESC) ||
	    !emu_body_child(b, CUDNN_ATTR_OPERATION_POINTWISE_YDESC))
		return CUDNN_STATUS_BAD_PARAM;
	return emu_graph_needs_other(p) && !emu_body_child(b,
	    CUDNN_ATTR_OPERATION_POINTWISE_BDESC) ? CUDNN_STATUS_BAD_PARAM
	    : CUDNN_STATUS_SUCCESS;
}

/* The identifiers and the pointers come in pairs. */
static cudnnStatus_t
final_pack(const struct emu_body *b)
{
	return count(b, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) ==
	    count(b, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)
	    ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

static cudnnStatus_t
final_graph(struct emu_body *b)
{
	const struct emu_value *operations = emu_body_find(b,
	    CUDNN_ATTR_OPERATIONGRAPH_OPS);
	struct emu_graph *graph;
	cudnnStatus_t status;

	if (!operations || !operations->count)
		return CUDNN_STATUS_BAD_PARAM;
	graph = calloc(1, sizeof *graph);
	if (!graph)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	status = emu_graph_read(operations, graph);
	if (status)
		free(graph);
	else
		b->graph = graph;
	return status;
}

static cudnnStatus_t
final_engine(const struct emu_body *b)
{
	const struct emu_graph *graph;
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

	if (!emu_body_child(b, CUDNN_ATTR_ENGINE_OPERATION_GRAPH))
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	emu_engine_of(b, &graph, &status);
	return status;
}

static cudnnStatus_t
final_properties(const struct emu_body *b)
{
	int capability;
	bool has_tf32;

	return emu_engine_device(b, NULL, &capability, &has_tf32)
	    ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

/* What only needs its one child. */
static cudnnStatus_t
final_parent(const struct emu_body *b, int name, cudnnStatus_t otherwise)
{
	return emu_body_child(b, name) ? CUDNN_STATUS_SUCCESS : otherwise;
}

cudnnStatus_t
emu_body_finalize(struct emu_body *b)
{
	switch (b->type) {
	case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
		return final_tensor(b);
	case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
		return final_convolution(b);
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
		return final_operation(b);
	case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
		return final_pointwise(b);
	case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
		return final_graph(b);
	case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
		return final_parent(b, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
		    CUDNN_STATUS_BAD_PARAM);
	case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
		return final_engine(b);
	case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
		return final_parent(b, CUDNN_ATTR_ENGINECFG_ENGINE,
		    CUDNN_STATUS_BAD_PARAM);
	case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
		if (emu_body_find(b,
		    CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION))
			return emu_json_load(b);
		return final_parent(b, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
		    CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
	case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
		return final_pack(b);
	case CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR:
		return CUDNN_STATUS_BAD_PARAM; /* engines give those */
	case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
		return final_properties(b);
	default: /* pointwise, knob choices: whatever is set */
		return CUDNN_STATUS_SUCCESS;
	}
}
