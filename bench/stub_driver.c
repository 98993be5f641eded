/* SPDX-License-Identifier: Apache-2.0 */
/* bench/stub_driver.c -- libcuda.so.1 with one GPU of compute capability 9.0
 * that does nothing at all, at once, and refuses nothing: what remains of a
 * recast call's cost is ours. A kernel that is to post does, as after a perfect
 * product, so that nobody waits. */
#include "kernels/verified/verified.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cuGetProcAddress_v2(const char *name, void **function_out, int version,
    unsigned long long flags, int *status_out);

/* Whatever a call makes is at this address. */
static char thing[16];
static const char *verify; /* the kernel that posts */

static ac_cu_result
make(void **out)
{
	*out = thing;
	return 0;
}

static ac_cu_result
zero(int *out)
{
	*out = 0;
	return 0;
}

static ac_cu_result
number(void *of, unsigned long long *id_out)
{
	*id_out = of ? 1 : 2;
	return 0;
}

static ac_cu_result
capturing(void *stream, int *out)
{
	(void)stream;
	return zero(out);
}

static ac_cu_result
context_of(void *stream, void **out)
{
	(void)stream;
	return make(out);
}

static ac_cu_result
memory(size_t *free_out, size_t *total_out)
{
	*free_out = *total_out = (size_t)80 << 30;
	return 0;
}

static ac_cu_result
allocate(ac_cu_address *out)
{
	*out = (ac_cu_address)1 << 46;
	return 0;
}

static ac_cu_result
same_address(ac_cu_address *out, void *host, unsigned flags)
{
	(void)flags;
	*out = (uintptr_t)host;
	return 0;
}

static ac_cu_result
elapsed(float *out)
{
	*out = 0.01f;
	return 0;
}

static ac_cu_result
attribute(int *value, int which, int device)
{
	(void)device;
	*value = which == AC_CU_ATTRIBUTE_MAJOR ? 9 : 132;
	return 0;
}

static ac_cu_result
name_device(char *name, int size, int device)
{
	(void)device;
	snprintf(name, (size_t)size, "Stub GPU");
	return 0;
}

/* A kernel, and its function, is its name. */
static ac_cu_result
kernel_of(const void **out, void *library, const char *name)
{
	(void)library;
	*out = name;
	if (!strcmp(name, "ac_verified_verify"))
		verify = name;
	return 0;
}

static ac_cu_result
function_of(void **out, void *kernel)
{
	*out = kernel;
	return 0;
}

static ac_cu_result
launch(const char *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
    unsigned by, unsigned bz, unsigned shared, void *stream, void **params)
{
	const struct ac_verified *v = params[0];

	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
	(void)shared, (void)stream;
	if (function == verify && v->post)
		__atomic_fetch_add(&v->post->calls, 1, __ATOMIC_RELEASE);
	return 0;
}

static ac_cu_result
succeed(void)
{
	return 0;
}

#define ROW(name, function) { #name, (void (*)(void))(function) }
static const struct {
	const char *name;
	void (*function)(void);
} rows[] = {
	ROW(cuCtxGetCurrent, make), ROW(cuCtxGetDevice, zero),
	ROW(cuCtxGetId, number), ROW(cuStreamGetId, number),
	ROW(cuDriverGetVersion, zero), ROW(cuStreamGetCtx, context_of),
	ROW(cuStreamIsCapturing, capturing), ROW(cuMemGetInfo, memory),
	ROW(cuDeviceGetAttribute, attribute), ROW(cuDeviceGetName, name_device),
	ROW(cuStreamCreate, make), ROW(cuEventCreate, make),
	ROW(cuEventElapsedTime, elapsed), ROW(cuMemPoolCreate, make),
	ROW(cuMemAllocFromPoolAsync, allocate),
	ROW(cuMemHostGetDevicePointer, same_address),
	ROW(cuLibraryLoadData, make), ROW(cuLibraryGetKernel, kernel_of),
	ROW(cuKernelGetFunction, function_of), ROW(cuLaunchKernel, launch),
};

int
cuGetProcAddress_v2(const char *name, void **function_out, int version,
    unsigned long long flags, int *status_out)
{
	void (*found)(void) = (void (*)(void))succeed;

	(void)version, (void)flags;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(name, rows[i].name))
			found = rows[i].function;
	memcpy(function_out, &found, sizeof found);
	*status_out = 0;
	return 0;
}
