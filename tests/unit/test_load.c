/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/test_load.c -- loading and launching on a made-up driver: what
 * is loaded where, in which capture mode, and with which grid. */
#include "kernels/cast.h"
#include "kernels/load.h"
#include "kernels/twins.h"

#include "base/log.h"
#include "tests/unit/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { OWN_MODE = 1 };

/* The made-up driver's state. */
static char contexts[70];
static ac_cu_context context = (ac_cu_context)&contexts[0];
static unsigned long long context_id = 1;
static int mode = OWN_MODE, sm_count = 132;
static int load_result, function_result, launch_result, mode_result;
static int libraries, modules, functions, logged;
static struct {
	unsigned grid[3], block[3];
	ac_cu_stream stream;
	int count;
} launched;

static ac_cu_result
context_current(ac_cu_context *out)
{
	*out = context;
	return 0;
}

static ac_cu_result
context_device(int *out)
{
	*out = 3;
	return 0;
}

static ac_cu_result
context_number(ac_cu_context of, unsigned long long *out)
{
	CHECK(of == context);
	*out = context_id;
	return 0;
}

static ac_cu_result
device_attribute(int *out, int attribute, int device)
{
	CHECK(attribute == 16 && device == 3);
	*out = sm_count;
	return 0;
}

static ac_cu_result
exchange_mode(int *inout)
{
	const int old = mode;

	if (mode_result)
		return mode_result;
	mode = *inout;
	*inout = old;
	return 0;
}

/* Our PTX, whole and terminated, and only while capturing is relaxed. */
static void
check_code(const void *code)
{
	CHECK(mode == 2);
	CHECK(!strncmp(code, "//", 2));
	CHECK(strstr(code, ".visible .entry ac_amax("));
	CHECK(strstr(code, ".visible .entry ac_cast("));
	CHECK(!strcmp((const char *)code + strlen(code) - 2, "}\n")
	    || !strcmp((const char *)code + strlen(code) - 3, "}\n\n"));
}

static ac_cu_result
library_load(ac_cu_library *out, const void *code, int *jit_options,
    void **jit_values, unsigned jit_count, int *options, void **values,
    unsigned count)
{
	CHECK(!jit_options && !jit_values && !jit_count && !options && !values
	    && !count);
	check_code(code);
	if (load_result)
		return load_result;
	libraries++;
	*out = (ac_cu_library)&libraries;
	return 0;
}

/* A kernel and its function are the name of its twin. */
static void *
twin_of(const char *name)
{
	for (size_t i = 0; i < ac_twin_count; i++)
		if (!strcmp(ac_twins[i].name, name))
			return (void *)(uintptr_t)&ac_twins[i];
	return NULL;
}

static ac_cu_result
library_kernel(ac_cu_kernel *out, ac_cu_library library, const char *name)
{
	CHECK(library == (ac_cu_library)&libraries);
	*out = twin_of(name);
	return *out ? 0 : 500;
}

static ac_cu_result
kernel_function(ac_cu_function *out, ac_cu_kernel kernel)
{
	CHECK(mode == 2);
	functions++;
	*out = (ac_cu_function)kernel;
	return function_result;
}

static ac_cu_result
module_load(ac_cu_module *out, const void *code)
{
	check_code(code);
	modules++;
	*out = (ac_cu_module)&modules;
	return load_result;
}

static ac_cu_result
module_function(ac_cu_function *out, ac_cu_module module, const char *name)
{
	CHECK(module == (ac_cu_module)&modules);
	*out = twin_of(name);
	return *out ? 0 : 500;
}

static ac_cu_result
kernel_launch(ac_cu_function function, unsigned gx, unsigned gy, unsigned gz,
    unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes,
    ac_cu_stream stream, void **params, void **extra)
{
	const struct ac_twin_launch geometry = { { gx, gy, gz },
	    { bx, by, bz } };

	CHECK(!shared_bytes && !extra);
	memcpy(launched.grid, geometry.grid, sizeof launched.grid);
	memcpy(launched.block, geometry.block, sizeof launched.block);
	launched.stream = stream;
	launched.count++;
	if (!launch_result && gx < 1000)
		((const struct ac_twin *)function)->run(&geometry, params);
	return launch_result;
}

