/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend_attribute.c -- which attributes the
 * descriptors of cuDNN's graph interface have, and keeping their values. Data
 * and storage; what they mean is others'. */
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <stdlib.h>
#include <string.h>

/* Descriptor, attribute, type of its values, how many, access, default. */
#define ROW(d, a, t, n, access) { CUDNN_BACKEND_##d##_DESCRIPTOR,         \
	CUDNN_ATTR_##a, CUDNN_TYPE_##t, -1, n, access, 0, 0 }
#define WITH(d, a, t, n, access, value) { CUDNN_BACKEND_##d##_DESCRIPTOR, \
	CUDNN_ATTR_##a, CUDNN_TYPE_##t, -1, n, access, 1, value }
#define REAL(d, a, access, has, value) { CUDNN_BACKEND_##d##_DESCRIPTOR,  \
	CUDNN_ATTR_##a, CUDNN_TYPE_DOUBLE, CUDNN_TYPE_FLOAT, 1, access, has, \
	value }
#define CHILD(d, a) ROW(d, a, BACKEND_DESCRIPTOR, 1, 'b')
#define CONV(d, a, x, w, y)                                               \
	REAL(OPERATION_CONVOLUTION_##d, OPERATION_CONVOLUTION_##a##_ALPHA, \
	    'b', 1, 1),                                                   \
	REAL(OPERATION_CONVOLUTION_##d, OPERATION_CONVOLUTION_##a##_BETA, \
	    'b', 1, 0),                                                   \
	CHILD(OPERATION_CONVOLUTION_##d,                                  \
	    OPERATION_CONVOLUTION_##a##_CONV_DESC),                       \
	CHILD(OPERATION_CONVOLUTION_##d, OPERATION_CONVOLUTION_##a##_##x), \
	CHILD(OPERATION_CONVOLUTION_##d, OPERATION_CONVOLUTION_##a##_##w), \
	CHILD(OPERATION_CONVOLUTION_##d, OPERATION_CONVOLUTION_##a##_##y)

static const struct emu_attribute attributes[] = {
	ROW(TENSOR, TENSOR_DATA_TYPE, DATA_TYPE, 1, 'b'),
	ROW(TENSOR, TENSOR_DIMENSIONS, INT64, 12, 'b'),
	ROW(TENSOR, TENSOR_STRIDES, INT64, 12, 'b'),
	ROW(TENSOR, TENSOR_BYTE_ALIGNMENT, INT64, 1, 'b'),
	WITH(TENSOR, TENSOR_UNIQUE_ID, INT64, 1, 'b', -1),
	WITH(TENSOR, TENSOR_VECTOR_COUNT, INT64, 1, 'b', 1),
	WITH(TENSOR, TENSOR_VECTORIZED_DIMENSION, INT64, 1, 'b', -1),
	WITH(TENSOR, TENSOR_IS_VIRTUAL, BOOLEAN, 1, 'b', 0),
	WITH(TENSOR, TENSOR_IS_BY_VALUE, BOOLEAN, 1, 'b', 0),
	WITH(TENSOR, TENSOR_REORDERING_MODE, TENSOR_REORDERING_MODE, 1, 'b', 0),
	CHILD(TENSOR, TENSOR_RAGGED_OFFSET_DESC),
	ROW(CONVOLUTION, CONVOLUTION_COMP_TYPE, DATA_TYPE, 1, 'b'),
	WITH(CONVOLUTION, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, 1, 'b',
	    CUDNN_CONVOLUTION),
	ROW(CONVOLUTION, CONVOLUTION_SPATIAL_DIMS, INT64, 1, 'b'),
	ROW(CONVOLUTION, CONVOLUTION_PRE_PADDINGS, INT64, 12, 'b'),
	ROW(CONVOLUTION, CONVOLUTION_POST_PADDINGS, INT64, 12, 'b'),
	ROW(CONVOLUTION, CONVOLUTION_DILATIONS, INT64, 12, 'b'),
	ROW(CONVOLUTION, CONVOLUTION_FILTER_STRIDES, INT64, 12, 'b'),
	WITH(POINTWISE, POINTWISE_MODE, POINTWISE_MODE, 1, 'b',
	    CUDNN_POINTWISE_ADD),
	WITH(POINTWISE, POINTWISE_MATH_PREC, DATA_TYPE, 1, 'b',
	    CUDNN_DATA_FLOAT),
	ROW(POINTWISE, POINTWISE_NAN_PROPAGATION, NAN_PROPOGATION, 1, 'b'),
	REAL(POINTWISE, POINTWISE_RELU_LOWER_CLIP, 's', 0, 0),
	REAL(POINTWISE, POINTWISE_RELU_UPPER_CLIP, 's', 0, 0),
	REAL(POINTWISE, POINTWISE_RELU_LOWER_CLIP_SLOPE, 's', 0, 0),
	CONV(FORWARD, FORWARD, X, W, Y),
	CONV(BACKWARD_DATA, BWD_DATA, DX, W, DY),
	CONV(BACKWARD_FILTER, BWD_FILTER, X, DW, DY),
	CHILD(OPERATION_POINTWISE, OPERATION_POINTWISE_PW_DESCRIPTOR),
	CHILD(OPERATION_POINTWISE, OPERATION_POINTWISE_XDESC),
	CHILD(OPERATION_POINTWISE, OPERATION_POINTWISE_BDESC),
	CHILD(OPERATION_POINTWISE, OPERATION_POINTWISE_YDESC),
	REAL(OPERATION_POINTWISE, OPERATION_POINTWISE_ALPHA1, 'b', 0, 0),
	REAL(OPERATION_POINTWISE, OPERATION_POINTWISE_ALPHA2, 'b', 0, 0),
	ROW(OPERATIONGRAPH, OPERATIONGRAPH_HANDLE, HANDLE, 1, 'b'),
	ROW(OPERATIONGRAPH, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, 64, 's'),
	ROW(OPERATIONGRAPH, OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, INT64, 1,
	    'g'),
	WITH(ENGINEHEUR, ENGINEHEUR_MODE, HEUR_MODE, 1, 'b',
	    CUDNN_HEUR_MODE_INSTANT),
	CHILD(ENGINEHEUR, ENGINEHEUR_OPERATION_GRAPH),
	ROW(ENGINEHEUR, ENGINEHEUR_SM_COUNT_TARGET, INT32, 1, 'b'),
	ROW(ENGINEHEUR, ENGINEHEUR_RESULTS, BACKEND_DESCRIPTOR, 64, 'g'),
	CHILD(ENGINE, ENGINE_OPERATION_GRAPH),
	WITH(ENGINE, ENGINE_GLOBAL_INDEX, INT64, 1, 'b', -1),
	ROW(ENGINE, ENGINE_SM_COUNT_TARGET, INT32, 1, 'b'),
	ROW(ENGINE, ENGINE_KNOB_INFO, BACKEND_DESCRIPTOR, 64, 'g'),
	ROW(ENGINE, ENGINE_NUMERICAL_NOTE, NUMERICAL_NOTE, 64, 'g'),
	ROW(ENGINE, ENGINE_BEHAVIOR_NOTE, BEHAVIOR_NOTE, 64, 'g'),
	CHILD(ENGINECFG, ENGINECFG_ENGINE),
	ROW(ENGINECFG, ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR, 64, 'b'),
	ROW(KNOB_CHOICE, KNOB_CHOICE_KNOB_TYPE, KNOB_TYPE, 1, 'b'),
	ROW(KNOB_CHOICE, KNOB_CHOICE_KNOB_VALUE, INT64, 1, 'b'),
	ROW(KNOB_INFO, KNOB_INFO_TYPE, KNOB_TYPE, 1, 'g'),
	ROW(KNOB_INFO, KNOB_INFO_MAXIMUM_VALUE, INT64, 1, 'g'),
	ROW(KNOB_INFO, KNOB_INFO_MINIMUM_VALUE, INT64, 1, 'g'),
	ROW(KNOB_INFO, KNOB_INFO_STRIDE, INT64, 1, 'g'),
	ROW(EXECUTION_PLAN, EXECUTION_PLAN_HANDLE, HANDLE, 1, 'b'),
	CHILD(EXECUTION_PLAN, EXECUTION_PLAN_ENGINE_CONFIG),
	ROW(EXECUTION_PLAN, EXECUTION_PLAN_WORKSPACE_SIZE, INT64, 1, 'g'),
	ROW(EXECUTION_PLAN, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, 1 << 30,
	    'b'),
	ROW(VARIANT_PACK, VARIANT_PACK_UNIQUE_IDS, INT64, 1024, 's'),
	ROW(VARIANT_PACK, VARIANT_PACK_DATA_POINTERS, VOID_PTR, 1024, 's'),
	ROW(VARIANT_PACK, VARIANT_PACK_WORKSPACE, VOID_PTR, 1, 'b'),
	/* CUDNN_ATTR_VARIANT_PACK_OVERRIDE_UNIQUE_IDS, which old headers lack;
	 * sizes to go with them cannot be set. */
	{ CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, 1010, CUDNN_TYPE_INT64, -1,
	  1024, 's', 0, 0 },
#if CUDNN_MAJOR > 8
	WITH(OPERATIONGRAPH, OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED, BOOLEAN,
	    1, 'b', 0),
	CHILD(ENGINEHEUR, ENGINEHEUR_DEVICEPROP),
	CHILD(ENGINE, ENGINE_DEVICEPROP),
	ROW(ENGINECFG, ENGINECFG_WORKSPACE_SIZE, INT64, 1, 'g'),
	CHILD(EXECUTION_PLAN, EXECUTION_PLAN_DEVICEPROP),
	ROW(DEVICEPROP, DEVICEPROP_DEVICE_ID, INT32, 1, 'b'),
	ROW(DEVICEPROP, DEVICEPROP_HANDLE, HANDLE, 1, 'b'),
	ROW(DEVICEPROP, DEVICEPROP_JSON_REPRESENTATION, CHAR, 16384, 'b'),
#endif
};

const struct emu_attribute *
emu_attribute_find(int type, int name)
{
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].type == type && attributes[i].name == name)
			return &attributes[i];
	return NULL;
}

bool
emu_attribute_is_type(int type)
{
	for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
		if (attributes[i].type == type)
			return true;
	return false;
}

size_t
emu_attribute_bytes(int type)
{
	switch (type) {
	case CUDNN_TYPE_BOOLEAN:
	case CUDNN_TYPE_CHAR:
		return 1;
	case CUDNN_TYPE_INT64:
	case CUDNN_TYPE_DOUBLE:
	case CUDNN_TYPE_HANDLE:
	case CUDNN_TYPE_VOID_PTR:
	case CUDNN_TYPE_BACKEND_DESCRIPTOR:
		return 8;
	default: /* float, int32 and the enumerations */
		return 4;
	}
}

static void
value_free(struct emu_value *value)
{
	if (value->type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
		for (int64_t i = 0; i < value->count; i++)
			emu_body_drop(value->at.body[i]);
	free(value);
}

struct emu_body *
emu_body_new(int type)
{
	struct emu_body *body = calloc(1, sizeof *body);

	if (body) {
		atomic_init(&body->users, 1);
		body->type = type;
	}
	return body;
}

struct emu_body *
emu_body_use(struct emu_body *body)
{
	atomic_fetch_add(&body->users, 1);
	return body;
}

void
emu_body_drop(struct emu_body *body)
{
	if (!body || atomic_fetch_sub(&body->users, 1) > 1)
		return;
	while (body->values) {
		struct emu_value *next = body->values->next;

		value_free(body->values);
		body->values = next;
	}
	free(body->graph);
	free(body);
}

const struct emu_value *
emu_body_find(const struct emu_body *body, int name)
{
	for (const struct emu_value *v = body->values; v; v = v->next)
		if (v->name == name)
			return v;
	return NULL;
}

cudnnStatus_t
emu_body_set(struct emu_body *body, int name, int type, int64_t count,
    const void *values)
{
	const size_t bytes = (size_t)count * emu_attribute_bytes(type);
	struct emu_value *new = malloc(sizeof *new + bytes), **at;

	if (!new)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	*new = (struct emu_value){ .name = name, .type = type,
		.count = count };
	if (bytes)
		memcpy(new->at.bytes, values, bytes);
	if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
		for (int64_t i = 0; i < count; i++)
			emu_body_use(new->at.body[i]);
	for (at = &body->values; *at && (*at)->name != name;)
		at = &(*at)->next;
	if (*at) {
		struct emu_value *old = *at;

		new->next = old->next;
		value_free(old);
	}
	*at = new;
	return CUDNN_STATUS_SUCCESS;
}

int64_t
emu_body_number(const struct emu_body *body, int name, int64_t otherwise)
{
	const struct emu_value *v = emu_body_find(body, name);
	int32_t small;

	if (!v || !v->count)
		return otherwise;
	if (v->type == CUDNN_TYPE_BOOLEAN)
		return v->at.bytes[0] != 0;
	if (emu_attribute_bytes(v->type) == sizeof(int64_t))
		return v->at.number[0];
	memcpy(&small, v->at.bytes, sizeof small);
	return small;
}

double
emu_body_real(const struct emu_body *body, int name, double otherwise)
{
	const struct emu_value *v = emu_body_find(body, name);
	double large;
	float small;

	if (!v || !v->count)
		return otherwise;
	memcpy(&large, v->at.bytes, sizeof large);
	memcpy(&small, v->at.bytes, sizeof small);
	return v->type == CUDNN_TYPE_DOUBLE ? large : (double)small;
}

struct emu_body *
emu_body_child(const struct emu_body *body, int name)
{
	const struct emu_value *v = emu_body_find(body, name);

	return v && v->count ? v->at.body[0] : NULL;
}
