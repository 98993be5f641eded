/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_copy.c -- driver calls: copies and fills. Contracts
 * are NVIDIA's. */
#include "emulator/driver/api/cuda.h"

static CUresult
copy(void *to, const void *from, size_t bytes, enum emu_direction direction,
    bool wait, CUstream stream)
{
	const struct emu_copy c = {
		.to = to, .from = from, .bytes = bytes, .rows = 1,
		.to_pitch = bytes, .from_pitch = bytes,
		.direction = direction, .wait = wait
	};

	return emu_copy(&c, stream);
}

static CUresult
fill(CUdeviceptr to, uint32_t value, size_t size, size_t count,
    CUstream stream)
{
	const struct emu_fill f = {
		.to = (void *)(uintptr_t)to, .value = value, .size = size,
		.count = count, .rows = 1, .pitch = count * size
	};

	return emu_fill(&f, stream);
}

#define HOST(address) ((void *)(uintptr_t)(address))

CUresult
cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	DRIVER_ENTER();
	return copy(HOST(to), HOST(from), bytes, EMU_DIRECTION_BY_POINTER,
	    true, NULL);
}

CUresult
cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	DRIVER_ENTER();
	return copy(HOST(to), HOST(from), bytes, EMU_DIRECTION_BY_POINTER,
	    false, stream);
}

CUresult
cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
	DRIVER_ENTER();
	return copy(HOST(to), from, bytes, EMU_HOST_TO_DEVICE, true, NULL);
}

CUresult
cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
	DRIVER_ENTER();
	return copy(to, HOST(from), bytes, EMU_DEVICE_TO_HOST, true, NULL);
}

CUresult
cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	DRIVER_ENTER();
	return copy(HOST(to), HOST(from), bytes, EMU_DEVICE_TO_DEVICE, true,
	    NULL);
}

CUresult
cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
    CUstream stream)
{
	DRIVER_ENTER();
	return copy(HOST(to), from, bytes, EMU_HOST_TO_DEVICE, false, stream);
}

CUresult
cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	DRIVER_ENTER();
	return copy(to, HOST(from), bytes, EMU_DEVICE_TO_HOST, false, stream);
}

CUresult
cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
    CUstream stream)
{
	DRIVER_ENTER();
	return copy(HOST(to), HOST(from), bytes, EMU_DEVICE_TO_DEVICE, false,
	    stream);
}

/* Addresses are unified, so the contexts add nothing. */
static CUresult
copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes, CUstream stream, bool wait)
{
	if (!emu_context_exists(to_context) ||
	    !emu_context_exists(from_context))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (wait) {
		emu_stream_wait_context(to_context);
		emu_stream_wait_context(from_context);
	}
	return copy(HOST(to), HOST(from), bytes, EMU_DEVICE_TO_DEVICE, wait,
	    stream);
}

CUresult
cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes)
{
	DRIVER_ENTER();
	return copy_peer(to, to_context, from, from_context, bytes, NULL,
	    true);
}

CUresult
cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
    CUcontext from_context, size_t bytes, CUstream stream)
{
	DRIVER_ENTER();
	return copy_peer(to, to_context, from, from_context, bytes, stream,
	    false);
}

CUresult
cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
	DRIVER_ENTER();
	return fill(to, value, 1, count, NULL);
}

CUresult
cuMemsetD32(CUdeviceptr to, unsigned value, size_t count)
{
	DRIVER_ENTER();
	return fill(to, value, 4, count, NULL);
}

CUresult
cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
    CUstream stream)
{
	DRIVER_ENTER();
	return fill(to, value, 1, count, stream);
}

CUresult
cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
    CUstream stream)
{
	DRIVER_ENTER();
	return fill(to, value, 4, count, stream);
}
