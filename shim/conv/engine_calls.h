/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/engine_calls.h -- cuDNN's five graph calls of one provider, for
 * what the shim builds itself. */
#ifndef AC_SHIM_ENGINE_CALLS_H
#define AC_SHIM_ENGINE_CALLS_H

#include "shim/bind/provider.h"

#include <cudnn.h>

/* Descriptors that are made together and destroyed together. Once a call was
 * refused, the others are not made. */
enum { AC_MAKING_LIMIT = 80 };
struct ac_making {
	struct ac_provider *provider;
	bool is_refused;
	unsigned count;
	cudnnBackendDescriptor_t made[AC_MAKING_LIMIT];
};

/* A new descriptor, NULL if refused. */
cudnnBackendDescriptor_t ac_making_new(struct ac_making *making,
    cudnnBackendDescriptorType_t type);

void ac_making_set(struct ac_making *making,
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values);

/* How many values were written, at most `count`; 0 if refused. */
int64_t ac_making_get(struct ac_making *making,
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, void *values);

void ac_making_finalize(struct ac_making *making,
    cudnnBackendDescriptor_t descriptor);

/* Destroy all but `kept` (may be NULL). Returns it, or NULL, and destroys it
 * too, if anything was refused. */
cudnnBackendDescriptor_t ac_making_end(struct ac_making *making,
    cudnnBackendDescriptor_t kept);

#endif
