/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/kernels/test_driver.c -- how the driver's calls are found, on a
 * made-up process: this file stands in for base/elf.c and for the driver. */
#include "kernels/load/driver.h"

#include "base/elf.h"
#include "base/log.h"
#include "tests/unit/cases.h"
#include "tests/unit/child.h"

#include <dlfcn.h>

#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
/* Newer forms have taken over these names; ours are of the row's version. */
#undef cuEventElapsedTime
#undef cuStreamGetCaptureInfo
CUresult cuEventElapsedTime(float *, CUevent, CUevent);
CUresult cuStreamGetCaptureInfo(CUstream, CUstreamCaptureStatus *,
    cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *);
#endif
#endif

enum form { ABSENT, PLAIN, V1, V2 };

/* The process: what its driver offers, what was asked of it. */
static enum form driver, opens_as;
static const char *missing;
static int opened, looked, logged;

struct seen {
	const char *name, *symbol;
	int version;
};
static const struct seen rows[] = {
#define TEXT(name) #name
#define DRIVER(name, version, need, params) { #name, TEXT(name), version },
#include "kernels/load/driver.def"
#undef DRIVER
};
enum { ROWS = sizeof rows / sizeof *rows };

/* A row's "function": any address that tells the rows apart. */
static char function[ROWS];

static int
row_of(const char *name)
{
	for (int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	return -1;
}

static void *
lend(int row)
{
	if (row < 0 || (missing && !strcmp(missing, rows[row].name)))
		return NULL;
	return &function[row];
}

static int
get_v2(const char *name, void **function_out, int version,
    unsigned long long flags, int *status_out)
{
	const int row = row_of(name);

	CHECK(row >= 0 && version == rows[row].version);
	CHECK(!flags); /* per-thread default streams would be 2 */
	looked++;
	*function_out = lend(row);
	*status_out = !*function_out;
	return *function_out ? 0 : 500;
}

static int
get_v1(const char *name, void **function_out, int version,
    unsigned long long flags)
{
	int status;

	return get_v2(name, function_out, version, flags, &status);
}

static void *
open_library(const char *name, int mode)
{
	CHECK(!strcmp(name, "libcuda.so.1"));
	CHECK(mode == (RTLD_NOW | RTLD_LOCAL));
	opened++;
	driver = opens_as;
	return driver == ABSENT ? NULL : &driver;
}

bool
ac_elf_find_object(const char *soname_prefix, struct ac_elf_object *object_out)
{
	CHECK(!strcmp(soname_prefix, "libcuda.so.1"));
	memset(object_out, 0, sizeof *object_out);
	return driver != ABSENT;
}

void *
ac_elf_definition(const struct ac_elf_object *object, const char *name)
{
	if (!strcmp(name, "cuGetProcAddress_v2"))
		return driver == V2 ? (void *)(uintptr_t)get_v2 : NULL;
	if (!strcmp(name, "cuGetProcAddress"))
		return driver >= V1 ? (void *)(uintptr_t)get_v1 : NULL;
	CHECK(driver == PLAIN);
	for (int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].symbol, name))
			return lend(i);
	return NULL;
}

void *
ac_elf_next_early(const char *name)
{
	return strcmp(name, "dlopen") ? NULL : (void *)(uintptr_t)open_library;
}

void
ac_log(enum ac_log_level level, const char *format, ...)
{
	CHECK(level == AC_LOG_INFO);
	logged++;
}

/* The table is its rows in order; cuda.h's macros hide some of their names. */
static void
check_filled(void)
{
	const struct ac_driver *found = ac_driver_get();
	void *row[ROWS];

	CHECK(found && found == ac_driver_loaded());
	CHECK(sizeof row == sizeof *found);
	memcpy(row, found, sizeof row);
	for (int i = 0; i < ROWS; i++)
		CHECK(row[i] == &function[i]);
	CHECK(!opened && !logged);
}

/* A driver that the program brought is used, whatever its age. */
SCENARIO(already_there)
{
	driver = V2;
	check_filled();
	CHECK(looked == ROWS);
}

SCENARIO(already_there_11)
{
	driver = V1;
	check_filled();
}

/* No driver: NULL, said once, tried once. */
SCENARIO(none)
{
	CHECK(!ac_driver_loaded() && !opened && !logged);
	CHECK(!ac_driver_get() && !ac_driver_get() && !ac_driver_loaded());
	CHECK(opened == 1 && logged == 1);
}

SCENARIO(opened_late)
{
	opens_as = V2;
	CHECK(!ac_driver_loaded());
	CHECK(ac_driver_get() && ac_driver_loaded());
	CHECK(opened == 1);
}

/* ac_driver_loaded() looks again until the program brings a driver. */
SCENARIO(brought_late)
{
	CHECK(!ac_driver_loaded());
	driver = V2;
	CHECK(ac_driver_loaded());
	CHECK(!opened);
}

