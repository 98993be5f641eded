/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow_note.c -- which attributes of which descriptors are noted,
 * and where (shim/graph/shadow_note.h). Called under the lock of the
 * descriptor. */
#include "shim/graph/shadow_note.h"

#include <string.h>

enum kind {
	NUMBERS,        /* up to `most` of them; an array if most > 1 */
	REAL,
	CHILDREN,       /* up to `most` of them */
	PLAIN,          /* anything but `most` is strange */
	MARK,           /* that it is set */
	IGNORED
};

#define TYPE(name) CUDNN_BACKEND_##name##_DESCRIPTOR
#define NAME(name) CUDNN_ATTR_##name
#define FORWARD(name) CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_##name
#define DGRAD(name) CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_##name
#define WGRAD(name) CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_##name
#define STEP(name) CUDNN_ATTR_OPERATION_POINTWISE_##name

/* An attribute belongs to one type of descriptor, and none to two. */
static const struct row {
	cudnnBackendDescriptorType_t type;
	cudnnBackendAttributeName_t name;
	enum kind kind;
	unsigned at, most;
} rows[] = {
	{ TYPE(TENSOR), NAME(TENSOR_DATA_TYPE), NUMBERS, AC_TENSOR_TYPE, 1 },
	{ TYPE(TENSOR), NAME(TENSOR_UNIQUE_ID), NUMBERS, AC_TENSOR_UID, 1 },
	{ TYPE(TENSOR), NAME(TENSOR_BYTE_ALIGNMENT), NUMBERS,
	  AC_TENSOR_ALIGNMENT, 1 },
	{ TYPE(TENSOR), NAME(TENSOR_IS_VIRTUAL), NUMBERS,
	  AC_TENSOR_VIRTUAL, 1 },
	{ TYPE(TENSOR), NAME(TENSOR_DIMENSIONS), NUMBERS, AC_TENSOR_DIMS,
	  AC_CONV_DIMS },
	{ TYPE(TENSOR), NAME(TENSOR_STRIDES), NUMBERS, AC_TENSOR_STRIDES,
	  AC_CONV_DIMS },
	{ TYPE(TENSOR), NAME(TENSOR_VECTOR_COUNT), PLAIN, 0, 1 },
	{ TYPE(TENSOR), NAME(TENSOR_VECTORIZED_DIMENSION), IGNORED, 0, 0 },
	{ TYPE(TENSOR), NAME(TENSOR_IS_BY_VALUE), PLAIN, 0, 0 },
	{ TYPE(TENSOR), NAME(TENSOR_REORDERING_MODE), PLAIN, 0, 0 },

	{ TYPE(CONVOLUTION), NAME(CONVOLUTION_COMP_TYPE), NUMBERS,
	  AC_CONVOLUTION_TYPE, 1 },
	{ TYPE(CONVOLUTION), NAME(CONVOLUTION_CONV_MODE), NUMBERS,
	  AC_CONVOLUTION_MODE, 1 },
	{ TYPE(CONVOLUTION), NAME(CONVOLUTION_SPATIAL_DIMS), NUMBERS,
	  AC_CONVOLUTION_SPACE, 1 },
	{ TYPE(CONVOLUTION), NAME(CONVOLUTION_PRE_PADDINGS), NUMBERS,
	  AC_CONVOLUTION_PAD, AC_CONV_SPACE },
	{ TYPE(CONVOLUTION), NAME(CONVOLUTION_POST_PADDINGS), NUMBERS,
	  AC_CONVOLUTION_POST_PAD, AC_CONV_SPACE },
	{ TYPE(CONVOLUTION), NAME(CONVOLUTION_FILTER_STRIDES), NUMBERS,
	  AC_CONVOLUTION_STRIDE, AC_CONV_SPACE },
	{ TYPE(CONVOLUTION), NAME(CONVOLUTION_DILATIONS), NUMBERS,
	  AC_CONVOLUTION_DILATION, AC_CONV_SPACE },

	{ TYPE(POINTWISE), NAME(POINTWISE_MODE), NUMBERS,
	  AC_POINTWISE_MODE, 1 },
	{ TYPE(POINTWISE), NAME(POINTWISE_MATH_PREC), NUMBERS,
	  AC_POINTWISE_TYPE, 1 },
	/* CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, which is deprecated */
	{ TYPE(POINTWISE), (cudnnBackendAttributeName_t)2, IGNORED, 0, 0 },
	{ TYPE(POINTWISE), NAME(POINTWISE_RELU_LOWER_CLIP), REAL,
	  AC_POINTWISE_LOWER, 1 },
	{ TYPE(POINTWISE), NAME(POINTWISE_RELU_UPPER_CLIP), REAL,
	  AC_POINTWISE_UPPER, 1 },
	{ TYPE(POINTWISE), NAME(POINTWISE_RELU_LOWER_CLIP_SLOPE), REAL,
	  AC_POINTWISE_SLOPE, 1 },

	{ TYPE(OPERATION_CONVOLUTION_FORWARD), FORWARD(CONV_DESC), CHILDREN,
	  AC_CHILD_DESCRIPTOR, 1 },
	{ TYPE(OPERATION_CONVOLUTION_FORWARD), FORWARD(X), CHILDREN,
	  AC_CHILD_X, 1 },
	{ TYPE(OPERATION_CONVOLUTION_FORWARD), FORWARD(W), CHILDREN,
	  AC_CHILD_OTHER, 1 },
	{ TYPE(OPERATION_CONVOLUTION_FORWARD), FORWARD(Y), CHILDREN,
	  AC_CHILD_Y, 1 },
	{ TYPE(OPERATION_CONVOLUTION_FORWARD), FORWARD(ALPHA), REAL,
	  AC_REAL_ALPHA, 1 },
	{ TYPE(OPERATION_CONVOLUTION_FORWARD), FORWARD(BETA), REAL,
	  AC_REAL_BETA, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_DATA), DGRAD(CONV_DESC), CHILDREN,
	  AC_CHILD_DESCRIPTOR, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_DATA), DGRAD(DX), CHILDREN,
	  AC_CHILD_X, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_DATA), DGRAD(W), CHILDREN,
	  AC_CHILD_OTHER, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_DATA), DGRAD(DY), CHILDREN,
	  AC_CHILD_Y, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_DATA), DGRAD(ALPHA), REAL,
	  AC_REAL_ALPHA, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_DATA), DGRAD(BETA), REAL,
	  AC_REAL_BETA, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_FILTER), WGRAD(CONV_DESC),
	  CHILDREN, AC_CHILD_DESCRIPTOR, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_FILTER), WGRAD(X), CHILDREN,
	  AC_CHILD_X, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_FILTER), WGRAD(DW), CHILDREN,
	  AC_CHILD_OTHER, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_FILTER), WGRAD(DY), CHILDREN,
	  AC_CHILD_Y, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_FILTER), WGRAD(ALPHA), REAL,
	  AC_REAL_ALPHA, 1 },
	{ TYPE(OPERATION_CONVOLUTION_BACKWARD_FILTER), WGRAD(BETA), REAL,
	  AC_REAL_BETA, 1 },

	{ TYPE(OPERATION_POINTWISE), STEP(PW_DESCRIPTOR), CHILDREN,
	  AC_CHILD_DESCRIPTOR, 1 },
	{ TYPE(OPERATION_POINTWISE), STEP(XDESC), CHILDREN, AC_CHILD_X, 1 },
	{ TYPE(OPERATION_POINTWISE), STEP(BDESC), CHILDREN, AC_CHILD_OTHER, 1 },
	{ TYPE(OPERATION_POINTWISE), STEP(YDESC), CHILDREN, AC_CHILD_Y, 1 },
	{ TYPE(OPERATION_POINTWISE), STEP(ALPHA1), REAL, AC_REAL_ALPHA, 1 },
	{ TYPE(OPERATION_POINTWISE), STEP(ALPHA2), REAL, AC_REAL_BETA, 1 },

	/* CUDNN_ATTR_OPERATIONGRAPH_HANDLE, which is deprecated */
	{ TYPE(OPERATIONGRAPH), (cudnnBackendAttributeName_t)800, IGNORED, 0,
	  0 },
	{ TYPE(OPERATIONGRAPH), NAME(OPERATIONGRAPH_OPS), CHILDREN, 0,
	  AC_SHADOW_CHILDREN },
	{ TYPE(OPERATIONGRAPH), NAME(OPERATIONGRAPH_IS_DYNAMIC_SHAPE_ENABLED),
	  PLAIN, 0, 0 },

	{ TYPE(EXECUTION_PLAN), NAME(EXECUTION_PLAN_HANDLE), NUMBERS,
	  AC_PLAN_HANDLE, 1 },
	{ TYPE(EXECUTION_PLAN), NAME(EXECUTION_PLAN_JSON_REPRESENTATION), MARK,
	  AC_PLAN_STORED, 0 },
};

