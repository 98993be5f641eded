/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_module.c -- driver calls: kernel libraries and
 * modules, their functions and variables. Contracts are NVIDIA's. */
#include "emulator/driver/api/cuda.h"
#include "emulator/driver/capture.h"
#include "emulator/driver/module.h"
#include "emulator/driver/wait.h"

#include <stdio.h>
#include <stdlib.h>

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

/* Why a text was refused stands in the log, too. */
static int
load(struct CUlib_st **library, const void *code, const struct emu_jit *jit)
{
	struct emu_refusal refusal;
	const int status = emu_module_load(code, library, &refusal);

	if (!status)
		(*library)->jit = *jit;
	else if (jit->log && jit->bytes)
		snprintf(jit->log, jit->bytes, "%s", refusal.text);
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
	return load(library, code, &jit);
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
	status = load(&library, code, jit);
	if (!status)
		*module = (CUmodule)(void *)library;
	return status;
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
cuModuleLoadFatBinary(CUmodule *module, const void *code)
{
	const struct emu_jit none = { NULL, 0 };

	EMU_ENTER(&emu_driver);
	return load_module(module, code, &none);
}

/* The content of a file and a zero byte, to be freed. */
static int
read_file(const char *path, char **code_out)
{
	FILE *const file = path ? fopen(path, "rb") : NULL;
	char *code = NULL;
	size_t bytes = 0, room = 0, more = 1;

	if (!file)
		return path ? CUDA_ERROR_FILE_NOT_FOUND :
		    CUDA_ERROR_INVALID_VALUE;
	while (more) {
		if (bytes + 1 >= room) {
			room = room ? 2 * room : 65536;
			code = realloc(code, room);
			if (!code)
				emu_out_of_host_memory();
		}
		more = fread(code + bytes, 1, room - bytes - 1, file);
		bytes += more;
	}
	fclose(file);
	code[bytes] = '\0';
	*code_out = code;
	return CUDA_SUCCESS;
}

CUresult
cuModuleLoad(CUmodule *module, const char *path)
{
	const struct emu_jit none = { NULL, 0 };
	char *code;
	int status;

	EMU_ENTER(&emu_driver);
	status = read_file(path, &code);
	if (status)
		return status;
	status = load_module(module, code, &none);
	free(code);
	return status;
}

CUresult
cuLibraryLoadFromFile(CUlibrary *library, const char *path,
    CUjit_option *options, void **values, unsigned count,
    CUlibraryOption *library_options, void **library_values,
    unsigned library_count)
{
	char *code;
	int status;

	EMU_ENTER(&emu_driver);
	status = read_file(path, &code);
	if (status)
		return status;
	status = cuLibraryLoadData(library, code, options, values, count,
	    library_options, library_values, library_count);
	free(code);
	return status;
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

CUresult
cuFuncLoad(CUfunction function)
{
	static struct emu_call this_call = { .name = "cuFuncLoad" };
	const struct emu_jit none = { NULL, 0 };
	struct CUkern_st *kernel = (void *)function;
	int status = enter_compiler(&this_call, emu_function_exists(function) ?
	    &kernel->library->jit : &none);

	if (!status)
		status = emu_driver_enter();
	if (status)
		return status;
	return emu_function_exists(function) ?
	    (CUresult)emu_function_load(kernel) : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- variables ---------------------------------------------------------- */

static CUresult
variable(struct CUlib_st *library, const char *name, CUdeviceptr *address,
    size_t *bytes)
{
	size_t size;
	void *at;
	int status;

	if (!name || (!address && !bytes))
		return CUDA_ERROR_INVALID_VALUE;
	status = emu_library_variable(library, name, &at, &size);
	if (status)
		return status;
	if (address)
		*address = (CUdeviceptr)(uintptr_t)at;
	if (bytes)
		*bytes = size;
	return CUDA_SUCCESS;
}

CUresult
cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module,
    const char *name)
{
	DRIVER_ENTER();
	return variable((struct CUlib_st *)(void *)module, name, address,
	    bytes);
}

CUresult
cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
    const char *name)
{
	DRIVER_ENTER();
	return variable(library, name, address, bytes);
}
