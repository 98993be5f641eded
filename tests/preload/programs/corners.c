/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/corners.c -- one product whose count the report must
 * get right:
 * corners batch-overlap|b-overlap|submatrix|wrapped|misaligned|overflow|depth|
 * mode|alpha0|impossible|solver|rare-solver. */
#include "client.h"

static cublasHandle_t handle;
static float *data;

static void
square(const float *alpha)
{
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, alpha,
	    data, 64, data, 64, &zero, data + 65536, 64));
}

static void __attribute__((noinline))
deeper(int levels)
{
	volatile char frame[256];

	frame[0] = (char)levels;
	if (levels)
		deeper(levels - 1);
	else
		square(&one);
	frame[1] = frame[0];
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	data = client_random_device(1 << 18, 1, 1);
	BLAS(cublasCreate(&handle));
	if (!strcmp(what, "batch-overlap")) { /* C is A's second matrix */
		BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N,
		    64, 64, 64, &one, data, 64, 65536, data + 4096, 64, 0,
		    &zero, data + 65536, 64, 65536, 2));
	} else if (!strcmp(what, "b-overlap")) { /* C is B's last column */
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 1, 64,
		    &one, data, 64, data + 8192, 64, &zero, data + 8192 + 60,
		    64));
	} else if (!strcmp(what, "submatrix")) { /* A22 -= A21 A12 of one LU */
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 384, 384,
		    128, &one, data + 128, 512, data + 128 * 512, 512, &one,
		    data + 128 * 512 + 128, 512));
	} else if (!strcmp(what, "wrapped")) { /* into A's next column */
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64,
		    &one, data, 128, data + 65536, 64, &zero, data + 65, 128));
	} else if (!strcmp(what, "misaligned")) {
		printf("%d\n", (int)cublasSgemm(handle, CUBLAS_OP_N,
		    CUBLAS_OP_N, 8, 8, 8, &one, (float *)((char *)data + 2), 8,
		    data, 8, &zero, data + 65536, 8));
	} else if (!strcmp(what, "overflow")) { /* the last column is at 0 */
		printf("%d\n", (int)cublasSgemm_64(handle, CUBLAS_OP_N,
		    CUBLAS_OP_N, 8, 8, 5, &one, data, INT64_C(1) << 62, data, 8,
		    &zero, data + 65536, 8));
	} else if (!strcmp(what, "depth")) {
		for (int levels = 0; levels < 4; levels++)
			deeper(levels);
	} else if (!strcmp(what, "mode")) {
		enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

		square(&one);
		CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
		client_expect(mode == cudaStreamCaptureModeGlobal,
		    "the thread's capture mode is its own");
	} else if (!strcmp(what, "alpha0")) {
		square(&zero);
	} else if (!strcmp(what, "impossible")) {
		/* A's matrices overlap: it is addressable, a copy of it is not.
		 * Nothing of it is read. */
		printf("%d\n", (int)cublasSgemmStridedBatched_64(handle,
		    CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, INT64_C(1) << 54, &zero,
		    data + 65536, 8, 1, data + 65536, INT64_C(1) << 54, 0,
		    &one, data, 8, 64, 1024));
	} else if (!strcmp(what, "solver") || !strcmp(what, "rare-solver")) {
		const int calls = *what == 's' ? 1 : 1100;

		square(&one);
		BLAS(cublasStrsm(handle, CUBLAS_SIDE_LEFT,
		    CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 8, 8,
		    &one, data, 8, data + 64, 8));
		for (int i = 0; i < calls; i++)
			square(&one);
	} else {
		return EXIT_USAGE;
	}
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