SCENARIO(needed_missing)
{
	driver = V2;
	missing = "cuMemPoolCreate";
	CHECK(!ac_driver_get() && !ac_driver_get() && !ac_driver_loaded());
	CHECK(logged == 1 && !opened);
}

SCENARIO(optional_missing)
{
	driver = V2;
	missing = "cuLibraryLoadData";
	CHECK(ac_driver_get() && !ac_driver_get()->cuLibraryLoadData);
	CHECK(ac_driver_get()->cuLibraryGetKernel && !logged);
}

#if defined(CUDA_VERSION) && CUDA_VERSION >= 12000
/* Without cuGetProcAddress: the symbols that cuda.h stands for. */
SCENARIO(already_there_old)
{
	driver = PLAIN;
	check_filled();
}

/* Our declarations have cuda.h's types, but where those are enums or structs:
 * there both are spelled out, and enums are as wide as int. */
#define SAME(name, type) (__builtin_types_compatible_p(__typeof__(&name), type))
#define EXCEPT(row, name, theirs, ours) (!strcmp(row, #name)             \
    && SAME(name, CUresult (*)theirs) && __builtin_types_compatible_p(    \
    __typeof__(((struct ac_driver *)0)->name), ac_cu_result (*)ours))

static bool
is_exception(const char *row)
{
	_Static_assert(sizeof(CUresult) == sizeof(ac_cu_result)
	    && sizeof(CUdevice_attribute) == sizeof(int)
	    && sizeof(CUstreamCaptureStatus) == sizeof(int)
	    && sizeof(CUstreamCaptureMode) == sizeof(int)
	    && sizeof(CUjit_option) == sizeof(int)
	    && sizeof(CUmemPool_attribute) == sizeof(int)
	    && sizeof(CUpointer_attribute) == sizeof(int)
	    && (int)CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES
	    == (int)AC_CU_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES
	    && sizeof(CUlibraryOption) == sizeof(int)
	    && sizeof(CUfunction_attribute) == sizeof(int), "enums are ints");
	return EXCEPT(row, cuDeviceGetAttribute,
	    (int *, CUdevice_attribute, CUdevice), (int *, int, int))
	    || EXCEPT(row, cuCtxGetExecAffinity,
	    (CUexecAffinityParam *, CUexecAffinityType), (void *, int))
	    || EXCEPT(row, cuCtxGetDevResource,
	    (CUcontext, CUdevResource *, CUdevResourceType),
	    (ac_cu_context, void *, int))
	    || EXCEPT(row, cuModuleLoadDataEx,
	    (CUmodule *, const void *, unsigned, CUjit_option *, void **),
	    (ac_cu_module *, const void *, unsigned, int *, void **))
	    || EXCEPT(row, cuFuncGetAttribute,
	    (int *, CUfunction_attribute, CUfunction),
	    (int *, int, ac_cu_function))
	    || EXCEPT(row, cuStreamIsCapturing,
	    (CUstream, CUstreamCaptureStatus *), (ac_cu_stream, int *))
	    || EXCEPT(row, cuStreamGetCaptureInfo,
	    (CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
	    const CUgraphNode **, size_t *),
	    (ac_cu_stream, int *, unsigned long long *, ac_cu_graph *,
	    const ac_cu_node **, size_t *))
	    || EXCEPT(row, cuThreadExchangeStreamCaptureMode,
	    (CUstreamCaptureMode *), (int *))
	    || EXCEPT(row, cuPointerGetAttributes,
	    (unsigned, CUpointer_attribute *, void **, CUdeviceptr),
	    (unsigned, int *, void **, ac_cu_address))
	    || EXCEPT(row, cuMemPoolCreate,
	    (CUmemoryPool *, const CUmemPoolProps *),
	    (ac_cu_pool *, const void *))
	    || EXCEPT(row, cuMemPoolSetAttribute,
	    (CUmemoryPool, CUmemPool_attribute, void *),
	    (ac_cu_pool, int, void *))
	    || EXCEPT(row, cuLibraryLoadData,
	    (CUlibrary *, const void *, CUjit_option *, void **, unsigned,
	    CUlibraryOption *, void **, unsigned),
	    (ac_cu_library *, const void *, int *, void **, unsigned,
	    int *, void **, unsigned));
}

CASE(test_types)
{
#define DRIVER(name, version, need, params) \
	if (!SAME(name, CUresult (*) params) && !is_exception(#name)) \
		fail_msg("%s is declared otherwise in cuda.h", #name);
#include "kernels/load/driver.def"
#undef DRIVER
}
#else
CASE(test_already_there_old)
{
	print_message("# no cuda.h of CUDA 12 or later: symbols unknown\n");
}

CASE(test_types)
{
	print_message("# no cuda.h of CUDA 12 or later: types not compared\n");
}
#endif

CASES_RUN(NULL, NULL)
