/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/conv_plan.h -- plans of a rung's engines: built once for each site,
 * rung and handle, lent to one thread at a time, since cuDNN does not promise
 * more. No lock is held while cuDNN is called. */
#ifndef AC_SHIM_CONV_PLAN_H
#define AC_SHIM_CONV_PLAN_H

#include "shim/conv/conv_site.h"

#include <cudnn.h>

struct ac_conv_plan;

/* Borrow a plan of `site` on `rung` for `handle`; built if need be and
 * `may_build`. NULL: there is none (yet): *refused_out tells whether cuDNN has
 * no such engine, which is remembered. */
struct ac_conv_plan *ac_conv_plan_borrow(struct ac_conv_site *site,
    enum ac_rung rung, cudnnHandle_t handle, bool may_build,
    bool *refused_out);
void ac_conv_plan_return(struct ac_conv_plan *plan);

/* The workspace it needs, in bytes, and whether it ever ran. */
size_t ac_conv_plan_bytes(const struct ac_conv_plan *plan);
bool ac_conv_plan_has_run(const struct ac_conv_plan *plan);

/* The bytes that a plan of `conv` on `rung` needs; 0: none, or there is no such
 * plan. Built and dropped again. */
size_t ac_conv_plan_measure(struct ac_provider *provider,
    cudnnHandle_t handle, const struct ac_conv *conv, enum ac_rung rung);

/* Queue it on the handle's stream, with `pack` (a VARIANT_PACK), or if that is
 * NULL, with one of `data` and `workspace`. One that cuDNN fails to run is
 * refused from then on. */
cudnnStatus_t ac_conv_plan_run(struct ac_conv_plan *plan,
    cudnnBackendDescriptor_t pack, const struct ac_conv_data *data,
    void *workspace);

/* Queue at `place` the sample of what a plan of `site` wrote to data's output,
 * to be posted at `post` as of turn's call; `scratch` holds
 * AC_CONV_CHECK_DOUBLES doubles until then. False: it was not queued. */
bool ac_conv_sample(const struct ac_conv_site *site,
    const struct ac_conv_data *data, const struct ac_turn *turn,
    ac_cu_address post, const struct ac_place *place, uint32_t *scratch);

/* `handle` is about to be destroyed: so are its plans. */
void ac_conv_plan_forget(cudnnHandle_t handle);

/* `provider` was unloaded: its plans are never used again. */
void ac_conv_plan_abandon(const struct ac_provider *provider);

#endif
