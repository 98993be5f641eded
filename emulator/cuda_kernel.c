/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cuda_kernel.c -- driver calls: kernel libraries, launches, entry
 * points. Contracts are NVIDIA's. */
#include "emulator/cuda.h"
#include "emulator/capture.h"
#include "emulator/module.h"

#include <string.h>

CUresult
cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jit,
    void **jit_values, unsigned jit_count, CUlibraryOption *options,
    void **values, unsigned count)
{
	EMU_ENTER(&emu_driver);
	(void)jit;
	(void)jit_values;
	(void)jit_count;
	(void)options;
	(void)values;
	(void)count;
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	return library ? (CUresult)emu_library_load(code, library) :
	    CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuLibraryUnload(CUlibrary library)
{
	EMU_ENTER(&emu_driver);
	return emu_library_unload(library);
}

CUresult
cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
	EMU_ENTER(&emu_driver);
	return kernel ? (CUresult)emu_library_kernel(library, name, kernel) :
	    CUDA_ERROR_INVALID_VALUE;
}

/* Modules belong to a context; with one context they are libraries. */
CUresult
cuModuleLoadData(CUmodule *module, const void *code)
{
	struct CUlib_st *library;
	int status;

	DRIVER_ENTER();
	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	status = emu_library_load(code, &library);
	if (!status)
		*module = (CUmodule)(void *)library;
	return status;
}

CUresult
cuModuleUnload(CUmodule module)
{
	DRIVER_ENTER();
	return emu_library_unload((struct CUlib_st *)(void *)module);
}

/* With lazy loading a function is loaded when it is asked for [CUDA
 * programming guide, lazy loading]. */
static int
check_load(void)
{
	const int status = emu_capture_forbid();

	if (!status)
		emu_capture_count(EMU_loads_in_capture);
	return status;
}

CUresult
cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	struct CUkern_st *kernel;
	int status;

	DRIVER_ENTER();
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	status = check_load();
	if (status)
		return status;
	status = emu_library_kernel((struct CUlib_st *)(void *)module, name,
	    &kernel);
	if (!status)
		*function = (CUfunction)(void *)kernel;
	return status;
}

/* A kernel is its own function. */
CUresult
cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	DRIVER_ENTER();
	if (!function || !kernel ||
	    atomic_load(&kernel->mark) != EMU_MARK_KERNEL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (check_load())
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	*function = (CUfunction)(void *)kernel;
	return CUDA_SUCCESS;
}

CUresult
cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
	struct CUkern_st *kernel = (void *)function;
	struct emu_launch launch;

	DRIVER_ENTER();
	(void)shared_bytes;
	if (!kernel || atomic_load(&kernel->mark) != EMU_MARK_KERNEL)
		return CUDA_ERROR_INVALID_HANDLE;
	if (extra || (kernel->count && !params))
		return CUDA_ERROR_INVALID_VALUE;
	launch = (struct emu_launch){
		.name = kernel->name, .grid = { grid_x, grid_y, grid_z },
		.block = { block_x, block_y, block_z },
		.sizes = kernel->sizes, .count = kernel->count,
		.params = params
	};
	return emu_kernel_launch(&launch, stream);
}

/* ---- entry points ----------------------------------------------------- */

typedef void (*entry_point)(void);
static const struct {
	const char *name;
	entry_point function;
} entries[] = {
#define DRIVER_ENTRY(name) { #name, (entry_point)name },
#include "emulator/cuda.def"
#undef DRIVER_ENTRY
};

/* Calls whose arguments have changed: who asks for a version before this one
 * gets the older form. The oldest first. */
static const struct {
	entry_point newest, older;
	int before;
} changes[] = {
#define CHANGE(name, older, before) { (entry_point)name, (entry_point)older, \
	before }
	CHANGE(cuCtxCreate, cuCtxCreate_v2, 11040),
	CHANGE(cuCtxCreate, cuCtxCreate_v3, 12050),
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

CUresult
cuGetProcAddress(const char *symbol, void **function, int version,
    cuuint64_t flags, CUdriverProcAddressQueryResult *result)
{
	EMU_ENTER(&emu_driver);
	(void)flags;
	if (!symbol || !function)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
		if (!strcmp(entries[i].name, symbol)) {
			const entry_point found = of_version(
			    entries[i].function, version);

			memcpy(function, &found, sizeof *function);
			if (result)
				*result = CU_GET_PROC_ADDRESS_SUCCESS;
			return CUDA_SUCCESS;
		}
	*function = NULL;
	if (result)
		*result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_ERROR_NOT_FOUND;
}
