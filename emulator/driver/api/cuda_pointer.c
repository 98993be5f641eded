/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_pointer.c -- driver calls: what a pointer is.
 * Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"

#include <string.h>

static void *
host(CUdeviceptr address)
{
	return (void *)(uintptr_t)address;
}

/* What the manual has a program provide for its value. */
static size_t
attribute_bytes(CUpointer_attribute attribute)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		return 8;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		return 4;
	default:
		return 1; /* a bool */
	}
}

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
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (m->kind == EMU_MEMORY_DEVICE)
			return CUDA_ERROR_INVALID_VALUE;
		*(void **)data = (void *)(uintptr_t)pointer;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		memset(data, 0, attribute_bytes(attribute));
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(char *)data = 1;
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

/* As if each was asked for alone, but none fails: 0 where there is no answer,
 * and for memory that is not ours. */
CUresult
cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes,
    void **data, CUdeviceptr address)
{
	static const uint64_t none;
	struct emu_memory found;
	bool is_known;

	DRIVER_ENTER();
	if (!count || !attributes || !data)
		return CUDA_ERROR_INVALID_VALUE;
	is_known = emu_memory_find(host(address), &found) !=
	    EMU_MEMORY_PAGEABLE;
	for (unsigned i = 0; i < count; i++)
		if (!is_known || tell(&found, host(address), attributes[i],
		    data[i]))
			memcpy(data[i], &none, attribute_bytes(attributes[i]));
	return CUDA_SUCCESS;
}
