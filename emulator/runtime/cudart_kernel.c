/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_kernel.c -- runtime calls: launches of the program's
 * kernels, and what it asks about them. Contracts are NVIDIA's. */
#include "emulator/runtime/cudart_register.h"

/* From <<< >>> to the stub that launches. Arguments of a launch may launch,
 * too, so it is a stack. */
enum { CONFIGURATIONS = 8 };
static _Thread_local struct {
	dim3 grid, block;
	size_t shared;
	void *stream;
} configuration[CONFIGURATIONS];
static _Thread_local int configurations;

#pragma GCC visibility push(default)
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
    struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
    size_t *shared, void *stream);
/* Of cuda_profiler_api.h, which not every set of headers has. */
cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
    void **params, size_t shared, cudaStream_t stream);
#pragma GCC visibility pop

unsigned
__cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
    struct CUstream_st *stream)
{
	const int top = configurations;

	if (top == CONFIGURATIONS)
		return 1; /* the kernel is not launched */
	configuration[top].grid = grid;
	configuration[top].block = block;
	configuration[top].shared = shared;
	configuration[top].stream = stream;
	configurations++;
	return 0;
}

cudaError_t
__cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
    void *stream)
{
	if (!configurations)
		return emu_runtime_keep(cudaErrorMissingConfiguration);
	configurations--;
	*grid = configuration[configurations].grid;
	*block = configuration[configurations].block;
	*shared = configuration[configurations].shared;
	*(void **)stream = configuration[configurations].stream;
	return cudaSuccess;
}

/* ---- launches ----------------------------------------------------------- */

/* A shape that no GPU takes has an error of its own here. */
static bool
is_shape(const struct emu_launch *l)
{
	const uint64_t threads = (uint64_t)l->block[0] * l->block[1] *
	    l->block[2];

	return threads && threads <= 1024 && l->block[2] <= 64 &&
	    l->grid[0] && l->grid[1] && l->grid[2] &&
	    l->grid[0] <= INT32_MAX && l->grid[1] <= UINT16_MAX &&
	    l->grid[2] <= UINT16_MAX;
}

static cudaError_t
launch(const void *host, const cudaLaunchConfig_t *c, bool cooperative,
    void **params)
{
	struct emu_launch l = {
		.grid = { c->gridDim.x, c->gridDim.y, c->gridDim.z },
		.block = { c->blockDim.x, c->blockDim.y, c->blockDim.z },
		.shared = c->dynamicSmemBytes, .cooperative = cooperative,
		.params = params
	};
	int status = emu_registered_kernel(host, &l.kernel);

	if (status)
		return emu_runtime_keep(status);
	if (!is_shape(&l))
		return emu_runtime_keep(cudaErrorInvalidConfiguration);
	l.name = emu_registered_name(host);
	return emu_runtime_keep(emu_kernel_launch(&l, c->stream));
}

cudaError_t
cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **params,
    size_t shared, cudaStream_t stream)
{
	const cudaLaunchConfig_t c = { .gridDim = grid, .blockDim = block,
		.dynamicSmemBytes = shared, .stream = stream };

	RUNTIME_ENTER();
	return launch(host, &c, false, params);
}

cudaError_t
cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block,
    void **params, size_t shared, cudaStream_t stream)
{
	const cudaLaunchConfig_t c = { .gridDim = grid, .blockDim = block,
		.dynamicSmemBytes = shared, .stream = stream };

	RUNTIME_ENTER();
	return launch(host, &c, true, params);
}

/* Attributes that say how to run faster are taken; clusters are not there. */
cudaError_t
cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *host,
    void **params)
{
	bool cooperative = false;

	RUNTIME_ENTER();
	if (!config || (config->numAttrs && !config->attrs))
		return emu_runtime_keep(cudaErrorInvalidValue);
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const cudaLaunchAttribute *a = &config->attrs[i];

		if (a->id == cudaLaunchAttributeCooperative)
			cooperative = a->val.cooperative;
		if (a->id == cudaLaunchAttributeClusterDimension &&
		    (a->val.clusterDim.x > 1 || a->val.clusterDim.y > 1 ||
		    a->val.clusterDim.z > 1))
			return emu_runtime_keep(cudaErrorNotSupported);
	}
	return launch(host, config, cooperative, params);
}

