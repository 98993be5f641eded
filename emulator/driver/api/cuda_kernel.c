/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_kernel.c -- driver calls: launches, what kernels say
 * of themselves, entry points. Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"
#include "emulator/driver/module.h"
#include "emulator/names/names.h"

#include <stdlib.h>
#include <string.h>

bool
emu_function_exists(CUfunction function)
{
	const struct CUkern_st *kernel = (void *)function;

	return kernel && atomic_load(&kernel->mark) == EMU_MARK_KERNEL;
}

/* ---- attributes --------------------------------------------------------- */

/* There are no registers here: half of what nvcc allows for blocks of 1024
 * threads. */
enum { REGISTERS = 32 };

static int
attribute_of(struct CUkern_st *kernel, CUfunction_attribute attribute,
    int *value_out)
{
	const struct emu_model *m = emu_device_model(emu_context_device());
	struct emu_kernel_facts facts;
	const int status = emu_kernel_facts(kernel, &facts);

	if (status)
		return status;
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value_out = (int)facts.threads;
		return EMU_OK;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value_out = (int)facts.shared;
		return EMU_OK;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value_out = (int)facts.local;
		return EMU_OK;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value_out = REGISTERS;
		return EMU_OK;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
		*value_out = (int)facts.capability;
		return EMU_OK;
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value_out = m->major * 10 + m->minor;
		return EMU_OK;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value_out = (int)facts.dynamic;
		return EMU_OK;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*value_out = 0;
		return EMU_OK;
	default:
		return EMU_INVALID_VALUE;
	}
}

CUresult
cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
    CUfunction function)
{
	struct CUkern_st *kernel = (void *)function;
	int status;

	DRIVER_ENTER();
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (!emu_function_exists(function))
		return CUDA_ERROR_INVALID_HANDLE;
	status = emu_function_load(kernel);
	return status ? status : attribute_of(kernel, attribute, value);
}

CUresult
cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
    int value)
{
	DRIVER_ENTER();
	if (!emu_function_exists(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
		return CUDA_SUCCESS;
	if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ||
	    value < 0)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_kernel_allow((void *)function, (size_t)value);
}

CUresult
cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
    int threads, size_t dynamic)
{
	DRIVER_ENTER();
	if (!blocks || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	return emu_function_exists(function) ?
	    (CUresult)emu_kernel_blocks((void *)function, (unsigned)threads,
	    dynamic, blocks) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- launches ----------------------------------------------------------- */

/* The arguments that lie in one buffer, as PTX lays them out. `extra` has
 * pairs: what, and the value; it ends with CU_LAUNCH_PARAM_END. */
static int
from_buffer(const struct CUkern_st *kernel, void **extra, void ***params_out)
{
	const size_t last = kernel->count - 1;
	unsigned char *buffer = NULL;
	const size_t *bytes = NULL;

	for (; *extra != CU_LAUNCH_PARAM_END; extra += 2)
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			bytes = extra[1];
		else
			return EMU_INVALID_VALUE;
	*params_out = NULL;
	if (!kernel->count)
		return EMU_OK;
	if (!buffer || !bytes ||
	    *bytes < kernel->offsets[last] + kernel->sizes[last])
		return EMU_INVALID_VALUE;
	*params_out = malloc(kernel->count * sizeof **params_out);
	if (!*params_out)
		return EMU_OUT_OF_MEMORY;
	for (size_t i = 0; i < kernel->count; i++)
		(*params_out)[i] = buffer + kernel->offsets[i];
	return EMU_OK;
}

static int
launch(CUfunction function, struct emu_launch *l, CUstream stream,
    void **extra)
{
	struct CUkern_st *kernel = (void *)function;
	void **params = NULL;
	int status;

	if (!emu_function_exists(function))
		return EMU_INVALID_HANDLE;
	if (extra ? l->params != NULL : kernel->count && !l->params)
		return EMU_INVALID_VALUE;
	status = emu_function_load(kernel);
	if (!status && extra)
		status = from_buffer(kernel, extra, &params);
	if (status)
		return status;
	if (extra)
		l->params = params;
	l->name = kernel->name;
	l->kernel = kernel;
	status = emu_kernel_launch(l, stream);
	free(params);
	return status;
}

CUresult
cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
	struct emu_launch l = { .grid = { grid_x, grid_y, grid_z },
		.block = { block_x, block_y, block_z }, .params = params,
		.shared = shared_bytes };

	DRIVER_ENTER();
	return launch(function, &l, stream, extra);
}

CUresult
cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x,
    unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
    unsigned block_z, unsigned shared_bytes, CUstream stream, void **params)
{
	struct emu_launch l = { .grid = { grid_x, grid_y, grid_z },
		.block = { block_x, block_y, block_z }, .params = params,
		.shared = shared_bytes, .cooperative = true };

	DRIVER_ENTER();
	return launch(function, &l, stream, NULL);
}

