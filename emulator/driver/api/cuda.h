/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/api/cuda.h -- what the driver calls of libcuda.so.1 share. */
#ifndef AC_EMULATOR_CUDA_H
#define AC_EMULATOR_CUDA_H

#define EMU_DRIVER
#include "emulator/driver/nvidia.h"
#include "emulator/driver/device.h"
#include "emulator/driver/context.h"

extern const struct emu_family emu_driver;

/* Older forms of calls, for programs that were built for them. */
#pragma GCC visibility push(default)
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxCreate_v3(CUcontext *context, void *affinity, int count,
    unsigned flags, CUdevice device);
CUresult cuStreamGetCaptureInfo_v2(CUstream stream,
    CUstreamCaptureStatus *capturing, cuuint64_t *id, CUgraph *graph,
    const CUgraphNode **dependencies, size_t *count);
/* The form before CUDA 12; exported as plain cuGetProcAddress. */
CUresult cuGetProcAddress_v1(const char *symbol, void **function, int version,
    cuuint64_t flags) __asm__("cuGetProcAddress");
/* The form before CUDA 11.3; exported as plain cuStreamGetCaptureInfo. */
CUresult cuStreamGetCaptureInfo_v1(CUstream stream,
    CUstreamCaptureStatus *capturing, cuuint64_t *id)
    __asm__("cuStreamGetCaptureInfo");
CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph,
    CUgraphNode *node, char *text, size_t bytes);
/* The form before CUDA 11; exported as plain cuGraphInstantiate. */
CUresult cuGraphInstantiate_v1(CUgraphExec *exec, CUgraph graph,
    CUgraphNode *node, char *text, size_t bytes)
    __asm__("cuGraphInstantiate");
#pragma GCC visibility pop

/* A live current context and no device error, else the status to return. */
int emu_driver_enter(void);
/* The driver is initialised and has this device, else the status. */
int emu_driver_check_device(CUdevice device);

/* cuda_kernel.c: whether the handle means a kernel. */
bool emu_function_exists(CUfunction function);

/* The opening of a driver call that needs a context. */
#define DRIVER_ENTER()                                                    \
	EMU_ENTER(&emu_driver);                                           \
	do {                                                              \
		const int emu_entered = emu_driver_enter();               \
		if (emu_entered)                                          \
			return emu_entered;                               \
	} while (0)

#endif
