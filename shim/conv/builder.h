/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/builder.h -- cuDNN's five graph calls of one provider, for
 * what the shim builds itself. */
#ifndef AC_SHIM_BUILDER_H
#define AC_SHIM_BUILDER_H

#include "shim/bind/provider.h"

#include <cudnn.h>

/* Descriptors that are made together and destroyed together. Once a call was
 * refused, the others are not made. */
enum { AC_BUILDER_LIMIT = 80 };
struct ac_builder {
	struct ac_provider *provider;
	bool is_refused;
	unsigned count;
	cudnnBackendDescriptor_t made[AC_BUILDER_LIMIT];
};

/* A new descriptor, NULL if refused. */
cudnnBackendDescriptor_t ac_builder_new(struct ac_builder *builder,
    cudnnBackendDescriptorType_t type);

void ac_builder_set(struct ac_builder *builder,
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, const void *values);

/* How many values were written, at most `count`; 0 if refused. */
int64_t ac_builder_get(struct ac_builder *builder,
    cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
    cudnnBackendAttributeType_t type, int64_t count, void *values);

void ac_builder_finalize(struct ac_builder *builder,
    cudnnBackendDescriptor_t descriptor);

/* Destroy all but `kept` (may be NULL). Returns it, or NULL, and destroys it
 * too, if anything was refused. */
cudnnBackendDescriptor_t ac_builder_end(struct ac_builder *builder,
    cudnnBackendDescriptor_t kept);

#endif
