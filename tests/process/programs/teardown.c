/* SPDX-License-Identifier: Apache-2.0 */
/* tests/process/programs/teardown.c -- products on several streams and
 * threads, nothing freed or destroyed; then the emulated GPU's counters start
 * from zero, and the program ends: teardown return|exit|thread|leave|late.
 * `leave`: main() by pthread_exit(), then the last thread. What the counters
 * hold at the device's end was called while the program ended: by nobody,
 * unless `late` asks for a handler that calls the runtime. */
#include "client.h"

#include <pthread.h>

enum { N = 96, PRODUCTS = 4, STREAMS = 3 };

void emuCountersReset(void);

static void
multiply(void)
{
	const float alpha = 1, beta = 0;
	const size_t count = (size_t)N * N;
	float *a = client_random_device(count, 1, 1);
	float *b = client_random_device(count, 1, 2);
	float *c = client_random_device(count, 1, 3);
	cublasHandle_t handle;
	cudaStream_t stream;

	BLAS(cublasCreate(&handle));
	for (int i = 0; i < STREAMS * PRODUCTS; i++) {
		if (i % PRODUCTS == 0) {
			CUDA(cudaStreamCreate(&stream));
			BLAS(cublasSetStream(handle, stream));
		}
		BLAS(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, N, N,
		    &alpha, a, N, b, N, &beta, c, N));
	}
	CUDA(cudaDeviceSynchronize());
}

static void *
in_a_thread(void *nothing)
{
	multiply();
	return nothing;
}

static void *
end_in_a_thread(void *nothing)
{
	(void)nothing;
	emuCountersReset();
	exit(EXIT_SUCCESS);
}

static void *
end_last(void *nothing)
{
	multiply();
	emuCountersReset();
	return nothing;
}

static void
late(void)
{
	size_t unused, total;

	(void)cudaMemGetInfo(&unused, &total);
}

int
main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	pthread_t thread;

	multiply();
	client_expect(!pthread_create(&thread, NULL, in_a_thread, NULL)
	    && !pthread_join(thread, NULL), "a thread runs");
	if (!strcmp(way, "late"))
		atexit(late);
	if (!strcmp(way, "thread")) {
		client_expect(!pthread_create(&thread, NULL, end_in_a_thread,
		    NULL), "a thread starts");
		pthread_join(thread, NULL);
	}
	if (!strcmp(way, "leave")) {
		client_expect(!pthread_create(&thread, NULL, end_last, NULL),
		    "a thread starts");
		pthread_exit(NULL);
	}
	emuCountersReset();
	if (!strcmp(way, "exit"))
		exit(EXIT_SUCCESS);
	return EXIT_SUCCESS;
}
