/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudnn/graph/cudnn_backend.c -- cuDNN calls: descriptors of the graph
 * interface are made, set, read and finalized. Statuses were measured on cuDNN
 * 9.19; where that one accepts what cannot work, or crashes, this one says
 * BAD_PARAM. */
#include "emulator/cudnn/graph/cudnn_backend.h"

#include <stdlib.h>
#include <string.h>

/* What cudnnBackendDescriptor_t points to. */
struct descriptor {
	struct emu_body *body;
};

cudnnStatus_t
cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t descriptorType,
    cudnnBackendDescriptor_t *descriptor)
{
	struct descriptor *new;

	EMU_ENTER(&emu_dnn);
	if (!descriptor)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if (!emu_attribute_is_type((int)descriptorType))
		return CUDNN_MAJOR > 8 ? CUDNN_STATUS_NOT_SUPPORTED :
		    CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	new = malloc(sizeof *new);
	if (new)
		new->body = emu_body_new((int)descriptorType);
	if (!new || !new->body) {
		free(new);
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	}
	*descriptor = new;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor)
{
	struct descriptor *d = descriptor;

	EMU_ENTER(&emu_dnn);
	if (!d)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	emu_body_drop(d->body);
	free(d);
	return CUDNN_STATUS_SUCCESS;
}

/* As new; who holds what it was keeps that. */
cudnnStatus_t
cudnnBackendInitialize(cudnnBackendDescriptor_t descriptor)
{
	struct descriptor *d = descriptor;
	struct emu_body *new;

	EMU_ENTER(&emu_dnn);
	if (!d)
		return CUDNN_STATUS_BAD_PARAM;
	new = emu_body_new(d->body->type);
	if (!new)
		return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
	emu_body_drop(d->body);
	d->body = new;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor)
{
	struct descriptor *d = descriptor;
	cudnnStatus_t status;

	EMU_ENTER(&emu_dnn);
	if (!d)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if (d->body->is_final)
		return CUDNN_STATUS_BAD_PARAM;
	status = emu_body_finalize(d->body);
	if (!status)
		d->body->is_final = true;
	return status;
}

static bool
is_kind(const struct emu_attribute *attribute, int kind)
{
	return kind >= 0 && (attribute->kind == kind ||
	    attribute->other == kind);
}

/* Which descriptor may be the value of an attribute. */
static bool
fits(int name, int type)
{
	switch (name) {
	case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC:
	case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC:
	case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC:
		return type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
	case CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR:
		return type == CUDNN_BACKEND_POINTWISE_DESCRIPTOR;
	case CUDNN_ATTR_OPERATIONGRAPH_OPS:
		return type >=
		    CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR &&
		    type <= CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
	case CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH:
	case CUDNN_ATTR_ENGINE_OPERATION_GRAPH:
		return type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
	case CUDNN_ATTR_ENGINECFG_ENGINE:
		return type == CUDNN_BACKEND_ENGINE_DESCRIPTOR;
	case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
		return type == CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR;
	case CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG:
		return type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
	case CUDNN_ATTR_ENGINEHEUR_DEVICEPROP:
	case CUDNN_ATTR_ENGINE_DEVICEPROP:
	case CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP:
		return type == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR;
	default:
		return type == CUDNN_BACKEND_TENSOR_DESCRIPTOR;
	}
}

static cudnnStatus_t
set_children(struct emu_body *body, int name, int64_t count,
    const cudnnBackendDescriptor_t *children)
{
	struct emu_body *bodies[64];

	for (int64_t i = 0; i < count; i++) {
		const struct descriptor *child = children[i];

		if (!child || !fits(name, child->body->type))
			return CUDNN_STATUS_BAD_PARAM;
		if (!child->body->is_final)
			return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
		bodies[i] = child->body;
	}
	return emu_body_set(body, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, count,
	    bodies);
}

/* Some of cuDNN's descriptors tell what is wrong more precisely. */
static cudnnStatus_t
wrong_kind(const struct emu_attribute *a)
{
	return a->kind == CUDNN_TYPE_BACKEND_DESCRIPTOR ||
	    a->other >= 0 || a->name == CUDNN_ATTR_ENGINE_GLOBAL_INDEX
	    ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
}

cudnnStatus_t
cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t attributeName,
    cudnnBackendAttributeType_t attributeType, int64_t elementCount,
    const void *arrayOfElements)
{
	struct descriptor *d = descriptor;
	const struct emu_attribute *a;

	EMU_ENTER(&emu_dnn);
	if (!d)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	a = emu_attribute_find(d->body->type, (int)attributeName);
	if (!a || d->body->is_final || a->access == 'g' ||
	    (!arrayOfElements && elementCount))
		return CUDNN_STATUS_BAD_PARAM;
	if (!is_kind(a, (int)attributeType))
		return wrong_kind(a);
	if (elementCount < (attributeName != CUDNN_ATTR_OPERATIONGRAPH_OPS &&
	    attributeName != CUDNN_ATTR_ENGINECFG_KNOB_CHOICES) ||
	    elementCount > a->most)
		return CUDNN_STATUS_BAD_PARAM;
	if (attributeType == CUDNN_TYPE_HANDLE &&
	    attributeName != CUDNN_ATTR_EXECUTION_PLAN_HANDLE &&
	    !*(const cudnnHandle_t *)arrayOfElements)
		return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
	if (attributeType == CUDNN_TYPE_BACKEND_DESCRIPTOR)
		return set_children(d->body, (int)attributeName, elementCount,
		    arrayOfElements);
	return emu_body_set(d->body, (int)attributeName, (int)attributeType,
	    elementCount, arrayOfElements);
}

