/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_context.c -- driver calls: contexts. Contracts are
 * NVIDIA's. */
#include "emulator/driver/api/cuda.h"

static int
check_context(CUcontext context)
{
	return emu_context_exists(context) ? CUDA_SUCCESS :
	    CUDA_ERROR_INVALID_CONTEXT;
}

/* ---- primary contexts --------------------------------------------------- */

CUresult
cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	struct CUctx_st *primary;

	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	primary = emu_context_primary(device);
	emu_context_activate(primary);
	atomic_fetch_add(&primary->retained, 1);
	*context = primary;
	return CUDA_SUCCESS;
}

/* RATIONALE: on a GPU the last release resets the device, unless the runtime
 * uses it too; here both share one process, so it only counts. */
CUresult
cuDevicePrimaryCtxRelease(CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (atomic_load(&emu_context_primary(device)->retained) <= 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	atomic_fetch_sub(&emu_context_primary(device)->retained, 1);
	return CUDA_SUCCESS;
}

CUresult
cuDevicePrimaryCtxReset(CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (emu_capture_forbid())
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return emu_context_end(emu_context_primary(device));
}

CUresult
cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	*flags = 0;
	*active = atomic_load(&emu_context_primary(device)->alive);
	return CUDA_SUCCESS;
}

/* ---- created ones ------------------------------------------------------- */

CUresult
cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device)
{
	struct CUctx_st *new;

	EMU_ENTER(&emu_driver);
	(void)flags;
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	new = emu_context_create(device);
	if (!emu_context_push(new)) {
		emu_context_end(new);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*context = new;
	return CUDA_SUCCESS;
}

CUresult
cuCtxCreate_v3(CUcontext *context, void *affinity, int count, unsigned flags,
    CUdevice device)
{
	return affinity || count ? CUDA_ERROR_NOT_SUPPORTED :
	    cuCtxCreate_v2(context, flags, device);
}

CUresult
cuCtxCreate(CUcontext *context, CUctxCreateParams *parameters, unsigned flags,
    CUdevice device)
{
	return parameters ? CUDA_ERROR_NOT_SUPPORTED :
	    cuCtxCreate_v2(context, flags, device);
}

CUresult
cuCtxDestroy(CUcontext context)
{
	struct CUctx_st *top;
	int status;

	EMU_ENTER(&emu_driver);
	if (check_context(context) || context->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	status = emu_context_end(context);
	if (emu_context_current() == context)
		emu_context_pop(&top);
	return status;
}

/* What cuCtxCreate() made has one user, who lets go. */
CUresult
cuCtxDetach(CUcontext context)
{
	EMU_ENTER(&emu_driver);
	return context && context == emu_context_current() ?
	    cuCtxDestroy(context) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult
cuCtxPushCurrent(CUcontext context)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (check_context(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	return emu_context_push(context) ? CUDA_SUCCESS :
	    CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult
cuCtxPopCurrent(CUcontext *context)
{
	struct CUctx_st *top;

	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!emu_context_pop(&top))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (context)
		*context = top;
	return CUDA_SUCCESS;
}

/* ---- the current one ---------------------------------------------------- */

CUresult
cuCtxGetCurrent(CUcontext *context)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	*context = emu_context_current();
	return CUDA_SUCCESS;
}

CUresult
cuCtxSetCurrent(CUcontext context)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (context && check_context(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	emu_context_make_current(context);
	return CUDA_SUCCESS;
}

CUresult
cuCtxGetDevice(CUdevice *device)
{
	DRIVER_ENTER();
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = emu_context_device();
	return CUDA_SUCCESS;
}

CUresult
cuCtxGetFlags(unsigned *flags)
{
	DRIVER_ENTER();
	if (!flags)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = 0;
	return CUDA_SUCCESS;
}

CUresult
cuCtxGetId(CUcontext context, unsigned long long *id)
{
	EMU_ENTER(&emu_driver);
	/* Every call reports that the current context is gone; naming a dead
	 * one is undefined [NVIDIA's manual of cuCtxDestroy; seen in
	 * openucx/ucx#10852]. */
	if (context && (check_context(context) || !emu_context_id(context)))
		emu_complain("asked about a context that is gone");
	if (!context)
		context = emu_context_current();
	if (!context || check_context(context) || !emu_context_id(context))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	*id = emu_context_id(context);
	return CUDA_SUCCESS;
}

/* Only a process under MPS has one. */
CUresult
cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
	DRIVER_ENTER();
	return !affinity || type != CU_EXEC_AFFINITY_TYPE_SM_COUNT
	    ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

#if CUDA_VERSION >= 12040
/* No context is a green one: each has the whole device. */
CUresult
cuCtxGetDevResource(CUcontext context, CUdevResource *resource,
    CUdevResourceType type)
{
	int count;

	DRIVER_ENTER();
	if (check_context(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!resource || type != CU_DEV_RESOURCE_TYPE_SM
	    || emu_device_attribute(context->device,
	    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &count))
		return CUDA_ERROR_INVALID_RESOURCE_TYPE;
	*resource = (CUdevResource){ .type = type,
		.sm.smCount = (unsigned)count };
	return CUDA_SUCCESS;
}
#endif

CUresult
cuCtxSynchronize(void)
{
	DRIVER_ENTER();
	return emu_stream_wait_all();
}

CUresult
cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	DRIVER_ENTER();
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return CUDA_SUCCESS;
}

/* ---- peers -------------------------------------------------------------- */

/* RATIONALE: access is granted to the whole device of the context: here memory
 * belongs to a device, not to one of its contexts. */
CUresult
cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
	DRIVER_ENTER();
	if (check_context(peer))
		return CUDA_ERROR_INVALID_CONTEXT;
	return flags ? CUDA_ERROR_INVALID_VALUE :
	    (CUresult)emu_peer_enable(peer->device, true);
}

CUresult
cuCtxDisablePeerAccess(CUcontext peer)
{
	DRIVER_ENTER();
	return check_context(peer) ? CUDA_ERROR_INVALID_CONTEXT :
	    (CUresult)emu_peer_enable(peer->device, false);
}
