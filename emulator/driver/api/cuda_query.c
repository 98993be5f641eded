/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_query.c -- driver calls: what else programs ask of
 * devices and contexts, and wishes that change nothing here. Contracts are
 * NVIDIA's. */
#include "emulator/driver/api/cuda.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- devices ------------------------------------------------------------ */

/* Fixed, so that what a program stores by it is found again. */
CUresult
cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	emu_device_uuid(device, (unsigned char *)uuid->bytes);
	return CUDA_SUCCESS;
}

enum { BUS_ID = sizeof "0000:00:00.0", DOMAIN = sizeof "0000" };

static void
bus_id(int device, char id[static BUS_ID])
{
	int bus = 0;

	emu_device_attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &bus);
	snprintf(id, BUS_ID, "0000:%02X:00.0", (unsigned)bus & 0xff);
}

CUresult
cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
	char whole[BUS_ID];

	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!id || size < 1)
		return CUDA_ERROR_INVALID_VALUE;
	bus_id(device, whole);
	snprintf(id, (size_t)size, "%s", whole);
	return CUDA_SUCCESS;
}

/* Without a domain, and without a function, too. */
static bool
is_bus_id(const char *id, const char *whole)
{
	const size_t length = strlen(id), function = sizeof ".0" - 1;

	for (const char *form = whole; form <= whole + DOMAIN; form += DOMAIN)
		if (!strncasecmp(id, form, length) && (length == strlen(form) ||
		    length + function == strlen(form)))
			return true;
	return false;
}

CUresult
cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
	char whole[BUS_ID];

	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!device || !id || id[strspn(id, "0123456789abcdefABCDEF:.")])
		return CUDA_ERROR_INVALID_VALUE;
	for (int i = 0; i < emu_device_count(); i++) {
		bus_id(i, whole);
		if (is_bus_id(id, whole)) {
			*device = i;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_DEVICE;
}

CUresult
cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	*major = emu_device_model(device)->major;
	*minor = emu_device_model(device)->minor;
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute,
    CUdevice from, CUdevice to)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(from))
		return emu_driver_check_device(from);
	if (emu_driver_check_device(to))
		return emu_driver_check_device(to);
	if (from == to)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
	return CUDA_SUCCESS;
}

/* ---- contexts ----------------------------------------------------------- */

/* RATIONALE: the version that contexts of cuCtxCreate_v2 and primary ones have
 * had since CUDA 3.2 [CUDA driver manual, cuCtxGetApiVersion]. */
CUresult
cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!context)
		context = emu_context_current();
	if (!context || !emu_context_exists(context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = 3020;
	return CUDA_SUCCESS;
}

/* No kernel runs out of what is limited here. */
CUresult
cuCtxGetLimit(size_t *value, CUlimit limit)
{
	DRIVER_ENTER();
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if ((unsigned)limit >= CU_LIMIT_MAX)
		return CUDA_ERROR_UNSUPPORTED_LIMIT;
	*value = limit == CU_LIMIT_MALLOC_HEAP_SIZE ? 8u << 20 :
	    limit == CU_LIMIT_PRINTF_FIFO_SIZE ? 1u << 20 :
	    limit == CU_LIMIT_STACK_SIZE ? 1024 : 0;
	return CUDA_SUCCESS;
}

CUresult
cuCtxSetLimit(CUlimit limit, size_t value)
{
	DRIVER_ENTER();
	(void)value;
	return (unsigned)limit < CU_LIMIT_MAX ? CUDA_SUCCESS :
	    CUDA_ERROR_UNSUPPORTED_LIMIT;
}

CUresult
cuCtxGetCacheConfig(CUfunc_cache *config)
{
	DRIVER_ENTER();
	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	*config = CU_FUNC_CACHE_PREFER_NONE;
	return CUDA_SUCCESS;
}

CUresult
cuCtxSetCacheConfig(CUfunc_cache config)
{
	DRIVER_ENTER();
	(void)config;
	return CUDA_SUCCESS;
}

CUresult
cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	return flags & ~(unsigned)CU_CTX_FLAGS_MASK ?
	    CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- profilers ---------------------------------------------------------- */

CUresult
cuProfilerStart(void)
{
	DRIVER_ENTER();
	return CUDA_SUCCESS;
}

CUresult
cuProfilerStop(void)
{
	DRIVER_ENTER();
	return CUDA_SUCCESS;
}
