/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_rows.c -- driver calls: memory by rows: copies and
 * fills with a pitch, in two and three dimensions; fills of 16 bits; hints.
 * Contracts are NVIDIA's. There are no arrays. */
#include "emulator/driver/api/cuda.h"

enum { PITCH_ALIGNMENT = 512 }; /* as cudaMallocPitch() has it */

CUresult
cuMemAllocPitch(CUdeviceptr *address, size_t *pitch, size_t width,
    size_t height, unsigned element)
{
	const size_t aligned = (width + PITCH_ALIGNMENT - 1) /
	    PITCH_ALIGNMENT * PITCH_ALIGNMENT;
	CUresult status;

	EMU_ENTER(&emu_driver);
	if (!pitch || !width || !height || (element != 4 && element != 8 &&
	    element != 16))
		return CUDA_ERROR_INVALID_VALUE;
	status = cuMemAlloc(address, aligned * height);
	if (!status)
		*pitch = aligned;
	return status;
}

/* ---- copies ------------------------------------------------------------- */

/* One end of a copy: where it begins. */
static int
end_of(CUmemorytype type, const void *host, CUdeviceptr device, size_t offset,
    unsigned char **at_out)
{
	switch (type) {
	case CU_MEMORYTYPE_HOST:
		*at_out = (unsigned char *)(uintptr_t)host + offset;
		return EMU_OK;
	case CU_MEMORYTYPE_DEVICE:
	case CU_MEMORYTYPE_UNIFIED:
		*at_out = (unsigned char *)(uintptr_t)device + offset;
		return EMU_OK;
	default:
		return EMU_NOT_SUPPORTED; /* an array */
	}
}

static enum emu_direction
direction_of(CUmemorytype to, CUmemorytype from)
{
	if (to == CU_MEMORYTYPE_UNIFIED || from == CU_MEMORYTYPE_UNIFIED)
		return EMU_DIRECTION_BY_POINTER;
	if (to == CU_MEMORYTYPE_HOST)
		return from == CU_MEMORYTYPE_HOST ? EMU_HOST_TO_HOST :
		    EMU_DEVICE_TO_HOST;
	return from == CU_MEMORYTYPE_HOST ? EMU_HOST_TO_DEVICE :
	    EMU_DEVICE_TO_DEVICE;
}

/* A pitch of 0 means rows without a gap. */
static CUresult
copy_2d(const CUDA_MEMCPY2D *c, bool wait, CUstream stream)
{
	struct emu_copy copy = { .wait = wait };
	unsigned char *to, *from;
	int status;

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	if (!c->WidthInBytes || !c->Height)
		return CUDA_SUCCESS;
	copy.bytes = c->WidthInBytes;
	copy.rows = c->Height;
	copy.to_pitch = c->dstPitch ? c->dstPitch : c->dstXInBytes +
	    c->WidthInBytes;
	copy.from_pitch = c->srcPitch ? c->srcPitch : c->srcXInBytes +
	    c->WidthInBytes;
	status = end_of(c->dstMemoryType, c->dstHost, c->dstDevice,
	    c->dstY * copy.to_pitch + c->dstXInBytes, &to);
	if (!status)
		status = end_of(c->srcMemoryType, c->srcHost, c->srcDevice,
		    c->srcY * copy.from_pitch + c->srcXInBytes, &from);
	if (status)
		return status;
	copy.to = to;
	copy.from = from;
	copy.direction = direction_of(c->dstMemoryType, c->srcMemoryType);
	return emu_copy(&copy, stream);
}

CUresult
cuMemcpy2D(const CUDA_MEMCPY2D *c)
{
	DRIVER_ENTER();
	return copy_2d(c, true, NULL);
}

CUresult
cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *c)
{
	DRIVER_ENTER();
	return copy_2d(c, true, NULL);
}

CUresult
cuMemcpy2DAsync(const CUDA_MEMCPY2D *c, CUstream stream)
{
	DRIVER_ENTER();
	return copy_2d(c, false, stream);
}