cudnnStatus_t
emu_backend_give(cudnnBackendDescriptor_t descriptor, struct emu_body *body)
{
	struct descriptor *d = descriptor;

	if (!d || d->body->type != body->type)
		return CUDNN_STATUS_BAD_PARAM;
	emu_body_use(body);
	emu_body_drop(d->body);
	d->body = body;
	return CUDNN_STATUS_SUCCESS;
}

/* A stored value; of descriptors, the program's own are filled. */
static cudnnStatus_t
copy_out(const struct emu_value *value, int64_t requested, int64_t *count_out,
    void *values)
{
	int64_t count = value->count;

	if (values && requested < count)
		count = requested;
	/* cuDNN says 0 when asked how many there are. */
	if (value->name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES && !values)
		count = 0;
	if (values && value->type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
		cudnnBackendDescriptor_t *descriptors = values;

		for (int64_t i = 0; i < count; i++) {
			cudnnStatus_t status = emu_backend_give(descriptors[i],
			    value->at.body[i]);

			if (status)
				return status;
		}
	} else if (values) {
		memcpy(values, value->at.bytes, (size_t)count *
		    emu_attribute_bytes(value->type));
	}
	if (count_out)
		*count_out = count;
	return CUDNN_STATUS_SUCCESS;
}

/* What is not set reads as its default, of the first of its kinds, or not at
 * all. */
static cudnnStatus_t
get_default(const struct emu_attribute *a, int kind, int64_t requested,
    int64_t *count_out, void *values)
{
	const double real = a->number;
	const int64_t large = a->number;
	const int small = a->number;
	const unsigned char tiny = (unsigned char)a->number;
	const size_t bytes = emu_attribute_bytes(a->kind);

	if (a->name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES) {
		if (count_out)
			*count_out = 0;
		return CUDNN_STATUS_SUCCESS;
	}
	if (!a->has_default)
		return CUDNN_STATUS_NOT_SUPPORTED;
	if (kind != a->kind)
		return CUDNN_STATUS_BAD_PARAM;
	if (values && requested > 0)
		memcpy(values, kind == CUDNN_TYPE_DOUBLE ? (const void *)&real
		    : bytes == sizeof large ? (const void *)&large :
		    bytes == sizeof small ? (const void *)&small : &tiny,
		    bytes);
	if (count_out)
		*count_out = 1;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t
cudnnBackendGetAttribute(const cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t attributeName,
    cudnnBackendAttributeType_t attributeType, int64_t requestedElementCount,
    int64_t *elementCount, void *arrayOfElements)
{
	const struct descriptor *d = descriptor;
	const struct emu_attribute *a;
	const struct emu_value *value;
	int status;

	EMU_ENTER(&emu_dnn);
	if (!d)
		return CUDNN_STATUS_BAD_PARAM;
	a = emu_attribute_find(d->body->type, (int)attributeName);
	if (!a || (arrayOfElements && requestedElementCount < 0))
		return CUDNN_STATUS_BAD_PARAM;
	if (!d->body->is_final)
		return CUDNN_STATUS_NOT_INITIALIZED;
	if (a->access == 's')
		return CUDNN_STATUS_NOT_SUPPORTED;
	if (!is_kind(a, (int)attributeType))
		return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
	status = emu_engine_get(d->body, (int)attributeName,
	    requestedElementCount, elementCount, arrayOfElements);
	if (status >= 0)
		return status;
	value = emu_body_find(d->body, (int)attributeName);
	if (!value)
		return get_default(a, (int)attributeType,
		    requestedElementCount, elementCount, arrayOfElements);
	if (value->type != (int)attributeType)
		return CUDNN_STATUS_BAD_PARAM;
	return copy_out(value, requestedElementCount, elementCount,
	    arrayOfElements);
}

/* CUDA graphs by cuDNN's own hand are not emulated. */
#define NATIVE(verb)                                                      \
cudnnStatus_t                                                             \
cudnnBackend##verb##CudaGraph(cudnnHandle_t handle,                       \
    cudnnBackendDescriptor_t executionPlan,                               \
    cudnnBackendDescriptor_t variantPack, cudaGraph_t graph)              \
{                                                                         \
	DNN_ENTER(handle);                                                \
	return executionPlan && variantPack && graph ?                    \
	    CUDNN_STATUS_NOT_SUPPORTED_CUDA_GRAPH_NATIVE_API :            \
	    CUDNN_STATUS_BAD_PARAM;                                       \
}
NATIVE(Populate)
NATIVE(Update)

cudnnStatus_t
cudnnBackendExecute(cudnnHandle_t handle,
    cudnnBackendDescriptor_t executionPlan,
    cudnnBackendDescriptor_t variantPack)
{
	const struct descriptor *plan = executionPlan, *pack = variantPack;

	DNN_ENTER(handle);
	if (!plan || !pack)
		return CUDNN_STATUS_BAD_PARAM;
	if (plan->body->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
	    pack->body->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
		return CUDNN_STATUS_BAD_PARAM;
	if (!plan->body->is_final || !pack->body->is_final)
		return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
	return emu_plan_execute(handle, plan->body, pack->body);
}
