/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_memory.c -- driver calls: memory and pools.
 * Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"

#include <stdlib.h>

/* What NVIDIA's headers know as CUmemoryPool. */
struct CUmemPoolHandle_st {
	_Atomic uint32_t mark;
	int device;
};
static struct CUmemPoolHandle_st default_pools[EMU_DEVICES] = {
	{ EMU_MARK_POOL, 0 }, { EMU_MARK_POOL, 1 }, { EMU_MARK_POOL, 2 },
	{ EMU_MARK_POOL, 3 }, { EMU_MARK_POOL, 4 }, { EMU_MARK_POOL, 5 },
	{ EMU_MARK_POOL, 6 }, { EMU_MARK_POOL, 7 }
};

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

struct CUmemPoolHandle_st *
emu_pool_default(int device)
{
	return &default_pools[device];
}

static bool
is_default(CUmemoryPool pool)
{
	return pool >= default_pools && pool < default_pools + EMU_DEVICES;
}

int
emu_pool_find(struct CUmemPoolHandle_st *pool, int *device_out)
{
	if (!pool || atomic_load(&pool->mark) != EMU_MARK_POOL ||
	    !emu_device_exists(pool->device))
		return EMU_INVALID_VALUE;
	*device_out = pool->device;
	return EMU_OK;
}

static int
check_pool(CUmemoryPool pool)
{
	int device;

	return emu_pool_find(pool, &device);
}

CUresult
cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	struct CUmemPoolHandle_st *new;

	DRIVER_ENTER();
	if (!pool || !properties || properties->allocType !=
	    CU_MEM_ALLOCATION_TYPE_PINNED || properties->location.type !=
	    CU_MEM_LOCATION_TYPE_DEVICE ||
	    !emu_device_exists(properties->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	if (emu_capture_forbid())
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	new = malloc(sizeof *new);
	if (!new)
		return CUDA_ERROR_OUT_OF_MEMORY;
	atomic_init(&new->mark, EMU_MARK_POOL);
	new->device = properties->location.id;
	*pool = new;
	return CUDA_SUCCESS;
}

CUresult
cuMemPoolDestroy(CUmemoryPool pool)
{
	DRIVER_ENTER();
	if (check_pool(pool) || is_default(pool))
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
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	*pool = emu_pool_default(device);
	return CUDA_SUCCESS;
}

/* The address is valid at once; the program must order its use in the stream,
 * as on a real device. */
CUresult
cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool,
    CUstream stream)
{
	int status, device;
	void *pointer;

	DRIVER_ENTER();
	status = emu_pool_find(pool, &device);
	if (!status && (!address || !bytes))
		status = CUDA_ERROR_INVALID_VALUE;
	if (!status)
		status = emu_memory_allocate_async(device, bytes, stream,
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
	status = emu_memory_allocate_async(emu_context_device(), bytes, stream,
	    &pointer);
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

/* ---- what a pointer is -------------------------------------------------- */

static CUresult
tell(const struct emu_memory *m, const void *pointer,
    CUpointer_attribute attribute, void *data)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = m->context;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = m->kind == EMU_MEMORY_DEVICE ||
		    m->kind == EMU_MEMORY_MANAGED ? CU_MEMORYTYPE_DEVICE :
		    CU_MEMORYTYPE_HOST;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = (CUdeviceptr)(uintptr_t)pointer;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = m->device;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(int *)data = m->kind == EMU_MEMORY_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(void **)data = m->base;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = m->bytes;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

CUresult
cuPointerGetAttribute(void *data, CUpointer_attribute attribute,
    CUdeviceptr address)
{
	struct emu_memory found;

	DRIVER_ENTER();
	if (!data || emu_memory_find(host(address), &found) ==
	    EMU_MEMORY_PAGEABLE)
		return CUDA_ERROR_INVALID_VALUE;
	return tell(&found, host(address), attribute, data);
}
