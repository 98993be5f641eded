/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/cudart_kernel.c -- runtime calls: kernels of the program, as nvcc's
 * generated code registers and launches them. Device code is not read: a
 * kernel runs if a CPU twin of its (mangled) name is registered. */
#include "emulator/cudart.h"

#include <pthread.h>
#include <stdlib.h>

struct kernel {
	const void    *host; /* address of the host stub */
	const char    *name; /* mangled */
	struct kernel *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;
static _Thread_local struct {
	dim3 grid, block;
	size_t shared;
	void *stream;
} configuration;

#pragma GCC visibility push(default)
void **__cudaRegisterFatBinary(void *fat_binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device,
    const char *name, int thread_limit, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *address,
    const char *name, int external, size_t size, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
    struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
    size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
    void **params, size_t shared, cudaStream_t stream);
#pragma GCC visibility pop

void **
__cudaRegisterFatBinary(void *fat_binary)
{
	static void *handle;

	(void)fat_binary;
	return &handle;
}

void
__cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

void
__cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

char
__cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

/* Runs in constructors: nothing but memory is needed. */
void
__cudaRegisterFunction(void **handle, const char *host, char *device,
    const char *name, int thread_limit, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size)
{
	struct kernel *new = malloc(sizeof *new);

	(void)handle;
	(void)device;
	(void)thread_limit;
	(void)thread;
	(void)block;
	(void)block_size;
	(void)grid_size;
	(void)warp_size;
	if (!new)
		return;
	pthread_mutex_lock(&lock);
	*new = (struct kernel){ host, name, kernels };
	kernels = new;
	pthread_mutex_unlock(&lock);
}

void
__cudaRegisterVar(void **handle, char *host, char *address, const char *name,
    int external, size_t size, int constant, int global)
{
	(void)handle;
	(void)host;
	(void)address;
	(void)name;
	(void)external;
	(void)size;
	(void)constant;
	(void)global;
}

unsigned
__cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
    struct CUstream_st *stream)
{
	configuration.grid = grid;
	configuration.block = block;
	configuration.shared = shared;
	configuration.stream = stream;
	return 0;
}

cudaError_t
__cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
    void *stream)
{
	*grid = configuration.grid;
	*block = configuration.block;
	*shared = configuration.shared;
	*(void **)stream = configuration.stream;
	return cudaSuccess;
}

static const char *
name_of(const void *host)
{
	const struct kernel *k;

	pthread_mutex_lock(&lock);
	for (k = kernels; k && k->host != host; k = k->next)
		;
	pthread_mutex_unlock(&lock);
	return k ? k->name : NULL;
}

static cudaError_t
launch(const void *host, dim3 grid, dim3 block, void **params,
    cudaStream_t stream)
{
	const struct emu_launch l = {
		.name = name_of(host), .grid = { grid.x, grid.y, grid.z },
		.block = { block.x, block.y, block.z }, .params = params
	};

	if (!l.name) {
		emu_complain("no kernel was registered for %p", host);
		return emu_runtime_keep(cudaErrorInvalidDeviceFunction);
	}
	return emu_runtime_keep(emu_kernel_launch(&l, stream));
}

cudaError_t
cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **params,
    size_t shared, cudaStream_t stream)
{
	RUNTIME_ENTER();
	(void)shared;
	return launch(host, grid, block, params, stream);
}

/* The handle that nvcc's code passes on is the stub's address itself. */
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
	RUNTIME_ENTER();
	(void)shared;
	return launch((const void *)kernel, grid, block, params, stream);
}

__attribute__((destructor))
static void
release(void)
{
	while (kernels) {
		struct kernel *next = kernels->next;

		free(kernels);
		kernels = next;
	}
}
