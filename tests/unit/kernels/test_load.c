/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_load.c -- loading on a made-up driver: what is loaded
 * where, and in which capture mode. */
#include "kernels/load/load.h"
#include "kernels/twins/twins.h"

#include "base/log.h"
#include "tests/unit/cases.h"
#include "tests/unit/child.h"

enum { OWN_MODE = 1 };

static const char complaint[] = "\nptxas fatal : Unsupported .version 9.9;\n"
    "\tcurrent version is '8.4'\n";

/* The made-up driver's state. */
static char contexts[70];
static ac_cu_context context = (ac_cu_context)&contexts[0];
static unsigned long long context_id = 1;
static int mode = OWN_MODE;
static int load_result, function_result, now_result, mode_result;
static int libraries, modules, functions, logged, context_asked;
static int loaded_now, attributes;
static char said[512];

static ac_cu_result
context_current(ac_cu_context *out)
{
	context_asked++;
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
	CHECK(!of);           /* the current one, which may be dead */
	context_asked++;
	*out = context_id;
	return 0;
}

static ac_cu_result
device_attribute(int *out, int attribute, int device)
{
	CHECK(attribute == 16 && device == 3);
	*out = 132;
	return 0;
}

/* What a context was given of the 132; 0: the driver refuses to say. */
static unsigned affinity_sms, green_sms;

static ac_cu_result
exec_affinity(void *affinity, int type)
{
	CHECK(type == 0);
	((struct ac_cu_affinity *)affinity)->sm_count = affinity_sms;
	return affinity_sms ? 0 : 801;
}

