/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/cudnn_backend.c -- the five calls by which graphs, plans and
 * variant packs of cuDNN's graph interface are made. Each is the program's as
 * it is; what it made is noted (shim/graph/shadow.h, plan.h, pack.h). */
#include "shim/bind/wrapper.h"
#include "shim/graph/pack.h"
#include "shim/graph/plan.h"
#include "shim/graph/shadow.h"

/* The address may have been one's that went behind our back. */
static void
note_created(cudnnBackendDescriptor_t descriptor,
    cudnnBackendDescriptorType_t type)
{
	ac_plan_drop(descriptor);
	if (type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
		ac_pack_create(descriptor);
	else
		(void)ac_pack_drop(descriptor);
	ac_shadow_create(descriptor, type);
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendCreateDescriptor)(
    cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t *descriptor)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendCreateDescriptor);
	const cudnnStatus_t status = ORIGINAL(call,
	    cudnnBackendCreateDescriptor)(type, descriptor);

	if (call.outermost && status == CUDNN_STATUS_SUCCESS)
		note_created(*descriptor, type);
	ac_wrapper_leave(&call);
	return status;
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendSetAttribute)(
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendSetAttribute);
	const cudnnStatus_t status = ORIGINAL(call, cudnnBackendSetAttribute)(
	    descriptor, name, type, count, values);

	if (call.outermost && status == CUDNN_STATUS_SUCCESS
	    && !ac_pack_set(descriptor, name, type, count, values))
		ac_shadow_set(descriptor, name, type, count, values);
	ac_wrapper_leave(&call);
	return status;
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendFinalize)(
    cudnnBackendDescriptor_t descriptor)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendFinalize);
	const cudnnStatus_t status = ORIGINAL(call, cudnnBackendFinalize)(
	    descriptor);

	if (call.outermost && status == CUDNN_STATUS_SUCCESS
	    && !ac_pack_finalize(descriptor)) {
		ac_shadow_finalize(descriptor);
		ac_plan_add(descriptor, call.binding.provider);
	}
	ac_wrapper_leave(&call);
	return status;
}

/* Before cuDNN frees it: after, the address may be another thread's. */
AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendDestroyDescriptor)(
    cudnnBackendDescriptor_t descriptor)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendDestroyDescriptor);
	cudnnStatus_t status;

	if (call.outermost && !ac_pack_drop(descriptor)) {
		ac_plan_drop(descriptor);
		ac_shadow_destroy(descriptor);
	}
	status = ORIGINAL(call, cudnnBackendDestroyDescriptor)(descriptor);
	ac_wrapper_leave(&call);
	return status;
}

/* What cuDNN writes into descriptors of the program's: heuristics their
 * answers, a configuration its engine. */
static void
note_read(cudnnBackendDescriptor_t from, cudnnBackendDescriptor_t const *to,
    int64_t count)
{
	for (int64_t i = 0; i < count; i++)
		if (to[i])
			ac_shadow_read(from, to[i]);
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendGetAttribute)(
    cudnnBackendDescriptor_t const descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t requested, int64_t *count, void *values)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendGetAttribute);
	const cudnnStatus_t status = ORIGINAL(call, cudnnBackendGetAttribute)(
	    descriptor, name, type, requested, count, values);
	const bool is_there = call.outermost && status == CUDNN_STATUS_SUCCESS
	    && values && requested > 0;

	if (is_there && name == CUDNN_ATTR_ENGINEHEUR_RESULTS && count)
		note_read(descriptor, values, *count < requested ? *count
		    : requested);
	if (is_there && name == CUDNN_ATTR_ENGINECFG_ENGINE)
		note_read(descriptor, values, 1);
	ac_wrapper_leave(&call);
	return status;
}
