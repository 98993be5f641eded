/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/shadow.h -- what a program's graph descriptors are made of, which
 * cuDNN does not tell again: noted as the program makes them.
 *
 * A shadow is found by its descriptor's address, and overwritten when an
 * address is used again. What was set into another descriptor lives as long as
 * that one, as cuDNN's own copies do: children may be destroyed early. Every
 * function may be called by any thread, takes a lock for as long as it touches
 * notes of ours, and never calls cuDNN. Where there is no room, or where
 * something is set that is not understood, a graph is just not described. */
#ifndef AC_SHIM_SHADOW_H
#define AC_SHIM_SHADOW_H

#include "shim/conv/conv.h"

#include <cudnn.h>

/* ---- What the program did, and cuDNN accepted ---------------------------- */

void ac_shadow_create(cudnnBackendDescriptor_t descriptor,
    cudnnBackendDescriptorType_t type);
void ac_shadow_set(cudnnBackendDescriptor_t descriptor,
    cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
    int64_t count, const void *values);
void ac_shadow_finalize(cudnnBackendDescriptor_t descriptor);
/* Before cuDNN frees it: after, the address may be another thread's. */
void ac_shadow_destroy(cudnnBackendDescriptor_t descriptor);

/* cuDNN wrote something into `to`, an engine or a configuration, that `from`
 * has: heuristics one of their answers, a configuration its engine. */
void ac_shadow_read(cudnnBackendDescriptor_t from, cudnnBackendDescriptor_t to);

/* ---- What follows from it ------------------------------------------------ */

/* True if `plan` is a plan of a graph with a convolution: which, and for which
 * handle. Unique ids are as the program has them. */
bool ac_shadow_plan(cudnnBackendDescriptor_t plan, struct ac_conv *conv_out,
    cudnnHandle_t *handle_out);

/* True if `plan` was loaded from JSON, and nothing else tells its graph: for
 * which handle. */
bool ac_shadow_is_stored(cudnnBackendDescriptor_t plan,
    cudnnHandle_t *handle_out);

/* Shadows there are, for tests. */
unsigned ac_shadow_count(void);

#endif