static ac_cu_result
dev_resource(ac_cu_context of, void *resource, int type)
{
	CHECK(of == context && type == 1);
	((struct ac_cu_resource *)resource)->sm_count = green_sms;
	return green_sms ? 0 : 801;
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

/* What the file next to this program begins with, and what becomes of it. */
static const char machine_code[] = "machine code";
static int images, image_result, image_function;

static bool
is_image(const void *code)
{
	return !strncmp(code, machine_code, strlen(machine_code));
}

/* Our PTX, whole and terminated, and only while capturing is relaxed. */
static void
check_code(const void *code)
{
	CHECK(mode == 2);
	CHECK(!strncmp(code, "//", 2));
	CHECK(strstr(code, ".visible .entry ac_conv_check("));
	CHECK(strstr(code, ".visible .entry ac_recast_ranges("));
	CHECK(!strcmp((const char *)code + strlen(code) - 2, "}\n")
	    || !strcmp((const char *)code + strlen(code) - 3, "}\n\n"));
}

/* Where the compiler may write, at any later time. */
static char *jit_log;

static void
keep_log(const int *options, void *const *values, unsigned count)
{
	CHECK(count == 2 && options[0] == 5 && options[1] == 6);
	jit_log = values[0];
	CHECK((uintptr_t)values[1] > sizeof complaint && !*jit_log);
}

static ac_cu_result
refuse(ac_cu_result status)
{
	memcpy(jit_log, complaint, sizeof complaint);
	return status;
}

static ac_cu_result
library_load(ac_cu_library *out, const void *code, int *jit_options,
    void **jit_values, unsigned jit_count, int *options, void **values,
    unsigned count)
{
	CHECK(!options && !values && !count);
	keep_log(jit_options, jit_values, jit_count);
	if (is_image(code)) {
		images++;
		*out = (ac_cu_library)&images;
		return image_result;
	}
	check_code(code);
	if (load_result)
		return refuse(load_result);
	libraries++;
	*out = (ac_cu_library)&libraries;
	return 0;
}

/* A kernel and its function are the name of its twin. */
static void *
twin_of(const char *name)
{
	for (size_t i = 0; i < AC_TWINS; i++)
		if (!strcmp(ac_twins[i].name, name))
			return (void *)(uintptr_t)&ac_twins[i];
	return NULL;
}

static ac_cu_result
library_kernel(ac_cu_kernel *out, ac_cu_library library, const char *name)
{
	CHECK(library == (ac_cu_library)&libraries
	    || library == (ac_cu_library)&images);
	if (library == (ac_cu_library)&images && image_function)
		return image_function;
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
module_load(ac_cu_module *out, const void *code, unsigned count, int *options,
    void **values)
{
	keep_log(options, values, count);
	*out = (ac_cu_module)&modules;
	if (is_image(code)) {
		images++;
		return image_result;
	}
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
function_load(ac_cu_function function)
{
	CHECK(function && mode == 2);
	loaded_now++;
	return now_result ? refuse(now_result) : 0;
}

static ac_cu_result
function_attribute(int *out, int attribute, ac_cu_function function)
{
	CHECK(function && attribute == 4 && mode == 2);
	attributes++;
	*out = 1;
	return now_result;
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
	.cuModuleLoadDataEx = module_load,
	.cuModuleGetFunction = module_function,
	.cuFuncLoad = function_load,
	.cuFuncGetAttribute = function_attribute,
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
	va_list args;

	CHECK(level == AC_LOG_INFO);
	va_start(args, format);
	vsnprintf(said, sizeof said, format, args);
	va_end(args);
	logged++;
}

static enum ac_kernels_status
load(void)
{
	const struct ac_kernels *kernels;

	return ac_kernels_get(&ac_recast_module, &kernels);
}

/* One library for all contexts, functions per context, and each only once. */
SCENARIO(library_once)
{
	for (int i = 0; i < 3; i++)
		CHECK(load() == AC_KERNELS_OK);
	CHECK(libraries == 1 && functions == AC_KERNEL_COUNT
	    && mode == OWN_MODE);
	context = (ac_cu_context)&contexts[1];
	context_id = 2;
	for (int i = 0; i < 3; i++)
		CHECK(load() == AC_KERNELS_OK);
	CHECK(libraries == 1 && functions == 2 * AC_KERNEL_COUNT
	    && mode == OWN_MODE);
	CHECK(loaded_now == functions && !attributes);
	CHECK(!modules && !logged);
}

/* Grids are for as many multiprocessors as the context has. */
SCENARIO(part_of_a_device)
{
	static const struct { unsigned affinity, green; int count; } rows[] = {
		{ 0, 0, 132 }, { 66, 0, 66 }, { 0, 16, 16 }, { 66, 16, 16 },
		{ 132, 132, 132 }, { 16, 66, 16 }, { 900, 900, 132 }
	};
	const struct ac_kernels *kernels;

	driver.cuCtxGetExecAffinity = exec_affinity;
	driver.cuCtxGetDevResource = dev_resource;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		affinity_sms = rows[i].affinity;
		green_sms = rows[i].green;
		context_id++;
		CHECK(ac_kernels_get(&ac_recast_module, &kernels)
		    == AC_KERNELS_OK && kernels->sm_count == rows[i].count);
	}
}

/* A context that died and another at its address are two. */
SCENARIO(address_again)
{
	CHECK(load() == AC_KERNELS_OK);
	context_id = 9;
	CHECK(load() == AC_KERNELS_OK);
	CHECK(functions == 2 * AC_KERNEL_COUNT);
}

/* Who knows the context asks the driver nothing once the kernels are there. */
SCENARIO(known_context)
{
	const struct ac_kernels *first, *second;

	context_asked = 0;
	CHECK(ac_kernels_load(context, context_id, &first) == AC_KERNELS_OK);
	CHECK(!context_asked && functions == AC_KERNEL_COUNT);
	there = NULL;
	CHECK(ac_kernels_load(context, context_id, &second)
	    == AC_KERNELS_NO_DRIVER);
	there = &driver;
	driver.cuCtxGetDevice = NULL;
	driver.cuDeviceGetAttribute = NULL;
	driver.cuThreadExchangeStreamCaptureMode = NULL;
	CHECK(ac_kernels_load(context, context_id, &second) == AC_KERNELS_OK);
	CHECK(first == second && !context_asked);
}

SCENARIO(module_per_context)
{
	driver.cuCtxGetId = NULL;
	driver.cuLibraryLoadData = NULL;
	CHECK(load() == AC_KERNELS_OK);
	CHECK(load() == AC_KERNELS_OK);
	context = (ac_cu_context)&contexts[1];
	CHECK(load() == AC_KERNELS_OK);
	CHECK(modules == 2 && !libraries && mode == OWN_MODE);
	CHECK(loaded_now == 2 * AC_KERNEL_COUNT);
}

/* A refusal is remembered and said once; the mode comes back. */
SCENARIO(refused)
{
	load_result = 218; /* CUDA_ERROR_INVALID_PTX */
	CHECK(load() == AC_KERNELS_NO_MODULE);
	CHECK(mode == OWN_MODE);
	load_result = 0;
	CHECK(load() == AC_KERNELS_NO_MODULE);
	CHECK(!libraries && logged == 1);
	CHECK(!strcmp(said, "the CUDA driver did not take our kernels (error "
	    "218: ptxas fatal : Unsupported .version 9.9; current version is "
	    "'8.4'): no recast in this context"));
}

/* A driver that compiles late has its say, too: before a first launch. */
SCENARIO(refused_late)
{
	now_result = 221; /* CUDA_ERROR_JIT_COMPILER_NOT_FOUND */
	CHECK(load() == AC_KERNELS_NO_MODULE);
	CHECK(mode == OWN_MODE && loaded_now == 1);
	now_result = 0;
	CHECK(load() == AC_KERNELS_NO_MODULE);
	CHECK(loaded_now == 1 && logged == 1);
	CHECK(strstr(said, "(error 221: ptxas fatal : Unsupported"));
}

/* Before CUDA 12.4 an attribute is asked for; before 2.2, nothing. */
SCENARIO(older_drivers)
{
	driver.cuFuncLoad = NULL;
	CHECK(load() == AC_KERNELS_OK);
	CHECK(attributes == AC_KERNEL_COUNT && mode == OWN_MODE);
	context_id = 2;
	now_result = 209;
	CHECK(load() == AC_KERNELS_NO_MODULE);
	CHECK(strstr(said, "(error 209): no recast"));
	context_id = 3;
	driver.cuFuncGetAttribute = NULL;
	CHECK(load() == AC_KERNELS_OK);
}

/* A GPU too old for the code leaves another GPU's context alone. */
SCENARIO(refused_in_one)
{
	function_result = 209; /* CUDA_ERROR_NO_BINARY_FOR_GPU */
	CHECK(load() == AC_KERNELS_NO_MODULE);
	CHECK(mode == OWN_MODE && logged == 1);
	function_result = 0;
	context = (ac_cu_context)&contexts[1];
	CHECK(load() == AC_KERNELS_OK);
	context = (ac_cu_context)&contexts[0];
	CHECK(load() == AC_KERNELS_NO_MODULE);
}

SCENARIO(mode_refused)
{
	mode_result = 1;
	CHECK(load() == AC_KERNELS_NO_MODULE);
	CHECK(!libraries && mode == OWN_MODE);
}

SCENARIO(nowhere)
{
	context = NULL;
	CHECK(load() == AC_KERNELS_NO_CONTEXT);
	there = NULL;
	CHECK(load() == AC_KERNELS_NO_DRIVER);
	there = &driver;
	context = (ac_cu_context)&contexts[0];
	CHECK(load() == AC_KERNELS_OK);
}

/* The table has an end: then the oldest makes room. */
SCENARIO(many_contexts)
{
	for (int i = 0; i < 64; i++) {
		context = (ac_cu_context)&contexts[i];
		CHECK(load() == AC_KERNELS_OK);
	}
	/* One too many: the oldest is forgotten, the others are not. */
	context = (ac_cu_context)&contexts[64];
	CHECK(load() == AC_KERNELS_OK);
	functions = 0;
	for (int i = 1; i <= 64; i++) {
		context = (ac_cu_context)&contexts[i];
		CHECK(load() == AC_KERNELS_OK);
	}
	CHECK(!functions);
	context = (ac_cu_context)&contexts[0];
	CHECK(load() == AC_KERNELS_OK);
	CHECK(functions);
}

#define OTHER_CODE "// .visible .entry ac_conv_check(\n" \
    ".visible .entry ac_recast_ranges( {\n}\n"
/* As gzip has what it stores, with the length in three places. */
static const unsigned char other_packed[] =
    "\x1f\x8b\x8\0\0\0\0\0\0\3\1H\0\xb7\xff" OTHER_CODE "\0\0\0\0H\0\0";
_Static_assert(sizeof OTHER_CODE - 1 == 'H', "as it says");
#define OTHER { other_packed, other_packed + sizeof other_packed }
static const char *const names[] = { "ac_conv_check" };
#define MODULE(its) .packed = OTHER, .refused = "nothing", .names = names, \
	.count = 1, .table = &(its)

/* Each module is loaded for itself, and refused for itself. */
SCENARIO(two_modules)
{
	static struct ac_kernels_table table;
	static const struct ac_kernels_module other = { MODULE(table) };
	const struct ac_kernels *kernels;

	load_result = 218;
	CHECK(ac_kernels_get(&other, &kernels) == AC_KERNELS_NO_MODULE);
	load_result = 0;
	CHECK(load() == AC_KERNELS_OK);
	CHECK(ac_kernels_get(&other, &kernels) == AC_KERNELS_NO_MODULE);
	CHECK(libraries == 1 && functions == AC_KERNEL_COUNT && logged == 1);
	context_id = 2;
	CHECK(ac_kernels_get(&other, &kernels) == AC_KERNELS_OK);
	CHECK(kernels->function[0] == twin_of(names[0]));
	CHECK(libraries == 2 && functions == AC_KERNEL_COUNT + 1);
}

/* One that is loaded only on request may be refused for want of memory,
 * once. */
SCENARIO(asks_again)
{
	static struct ac_kernels_table table;
	static const struct ac_kernels_module other = {
		MODULE(table), .asks_again = true };
	const struct ac_kernels *kernels;

	load_result = 2; /* CUDA_ERROR_OUT_OF_MEMORY */
	CHECK(ac_kernels_get(&other, &kernels) == AC_KERNELS_NO_MODULE);
	CHECK(mode == OWN_MODE);
	load_result = 0;
	CHECK(ac_kernels_get(&other, &kernels) == AC_KERNELS_OK);
	CHECK(kernels->function[0] == twin_of(names[0]));
	CHECK(ac_kernels_get(&other, &kernels) == AC_KERNELS_OK);
	CHECK(libraries == 1 && functions == 1 && logged == 1);
}

/* A file next to this program: machine code, and that behind it; or none. */
static void
write_image(const struct ac_packed *behind)
{
	const size_t bytes = behind ? (size_t)(behind->end - behind->begin) : 0;
	char path[4096] = "";
	FILE *file;

	CHECK(readlink("/proc/self/exe", path, 4000) > 0);
	strcpy(strrchr(path, '/'), "/libautocast-test_load.fatbin");
	file = behind ? fopen(path, "w") : NULL;
	CHECK(behind ? fputs(machine_code, file) >= 0 && fwrite(
	    behind->begin, 1, bytes, file) == bytes && !fclose(file)
	    : !unlink(path));
}

/* Machine code comes first; what a driver does not take of it, or not all of
 * it, or what is of another text, is made up for by the PTX. In two contexts,
 * of which a driver of today needs what it took once only. */
SCENARIO(machine_code_first)
{
	static struct ac_kernels_table tables[7];
	static const unsigned char another[] = "of another version";
	static const struct {
		struct ac_packed behind;
		int load, function, images, texts;
		bool old;
	} rows[] = {
		{ OTHER, 0, 0, 1, 0, false },
		{ OTHER, 209, 0, 2, 1, false },
		{ OTHER, 0, 500, 1, 1, false },
		{ OTHER, 0, 0, 2, 0, true },
		{ OTHER, 209, 0, 2, 2, true },
		{ { another, another + sizeof another }, 0, 0, 0, 1, false },
		{ { another, another }, 0, 0, 0, 2, true },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct ac_kernels_module made = {
			MODULE(tables[i]), .image = "test_load" };
		const struct ac_kernels *kernels;

		write_image(&rows[i].behind);
		images = libraries = modules = 0;
		image_result = rows[i].load;
		image_function = rows[i].function;
		driver.cuLibraryLoadData = rows[i].old ? NULL : library_load;
		for (int n = 0; n < 4; n++, context_id += n == 2)
			CHECK(ac_kernels_get(&made, &kernels)
			    == AC_KERNELS_OK);
		CHECK(kernels->function[0] == twin_of(names[0]));
		CHECK(images == rows[i].images
		    && libraries + modules == rows[i].texts && !logged);
	}
	write_image(NULL);
}

CASES_RUN(NULL, NULL)
