/* SPDX-License-Identifier: Apache-2.0 */
/* emulator/driver/nvidia.h -- NVIDIA's own prototypes, with default visibility:
 * a definition in the emulator that differs from them does not compile. */
#ifndef AC_EMULATOR_NVIDIA_H
#define AC_EMULATOR_NVIDIA_H

#pragma GCC visibility push(default)
#if defined(EMU_DRIVER)
#include <cuda.h>
/* Of cudaProfiler.h, which not every set of headers has. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);
#elif defined(EMU_RUNTIME)
#include <cuda_runtime_api.h>
#elif defined(EMU_BLAS_XT)
#include <cublasXt.h>
#elif defined(EMU_BLAS_LT)
#include <cublasLt.h>
#else
#include <cublas.h> /* the calls without handles; includes cublas_api.h */
#endif
#pragma GCC visibility pop

#endif
