/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_memory.c -- driver calls: memory and pools.
 * Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"
#include "emulator/driver/memory.h"

static void *
host(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

static CUresult
allocate(CUdeviceptr *address, size_t bytes, enum emu_memory_kind kind)
{
	void *pointer;
	int status;

	if (!address || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	status = emu_memory_allocate(bytes, kind, &pointer);
	if (!status)
		*address = (CUdeviceptr)(uintptr_t)pointer;
	return status;
}

CUresult
cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
	DRIVER_ENTER();
	return allocate(address, bytes, EMU_MEMORY_DEVICE);
}

CUresult
cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags)
{
	DRIVER_ENTER();
	(void)flags;
	return allocate(address, bytes, EMU_MEMORY_MANAGED);
}

CUresult
cuMemFree(CUdeviceptr address)
{
	DRIVER_ENTER();
	return emu_memory_free(host(address), false);
}

CUresult
cuMemAllocHost(void **pointer, size_t bytes)
{
	DRIVER_ENTER();
	if (!pointer || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_memory_allocate(bytes, EMU_MEMORY_PINNED, pointer);
}

CUresult
cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	DRIVER_ENTER();
	(void)flags;
	if (!pointer || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_memory_allocate(bytes, EMU_MEMORY_PINNED, pointer);
}

CUresult
cuMemFreeHost(void *pointer)
{
	DRIVER_ENTER();
	return emu_memory_free(pointer, true);
}

CUresult
cuMemHostRegister(void *pointer, size_t bytes, unsigned flags)
{
	DRIVER_ENTER();
	(void)flags;
	return emu_memory_register(pointer, bytes);
}

CUresult
cuMemHostUnregister(void *pointer)
{
	DRIVER_ENTER();
	return emu_memory_unregister(pointer);
}

CUresult
cuMemHostGetDevicePointer(CUdeviceptr *address, void *pointer, unsigned flags)
{
	DRIVER_ENTER();
	(void)flags;
	if (!address || emu_memory_find(pointer, NULL) ==
	    EMU_MEMORY_PAGEABLE)
		return CUDA_ERROR_INVALID_VALUE;
	*address = (CUdeviceptr)(uintptr_t)pointer;
	return CUDA_SUCCESS;
}

CUresult
cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	DRIVER_ENTER();
	if (!free_bytes || !total_bytes)
		return CUDA_ERROR_INVALID_VALUE;
	emu_memory_info(emu_context_device(), free_bytes, total_bytes);
	return CUDA_SUCCESS;
}

CUresult
cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	struct emu_memory found;

	DRIVER_ENTER();
	if (emu_memory_find(host(address), &found) == EMU_MEMORY_PAGEABLE)
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = (CUdeviceptr)(uintptr_t)found.base;
	if (bytes)
		*bytes = found.bytes;
	return CUDA_SUCCESS;
}

CUresult
cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	EMU_ENTER(&emu_driver);
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!pool || !properties || properties->allocType !=
	    CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type !=
	    CU_MEM_LOCATION_TYPE_DEVICE ||
	    !emu_device_exists(properties->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	if (emu_capture_forbid())
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return emu_pool_create(properties->location.id, properties->maxSize,
	    pool);
}

CUresult
cuMemPoolDestroy(CUmemoryPool pool)
{
	EMU_ENTER(&emu_driver);
	return emu_pool_destroy(pool);
}

CUresult
cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	EMU_ENTER(&emu_driver);
	return emu_pool_trim(pool, keep);
}

CUresult
cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
    void *value)
{
	EMU_ENTER(&emu_driver);
	return emu_pool_set(pool, (int)attribute, value);
}

CUresult
cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
    void *value)
{
	EMU_ENTER(&emu_driver);
	return emu_pool_get(pool, (int)attribute, value);
}

CUresult
cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	*pool = emu_pool_default(device);
	return CUDA_SUCCESS;
}

CUresult
cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	*pool = emu_pool_current(device);
	return CUDA_SUCCESS;
}

CUresult
cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	return emu_pool_make_current(pool, device);
}

/* The address is valid at once; the program must order its use in the stream,
 * as on a real device. */
CUresult
cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
    CUstream stream)
{
	int status = CUDA_ERROR_INVALID_VALUE;
	void *pointer;

	DRIVER_ENTER();
	if (address && bytes)
		status = emu_memory_allocate_async(pool, bytes, stream,
		    &pointer);
	if (!status)
		*address = (CUdeviceptr)(uintptr_t)pointer;
	return status;
}

CUresult
cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
	void *pointer;
	int status;

	DRIVER_ENTER();
	if (!address || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	status = emu_memory_allocate_async(emu_pool_current(
	    emu_context_device()), bytes, stream, &pointer);
	if (!status)
		*address = (CUdeviceptr)(uintptr_t)pointer;
	return status;
}

CUresult
cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	DRIVER_ENTER();
	return emu_memory_free_async(host(address), stream);
}
