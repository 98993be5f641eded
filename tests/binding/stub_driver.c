/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub_driver.c -- libcuda.so.1 with one GPU of compute
 * capability 9.0, current everywhere; whatever else is asked of it fails. */
#include "kernels/load/driver.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

int cuGetProcAddress_v2(const char *name, void **function_out, int version,
    unsigned long long flags, int *status_out);

static ac_cu_result
context_device(int *device)
{
	*device = 0;
	return 0;
}

static ac_cu_result
current(ac_cu_context *context)
{
	static int only;

	*context = (ac_cu_context)&only;
	return 0;
}

static ac_cu_result
context_id(ac_cu_context context, unsigned long long *id)
{
	(void)context;
	*id = 1;
	return 0;
}

static ac_cu_result
attribute(int *value, int which, int device)
{
	(void)device;
	*value = which == AC_CU_ATTRIBUTE_MAJOR ? 9 : 0;
	return 0;
}

static ac_cu_result
name_device(char *name, int size, int device)
{
	(void)device;
	snprintf(name, (size_t)size, "Stub GPU");
	return 0;
}

static ac_cu_result
fail(void)
{
	return 999;
}

int
cuGetProcAddress_v2(const char *name, void **function_out, int version,
    unsigned long long flags, int *status_out)
{
	uintptr_t function = (uintptr_t)fail;

	(void)version, (void)flags;
	if (!strcmp(name, "cuCtxGetDevice"))
		function = (uintptr_t)context_device;
	else if (!strcmp(name, "cuCtxGetCurrent"))
		function = (uintptr_t)current;
	else if (!strcmp(name, "cuCtxGetId"))
		function = (uintptr_t)context_id;
	else if (!strcmp(name, "cuDeviceGetAttribute"))
		function = (uintptr_t)attribute;
	else if (!strcmp(name, "cuDeviceGetName"))
		function = (uintptr_t)name_device;
	*function_out = (void *)function;
	*status_out = 0;
	return 0;
}
