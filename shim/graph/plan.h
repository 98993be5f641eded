/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/plan.h -- the plans that a program made of graphs with a
 * convolution, by address: what an execution of one goes by. Any thread; an
 * execution takes no lock. */
#ifndef AC_SHIM_PLAN_H
#define AC_SHIM_PLAN_H

#include "api/region.h"
#include "shim/conv/conv_site.h"
#include "shim/device/handle.h"
#include "shim/graph/address_map.h"

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

extern const struct ac_by_address ac_plans;

/* NULL: it is of no convolution. */
static inline struct ac_plan *
ac_plan_find(cudnnBackendDescriptor_t plan)
{
	return ac_by_address_find(&ac_plans, plan);
}

/* For ac_plan_site(): it is another one than the last time. */
__attribute__((cold, noinline))
struct ac_conv_site *ac_plan_find_site(struct ac_plan *plan,
    const void *caller, int32_t device);

/* The site that an execution of `plan` by `handle` belongs to; NULL: there is
 * no room for it. */
static inline struct ac_conv_site *
ac_plan_site(struct ac_plan *plan, const void *caller, cudnnHandle_t handle)
{
	struct ac_conv_site *site = atomic_load_explicit(&plan->site,
	    memory_order_acquire);
	const int32_t device = ac_handle_find(handle)->device;

	if (__builtin_expect(site && site->query.caller == caller
	    && site->query.region == ac_region_here()
	    && site->query.device == device
	    && atomic_load_explicit(&site->entry.generation,
	    memory_order_relaxed) == atomic_load_explicit(
	    &ac_binding_generation, memory_order_acquire), 1))
		return site;
	return ac_plan_find_site(plan, caller, device);
}

#endif
