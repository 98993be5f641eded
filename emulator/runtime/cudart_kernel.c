/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/runtime/cudart_kernel.c -- runtime calls: kernels of the program, as
 * nvcc's generated code registers and launches them. Device code is not read: a
 * kernel runs if a CPU twin is registered under its (mangled) name. */
#include "emulator/runtime/cudart.h"
#include "emulator/driver/launch.h"

#include <pthread.h>
#include <stdlib.h>

struct kernel {
	const void    *host; /* address of the host stub */
	const char    *name; /* mangled; belongs to the module, like the stub */
	struct module *module;
	struct kernel *next;
};

/* What a handle of __cudaRegisterFatBinary() points to. */
struct module {
	void          *unused;
	struct module *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;
static struct module *modules;

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

/* Registration runs in constructors: it needs nothing but memory. */
void **
__cudaRegisterFatBinary(void *fat_binary)
{
	struct module *new = malloc(sizeof *new);

	(void)fat_binary;
	if (!new)
		return NULL;
	pthread_mutex_lock(&lock);
	new->next = modules;
	modules = new;
	pthread_mutex_unlock(&lock);
	return &new->unused;
}

void
__cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

/* After the end of the library the list and the handle are gone. */
void
__cudaUnregisterFatBinary(void **handle)
{
	struct module **link = &modules;
	struct kernel **of = &kernels;

	pthread_mutex_lock(&lock);
	while (*link && &(*link)->unused != handle)
		link = &(*link)->next;
	if (*link) {
		struct module *module = *link;

		while (*of) {
			struct kernel *k = *of;

			if (k->module != module) {
				of = &k->next;
				continue;
			}
			*of = k->next;
			free(k);
		}
		*link = module->next;
		free(module);
	}
	pthread_mutex_unlock(&lock);
}

char
__cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

void
__cudaRegisterFunction(void **handle, const char *host, char *device,
    const char *name, int thread_limit, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size)
{
	struct kernel *new = malloc(sizeof *new);

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
	*new = (struct kernel){ host, name, (struct module *)(void *)handle,
	    kernels };
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

static const char *
name_of(const void *host)
{
	const struct kernel *k;
	const char *name;

	pthread_mutex_lock(&lock);
	for (k = kernels; k && k->host != host; k = k->next)
		;
	name = k ? k->name : NULL;
	pthread_mutex_unlock(&lock);
	return name;
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
	RUNTIME_ENTER();
	(void)shared;
	return launch((const void *)kernel, grid, block, params, stream);
}

/* ---- what programs ask about their kernels ------------------------------ */

cudaError_t
cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute attribute,
    int value)
{
	RUNTIME_ENTER();
	(void)attribute;
	(void)value;
	return emu_runtime_keep(name_of(host) ? cudaSuccess :
	    cudaErrorInvalidDeviceFunction);
}

cudaError_t
cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
	RUNTIME_ENTER();
	(void)config;
	return emu_runtime_keep(name_of(host) ? cudaSuccess :
	    cudaErrorInvalidDeviceFunction);
}

__attribute__((destructor))
static void
release(void)
{
	while (modules)
		__cudaUnregisterFatBinary(&modules->unused);
}
