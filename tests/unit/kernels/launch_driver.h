/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/launch_driver.h -- a made-up driver with one context on
 * device 0, where a function is its name. Who includes it defines
 * module_load(), module_function() and kernel_launch(), and sees there what is
 * queued. */
#ifndef AC_TESTS_LAUNCH_DRIVER_H
#define AC_TESTS_LAUNCH_DRIVER_H

#include "kernels/load/driver.h"
#include "tests/unit/cases.h"

static int sm_count = 132;

static ac_cu_result module_load(ac_cu_module *out, const void *code,
    unsigned count, int *options, void **values);
static ac_cu_result module_function(ac_cu_function *out, ac_cu_module module,
    const char *name);
static ac_cu_result kernel_launch(ac_cu_function function, unsigned gx,
    unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
    unsigned shared, ac_cu_stream stream, void **params, void **extra);

static ac_cu_result
context_current(ac_cu_context *out)
{
	*out = (ac_cu_context)&sm_count;
	return 0;
}

static ac_cu_result
context_device(int *out)
{
	*out = 0;
	return 0;
}

static ac_cu_result
device_attribute(int *out, int attribute, int device)
{
	assert_int_equal(attribute, 16);
	assert_int_equal(device, 0);
	*out = sm_count;
	return 0;
}

static ac_cu_result
exchange_mode(int *inout)
{
	*inout = 0;
	return 0;
}

const struct ac_driver *
ac_driver_get(void)
{
	static const struct ac_driver driver = {
		.cuCtxGetCurrent = context_current,
		.cuCtxGetDevice = context_device,
		.cuDeviceGetAttribute = device_attribute,
		.cuThreadExchangeStreamCaptureMode = exchange_mode,
		.cuModuleLoadDataEx = module_load,
		.cuModuleGetFunction = module_function,
		.cuLaunchKernel = kernel_launch,
	};

	return &driver;
}

#endif
