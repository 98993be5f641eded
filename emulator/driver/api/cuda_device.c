/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_device.c -- driver calls: devices. Contracts are
 * NVIDIA's. */
#include "emulator/driver/api/cuda.h"

#include <string.h>

const struct emu_family emu_driver = { CUDA_ERROR_UNKNOWN,
	CUDA_ERROR_DEINITIALIZED };

int
emu_driver_enter(void)
{
	struct CUctx_st *context;

	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	context = emu_context_current();
	if (!context) {
		emu_refused(emu_call_current(), "no context is current");
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	if (!emu_context_id(context))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	return emu_context_error(context);
}

int
emu_driver_check_device(CUdevice device)
{
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	return emu_device_exists(device) ? CUDA_SUCCESS :
	    CUDA_ERROR_INVALID_DEVICE;
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
	*count = emu_device_count();
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGet(CUdevice *device, int ordinal)
{
	EMU_ENTER(&emu_driver);
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	if (emu_driver_check_device(ordinal))
		return emu_driver_check_device(ordinal);
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGetName(char *name, int size, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!name || size < 1)
		return CUDA_ERROR_INVALID_VALUE;
	strncpy(name, emu_device_model(device)->name, (size_t)size - 1);
	name[size - 1] = '\0';
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
    CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_device_attribute(device, attribute, value);
}

CUresult
cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = emu_device_memory(device);
	return CUDA_SUCCESS;
}

CUresult
cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (emu_driver_check_device(peer))
		return emu_driver_check_device(peer);
	if (!can)
		return CUDA_ERROR_INVALID_VALUE;
	*can = device != peer;
	return CUDA_SUCCESS;
}
