/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/builder.c -- descriptors made together
 * (shim/conv/builder.h). Any thread; allocates nothing itself. */
#include "shim/conv/builder.h"

cudnnBackendDescriptor_t
ac_builder_new(struct ac_builder *builder, cudnnBackendDescriptorType_t type)
{
	__typeof__(&cudnnBackendCreateDescriptor) create =
	    PROVIDER(builder->provider, cudnnBackendCreateDescriptor);
	cudnnBackendDescriptor_t descriptor = NULL;

	if (builder->is_refused || !create || builder->count == AC_BUILDER_LIMIT
	    || create(type, &descriptor) != CUDNN_STATUS_SUCCESS
	    || !descriptor) {
		builder->is_refused = true;
		return NULL;
	}
	builder->made[builder->count++] = descriptor;
	return descriptor;
}

void
ac_builder_set(struct ac_builder *builder, cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values)
{
	__typeof__(&cudnnBackendSetAttribute) set =
	    PROVIDER(builder->provider, cudnnBackendSetAttribute);

	if (builder->is_refused || !set || set(descriptor, name, type, count,
	    values) != CUDNN_STATUS_SUCCESS)
		builder->is_refused = true;
}

int64_t
ac_builder_get(struct ac_builder *builder, cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, void *values)
{
	__typeof__(&cudnnBackendGetAttribute) get =
	    PROVIDER(builder->provider, cudnnBackendGetAttribute);
	int64_t written = 0;

	if (builder->is_refused || !get || get(descriptor, name, type, count,
	    &written, values) != CUDNN_STATUS_SUCCESS) {
		builder->is_refused = true;
		return 0;
	}
	return written < 0 ? 0 : written < count ? written : count;
}

void
ac_builder_finalize(struct ac_builder *builder,
    cudnnBackendDescriptor_t descriptor)
{
	__typeof__(&cudnnBackendFinalize) finalize =
	    PROVIDER(builder->provider, cudnnBackendFinalize);

	if (builder->is_refused || !finalize
	    || finalize(descriptor) != CUDNN_STATUS_SUCCESS)
		builder->is_refused = true;
}

cudnnBackendDescriptor_t
ac_builder_end(struct ac_builder *builder, cudnnBackendDescriptor_t kept)
{
	__typeof__(&cudnnBackendDestroyDescriptor) destroy =
	    PROVIDER(builder->provider, cudnnBackendDestroyDescriptor);

	if (builder->is_refused)
		kept = NULL;
	while (destroy && builder->count) {
		cudnnBackendDescriptor_t one = builder->made[--builder->count];

		if (one != kept)
			(void)destroy(one);
	}
	return kept;
}
