/* SPDX-License-Identifier: Apache-2.0 */
/* shim/conv/cudnn_handle.c -- wrappers of cudnnCreate() and cudnnDestroy(): on
 * which device a handle lives, and the end of what was made for it. */
#include "base/reentry.h"
#include "shim/conv/conv_plan.h"
#include "shim/device/handle.h"
#include "shim/device/lane.h"
#include "shim/bind/thunk.h"

AC_WRAPPER_DOOR(cudnnCreate);
AC_WRAPPER_DOOR(cudnnDestroy);

AC_EXPORT cudnnStatus_t CUDNNWINAPI
cudnnCreate(cudnnHandle_t *handle)
{
	const uint32_t via = ac_thunk_take();
	const bool outermost = ac_reentry_enter();
	const struct ac_binding binding = ac_provider_bind(ENTRY_cudnnCreate,
	    __builtin_return_address(0), via);
	const cudnnStatus_t status =
	    ((__typeof__(&cudnnCreate))binding.next)(handle);

	if (outermost && status == CUDNN_STATUS_SUCCESS && binding.provider)
		ac_handle_remember(*handle, binding.provider);
	if (outermost)
		ac_reentry_leave();
	return status;
}

/* Plans and record go first: once the provider has freed the handle, another
 * thread may be given the same address. */
AC_EXPORT cudnnStatus_t CUDNNWINAPI
cudnnDestroy(cudnnHandle_t handle)
{
	const uint32_t via = ac_thunk_take();
	const bool outermost = ac_reentry_enter();
	const struct ac_binding binding = ac_provider_bind(ENTRY_cudnnDestroy,
	    __builtin_return_address(0), via);
	struct ac_handle record;
	cudnnStatus_t status;
	bool was_last = false;

	if (outermost && handle) {
		ac_conv_plan_forget(handle);
		was_last = ac_handle_forget(handle, &record);
	}
	status = ((__typeof__(&cudnnDestroy))binding.next)(handle);
	if (was_last)
		ac_lane_destroy_all(record.provider, record.context);
	if (outermost)
		ac_reentry_leave();
	return status;
}
