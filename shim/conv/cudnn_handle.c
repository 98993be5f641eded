/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/cudnn_handle.c -- wrappers of cudnnCreate() and cudnnDestroy(): on
 * which device a handle lives, and the end of what was made for it. */
#include "shim/conv/conv_plan.h"
#include "shim/conv/conv_ways.h"
#include "shim/device/handle.h"
#include "shim/device/lane.h"
#include "shim/bind/trampoline.h"
#include "shim/bind/wrapper.h"

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnCreate)(cudnnHandle_t *handle)
{
	const struct ac_wrapped call = AC_ENTER(cudnnCreate);
	struct ac_provider *maker;
	cudnnStatus_t status;

	ac_trampoline_begin(&call);
	status = ORIGINAL(call, cudnnCreate)(handle);
	maker = ac_trampoline_maker(&call, ENTRY_cudnnCreate,
	    status ? NULL : *handle);
	if (maker) {
		ac_conv_is_new(*handle);
		ac_handle_remember(*handle, maker);
	}
	ac_wrapper_leave(&call);
	return status;
}

/* Plans and record go first: once the provider has freed the handle, another
 * thread may be given the same address. */
AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnDestroy)(cudnnHandle_t handle)
{
	const struct ac_wrapped call = AC_ENTER(cudnnDestroy);
	struct ac_handle record;
	cudnnStatus_t status;
	bool was_last = false;

	if (call.outermost && handle) {
		ac_conv_plan_forget(handle);
		was_last = ac_handle_forget(handle, &record);
	}
	status = ORIGINAL(call, cudnnDestroy)(handle);
	if (was_last)
		ac_lane_destroy_all(record.provider, record.context);
	ac_wrapper_leave(&call);
	return status;
}