/* nvcc's code passes the stub's address as the handle. */
cudaError_t
__cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
	*kernel = (cudaKernel_t)(uintptr_t)host;
	return cudaSuccess;
}

cudaError_t
__cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **params,
    size_t shared, cudaStream_t stream)
{
	const cudaLaunchConfig_t c = { .gridDim = grid, .blockDim = block,
		.dynamicSmemBytes = shared, .stream = stream };

	RUNTIME_ENTER();
	return launch((const void *)kernel, &c, false, params);
}

/* ---- what programs ask about their kernels ------------------------------ */

cudaError_t
cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *host)
{
	struct emu_kernel_facts facts = { .threads = 1024 };
	struct CUkern_st *kernel;
	int status, major, minor;

	RUNTIME_ENTER();
	status = attributes ? emu_registered_kernel(host, &kernel) :
	    (int)cudaErrorInvalidValue;
	if (!status && kernel)
		status = emu_kernel_facts(kernel, &facts);
	if (status)
		return emu_runtime_keep(status);
	major = emu_device_model(emu_context_device())->major;
	minor = emu_device_model(emu_context_device())->minor;
	*attributes = (struct cudaFuncAttributes){
		.sharedSizeBytes = facts.shared,
		.localSizeBytes = facts.local,
		.maxThreadsPerBlock = (int)facts.threads, .numRegs = 32,
		.ptxVersion = facts.capability ? (int)facts.capability :
		    major * 10 + minor,
		.binaryVersion = major * 10 + minor,
		.maxDynamicSharedSizeBytes = (int)facts.dynamic
	};
	return cudaSuccess;
}

cudaError_t
cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute,
    int value)
{
	struct CUkern_st *kernel;
	int status;

	RUNTIME_ENTER();
	status = emu_registered_kernel(host, &kernel);
	if (!status && kernel &&
	    attribute == cudaFuncAttributeMaxDynamicSharedMemorySize)
		status = value < 0 ? (int)cudaErrorInvalidValue :
		    emu_kernel_allow(kernel, (size_t)value);
	return emu_runtime_keep(status);
}

cudaError_t
cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
	RUNTIME_ENTER();
	(void)config;
	return emu_runtime_keep(emu_registered_name(host) ? cudaSuccess :
	    cudaErrorInvalidDeviceFunction);
}

/* A kernel that only a twin runs needs nothing of the device but threads. */
static cudaError_t
blocks_of(int *blocks, const void *host, int threads, size_t dynamic)
{
	struct CUkern_st *kernel;
	int status;

	if (!blocks || threads <= 0)
		return emu_runtime_keep(cudaErrorInvalidValue);
	status = emu_registered_kernel(host, &kernel);
	if (!status && kernel)
		status = emu_kernel_blocks(kernel, (unsigned)threads, dynamic,
		    blocks);
	else if (!status)
		*blocks = threads > 1024 ? 0 : 1024 / threads;
	return emu_runtime_keep(status);
}

cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *host,
    int threads, size_t dynamic)
{
	RUNTIME_ENTER();
	return blocks_of(blocks, host, threads, dynamic);
}

cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
    const void *host, int threads, size_t dynamic, unsigned flags)
{
	RUNTIME_ENTER();
	if (flags & ~(unsigned)cudaOccupancyDisableCachingOverride)
		return emu_runtime_keep(cudaErrorInvalidValue);
	return blocks_of(blocks, host, threads, dynamic);
}

/* ---- profilers ---------------------------------------------------------- */

cudaError_t
cudaProfilerStart(void)
{
	RUNTIME_ENTER();
	return cudaSuccess;
}

cudaError_t
cudaProfilerStop(void)
{
	RUNTIME_ENTER();
	return cudaSuccess;
}
