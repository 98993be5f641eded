/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda_function.c -- driver calls: what else programs ask
 * about kernels, modules and libraries, and how they choose a launch's shape.
 * Contracts are NVIDIA's. A kernel is its own function, a module a library. */
#include "emulator/driver/api/cuda.h"
#include "emulator/driver/module.h"

static struct CUkern_st *
kernel_of(void *handle)
{
	return emu_function_exists(handle) ? handle : NULL;
}

static bool
library_exists(const struct CUlib_st *library)
{
	return library && atomic_load(&library->mark) == EMU_MARK_LIBRARY;
}

/* ---- one kernel --------------------------------------------------------- */

/* An attribute of a kernel on a device: as that of the function, since all
 * devices run one text. */
CUresult
cuKernelGetAttribute(int *value, CUfunction_attribute attribute,
    CUkernel kernel, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	return cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult
cuKernelSetAttribute(CUfunction_attribute attribute, int value,
    CUkernel kernel, CUdevice device)
{
	EMU_ENTER(&emu_driver);
	if (emu_driver_check_device(device))
		return emu_driver_check_device(device);
	return cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult
cuFuncGetName(const char **name, CUfunction function)
{
	const struct CUkern_st *const kernel = kernel_of(function);

	EMU_ENTER(&emu_driver);
	if (!name || !kernel)
		return CUDA_ERROR_INVALID_VALUE;
	*name = kernel->name;
	return CUDA_SUCCESS;
}

CUresult
cuKernelGetName(const char **name, CUkernel handle)
{
	const struct CUkern_st *const kernel = kernel_of(handle);

	EMU_ENTER(&emu_driver);
	if (!name || !kernel)
		return CUDA_ERROR_INVALID_VALUE;
	*name = kernel->name;
	return CUDA_SUCCESS;
}

static CUresult
parameter(const struct CUkern_st *kernel, size_t index, size_t *offset,
    size_t *size)
{
	if (!kernel || !offset || index >= kernel->count)
		return CUDA_ERROR_INVALID_VALUE;
	*offset = kernel->offsets[index];
	if (size)
		*size = kernel->sizes[index];
	return CUDA_SUCCESS;
}

CUresult
cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset,
    size_t *size)
{
	EMU_ENTER(&emu_driver);
	return parameter(kernel_of(function), index, offset, size);
}

CUresult
cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset,
    size_t *size)
{
	EMU_ENTER(&emu_driver);
	return parameter(kernel_of(kernel), index, offset, size);
}

/* There are no caches to share out. */
CUresult
cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
	DRIVER_ENTER();
	(void)config;
	return kernel_of(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The block of a cuLaunch(), which is not built: PyCUDA sets it before each
 * cuLaunchKernel(), which has its own. */
CUresult
cuFuncSetBlockShape(CUfunction function, int x, int y, int z)
{
	DRIVER_ENTER();
	if (!kernel_of(function))
		return CUDA_ERROR_INVALID_HANDLE;
	return x > 0 && y > 0 && z > 0 ? CUDA_SUCCESS :
	    CUDA_ERROR_INVALID_VALUE;
}

/* ---- modules and libraries ---------------------------------------------- */

CUresult
cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
	EMU_ENTER(&emu_driver);
	if (!library_exists(library))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = (unsigned)library->kernel_count;
	return CUDA_SUCCESS;
}

CUresult
cuLibraryEnumerateKernels(CUkernel *kernels, unsigned count,
    CUlibrary library)
{
	unsigned done = 0;

	EMU_ENTER(&emu_driver);
	if (!library_exists(library))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!kernels)
		return CUDA_ERROR_INVALID_VALUE;
	for (struct CUkern_st *k = library->kernels; k && done < count;
	    k = k->next)
		kernels[done++] = k;
	return CUDA_SUCCESS;
}

CUresult
cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
	DRIVER_ENTER();
	if (!library_exists(library))
		return CUDA_ERROR_INVALID_HANDLE;
	if (!module)
		return CUDA_ERROR_INVALID_VALUE;
	*module = (CUmodule)(void *)library;
	return CUDA_SUCCESS;
}

CUresult
cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	EMU_ENTER(&emu_driver);
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

/* ---- a launch's shape --------------------------------------------------- */

CUresult
cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
    CUfunction function, int threads, size_t dynamic, unsigned flags)
{
	EMU_ENTER(&emu_driver);
	return flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE ?
	    CUDA_ERROR_INVALID_VALUE :
	    cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function,
	    threads, dynamic);
}

/* The block, of whole warps, that keeps the most threads at work; of several
 * the largest. */
static int
best_block(struct CUkern_st *kernel, CUoccupancyB2DSize dynamic_of,
    size_t dynamic, int most, int *grid_out, int *block_out)
{
	const struct emu_model *m = emu_device_model(emu_context_device());
	struct emu_kernel_facts facts;
	int status = emu_kernel_facts(kernel, &facts), blocks, best = 0;

	if (most <= 0 || (unsigned)most > facts.threads)
		most = (int)facts.threads;
	for (int threads = most; !status && threads > 0;
	    threads = (threads - 1) / 32 * 32) {
		status = emu_kernel_blocks(kernel, (unsigned)threads,
		    dynamic_of ? dynamic_of(threads) : dynamic, &blocks);
		if (!status && blocks * threads > best) {
			best = blocks * threads;
			*block_out = threads;
			*grid_out = blocks * m->multiprocessors;
		}
	}
	return status ? status : best ? EMU_OK : EMU_INVALID_VALUE;
}

CUresult
cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
    CUoccupancyB2DSize dynamic_of, size_t dynamic, int most)
{
	DRIVER_ENTER();
	if (!grid || !block)
		return CUDA_ERROR_INVALID_VALUE;
	return kernel_of(function) ? (CUresult)best_block(kernel_of(function),
	    dynamic_of, dynamic, most, grid, block) :
	    CUDA_ERROR_INVALID_HANDLE;
}

CUresult
cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block,
    CUfunction function, CUoccupancyB2DSize dynamic_of, size_t dynamic,
    int most, unsigned flags)
{
	EMU_ENTER(&emu_driver);
	return flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE ?
	    CUDA_ERROR_INVALID_VALUE :
	    cuOccupancyMaxPotentialBlockSize(grid, block, function, dynamic_of,
	    dynamic, most);
}
