/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/cudnn_execute.c -- the wrapper of cudnnBackendExecute(): the
 * program's call as it is, counted for its plan's site
 * (shim/graph/executed.h). */
#include "base/reentry.h"
#include "shim/graph/executed.h"
#include "shim/bind/marker.h"
#include "shim/bind/provider.h"
#include "shim/bind/thunk.h"

AC_WRAPPER_DOOR(cudnnBackendExecute);

AC_EXPORT cudnnStatus_t CUDNNWINAPI
cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t pack)
{
	const uint32_t via = ac_thunk_take();
	const bool outermost = ac_reentry_enter();
	const ac_fn next = ac_provider_bind(ENTRY_cudnnBackendExecute,
	    __builtin_return_address(0), via).next;
	const cudnnStatus_t status = ((__typeof__(
	    &cudnnBackendExecute))next)(handle, plan, pack);

	if (outermost && (status != CUDNN_STATUS_SUCCESS
	    || !ac_executed_count(plan)))
		ac_marker_count(ENTRY_cudnnBackendExecute);
	if (outermost)
		ac_reentry_leave();
	return status;
}
