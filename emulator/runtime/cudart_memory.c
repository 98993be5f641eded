/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_memory.c -- runtime calls: memory. Contracts are
 * NVIDIA's. */
#include "emulator/runtime/cudart.h"
#include "emulator/driver/pool.h"

#include <string.h>

enum { PITCH_ALIGNMENT = 512 };

static cudaError_t
allocate(void **pointer, size_t bytes, enum emu_memory_kind kind)
{
	if (!pointer)
		return emu_runtime_keep(cudaErrorInvalidValue);
	return emu_runtime_keep(emu_memory_allocate(bytes, kind, pointer));
}

static cudaError_t
allocate_async(void **pointer, size_t bytes, cudaStream_t stream)
{
	return emu_runtime_keep(pointer ? emu_memory_allocate_async(
	    emu_pool_current(emu_context_device()), bytes, stream, pointer) :
	    (int)cudaErrorInvalidValue);
}

cudaError_t
cudaMalloc(void **pointer, size_t bytes)
{
	RUNTIME_ENTER();
	return allocate(pointer, bytes, EMU_MEMORY_DEVICE);
}

cudaError_t
cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
	cudaError_t status;
	size_t aligned;

	RUNTIME_ENTER();
	if (!pitch)
		return emu_runtime_keep(cudaErrorInvalidValue);
	aligned = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT *
	    PITCH_ALIGNMENT;
	status = allocate(pointer, aligned * height, EMU_MEMORY_DEVICE);
	if (!status)
		*pitch = aligned;
	return status;
}

cudaError_t
cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
	RUNTIME_ENTER();
	(void)flags;
	return allocate(pointer, bytes, EMU_MEMORY_MANAGED);
}

cudaError_t
cudaMallocHost(void **pointer, size_t bytes)
{
	RUNTIME_ENTER();
	return allocate(pointer, bytes, EMU_MEMORY_PINNED);
}

cudaError_t
cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
	RUNTIME_ENTER();
	(void)flags;
	return allocate(pointer, bytes, EMU_MEMORY_PINNED);
}

cudaError_t
cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return allocate_async(pointer, bytes, stream);
}

cudaError_t
cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
    cudaStream_t stream)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(pointer ? emu_memory_allocate_async(pool,
	    bytes, stream, pointer) : (int)cudaErrorInvalidValue);
}

cudaError_t
cudaFree(void *pointer)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_memory_free(pointer, false));
}

cudaError_t
cudaFreeHost(void *pointer)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_memory_free(pointer, true));
}

cudaError_t
cudaFreeAsync(void *pointer, cudaStream_t stream)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_memory_free_async(pointer, stream));
}

/* The runtime's pools: one per device. */
cudaError_t
cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	RUNTIME_ENTER();
	if (!pool || !emu_device_exists(device))
		return emu_runtime_keep(cudaErrorInvalidValue);
	*pool = emu_pool_default(device);
	return cudaSuccess;
}

cudaError_t
cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
    void *value)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_pool_set(pool, (int)attribute, value));
}

cudaError_t
cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute,
    void *value)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_pool_get(pool, (int)attribute, value));
}

cudaError_t
cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_pool_trim(pool, keep));
}

cudaError_t
cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
	RUNTIME_ENTER();
	(void)flags;
	return emu_runtime_keep(emu_memory_register(pointer, bytes));
}

cudaError_t
cudaHostUnregister(void *pointer)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_memory_unregister(pointer));
}

cudaError_t
cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
	RUNTIME_ENTER();
	(void)flags;
	if (!device || emu_memory_find(host, NULL) ==
	    EMU_MEMORY_PAGEABLE)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*device = host;
	return cudaSuccess;
}

cudaError_t
cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	RUNTIME_ENTER();
	if (!free_bytes || !total_bytes)
		return emu_runtime_keep(cudaErrorInvalidValue);
	emu_memory_info(emu_context_device(), free_bytes, total_bytes);
	return cudaSuccess;
}

cudaError_t
cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
    const void *pointer)
{
	static const enum cudaMemoryType types[] = {
		[EMU_MEMORY_PAGEABLE] = cudaMemoryTypeUnregistered,
		[EMU_MEMORY_DEVICE] = cudaMemoryTypeDevice,
		[EMU_MEMORY_MANAGED] = cudaMemoryTypeManaged,
		[EMU_MEMORY_PINNED] = cudaMemoryTypeHost,
		[EMU_MEMORY_REGISTERED] = cudaMemoryTypeHost
	};
	void *same = (void *)(uintptr_t)pointer;
	enum emu_memory_kind kind;
	struct emu_memory found;

	RUNTIME_ENTER();
	if (!attributes)
		return emu_runtime_keep(cudaErrorInvalidValue);
	kind = emu_memory_find(pointer, &found);
	memset(attributes, 0, sizeof *attributes);
	attributes->device = kind == EMU_MEMORY_PAGEABLE ? cudaInvalidDeviceId :
	    found.device;
	attributes->type = types[kind];
	attributes->devicePointer = kind != EMU_MEMORY_PAGEABLE ? same : NULL;
	attributes->hostPointer = kind != EMU_MEMORY_DEVICE ? same : NULL;
	return cudaSuccess;
}
