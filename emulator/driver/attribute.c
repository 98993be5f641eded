/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/attribute.c -- device attributes, by the driver's numbers
 * (the runtime's are the same). */
#define EMU_DRIVER
#include "emulator/driver/nvidia.h"
#include "emulator/driver/device.h"

/* Attributes that are the same for all our models. */
static const struct {
	int attribute, value;
} fixed[] = {
	{ CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 },
	{ CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 },
	{ CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
	{ CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536 },
	{ CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
	{ CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647 },
	{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
	{ CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
	{ CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512 },
	{ CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32 },
	{ CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512 },
	{ CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024 },
	{ CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1 },
	{ CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1 },
	{ CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
	{ CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
	{ CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1 },
	{ CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1 },
	{ CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1 },
	{ CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1 },
	{ CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1 },
};

int
emu_device_attribute(int device, int attribute, int *value_out)
{
	const struct emu_model *m = emu_device_model(device);

	if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return EMU_INVALID_VALUE;
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
		*value_out = device + 1; /* no two are alike */
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		*value_out = m->major;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
		*value_out = m->minor;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		*value_out = m->multiprocessors;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
		*value_out = m->clock_khz;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
		*value_out = m->memory_clock_khz;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
		*value_out = m->bus_width;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
		*value_out = m->l2_bytes;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
		*value_out = m->shared_per_block;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
		*value_out = m->shared_per_multiprocessor;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
		*value_out = m->blocks_per_multiprocessor;
		return EMU_OK;
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
		*value_out = m->threads_per_multiprocessor;
		return EMU_OK;
	}
	*value_out = 0;
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		if (fixed[i].attribute == attribute)
			*value_out = fixed[i].value;
	return EMU_OK;
}
