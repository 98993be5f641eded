/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/gpu/gpu.h -- this machine's GPU, opened at run time. NVIDIA's functions
 * are declared here by their ABI: the program is built without CUDA and links
 * to none of it. */
#ifndef AC_CMD_GPU_H
#define AC_CMD_GPU_H

#include <stdbool.h>
#include <stddef.h>

typedef unsigned long long ac_gpu_address;

/* Every function used: FUNCTION(name, other name or NULL, parameters). All
 * return 0 on success. */
#define AC_GPU_DRIVER(FUNCTION) \
	FUNCTION(cuInit, NULL, (unsigned flags)) \
	FUNCTION(cuDriverGetVersion, NULL, (int *version)) \
	FUNCTION(cuGetErrorName, NULL, (int error, const char **name)) \
	FUNCTION(cuDeviceGetCount, NULL, (int *count)) \
	FUNCTION(cuDeviceGet, NULL, (int *device, int ordinal)) \
	FUNCTION(cuDeviceGetName, NULL, (char *name, int size, int device)) \
	FUNCTION(cuDeviceGetAttribute, NULL, \
	    (int *value, int attribute, int device)) \
	FUNCTION(cuDevicePrimaryCtxRetain, NULL, (void **context, int device)) \
	FUNCTION(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", \
	    (int device)) \
	FUNCTION(cuCtxSetCurrent, NULL, (void *context)) \
	FUNCTION(cuMemGetInfo_v2, NULL, (size_t *free, size_t *total)) \
	FUNCTION(cuMemAlloc_v2, NULL, (ac_gpu_address *at, size_t bytes)) \
	FUNCTION(cuMemFree_v2, NULL, (ac_gpu_address at)) \
	FUNCTION(cuMemcpyHtoD_v2, NULL, \
	    (ac_gpu_address to, const void *from, size_t bytes)) \
	FUNCTION(cuMemcpyDtoDAsync_v2, NULL, (ac_gpu_address to, \
	    ac_gpu_address from, size_t bytes, void *stream)) \
	FUNCTION(cuModuleLoadData, NULL, (void **module, const void *image)) \
	FUNCTION(cuModuleUnload, NULL, (void *module)) \
	FUNCTION(cuModuleGetFunction, NULL, (void **function, void *module, \
	    const char *name)) \
	FUNCTION(cuLaunchKernel, NULL, (void *function, unsigned grid_x, \
	    unsigned grid_y, unsigned grid_z, unsigned block_x, \
	    unsigned block_y, unsigned block_z, unsigned shared, \
	    void *stream, void **parameters, void **extra)) \
	FUNCTION(cuStreamCreate, NULL, (void **stream, unsigned flags)) \
	FUNCTION(cuStreamDestroy_v2, NULL, (void *stream)) \
	FUNCTION(cuStreamSynchronize, NULL, (void *stream)) \
	FUNCTION(cuEventCreate, NULL, (void **event, unsigned flags)) \
	FUNCTION(cuEventRecord, NULL, (void *event, void *stream)) \
	FUNCTION(cuEventQuery, NULL, (void *event)) \
	FUNCTION(cuEventSynchronize, NULL, (void *event)) \
	FUNCTION(cuEventDestroy_v2, NULL, (void *event)) \
	FUNCTION(cuEventElapsedTime, "cuEventElapsedTime_v2", \
	    (float *milliseconds, void *start, void *end))
#define AC_GPU_CUBLAS(FUNCTION) \
	FUNCTION(cublasCreate_v2, NULL, (void **handle)) \
	FUNCTION(cublasDestroy_v2, NULL, (void *handle)) \
	FUNCTION(cublasGetVersion_v2, NULL, (void *handle, int *version)) \
	FUNCTION(cublasSetStream_v2, NULL, (void *handle, void *stream)) \
	FUNCTION(cublasGemmEx, NULL, (void *handle, int ta, int tb, int m, \
	    int n, int k, const void *alpha, const void *a, int a_type, \
	    int lda, const void *b, int b_type, int ldb, const void *beta, \
	    void *c, int c_type, int ldc, int compute, int algorithm))

/* One GPU, opened. */
struct ac_gpu {
#define AC_GPU_MEMBER(name, other, params) int (*name) params;
	AC_GPU_DRIVER(AC_GPU_MEMBER)
	AC_GPU_CUBLAS(AC_GPU_MEMBER)
#undef AC_GPU_MEMBER
	char  name[96];              /* "NVIDIA H200" */
	char  library[48];           /* "cublas-13.1" */
	int   sm, driver;            /* 90, 13000 */
	bool  is_emulated;
	int   device;
	void *context, *stream, *handle;
	void *start, *end;           /* events */
	char  why[256];              /* what failed first, for people; "" */
};

/* Open the `ordinal`-th GPU with driver and cuBLAS found by the loader, or in
 * `folder` if it is not NULL. False: gpu->why says why. ac_gpu_close() in
 * either case. */
bool ac_gpu_open(struct ac_gpu *gpu, int ordinal, const char *folder);
void ac_gpu_close(struct ac_gpu *gpu);

/* Whether the loader finds a driver. */
bool ac_gpu_has_driver(void);
/* The version of the cuDNN that it finds, or that is in `folder` if it is not
 * NULL: 91900. 0: there is none. */
size_t ac_gpu_cudnn_version(const char *folder);

/* Note what went wrong, unless something did before. Returns false. */
__attribute__((format(printf, 2, 3)))
bool ac_gpu_fail(struct ac_gpu *gpu, const char *format, ...);

/* Whether `result` is 0; if it is not, that is noted as what `what` met. */
bool ac_gpu_check(struct ac_gpu *gpu, int result, const char *what);

#endif
