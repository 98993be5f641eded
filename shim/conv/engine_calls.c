/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/engine_calls.c -- descriptors made together
 * (shim/conv/engine_calls.h). Any thread; allocates nothing itself. */
#include "shim/conv/engine_calls.h"

cudnnBackendDescriptor_t
ac_making_new(struct ac_making *making, cudnnBackendDescriptorType_t type)
{
	__typeof__(&cudnnBackendCreateDescriptor) create =
	    PROVIDER(making->provider, cudnnBackendCreateDescriptor);
	cudnnBackendDescriptor_t descriptor = NULL;

	if (making->is_refused || !create || making->count == AC_MAKING_LIMIT
	    || create(type, &descriptor) != CUDNN_STATUS_SUCCESS
	    || !descriptor) {
		making->is_refused = true;
		return NULL;
	}
	making->made[making->count++] = descriptor;
	return descriptor;
}

void
ac_making_set(struct ac_making *making, cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values)
{
	__typeof__(&cudnnBackendSetAttribute) set =
	    PROVIDER(making->provider, cudnnBackendSetAttribute);

	if (making->is_refused || !set || set(descriptor, name, type, count,
	    values) != CUDNN_STATUS_SUCCESS)
		making->is_refused = true;
}

int64_t
ac_making_get(struct ac_making *making, cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, void *values)
{
	__typeof__(&cudnnBackendGetAttribute) get =
	    PROVIDER(making->provider, cudnnBackendGetAttribute);
	int64_t written = 0;

	if (making->is_refused || !get || get(descriptor, name, type, count,
	    &written, values) != CUDNN_STATUS_SUCCESS) {
		making->is_refused = true;
		return 0;
	}
	return written < 0 ? 0 : written < count ? written : count;
}

void
ac_making_finalize(struct ac_making *making,
    cudnnBackendDescriptor_t descriptor)
{
	__typeof__(&cudnnBackendFinalize) finalize =
	    PROVIDER(making->provider, cudnnBackendFinalize);

	if (making->is_refused || !finalize
	    || finalize(descriptor) != CUDNN_STATUS_SUCCESS)
		making->is_refused = true;
}

cudnnBackendDescriptor_t
ac_making_end(struct ac_making *making, cudnnBackendDescriptor_t kept)
{
	__typeof__(&cudnnBackendDestroyDescriptor) destroy =
	    PROVIDER(making->provider, cudnnBackendDestroyDescriptor);

	if (making->is_refused)
		kept = NULL;
	while (destroy && making->count) {
		cudnnBackendDescriptor_t one = making->made[--making->count];

		if (one != kept)
			(void)destroy(one);
	}
	return kept;
}
