/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cuda_memory.c -- driver calls: memory, pools, copies. Contracts are
 * NVIDIA's. */
#include "emulator/cuda.h"
#include "emulator/wait.h"

#include <stdlib.h>

/* What NVIDIA's headers know as CUmemoryPool. Pools share the device's memory
 * and hold nothing back. */
struct CUmemPoolHandle_st {
	_Atomic uint32_t mark;
};
static struct CUmemPoolHandle_st default_pool = { EMU_MARK_POOL };

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
	if (!address || emu_memory_find(pointer, NULL, NULL) ==
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
	emu_memory_info(free_bytes, total_bytes);
	return CUDA_SUCCESS;
}

CUresult
cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
	void *start;
	size_t size;

	DRIVER_ENTER();
	if (emu_memory_find(host(address), &start, &size) ==
	    EMU_MEMORY_PAGEABLE)
		return CUDA_ERROR_NOT_FOUND;
	if (base)
		*base = (CUdeviceptr)(uintptr_t)start;
	if (bytes)
		*bytes = size;
	return CUDA_SUCCESS;
}

static int
check_pool(CUmemoryPool pool)
{
	return !pool || atomic_load(&pool->mark) != EMU_MARK_POOL ?
	    CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult
cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	struct CUmemPoolHandle_st *new;

	DRIVER_ENTER();
	if (!pool || !properties || properties->allocType !=
	    CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type !=
	    CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id)
		return CUDA_ERROR_INVALID_VALUE;
	new = malloc(sizeof *new);
	if (!new)
		return CUDA_ERROR_OUT_OF_MEMORY;
	atomic_init(&new->mark, EMU_MARK_POOL);
	*pool = new;
	return CUDA_SUCCESS;
}

CUresult
cuMemPoolDestroy(CUmemoryPool pool)
{
	DRIVER_ENTER();
	if (check_pool(pool) || pool == &default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	atomic_store(&pool->mark, 0);
	free(pool);
	return CUDA_SUCCESS;
}

CUresult
cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	DRIVER_ENTER();
	(void)keep;
	return check_pool(pool);
}

CUresult
cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
    void *value)
{
	DRIVER_ENTER();
	(void)attribute;
	return value ? (CUresult)check_pool(pool) : CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (device)
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = &default_pool;
	return CUDA_SUCCESS;
}

/* The address is good at once; what the stream still does with it is the
 * program's business, as on the real device. */
CUresult
cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
    CUstream stream)
{
	struct CUstream_st *found;
	int status;

	DRIVER_ENTER();
	status = check_pool(pool);
	if (!status)
		status = emu_stream_find(stream, &found);
	return status ? (CUresult)status :
	    allocate(address, bytes, EMU_MEMORY_DEVICE);
}

CUresult
cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream)
{
	struct CUstream_st *found;
	int status;

	DRIVER_ENTER();
	status = emu_stream_find(stream, &found);
	return status ? (CUresult)status :
	    allocate(address, bytes, EMU_MEMORY_DEVICE);
}

CUresult
cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	DRIVER_ENTER();
	return emu_memory_free_async(host(address), stream);
}
