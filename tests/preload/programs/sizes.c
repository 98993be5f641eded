/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/sizes.c -- one line of code, four products: two sizes,
 * two transposes, so four sites of one caller. */
#include "client.h"

int
main(void)
{
	float *a = client_random_device(1 << 18, 1, 1);
	cublasHandle_t handle;

	BLAS(cublasCreate(&handle));
	for (int i = 0; i < 4; i++)
		BLAS(cublasSgemm(handle, i & 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
		    CUBLAS_OP_N, 64, 64, i < 2 ? 64 : 128, &one, a, 128, a,
		    128, &zero, a + 65536, 64));
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
