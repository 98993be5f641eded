/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_kernel.c -- driver calls: kernel libraries,
 * launches, entry points. Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"
#include "emulator/driver/launch.h"
#include "emulator/driver/capture.h"
#include "emulator/driver/module.h"

#include <stdio.h>
#include <string.h>

static struct emu_jit
jit_of(unsigned count, const CUjit_option *options, void *const *values)
{
	struct emu_jit jit = { NULL, 0 };

	for (unsigned i = 0; i < count; i++)
		if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
			jit.log = values[i];
		else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
			jit.bytes = (uintptr_t)values[i];
	return jit;
}

/* Opens a call that may compile. AUTOCAST_EMU_FAIL makes the compiler refuse,
 * with a message of several lines, as NVIDIA's has. */
static int
enter_compiler(struct emu_call *call, const struct emu_jit *jit)
{
	const int status = emu_call_enter(call, &emu_driver);

	if (status && jit->log && jit->bytes)
		snprintf(jit->log, jit->bytes, "\nptxas application ptx "
		    "input, line 9; fatal   : %s was told to fail\n"
		    "ptxas fatal   : Ptx assembly aborted due to errors\n",
		    call->name);
	return status;
}

CUresult
cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *options,
    void **values, unsigned count, CUlibraryOption *library_options,
    void **library_values, unsigned library_count)
{
	static struct emu_call this_call = { .name = "cuLibraryLoadData" };
	const struct emu_jit jit = jit_of(count, options, values);
	int status = enter_compiler(&this_call, &jit);

	(void)library_options;
	(void)library_values;
	(void)library_count;
	if (status)
		return status;
	if (!emu_device_is_up())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!library)
		return CUDA_ERROR_INVALID_VALUE;
	status = emu_library_load(code, library);
	if (!status)
		(*library)->jit = jit;
	return status;
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
static int
load_module(CUmodule *module, const void *code, const struct emu_jit *jit)
{
	struct CUlib_st *library;
	int status = emu_driver_enter();

	if (status)
		return status;
	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	status = emu_library_load(code, &library);
	if (status)
		return status;
	library->jit = *jit;
	*module = (CUmodule)(void *)library;
	return EMU_OK;
}

CUresult
cuModuleLoadData(CUmodule *module, const void *code)
{
	const struct emu_jit none = { NULL, 0 };

	EMU_ENTER(&emu_driver);
	return load_module(module, code, &none);
}

CUresult
cuModuleLoadDataEx(CUmodule *module, const void *code, unsigned count,
    CUjit_option *options, void **values)
{
	static struct emu_call this_call = { .name = "cuModuleLoadDataEx" };
	const struct emu_jit jit = jit_of(count, options, values);
	const int status = enter_compiler(&this_call, &jit);

	return status ? status : load_module(module, code, &jit);
}

CUresult
cuModuleUnload(CUmodule module)
{
	DRIVER_ENTER();
	return emu_library_unload((struct CUlib_st *)(void *)module);
}

/* Asking for a function may load the data that its module shares. */
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

static bool
is_function(CUfunction function)
{
	const struct CUkern_st *kernel = (void *)function;

	return kernel && atomic_load(&kernel->mark) == EMU_MARK_KERNEL;
}

CUresult
cuFuncLoad(CUfunction function)
{
	static struct emu_call this_call = { .name = "cuFuncLoad" };
	const struct emu_jit none = { NULL, 0 };
	struct CUkern_st *kernel = (void *)function;
	int status = enter_compiler(&this_call, is_function(function) ?
	    &kernel->library->jit : &none);

	if (!status)
		status = emu_driver_enter();
	if (status)
		return status;
	return is_function(function) ? (CUresult)emu_function_load(kernel) :
	    CUDA_ERROR_INVALID_HANDLE;
}

/* Code for a CPU has no attributes; only checks that it exists. */
CUresult
cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
    CUfunction function)
{
	struct CUkern_st *kernel = (void *)function;
	int status;

	DRIVER_ENTER();
	if (!value || attribute != CU_FUNC_ATTRIBUTE_NUM_REGS)
		return CUDA_ERROR_INVALID_VALUE;
	if (!is_function(function))
		return CUDA_ERROR_INVALID_HANDLE;
	status = emu_function_load(kernel);
	if (!status)
		*value = 32;
	return status;
}

CUresult
cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_bytes, CUstream stream, void **params, void **extra)
{
	struct CUkern_st *kernel = (void *)function;
	struct emu_launch launch;
	int status;

	DRIVER_ENTER();
	if (!is_function(function))
		return CUDA_ERROR_INVALID_HANDLE;
	if (extra || (kernel->count && !params))
		return CUDA_ERROR_INVALID_VALUE;
	status = emu_function_load(kernel);
	if (status)
		return status;
	launch = (struct emu_launch){
		.name = kernel->name, .grid = { grid_x, grid_y, grid_z },
		.block = { block_x, block_y, block_z },
		.sizes = kernel->sizes, .count = kernel->count,
		.params = params, .ptx = kernel->ptx, .shared = shared_bytes
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
