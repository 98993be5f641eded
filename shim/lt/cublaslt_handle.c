/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/cublaslt_handle.c -- wrappers of cublasLtCreate() and
 * cublasLtDestroy(): on which device a handle lives. A cuBLAS handle is a
 * handle of cublasLt, too, and has a record of its own. */
#include "shim/bind/trampoline.h"
#include "shim/bind/wrapper.h"
#include "shim/device/handle.h"
#include "shim/device/lane.h"

#include <cublasLt.h>

AC_WRAPPER(cublasStatus_t CUBLASWINAPI, cublasLtCreate)(
    cublasLtHandle_t *handle)
{
	const struct ac_wrapped call = AC_ENTER(cublasLtCreate);
	struct ac_provider *maker;
	cublasStatus_t status;

	ac_trampoline_begin(&call);
	status = ORIGINAL(call, cublasLtCreate)(handle);
	maker = ac_trampoline_maker(&call, ENTRY_cublasLtCreate,
	    status ? NULL : *handle);
	if (maker)
		ac_handle_remember(*handle, maker);
	ac_wrapper_leave(&call);
	return status;
}

/* The record goes first: once the library has freed the handle, another thread
 * may be given the same address. */
AC_WRAPPER(cublasStatus_t CUBLASWINAPI, cublasLtDestroy)(
    cublasLtHandle_t handle)
{
	const struct ac_wrapped call = AC_ENTER(cublasLtDestroy);
	struct ac_handle record;
	const bool was_last = call.outermost
	    && ac_handle_forget(handle, &record);
	const cublasStatus_t status = ORIGINAL(call, cublasLtDestroy)(handle);

	if (was_last)
		ac_lane_destroy_all(record.provider, record.context);
	ac_wrapper_leave(&call);
	return status;
}
