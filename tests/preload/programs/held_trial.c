/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/preload/programs/held_trial.c -- products of eight sizes on a stream
 * that a host function holds until the program has queued all of them:
 * held_trial CALLS. Only a wait for the stream between its calls could deadlock
 * this. Ten seconds are taken for that.
 */
#include "client.h"

#include <stdatomic.h>
#include <unistd.h>

enum { LEAST = 32, SIZES = 8, ROOM = (LEAST + SIZES) * (LEAST + SIZES) };

static atomic_int released;

static void CUDART_CB
hold(void *unused)
{
	(void)unused;
	while (!released)
		usleep(1000);
}

int
main(int argc, char **argv)
{
	const int calls = argc > 1 ? atoi(argv[1]) : 0;
	float *a = client_random_device(ROOM, 1, 1);
	float *c = client_random_device(ROOM, 1, 2);
	const float one = 1, zero = 0;
	cublasHandle_t handle;
	cudaStream_t stream;

	if (calls < 1)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	BLAS(cublasSetStream(handle, stream));
	CUDA(cudaDeviceSynchronize());
	alarm(240);
	CUDA(cudaLaunchHostFunc(stream, hold, NULL));
	for (int i = 0; i < calls; i++)
		for (int n = LEAST; n < LEAST + SIZES; n++)
			BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n,
			    n, n, &one, a, n, a, n, &zero, c, n));
	released = 1;
	CUDA(cudaStreamSynchronize(stream));
	/* And now those of another place begin and end. Nobody waits for them
	 * after that: the program does. */
	for (int i = 0; i < calls; i++)
		for (int n = LEAST; n < LEAST + SIZES; n++) {
			BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n,
			    n, n, &one, a, n, a, n, &zero, c, n));
			CUDA(cudaStreamSynchronize(stream));
		}
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
