/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/cudnn_execute.c -- the wrapper of cudnnBackendExecute(): the
 * program's call as it is, counted for its plan's site
 * (shim/graph/executed.h). */
#include "shim/graph/executed.h"
#include "shim/bind/marker.h"
#include "shim/bind/wrapper.h"

AC_WRAPPER(cudnnStatus_t CUDNNWINAPI, cudnnBackendExecute)(
    cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
    cudnnBackendDescriptor_t pack)
{
	const struct ac_wrapped call = AC_ENTER(cudnnBackendExecute);
	const cudnnStatus_t status = ORIGINAL(call, cudnnBackendExecute)(
	    handle, plan, pack);

	if (call.outermost && (status != CUDNN_STATUS_SUCCESS
	    || !ac_executed_count(plan)))
		ac_marker_count(ENTRY_cudnnBackendExecute);
	ac_wrapper_leave(&call);
	return status;
}
