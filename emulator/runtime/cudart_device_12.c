/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_device_12.c -- the device's properties in CUDA 12's
 * layout, which CUDA 13 changed; in libcudart.so.12 only. */
#include "emulator/runtime/cudart.h"

#include <string.h>

/* CUDA 12, driver_types.h, struct cudaDeviceProp; fields without a name here
 * are zero. */
struct properties {
	char     name[256];
	char     uuid[16], luid[8];
	unsigned luid_mask;
	size_t   memory, shared_per_block;
	int      registers_per_block, warp;
	size_t   pitch;
	int      threads_per_block, block[3], grid[3], clock_khz;
	size_t   constant;
	int      major, minor;
	size_t   texture_alignment, texture_pitch;
	int      device_overlap, multiprocessors, timeout, integrated;
	int      can_map, compute_mode;
	int      textures[40];
	size_t   surface_alignment;
	int      concurrent_kernels, ecc, pci[3], tcc, async_engines, unified;
	int      memory_clock_khz, bus_width, l2_bytes, persisting_l2;
	int      threads_per_multiprocessor, priorities, global_l1, local_l1;
	size_t   shared_per_multiprocessor;
	int      registers_per_multiprocessor, managed, multi_gpu[2], atomics;
	int      single_to_double, pageable, concurrent_managed, preemption;
	int      host_pointer, cooperative, multi_cooperative;
	size_t   shared_per_block_optin;
	int      rest[82];
};
_Static_assert(sizeof(struct properties) == 1032, "CUDA 12.9's headers");

#pragma GCC visibility push(default)
cudaError_t cudaGetDeviceProperties_v2(struct properties *p, int device);
#pragma GCC visibility pop

static int
attribute(int device, enum cudaDeviceAttr which)
{
	int value = 0;

	emu_device_attribute(device, (int)which, &value);
	return value;
}

static void
describe(struct properties *p, int device)
{
	const struct emu_model *m = emu_device_model(device);
	size_t unused;

	strncpy(p->name, m->name, sizeof p->name - 1);
	emu_memory_info(device, &unused, &p->memory);
	p->major = m->major;
	p->minor = m->minor;
	p->multiprocessors = m->multiprocessors;
	p->clock_khz = m->clock_khz;
	p->memory_clock_khz = m->memory_clock_khz;
	p->bus_width = m->bus_width;
	p->l2_bytes = m->l2_bytes;
	p->warp = attribute(device, cudaDevAttrWarpSize);
	p->threads_per_block = attribute(device,
	    cudaDevAttrMaxThreadsPerBlock);
	p->threads_per_multiprocessor = m->threads_per_multiprocessor;
	p->shared_per_block = (size_t)attribute(device,
	    cudaDevAttrMaxSharedMemoryPerBlock);
	p->shared_per_block_optin = (size_t)m->shared_per_block;
	p->shared_per_multiprocessor = (size_t)m->shared_per_multiprocessor;
	for (int i = 0; i < 3; i++) {
		p->block[i] = attribute(device, (enum cudaDeviceAttr)(
		    cudaDevAttrMaxBlockDimX + i));
		p->grid[i] = attribute(device, (enum cudaDeviceAttr)(
		    cudaDevAttrMaxGridDimX + i));
	}
	p->can_map = p->unified = p->concurrent_kernels = p->managed = 1;
	p->async_engines = 3;
}

cudaError_t
cudaGetDeviceProperties_v2(struct properties *p, int device)
{
	RUNTIME_ENTER();
	if (!p)
		return emu_runtime_keep(cudaErrorInvalidValue);
	if (!emu_device_exists(device))
		return emu_runtime_keep(cudaErrorInvalidDevice);
	memset(p, 0, sizeof *p);
	describe(p, device);
	return cudaSuccess;
}
