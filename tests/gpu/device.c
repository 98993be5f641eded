/* SPDX-License-Identifier: Apache-2.0 */
/* tests/gpu/device.c -- see device.h. */
#include "emulator/driver/twin.h"
#include "device.h"

#include "kernels/load/load.h"
#include "kernels/twins/twins.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the product itself never calls. */
static struct {
	int (*cuInit)(unsigned);
	int (*cuDeviceGet)(int *, int);
	int (*cuDevicePrimaryCtxRetain)(ac_cu_context *, int);
	int (*cuCtxSetCurrent)(ac_cu_context);
	int (*cuMemAlloc_v2)(address *, size_t);
	int (*cuMemFree_v2)(address);
	int (*cuMemcpyHtoD_v2)(address, const void *, size_t);
	int (*cuMemcpyDtoH_v2)(void *, address, size_t);
	int (*cuStreamSynchronize)(ac_cu_stream);
} cu;

ac_cu_stream device_stream;
const struct ac_kernels *device_kernels;
static int count, failures;

void
ok(bool passed, const char *name)
{
	count++;
	failures += !passed;
	printf("%sok %d - %s\n", passed ? "" : "not ", count, name);
	fflush(stdout);
}

int
done(void)
{
	printf("1..%d\n", count);
	return failures != 0;
}

void
device_must(int failed, const char *what)
{
	if (!failed)
		return;
	printf("Bail out! %s: error %d\n", what, failed);
	exit(99);
}

static _Noreturn void
skip_all(const char *reason)
{
	printf("1..0 # SKIP %s\n", reason);
	exit(77);
}

static void
resolve(void *library, const char *name, void *function_out)
{
	void *found = dlsym(library, name);

	if (!found)
		skip_all(name);
	memcpy(function_out, &found, sizeof found);
}

void
device_start(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	ac_cu_context context;
	int device;

	if (!library)
		skip_all("no libcuda.so.1");
#define RESOLVE(name) resolve(library, #name, &cu.name)
	RESOLVE(cuInit);
	RESOLVE(cuDeviceGet);
	RESOLVE(cuDevicePrimaryCtxRetain);
	RESOLVE(cuCtxSetCurrent);
	RESOLVE(cuMemAlloc_v2);
	RESOLVE(cuMemFree_v2);
	RESOLVE(cuMemcpyHtoD_v2);
	RESOLVE(cuMemcpyDtoH_v2);
	RESOLVE(cuStreamSynchronize);
	if (cu.cuInit(0) || cu.cuDeviceGet(&device, 0))
		skip_all("no CUDA device");
	MUST(cu.cuDevicePrimaryCtxRetain(&context, device));
	MUST(cu.cuCtxSetCurrent(context));
	MUST(ac_kernels_get(&ac_recast_module, &device_kernels));
	MUST(ac_driver_get()->cuStreamCreate(&device_stream,
	    AC_CU_STREAM_NON_BLOCKING));
}

/* The copy may return while its staging buffer is still on the way, and our
 * stream does not wait for the legacy stream. */
void
device_copy_in(address to, const void *from, size_t bytes)
{
	if (bytes)
		MUST(cu.cuMemcpyHtoD_v2(to, from, bytes));
	MUST(cu.cuStreamSynchronize(NULL));
}

address
device_upload(const void *from, size_t bytes)
{
	address to;

	MUST(cu.cuMemAlloc_v2(&to, bytes ? bytes : 1));
	device_copy_in(to, from, bytes);
	return to;
}

void
device_copy_out(void *to, address from, size_t bytes)
{
	if (bytes)
		MUST(cu.cuMemcpyDtoH_v2(to, from, bytes));
}

bool
device_is_same(address device, const void *expected, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);
	bool same;

	device_must(!copy, "malloc");
	device_copy_out(copy, device, bytes);
	same = !memcmp(copy, expected, bytes);
	free(copy);
	return same;
}

void
device_free(address device)
{
	MUST(cu.cuMemFree_v2(device));
}

void
device_wait(void)
{
	MUST(cu.cuStreamSynchronize(device_stream));
}

void *
device_at(address where)
{
	return (void *)(uintptr_t)where;
}

void
run_twin(const char *name, void **arguments)
{
	const struct emu_twin_launch launch = { { 1, 2, 1 }, { 256, 1, 1 } };

	for (size_t i = 0; i < AC_TWINS; i++)
		if (!strcmp(ac_twins[i].name, name)) {
			ac_twins[i].run(&launch, arguments);
			return;
		}
	device_must(1, name);
}
