/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/stub/plugin.c -- what reload opens: linked to libcublas. */
#include <cublas_api.h>

__attribute__((visibility("default"))) int multiply(void);

int
multiply(void)
{
	const float one = 1;
	float x[64] = { 0 };
	cublasHandle_t handle;

	return cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS
	    || cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one,
		x, 8, x, 8, &one, x, 8) != CUBLAS_STATUS_SUCCESS
	    || cublasDestroy_v2(handle) != CUBLAS_STATUS_SUCCESS;
}