/* ---- Values -------------------------------------------------------------- */

static int64_t
number_of(cudnnBackendAttributeType_t type, const void *values, int64_t i)
{
	switch (type) {
	case CUDNN_TYPE_INT64:
		return ((const int64_t *)values)[i];
	case CUDNN_TYPE_BOOLEAN:
		return ((const bool *)values)[i];
	case CUDNN_TYPE_HANDLE:
		return (int64_t)(intptr_t)((void *const *)values)[i];
	default: /* an enumeration, or INT32 */
		return ((const int32_t *)values)[i];
	}
}

static void
note_numbers(struct ac_shadow *shadow, const struct row *row,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	int64_t *to = &shadow->number[row->at];

	if (count < 1 || count > row->most) {
		shadow->is_strange = true;
		return;
	}
	if (row->most > 1)
		*to++ = count;
	for (int64_t i = 0; i < count; i++)
		to[i] = number_of(type, values, i);
	shadow->numbers |= UINT32_C(1) << row->at;
}

static void
note_real(struct ac_shadow *shadow, const struct row *row,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	if (count != 1 || (type != CUDNN_TYPE_FLOAT
	    && type != CUDNN_TYPE_DOUBLE)) {
		shadow->is_strange = true;
		return;
	}
	shadow->real[row->at] = type == CUDNN_TYPE_DOUBLE
	    ? *(const double *)values : (double)*(const float *)values;
	shadow->scalar_type = type == CUDNN_TYPE_DOUBLE ? CUDNN_DATA_DOUBLE
	    : CUDNN_DATA_FLOAT;
	shadow->reals |= (uint8_t)(1u << row->at);
}

