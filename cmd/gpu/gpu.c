/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/gpu/gpu.c -- opens the driver and cuBLAS at run time. The
 * only place of the program that loads these. */
#include "cmd/gpu/gpu.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTE_MAJOR = 75, ATTRIBUTE_MINOR = 76, CUDA_13 = 13000 };

struct row {
	const char *name, *other;
	size_t      offset;
};

#define ROW(name, other, params) \
	{ #name, other, offsetof(struct ac_gpu, name) },
static const struct row driver_rows[] = { AC_GPU_DRIVER(ROW) };
static const struct row cublas_rows[] = { AC_GPU_CUBLAS(ROW) };
#undef ROW

bool
ac_gpu_fail(struct ac_gpu *gpu, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!*gpu->why)
		vsnprintf(gpu->why, sizeof gpu->why, format, args);
	va_end(args);
	return false;
}

bool
ac_gpu_check(struct ac_gpu *gpu, int result, const char *what)
{
	const char *name = NULL;

	if (!result)
		return true;
	/* cuBLAS has numbers of its own. */
	if (strncmp(what, "cublas", 6) && gpu->cuGetErrorName &&
	    !gpu->cuGetErrorName(result, &name) && name)
		return ac_gpu_fail(gpu, "%s: %s", what, name);
	return ac_gpu_fail(gpu, "%s: error %d", what, result);
}

/* ---- Libraries --------------------------------------------------------- */

/* Never closed: what it has started may still run. */
static void *
open_library(const char *folder, const char *name)
{
	struct ac_text t = AC_TEXT_OF(4096);

	ac_text_addf(&t, "%s%s%s", folder ? folder : "", folder ? "/" : "",
	    name);
	return t.truncated ? NULL : dlopen(t.data, RTLD_NOW | RTLD_GLOBAL);
}

bool
ac_gpu_has_driver(void)
{
	return open_library(NULL, "libcuda.so.1") != NULL;
}

size_t
ac_gpu_cudnn_version(const char *folder)
{
	void *library = open_library(folder, "libcudnn.so.9");
	void *function;
	size_t (*version)(void);

	if (!library)
		library = open_library(folder, "libcudnn.so.8");
	function = library ? dlsym(library, "cudnnGetVersion") : NULL;
	memcpy(&version, &function, sizeof version);
	return version ? version() : 0;
}

static bool
find_all(struct ac_gpu *gpu, void *library, const struct row *rows,
    size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(library, rows[i].name);

		if (!function && rows[i].other)
			function = dlsym(library, rows[i].other);
		if (!function)
			return ac_gpu_fail(gpu, "it has no %s", rows[i].name);
		memcpy((char *)gpu + rows[i].offset, &function,
		    sizeof function);
	}
	return true;
}

static bool
open_driver(struct ac_gpu *gpu, const char *folder)
{
	void *library = open_library(folder, "libcuda.so.1");

	if (!library)
		return ac_gpu_fail(gpu, "%s", "there is no NVIDIA driver "
		    "(libcuda.so.1 cannot be loaded)");
	return find_all(gpu, library, driver_rows,
	    sizeof driver_rows / sizeof *driver_rows) &&
	    ac_gpu_check(gpu, gpu->cuInit(0), "cuInit") &&
	    ac_gpu_check(gpu, gpu->cuDriverGetVersion(&gpu->driver),
	    "cuDriverGetVersion");
}

/* That of CUDA 13 needs a driver of CUDA 13. */
static bool
open_cublas(struct ac_gpu *gpu, const char *folder)
{
	void *library = NULL;

	if (gpu->driver >= CUDA_13)
		library = open_library(folder, "libcublas.so.13");
	if (!library)
		library = open_library(folder, "libcublas.so.12");
	if (!library)
		return ac_gpu_fail(gpu, "%s", gpu->driver >= CUDA_13
		    ? "there is no cuBLAS (neither libcublas.so.13 nor "
		    "libcublas.so.12 can be loaded); set LD_LIBRARY_PATH"
		    : "there is no cuBLAS (libcublas.so.12 cannot be loaded); "
		    "set LD_LIBRARY_PATH");
	return find_all(gpu, library, cublas_rows,
	    sizeof cublas_rows / sizeof *cublas_rows);
}