static struct ac_driver driver = {
	.cuCtxGetCurrent = context_current,
	.cuCtxGetDevice = context_device,
	.cuCtxGetId = context_number,
	.cuDeviceGetAttribute = device_attribute,
	.cuThreadExchangeStreamCaptureMode = exchange_mode,
	.cuLibraryLoadData = library_load,
	.cuLibraryGetKernel = library_kernel,
	.cuKernelGetFunction = kernel_function,
	.cuModuleLoadData = module_load,
	.cuModuleGetFunction = module_function,
	.cuLaunchKernel = kernel_launch,
};
static const struct ac_driver *there = &driver;

const struct ac_driver *
ac_driver_get(void)
{
	return there;
}

void
ac_log(enum ac_log_level level, const char *format, ...)
{
	(void)format;
	CHECK(level == AC_LOG_INFO);
	logged++;
}

/* One library for all contexts, functions per context, and each only once. */
static void
library_once(void)
{
	for (int i = 0; i < 3; i++)
		CHECK(ac_kernels_load() == AC_KERNELS_OK);
	CHECK(libraries == 1 && functions == AC_KERNEL_COUNT
	    && mode == OWN_MODE);
	context = (ac_cu_context)&contexts[1];
	context_id = 2;
	for (int i = 0; i < 3; i++)
		CHECK(ac_kernels_load() == AC_KERNELS_OK);
	CHECK(libraries == 1 && functions == 2 * AC_KERNEL_COUNT
	    && mode == OWN_MODE);
	CHECK(!modules && !logged);
}

/* A context that died and another at its address are two. */
static void
address_again(void)
{
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	context_id = 9;
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	CHECK(functions == 2 * AC_KERNEL_COUNT);
}

static void
module_per_context(void)
{
	driver.cuCtxGetId = NULL;
	driver.cuLibraryLoadData = NULL;
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	context = (ac_cu_context)&contexts[1];
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	CHECK(modules == 2 && !libraries && mode == OWN_MODE);
}

/* A refusal is remembered and said once; the mode comes back. */
static void
refused(void)
{
	load_result = 218; /* CUDA_ERROR_INVALID_PTX */
	CHECK(ac_kernels_load() == AC_KERNELS_NO_MODULE);
	CHECK(mode == OWN_MODE);
	load_result = 0;
	CHECK(ac_kernels_load() == AC_KERNELS_NO_MODULE);
	CHECK(!libraries && logged == 1);
}

/* A GPU too old for the code leaves another GPU's context alone. */
static void
refused_in_one(void)
{
	function_result = 209; /* CUDA_ERROR_NO_BINARY_FOR_GPU */
	CHECK(ac_kernels_load() == AC_KERNELS_NO_MODULE);
	CHECK(mode == OWN_MODE && logged == 1);
	function_result = 0;
	context = (ac_cu_context)&contexts[1];
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	context = (ac_cu_context)&contexts[0];
	CHECK(ac_kernels_load() == AC_KERNELS_NO_MODULE);
}

static void
mode_refused(void)
{
	mode_result = 1;
	CHECK(ac_kernels_load() == AC_KERNELS_NO_MODULE);
	CHECK(!libraries && mode == OWN_MODE);
}

static void
nowhere(void)
{
	context = NULL;
	CHECK(ac_kernels_load() == AC_KERNELS_NO_CONTEXT);
	there = NULL;
	CHECK(ac_kernels_load() == AC_KERNELS_NO_DRIVER);
	there = &driver;
	context = (ac_cu_context)&contexts[0];
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
}

/* The table has an end: then the oldest makes room. */
static void
many_contexts(void)
{
	for (int i = 0; i < 64; i++) {
		context = (ac_cu_context)&contexts[i];
		CHECK(ac_kernels_load() == AC_KERNELS_OK);
	}
	/* One too many: the oldest is forgotten, the others are not. */
	context = (ac_cu_context)&contexts[64];
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	functions = 0;
	for (int i = 1; i <= 64; i++) {
		context = (ac_cu_context)&contexts[i];
		CHECK(ac_kernels_load() == AC_KERNELS_OK);
	}
	CHECK(!functions);
	context = (ac_cu_context)&contexts[0];
	CHECK(ac_kernels_load() == AC_KERNELS_OK);
	CHECK(functions);
}

