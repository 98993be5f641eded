/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cuda_device.c -- driver calls: devices and contexts. Contracts are
 * NVIDIA's. */
#include "emulator/cuda.h"

#include <string.h>

const struct emu_family emu_driver = { CUDA_ERROR_UNKNOWN,
	CUDA_ERROR_DEINITIALIZED };

int
emu_driver_enter(void)
{
	struct CUctx_st *context;

	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	emu_context_current(&context);
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!atomic_load_explicit(&context->alive, memory_order_acquire))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return emu_device_error();
}

static CUresult
check_device(CUdevice device)
{
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult
cuInit(unsigned flags)
{
	EMU_ENTER(&emu_driver);
	return flags ? CUDA_ERROR_INVALID_VALUE :
	    (CUresult)emu_device_up();
}

CUresult
cuDriverGetVersion(int *version)
{
	EMU_ENTER(&emu_driver);
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = EMU_DRIVER_VERSION;
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGetCount(int *count)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = 1;
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGet(CUdevice *device, int ordinal)
{
	EMU_ENTER(&emu_driver);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (check_device(ordinal))
		return check_device(ordinal);
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGetName(char *name, int size, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (check_device(device))
		return check_device(device);
	if (!name || size < 1)
		return CUDA_ERROR_INVALID_VALUE;
	strncpy(name, emu_device_model()->name, (size_t)size - 1);
	name[size - 1] = '\0';
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
    CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (check_device(device))
		return check_device(device);
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_device_attribute(attribute, value);
}

CUresult
cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (check_device(device))
		return check_device(device);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = emu_device_memory();
	return CUDA_SUCCESS;
}

CUresult
cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	struct CUctx_st *primary = emu_context_primary();

	EMU_ENTER(&emu_driver);
	if (check_device(device))
		return check_device(device);
	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	emu_context_activate(primary);
	atomic_fetch_add(&primary->retained, 1);
	*context = primary;
	return CUDA_SUCCESS;
}

/* RATIONALE: the last release resets the device on a GPU that the runtime does
 * not use as well; here both share one process, so it merely counts. */
CUresult
cuDevicePrimaryCtxRelease(CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (check_device(device))
		return check_device(device);
	if (atomic_load(&emu_context_primary()->retained) <= 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	atomic_fetch_sub(&emu_context_primary()->retained, 1);
	return CUDA_SUCCESS;
}

CUresult
cuDevicePrimaryCtxReset(CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (check_device(device))
		return check_device(device);
	return emu_device_reset();
}

CUresult
cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
	EMU_ENTER(&emu_driver);
	if (check_device(device))
		return check_device(device);
	*flags = 0;
	*active = atomic_load(&emu_context_primary()->alive);
	return CUDA_SUCCESS;
}

CUresult
cuCtxGetCurrent(CUcontext *context)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!context)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_context_current(context);
}

CUresult
cuCtxSetCurrent(CUcontext context)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (context && context != emu_context_primary())
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
	*device = 0;
	return CUDA_SUCCESS;
}

CUresult
cuCtxGetId(CUcontext context, unsigned long long *id)
{
	EMU_ENTER(&emu_driver);
	if (!context)
		emu_context_current(&context);
	if (!context || !atomic_load(&context->alive))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	if (!id)
		return CUDA_ERROR_INVALID_VALUE;
	*id = atomic_load(&context->id);
	return CUDA_SUCCESS;
}

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
