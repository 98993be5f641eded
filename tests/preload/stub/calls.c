/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/stub/calls.c -- `calls N [SHAPES]`: N products of SHAPES
 * different sizes, and one triangular solve, against whatever libcublas is
 * there. Prints nothing; exit status 0 if every answer was success. */
#include <cublas_api.h>

#include <stdlib.h>

int
main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 1;
	const long shapes = argc > 2 ? atol(argv[2]) : 1;
	static float A[1], B[1], C[1];
	const float one = 1;
	cublasHandle_t handle;
	int failed = cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS;

	for (long i = 0; i < calls; i++) {
		const int m = 64 + (int)(i % shapes);

		failed |= cublasSgemm_v2(handle, CUBLAS_OP_N, CUBLAS_OP_T, m,
			      64, 64, &one, A, m, B, 64, &one, C,
			      m) != CUBLAS_STATUS_SUCCESS;
	}
	failed |= cublasStrsm_v2(handle, CUBLAS_SIDE_RIGHT,
	    CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, 1000, 2000,
	    &one, A, 3000, B, 2124) != CUBLAS_STATUS_SUCCESS;
	failed |= cublasDestroy_v2(handle) != CUBLAS_STATUS_SUCCESS;
	return failed;
}