static const struct ac_cast_scalar one = { 1, NULL }, two = { 2, NULL };

/* Amax and cast, one launch each, two operands, on the caller's stream. */
static void
launches(void)
{
	static uint16_t to[2][24] __attribute__((aligned(16)));
	const float a[] = { 1, -2, 3 }, b[] = { 0.5f };
	const ac_cu_stream stream = (ac_cu_stream)(uintptr_t)2;
	struct ac_cast_state state = {0};
	const struct ac_cast_operand operand[2] = {
		{ a, 1, 3, 1, 0, 1, to[0], 8, 3 },
		{ b, 1, 1, 1, 0, 1, to[1], 8, 1 },
	};

	CHECK(!ac_kernels_amax(operand, &state, stream));
	CHECK(launched.count == 1 && launched.stream == stream);
	CHECK(launched.grid[0] == 1 && launched.grid[1] == 2
	    && launched.grid[2] == 1);
	CHECK(launched.block[0] == 256 && launched.block[1] == 1
	    && launched.block[2] == 1);
	CHECK(state.amax[0] == 0x40400000 && state.amax[1] == 0x3f000000);
	CHECK(!ac_kernels_cast(operand, AC_FORMAT_BF16, false, two, one, &state,
	    stream));
	CHECK(launched.count == 2 && libraries == 1);
	CHECK(to[0][8] == 0xc000 && to[1][0] == 0x3f00);
	CHECK(state.alpha == 2 && state.beta == 1);
	CHECK(!ac_kernels_amax(operand, &state, stream));
	CHECK(!ac_kernels_cast(operand, AC_FORMAT_FP16, true, two, one, &state,
	    stream));
	CHECK(state.exponent[0] == 13 && state.exponent[1] == 15);
	CHECK(to[0][8] == 0xf400 && state.alpha == 0x1p-27f);
	launch_result = 1;
	CHECK(ac_kernels_amax(operand, &state, stream) == AC_KERNELS_LAUNCH);
	CHECK(ac_kernels_cast(operand, AC_FORMAT_FP16, true, two, one, &state,
	    stream) == AC_KERNELS_LAUNCH);
}

static unsigned
grid_for(int64_t rows, int64_t cols, int64_t batch)
{
	struct ac_cast_state state = {0};
	const struct ac_cast_operand operand[2] = {
		{ .rows = rows, .cols = cols, .ld = rows, .batch = batch,
		  .ld_to = (rows + 7) / 8 * 8, .cols_to = cols }, { .rows = 0 },
	};
	unsigned grid;

	launch_result = 1; /* nothing is to run on these */
	ac_kernels_amax(operand, &state, NULL);
	grid = launched.grid[0];
	ac_kernels_cast(operand, AC_FORMAT_FP16, true, one, one, &state, NULL);
	CHECK(launched.grid[0] == grid);
	return grid;
}

/* A block for each 256 chunks of 8 rows, up to eight per SM. */
static void
grids(void)
{
	CHECK(grid_for(0, 0, 0) == 1);
	CHECK(grid_for(1, 256, 1) == 1);
	CHECK(grid_for(1, 257, 1) == 2);
	CHECK(grid_for(9, 256, 1) == 2);
	CHECK(grid_for(8, 256, 3) == 3);
	CHECK(grid_for(8192, 8192, 1) == 8 * 132);
	CHECK(grid_for(INT64_C(1) << 40, INT64_C(1) << 40, 9) == 8 * 132);
}

SCENARIO(library_once)
SCENARIO(address_again)
SCENARIO(module_per_context)
SCENARIO(refused)
SCENARIO(refused_in_one)
SCENARIO(mode_refused)
SCENARIO(nowhere)
SCENARIO(many_contexts)
SCENARIO(launches)
SCENARIO(grids)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_library_once),
		cmocka_unit_test(test_address_again),
		cmocka_unit_test(test_module_per_context),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_in_one),
		cmocka_unit_test(test_mode_refused),
		cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_many_contexts),
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_grids),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
