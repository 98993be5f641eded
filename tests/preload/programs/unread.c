/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/unread.c -- sixty products of a program that reads
 * nothing of the device: unread sync|free|destroy|exit|reset|held. Before it
 * ends it waits for the device in one of three ways, or not, or resets it, or
 * its stream is held up until all else that exit() does is done. */
#include "client.h"

enum { N = 256, PRODUCTS = 60 };

static void
release(void)
{
	client_released = 1;
}

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "exit";
	const size_t count = (size_t)N * N;
	const float alpha = 1, beta = 0;
	float *a = client_random_device(count, 1, 1);
	float *b = client_random_device(count, 1, 2);
	float *c = client_random_device(count, 1, 3);
	cublasHandle_t handle;

	client_expect(!atexit(release), "exit() takes a function");
	BLAS(cublasCreate(&handle));
	for (int i = 0; i < PRODUCTS; i++) {
		if (i == 0 && !strcmp(way, "held"))
			CUDA(cudaLaunchHostFunc(0, client_hold, NULL));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &alpha, a, N, b, N, &beta, c, N));
	}
	if (!strcmp(way, "sync"))
		CUDA(cudaDeviceSynchronize());
	if (!strcmp(way, "free"))
		CUDA(cudaFree(c));
	if (!strcmp(way, "destroy"))
		BLAS(cublasDestroy(handle));
	if (!strcmp(way, "reset"))
		CUDA(cudaDeviceReset());
	if (!strcmp(way, "destroy"))
		_exit(0);
	return 0;
}