static void
note_children(struct ac_shadow *shadow, const struct row *row, int64_t count,
    struct ac_shadow **child)
{
	if (count < 1 || count > row->most) {
		shadow->is_strange = true;
		return;
	}
	for (int64_t i = 0; i < count; i++) {
		struct ac_shadow *replaced = shadow->child[row->at + i];

		if (!child[i])
			shadow->is_strange = true;
		shadow->child[row->at + i] = child[i];
		child[i] = replaced;
	}
	if (row->type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)
		shadow->number[AC_GRAPH_OPERATIONS] = count;
}

void
ac_shadow_note(struct ac_shadow *shadow, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values,
    struct ac_shadow **child)
{
	const struct row *row = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof *rows && !row; i++)
		if (rows[i].name == name && (int)rows[i].type == shadow->type)
			row = &rows[i];
	if (!row || !values || count < 1) {
		shadow->is_strange = true;
		return;
	}
	switch (row->kind) {
	case NUMBERS:
		note_numbers(shadow, row, type, count, values);
		break;
	case REAL:
		note_real(shadow, row, type, count, values);
		break;
	case CHILDREN:
		note_children(shadow, row, count, child);
		break;
	case PLAIN:
		if (count != 1 || number_of(type, values, 0) != row->most)
			shadow->is_strange = true;
		break;
	case MARK:
		shadow->numbers |= UINT32_C(1) << row->at;
		break;
	case IGNORED:
		break;
	}
}
