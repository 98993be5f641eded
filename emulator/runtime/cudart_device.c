/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_device.c -- runtime calls: devices. Contracts are
 * NVIDIA's. */
#include "emulator/runtime/cudart.h"

#include <string.h>

static _Thread_local unsigned device_flags;

cudaError_t
cudaGetDeviceCount(int *count)
{
	RUNTIME_COUNT();
	if (!count)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*count = emu_device_up() ? 0 : emu_device_count();
	return emu_runtime_keep(emu_device_up());
}

cudaError_t
cudaGetDevice(int *device)
{
	RUNTIME_ENTER();
	if (!device)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*device = emu_context_device();
	return cudaSuccess;
}

cudaError_t
cudaSetDevice(int device)
{
	RUNTIME_COUNT();
	return emu_runtime_keep(emu_device_select(device));
}

cudaError_t
cudaInitDevice(int device, unsigned flags, unsigned use)
{
	RUNTIME_ENTER();
	(void)flags;
	(void)use;
	return emu_runtime_keep(emu_device_exists(device) ? cudaSuccess :
	    cudaErrorInvalidDevice);
}

cudaError_t
cudaSetDeviceFlags(unsigned flags)
{
	RUNTIME_ENTER();
	device_flags = flags;
	return cudaSuccess;
}

cudaError_t
cudaGetDeviceFlags(unsigned *flags)
{
	RUNTIME_ENTER();
	if (!flags)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*flags = device_flags;
	return cudaSuccess;
}

cudaError_t
cudaDeviceSynchronize(void)
{
	RUNTIME_ENTER();
	return emu_runtime_keep(emu_stream_wait_all());
}

cudaError_t
cudaDeviceReset(void)
{
	RUNTIME_COUNT();
	return emu_runtime_keep(emu_device_reset());
}

cudaError_t
cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	RUNTIME_ENTER();
	(void)limit;
	(void)value;
	return cudaSuccess;
}

cudaError_t
cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	RUNTIME_ENTER();
	if (!value)
		return emu_runtime_keep(cudaErrorInvalidValue);
	*value = limit == cudaLimitMallocHeapSize ? 8u << 20 :
	    limit == cudaLimitStackSize ? 1024 : 0;
	return cudaSuccess;
}

cudaError_t
cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	RUNTIME_ENTER();
	(void)config;
	return cudaSuccess;
}

cudaError_t
cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	RUNTIME_ENTER();
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5;
	return cudaSuccess;
}

/* ---- peers -------------------------------------------------------------- */

cudaError_t
cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	RUNTIME_ENTER();
	if (!can)
		return emu_runtime_keep(cudaErrorInvalidValue);
	if (!emu_device_exists(device) || !emu_device_exists(peer))
		return emu_runtime_keep(cudaErrorInvalidDevice);
	*can = device != peer;
	return cudaSuccess;
}

cudaError_t
cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	RUNTIME_ENTER();
	if (flags)
		return emu_runtime_keep(cudaErrorInvalidValue);
	if (!emu_device_exists(peer))
		return emu_runtime_keep(cudaErrorInvalidDevice);
	return emu_runtime_keep(emu_peer_enable(peer, true));
}

cudaError_t
cudaDeviceDisablePeerAccess(int peer)
{
	RUNTIME_ENTER();
	if (!emu_device_exists(peer))
		return emu_runtime_keep(cudaErrorInvalidDevice);
	return emu_runtime_keep(emu_peer_enable(peer, false));
}

/* ---- what a device is --------------------------------------------------- */

cudaError_t
cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
	RUNTIME_ENTER();
	if (!value)
		return emu_runtime_keep(cudaErrorInvalidValue);
	if (!emu_device_exists(device))
		return emu_runtime_keep(cudaErrorInvalidDevice);
	return emu_runtime_keep(emu_device_attribute(device, (int)attribute,
	    value));
}

static int
attribute(int device, enum cudaDeviceAttr which)
{
	int value = 0;

	emu_device_attribute(device, (int)which, &value);
	return value;
}

static void
describe(struct cudaDeviceProp *p, int device)
{
	const struct emu_model *m = emu_device_model(device);
	size_t unused;

	memset(p, 0, sizeof *p);
	strncpy(p->name, m->name, sizeof p->name - 1);
	p->major = m->major;
	p->minor = m->minor;
	p->multiProcessorCount = m->multiprocessors;
	emu_memory_info(device, &unused, &p->totalGlobalMem);
	p->l2CacheSize = m->l2_bytes;
	p->memoryBusWidth = m->bus_width;
	p->sharedMemPerMultiprocessor = (size_t)m->shared_per_multiprocessor;
	p->sharedMemPerBlockOptin = (size_t)m->shared_per_block;
	p->maxThreadsPerMultiProcessor = m->threads_per_multiprocessor;
	p->sharedMemPerBlock =
	    (size_t)attribute(device, cudaDevAttrMaxSharedMemoryPerBlock);
	p->regsPerBlock = attribute(device, cudaDevAttrMaxRegistersPerBlock);
	p->regsPerMultiprocessor = p->regsPerBlock;
	p->warpSize = attribute(device, cudaDevAttrWarpSize);
	p->memPitch = (size_t)attribute(device, cudaDevAttrMaxPitch);
	p->maxThreadsPerBlock = attribute(device,
	    cudaDevAttrMaxThreadsPerBlock);
	p->maxThreadsDim[0] = attribute(device, cudaDevAttrMaxBlockDimX);
	p->maxThreadsDim[1] = attribute(device, cudaDevAttrMaxBlockDimY);
	p->maxThreadsDim[2] = attribute(device, cudaDevAttrMaxBlockDimZ);
	p->maxGridSize[0] = attribute(device, cudaDevAttrMaxGridDimX);
	p->maxGridSize[1] = attribute(device, cudaDevAttrMaxGridDimY);
	p->maxGridSize[2] = attribute(device, cudaDevAttrMaxGridDimZ);
	p->totalConstMem = (size_t)attribute(device,
	    cudaDevAttrTotalConstantMemory);
	p->canMapHostMemory = p->unifiedAddressing = 1;
	p->concurrentKernels = p->managedMemory = 1;
	p->maxBlocksPerMultiProcessor = m->blocks_per_multiprocessor;
	p->reservedSharedMemPerBlock = (size_t)attribute(device,
	    cudaDevAttrReservedSharedMemoryPerBlock);
	p->asyncEngineCount = 3;
	p->pciBusID = attribute(device, cudaDevAttrPciBusId);
}

cudaError_t
cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
	RUNTIME_ENTER();
	if (!properties)
		return emu_runtime_keep(cudaErrorInvalidValue);
	if (!emu_device_exists(device))
		return emu_runtime_keep(cudaErrorInvalidDevice);
	describe(properties, device);
	return cudaSuccess;
}

/* No entry of a call: it cannot fail, and returns a struct. */
struct cudaChannelFormatDesc
cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
	return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}
