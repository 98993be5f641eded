/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/plan.h -- the plans that a program made of graphs with a
 * convolution, by address: what an execution of one goes by. Any thread; an
 * execution takes no lock. */
#ifndef AC_SHIM_PLAN_H
#define AC_SHIM_PLAN_H

#include "shim/conv/conv_site.h"
#include "shim/graph/by_address.h"

/* Written when the plan is finalized, but for `site`. */
struct ac_plan {
	struct ac_addressed note;
	_Atomic(struct ac_conv_site *) site; /* of the last execution; NULL */
	struct ac_conv_query query;     /* but caller, region and device */
	uint64_t content;               /* the same of the same engine, set the
	                                 * same way */
	size_t   bytes;                 /* of workspace: the program's packs
	                                 * have as much */
};

/* `plan`, of provider's cuDNN, was finalized. */
void ac_plan_add(cudnnBackendDescriptor_t plan, struct ac_provider *provider);

/* Before cuDNN frees it, or gives the address to another descriptor. */
void ac_plan_drop(cudnnBackendDescriptor_t plan);

/* NULL: it is of no convolution. */
struct ac_plan *ac_plan_find(cudnnBackendDescriptor_t plan);

/* The site that an execution of `plan` by `handle` belongs to; NULL: there is
 * no room for it. */
struct ac_conv_site *ac_plan_site(struct ac_plan *plan, const void *caller,
    cudnnHandle_t handle);

#endif
