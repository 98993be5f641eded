/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/stub/stub_cublaslt.c -- libcublasLt.so.13 whose products are
 * done at once. Its descriptors are the emulated library's; its heuristics know
 * one algorithm. */
#include "emulator/cublaslt/cublaslt.h"

/* Whoever calls is not counted. */
#undef EMU_ENTER
#define EMU_ENTER(library) ((void)0)
#include "emulator/cublaslt/cublaslt_descriptor.c"

#define EXPORT __attribute__((visibility("default")))

EXPORT cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
    cublasLtMatmulDesc_t operation, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t preference, int most,
    cublasLtMatmulHeuristicResult_t *results, int *count_out)
{
	(void)handle, (void)operation, (void)a, (void)b, (void)c, (void)d;
	(void)preference, (void)most;
	memset(results, 0, sizeof *results);
	*count_out = 1;
	return CUBLAS_STATUS_SUCCESS;
}

EXPORT cublasStatus_t
cublasLtCreate(cublasLtHandle_t *handle_out)
{
	static int handle;

	*handle_out = (cublasLtHandle_t)&handle;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t
succeed(void)
{
	return CUBLAS_STATUS_SUCCESS;
}

#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
#define DOES_NOTHING EXPORT __attribute__((alias("succeed")))
DOES_NOTHING __typeof__(cublasLtDestroy) cublasLtDestroy;
DOES_NOTHING __typeof__(cublasLtMatmul) cublasLtMatmul;