/* Attributes that say how to run faster are taken; clusters are not there. */
static int
take_attributes(const CUlaunchConfig *config, struct emu_launch *l)
{
	for (unsigned i = 0; i < config->numAttrs; i++)
		switch (config->attrs[i].id) {
		case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			l->cooperative = config->attrs[i].value.cooperative;
			break;
		case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			if (config->attrs[i].value.clusterDim.x > 1 ||
			    config->attrs[i].value.clusterDim.y > 1 ||
			    config->attrs[i].value.clusterDim.z > 1)
				return EMU_NOT_SUPPORTED;
			break;
		default:
			break;
		}
	return EMU_OK;
}

CUresult
cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
    void **params, void **extra)
{
	struct emu_launch l = { .params = params };
	int status;

	DRIVER_ENTER();
	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	l.grid[0] = config->gridDimX;
	l.grid[1] = config->gridDimY;
	l.grid[2] = config->gridDimZ;
	l.block[0] = config->blockDimX;
	l.block[1] = config->blockDimY;
	l.block[2] = config->blockDimZ;
	l.shared = config->sharedMemBytes;
	status = take_attributes(config, &l);
	return status ? status : launch(function, &l, config->hStream, extra);
}

/* ---- entry points ----------------------------------------------------- */

typedef void (*entry_point)(void);
static const struct {
	const char *name;
	entry_point function;
} entries[] = {
#define DRIVER_ENTRY(name) { #name, (entry_point)name },
#include "emulator/driver/api/cuda.def"
#undef DRIVER_ENTRY
};

/* Calls whose arguments have changed: a program that asks for a version before
 * this one gets the older form. Oldest first. */
static const struct {
	entry_point newest, older;
	int before;
} changes[] = {
#define CHANGE(name, older, before) { (entry_point)name, (entry_point)older, \
	before }
	CHANGE(cuCtxCreate, cuCtxCreate_v2, 11040),
	CHANGE(cuCtxCreate, cuCtxCreate_v3, 12050),
	CHANGE(cuGetProcAddress, cuGetProcAddress_v1, 12000),
	CHANGE(cuGraphInstantiate, cuGraphInstantiate_v1, 11000),
	CHANGE(cuGraphInstantiate, cuGraphInstantiate_v2, 12000),
	CHANGE(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v1, 11030),
	CHANGE(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2, 12030),
#undef CHANGE
};

static entry_point
of_version(entry_point function, int version)
{
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		if (function == changes[i].newest &&
		    version < changes[i].before)
			return changes[i].older;
	return function;
}

/* By the name that programs ask for, else by a name that NVIDIA's library
 * exports: what is not built is found, and answers as a stub does. */
static entry_point
find_entry(const char *symbol, int version)
{
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
		if (!strcmp(entries[i].name, symbol))
			return of_version(entries[i].function, version);
	for (const struct emu_name *n = emu_driver_names; n->name; n++)
		if (!strcmp(n->name, symbol))
			return n->function;
	return NULL;
}

CUresult
cuGetProcAddress(const char *symbol, void **function, int version,
    cuuint64_t flags, CUdriverProcAddressQueryResult *result)
{
	entry_point found;

	EMU_ENTER(&emu_driver);
	(void)flags;
	if (!symbol || !function)
		return CUDA_ERROR_INVALID_VALUE;
	found = find_entry(symbol, version);
	memcpy(function, &found, sizeof *function);
	if (result)
		*result = found ? CU_GET_PROC_ADDRESS_SUCCESS :
		    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult
cuGetProcAddress_v1(const char *symbol, void **function, int version,
    cuuint64_t flags)
{
	return cuGetProcAddress(symbol, function, version, flags, NULL);
}
