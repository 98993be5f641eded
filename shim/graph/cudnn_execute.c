/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/cudnn_execute.c -- the wrapper of cudnnBackendExecute(): whether
 * this very execution of the program's plan may be recast, and the original
 * call if that was not. */
#include "shim/bind/marker.h"
#include "shim/bind/wrapper.h"
#include "shim/conv/conv_ways.h"
#include "shim/conv/descriptors.h"
#include "shim/device/handle.h"
#include "shim/graph/pack.h"
#include "shim/graph/plan.h"

#include <string.h>

/* ---- What only this very call can tell --------------------------------- */

/* The pointer of the tensor in `role`. False: it is not there, or not aligned
 * as the plan wants it, which cuDNN says itself. */
static bool
find_pointer(const struct ac_pack *pack, const struct ac_plan *plan,
    int64_t role, int64_t alignment, struct ac_conv_data *data)
{
	const int64_t uid = plan->query.uids.of[role - 1];
	int32_t i = 0;

	while (i < pack->uids && pack->uid[i] != uid)
		i++;
	if (i == pack->uids || (alignment > 0 && (uintptr_t)pack->pointer[i]
	    % (uintptr_t)alignment))
		return false;
	data->of[role - 1] = pack->pointer[i];
	return data->of[role - 1] != NULL;
}

static bool
find_data(const struct ac_pack *pack, const struct ac_plan *plan,
    struct ac_conv_data *data)
{
	const struct ac_conv *conv = &plan->query.conv;
	const struct ac_conv_tensor *y = conv->steps
	    ? ac_conv_last_output(conv) : &conv->y;
	bool all = find_pointer(pack, plan, AC_CONV_X, conv->x.alignment, data)
	    && find_pointer(pack, plan, AC_CONV_W, conv->w.alignment, data)
	    && find_pointer(pack, plan, AC_CONV_Y, y->alignment, data);

	for (int32_t i = 0; all && i < conv->steps; i++) {
		const struct ac_conv_tensor *other = &conv->step[i].other;

		all = !other->dims || find_pointer(pack, plan, other->uid,
		    other->alignment, data);
	}
	return all;
}

static bool
is_fit(const struct ac_plan *plan, const struct ac_pack *pack,
    const struct ac_conv_site *site, struct ac_conv_run *run)
{
	return pack && plan->query.conv.scalars.alpha != 0
	    && ac_handle_find(run->handle)->provider == site->query.provider
	    && find_data(pack, plan, &run->data)
	    && (!plan->bytes || pack->workspace);
}

/* ---- The call ------------------------------------------------------------ */

/* An execution whose site may be recast. */
static enum ac_outcome
recast(const struct ac_plan *plan, struct ac_conv_site *site,
    cudnnHandle_t handle, cudnnBackendDescriptor_t descriptor,
    struct ac_kept *kept_out)
{
	const struct ac_pack *pack = ac_pack_find(descriptor);
	struct ac_conv_run run = {
		.handle = handle, .bytes = plan->bytes,
		.workspace = pack ? pack->workspace : NULL,
		.content = plan->content,
		.pack = memcmp(&plan->query.uids, &site->query.uids,
		    sizeof plan->query.uids) ? NULL : descriptor
	};

	if (is_fit(plan, pack, site, &run))
		return ac_conv_conduct(&run, &plan->query.conv, site, kept_out);
	ac_report_count(site->record, AC_REASON_UNSUPPORTED);
	return AC_OUTCOME_KEPT;
}

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendExecute)(
    cudnnHandle_t handle, cudnnBackendDescriptor_t descriptor,
    cudnnBackendDescriptor_t pack)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendExecute);
	struct ac_plan *plan = call.outermost ? ac_plan_find(descriptor)
	    : NULL;
	struct ac_conv_site *site = plan ? ac_plan_site(plan, call.caller,
	    handle) : NULL;
	enum ac_outcome outcome = AC_OUTCOME_KEPT;
	cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
	struct ac_kept kept;

	if (site && site->decision.rung == AC_RUNG_KEEP)
		ac_report_count_decided(site->record);
	else if (site)
		outcome = recast(plan, site, handle, pack, &kept);
	else if (call.outermost)
		ac_marker_count(ENTRY_cudnnBackendExecute);
	if (outcome != AC_OUTCOME_DONE)
		status = ORIGINAL(call, cudnnBackendExecute)(handle, descriptor,
		    pack);
	if (outcome == AC_OUTCOME_TIMED)
		ac_kept_end(&kept);
	ac_wrapper_leave(&call);
	return status;
}
