/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/emulator/test_emu_gemm.h -- the smallest product, for the tests of
 * products. */
#ifndef AC_TEST_EMU_GEMM_H
#define AC_TEST_EMU_GEMM_H

#include "test_emu.h"

/* The product of two numbers. */
static inline float
test_one_by_one(cublasHandle_t handle, cublasComputeType_t compute, float x,
    float y)
{
	const float one = 1, zero = 0;
	float *a = test_upload(&x, 4), *b = test_upload(&y, 4);
	float *c = test_device(4), result;

	OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, a,
	    CUDA_R_32F, 1, b, CUDA_R_32F, 1, &zero, c, CUDA_R_32F, 1, compute,
	    CUBLAS_GEMM_DEFAULT));
	OK(cudaMemcpy(&result, c, 4, cudaMemcpyDeviceToHost));
	OK(cudaFree(a));
	OK(cudaFree(b));
	OK(cudaFree(c));
	return result;
}

#endif
