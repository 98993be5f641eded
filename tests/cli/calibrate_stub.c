/* SPDX-License-Identifier: Apache-2.0 */
/* tests/cli/calibrate_stub.c -- a driver and a cuBLAS with a GPU whose rates
 * are known: all that `autocast calibrate` calls, on a clock that only work
 * moves. Built as libcuda.so.1 and, with -DCUBLAS, as libcublas.so.13 or .12.
 * STUB names what goes wrong. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long long address;
#define EXPORT __attribute__((visibility("default")))

static int
is(const char *what)
{
	const char *wanted = getenv("STUB");

	return wanted && strstr(wanted, what);
}

#ifndef CUBLAS
static double events[2], now_there;  /* seconds of device time */
static double luck;                  /* 0 to 1, drawn for every sample */
static int created;
static address allocated;

/* A kernel comes first; nothing waits. */
EXPORT void
stub_work(double seconds)
{
	now_there += (2e-6 + seconds) * (is("unsteady") ? 1 + 9 * luck : 1);
}

EXPORT int cuInit(unsigned flags) { return flags || is("no-init") ? 999 : 0; }
EXPORT int
cuDriverGetVersion(int *v)
{
	*v = is("12") ? 12080 : 13000;
	return 0;
}
EXPORT int
cuGetErrorName(int e, const char **n)
{
	*n = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_UNKNOWN";
	return 0;
}
EXPORT int cuDeviceGetCount(int *count) { *count = 1; return 0; }
EXPORT int
cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}
EXPORT int
cuDeviceGetName(char *name, int size, int device)
{
	(void)device;
	strncpy(name, "NVIDIA H200", (size_t)size);
	return 0;
}
EXPORT int
cuDeviceGetAttribute(int *value, int attribute, int device)
{
	*value = device ? -1 : attribute == 75 ? 9 : 0;
	return 0;
}
EXPORT int
cuDevicePrimaryCtxRetain(void **c, int d)
{
	(void)d;
	*c = &created;
	return 0;
}
EXPORT int cuDevicePrimaryCtxRelease(int d) { return d; }
EXPORT int cuCtxSetCurrent(void *c) { return c != &created; }
EXPORT int
cuMemGetInfo_v2(size_t *available, size_t *total)
{
	*available = *total = (size_t)(is("full") ? 1 : 2000) << 20;
	return 0;
}
EXPORT int
cuMemAlloc_v2(address *at, size_t bytes)
{
	if (is("no-memory"))
		return 2;
	*at = allocated += 1 << 20;
	(void)bytes;
	return 0;
}
EXPORT int cuMemFree_v2(address at) { (void)at; return 0; }
EXPORT int
cuMemcpyHtoD_v2(address to, const void *from, size_t bytes)
{
	const unsigned char *byte = from;

	return !to || (byte[0] == 0 && byte[bytes - 1] == 0);
}
EXPORT int
cuMemcpyDtoDAsync_v2(address to, address from, size_t bytes, void *stream)
{
	stub_work(2 * (double)bytes / 4e12);
	return !stream || to == from;
}
EXPORT int
cuModuleLoadData(void **module, const void *image)
{
	*module = &created;
	return !image;
}
EXPORT int cuModuleUnload(void *module) { return module != &created; }
EXPORT int
cuModuleGetFunction(void **function, void *module, const char *name)
{
	*function = &allocated;
	return module != &created || !name;
}
EXPORT int
cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
    unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream,
    void **parameters, void **extra)
{
	struct timespec start, now;

	(void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz;
	(void)shared, (void)parameters, (void)extra;
	stub_work(0);
	/* A host needs a microsecond or more: less is not believed. */
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec -
	    start.tv_nsec < 1000);
	return !stream || function != &allocated;
}
EXPORT int
cuStreamCreate(void **stream, unsigned flags)
{
	*stream = &allocated;
	return flags != 1;
}
EXPORT int cuStreamDestroy_v2(void *stream) { return !stream; }
EXPORT int cuStreamSynchronize(void *stream) { return !stream; }
EXPORT int
cuEventCreate(void **event, unsigned flags)
{
	*event = &events[created++ % 2];
	return (int)flags;
}
EXPORT int
cuEventRecord(void *event, void *stream)
{
	/* As even as can be from 0 to 1, however many are taken. */
	if (event == &events[0])
		luck = luck < 0.382 ? luck + 0.618 : luck - 0.382;
	*(double *)event = now_there;
	return !stream;
}
EXPORT int cuEventQuery(void *event) { return event ? 600 : 1; }
EXPORT int cuEventSynchronize(void *event) { return !event; }
EXPORT int cuEventDestroy_v2(void *event) { return !event; }
EXPORT int
cuEventElapsedTime_v2(float *milliseconds, void *start, void *end)
{
	*milliseconds = (float)(1e3 * (*(double *)end - *(double *)start));
	return 0;
}
#else
void stub_work(double seconds);

EXPORT int
cublasCreate_v2(void **handle)
{
	*handle = is;
	return is("no-handle") ? 3 : 0;
}
EXPORT int cublasDestroy_v2(void *handle) { return !handle; }
EXPORT int
cublasGetVersion_v2(void *handle, int *version)
{
	*version = CUBLAS;
	return !handle;
}
EXPORT int
cublasSetStream_v2(void *handle, void *stream)
{
	return !handle || !stream;
}
EXPORT int
cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int a_type, int lda, const void *b,
    int b_type, int ldb, const void *beta, void *c, int c_type, int ldc,
    int compute, int algorithm)
{
	const double fp32 = is("slow") ? 1e12 : 50e12;
	const double rate = a_type == 2 ? 800e12 : a_type == 14 ? 700e12
	    : compute == 77 ? 400e12 : fp32;

	/* The middle size runs best. */
	stub_work(2.0 * m * n * k / rate * (m == 4096 ? 1 : 1.25));
	return !handle || ta || tb || lda != m || ldb != k || ldc != m ||
	    c_type || b_type != a_type || *(const float *)alpha != 1 ||
	    *(const float *)beta != 0 || !a || !b || !c || algorithm != -1;
}
#endif