/* Plane by plane. */
static CUresult
copy_3d(const CUDA_MEMCPY3D *c, bool wait, CUstream stream)
{
	CUresult status = CUDA_SUCCESS;

	if (!c || c->reserved0 || c->reserved1 || c->srcLOD || c->dstLOD)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t z = 0; !status && z < c->Depth; z++) {
		const size_t to = (z + c->dstZ) * c->dstHeight + c->dstY;
		const size_t from = (z + c->srcZ) * c->srcHeight + c->srcY;
		const CUDA_MEMCPY2D plane = {
			.srcXInBytes = c->srcXInBytes, .srcY = from,
			.srcMemoryType = c->srcMemoryType,
			.srcHost = c->srcHost, .srcDevice = c->srcDevice,
			.srcArray = c->srcArray, .srcPitch = c->srcPitch,
			.dstXInBytes = c->dstXInBytes, .dstY = to,
			.dstMemoryType = c->dstMemoryType,
			.dstHost = c->dstHost, .dstDevice = c->dstDevice,
			.dstArray = c->dstArray, .dstPitch = c->dstPitch,
			.WidthInBytes = c->WidthInBytes, .Height = c->Height
		};

		status = copy_2d(&plane, wait, stream);
	}
	return status;
}

CUresult
cuMemcpy3D(const CUDA_MEMCPY3D *c)
{
	DRIVER_ENTER();
	return copy_3d(c, true, NULL);
}

CUresult
cuMemcpy3DAsync(const CUDA_MEMCPY3D *c, CUstream stream)
{
	DRIVER_ENTER();
	return copy_3d(c, false, stream);
}

/* ---- fills -------------------------------------------------------------- */

static CUresult
fill(CUdeviceptr to, size_t pitch, uint32_t value, size_t size, size_t count,
    size_t rows, CUstream stream)
{
	const struct emu_fill f = {
		.to = (void *)(uintptr_t)to, .value = value, .size = size,
		.count = count, .rows = rows, .pitch = pitch
	};

	return emu_fill(&f, stream);
}

CUresult
cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
	DRIVER_ENTER();
	return fill(to, count * 2, value, 2, count, 1, NULL);
}

CUresult
cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
    CUstream stream)
{
	DRIVER_ENTER();
	return fill(to, count * 2, value, 2, count, 1, stream);
}

#define FILL_2D(name, type, size)                                         \
CUresult                                                                  \
name(CUdeviceptr to, size_t pitch, type value, size_t width,              \
    size_t height)                                                        \
{                                                                         \
	DRIVER_ENTER();                                                   \
	return fill(to, pitch, value, size, width, height, NULL);         \
}
FILL_2D(cuMemsetD2D8, unsigned char, 1)
FILL_2D(cuMemsetD2D16, unsigned short, 2)
FILL_2D(cuMemsetD2D32, unsigned, 4)

#define FILL_2D_ASYNC(name, type, size)                                   \
CUresult                                                                  \
name(CUdeviceptr to, size_t pitch, type value, size_t width,              \
    size_t height, CUstream stream)                                       \
{                                                                         \
	DRIVER_ENTER();                                                   \
	return fill(to, pitch, value, size, width, height, stream);       \
}
FILL_2D_ASYNC(cuMemsetD2D8Async, unsigned char, 1)
FILL_2D_ASYNC(cuMemsetD2D16Async, unsigned short, 2)
FILL_2D_ASYNC(cuMemsetD2D32Async, unsigned, 4)

/* ---- hints -------------------------------------------------------------- */

/* Managed memory is in one place, which all devices and the host reach. */
static CUresult
hint(CUdeviceptr address, size_t bytes)
{
	struct emu_memory found;

	return bytes && emu_memory_find((void *)(uintptr_t)address, &found) ==
	    EMU_MEMORY_MANAGED && (uintptr_t)address - (uintptr_t)found.base +
	    bytes <= found.bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
    CUmemLocation location)
{
	DRIVER_ENTER();
	(void)advice;
	(void)location;
	return hint(address, bytes);
}

CUresult
cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation location,
    unsigned flags, CUstream stream)
{
	struct CUstream_st *here;
	int status;

	DRIVER_ENTER();
	(void)location;
	status = emu_stream_find(stream, &here);
	return status ? (CUresult)status : flags ? CUDA_ERROR_INVALID_VALUE :
	    hint(address, bytes);
}