/* ---- The GPU ----------------------------------------------------------- */

static bool
open_device(struct ac_gpu *gpu, int ordinal)
{
	int count = 0, major = 0, minor = 0;

	if (!ac_gpu_check(gpu, gpu->cuDeviceGetCount(&count),
	    "cuDeviceGetCount"))
		return false;
	if (ordinal >= count)
		return ac_gpu_fail(gpu, "there is no GPU %d; there %s %d",
		    ordinal, count == 1 ? "is" : "are", count);
	if (!ac_gpu_check(gpu, gpu->cuDeviceGet(&gpu->device, ordinal),
	    "cuDeviceGet") ||
	    !ac_gpu_check(gpu, gpu->cuDeviceGetName(gpu->name,
	    (int)sizeof gpu->name - 1, gpu->device), "cuDeviceGetName") ||
	    !ac_gpu_check(gpu, gpu->cuDeviceGetAttribute(&major,
	    ATTRIBUTE_MAJOR, gpu->device), "cuDeviceGetAttribute") ||
	    !ac_gpu_check(gpu, gpu->cuDeviceGetAttribute(&minor,
	    ATTRIBUTE_MINOR, gpu->device), "cuDeviceGetAttribute") ||
	    !ac_gpu_check(gpu, gpu->cuDevicePrimaryCtxRetain(&gpu->context,
	    gpu->device), "cuDevicePrimaryCtxRetain"))
		return false;
	gpu->sm = 10 * major + minor;
	gpu->is_emulated = strstr(gpu->name, "(emulated)") != NULL;
	return ac_gpu_check(gpu, gpu->cuCtxSetCurrent(gpu->context),
	    "cuCtxSetCurrent") &&
	    ac_gpu_check(gpu, gpu->cuStreamCreate(&gpu->stream, 1),
	    "cuStreamCreate") &&
	    ac_gpu_check(gpu, gpu->cuEventCreate(&gpu->start, 0),
	    "cuEventCreate") &&
	    ac_gpu_check(gpu, gpu->cuEventCreate(&gpu->end, 0),
	    "cuEventCreate");
}

static bool
open_handle(struct ac_gpu *gpu)
{
	int version = 0;

	if (!ac_gpu_check(gpu, gpu->cublasCreate_v2(&gpu->handle),
	    "cublasCreate") ||
	    !ac_gpu_check(gpu, gpu->cublasSetStream_v2(gpu->handle,
	    gpu->stream), "cublasSetStream") ||
	    !ac_gpu_check(gpu, gpu->cublasGetVersion_v2(gpu->handle,
	    &version), "cublasGetVersion"))
		return false;
	snprintf(gpu->library, sizeof gpu->library, "cublas-%d.%d",
	    version / 10000, version / 100 % 100);
	return true;
}

bool
ac_gpu_open(struct ac_gpu *gpu, int ordinal, const char *folder)
{
	memset(gpu, 0, sizeof *gpu);
	/* Were our own library preloaded here, it is to leave us alone; and
	 * FP32 is to be FP32, whatever the user wants of other programs. */
	setenv("AUTOCAST_POLICY", "off", 1);
	unsetenv("AUTOCAST_RULES");
	unsetenv("NVIDIA_TF32_OVERRIDE");
	unsetenv("CUBLAS_EMULATE_SINGLE_PRECISION");
	return open_driver(gpu, folder) && open_device(gpu, ordinal) &&
	    open_cublas(gpu, folder) && open_handle(gpu);
}

void
ac_gpu_close(struct ac_gpu *gpu)
{
	if (gpu->handle)
		(void)gpu->cublasDestroy_v2(gpu->handle);
	if (gpu->end)
		(void)gpu->cuEventDestroy_v2(gpu->end);
	if (gpu->start)
		(void)gpu->cuEventDestroy_v2(gpu->start);
	if (gpu->stream)
		(void)gpu->cuStreamDestroy_v2(gpu->stream);
	if (gpu->context)
		(void)gpu->cuDevicePrimaryCtxRelease(gpu->device);
	gpu->handle = gpu->end = gpu->start = gpu->stream = NULL;
	gpu->context = NULL;
}
