/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/ahead.c -- ahead PRODUCTS: a stream that a host
 * function holds takes exactly so many products; the next call waits, until the
 * stream moves again. Then all of them have run. */
#include "client.h"

#include <pthread.h>

enum { N = 64, MORE = 5, PAUSE_US = 50000 };

static cublasHandle_t handle;
static float *a, *c;
static int products;
static atomic_int queued;

/* C grows by A A each time. */
static void
multiply(void)
{
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N,
	    a, N, &one, c, N));
}

static void *
queue_all(void *unused)
{
	for (int i = 0; i < products + MORE; i++) {
		multiply();
		queued++;
	}
	return unused;
}

int
main(int argc, char **argv)
{
	static float host[N * N];
	cudaStream_t stream;
	pthread_t thread;

	if (argc < 2)
		return EXIT_USAGE;
	products = atoi(argv[1]);
	alarm(240); /* a call that waits for ever is a failure */
	for (int i = 0; i < N * N; i++)
		host[i] = i % (N + 1) ? 0 : 1;
	a = client_device(host, N * N);
	c = client_device(host, N * N);
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
	CUDA(cudaDeviceSynchronize());
	multiply(); /* the first one may have more to do */
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaLaunchHostFunc(stream, client_hold, NULL));
	client_expect(!pthread_create(&thread, NULL, queue_all, NULL),
	    "there are threads");
	while (queued < products)
		usleep(1000);
	usleep(PAUSE_US);
	client_expect(queued == products, "the queue takes that many");
	client_released = 1;
	pthread_join(thread, NULL);
	CUDA(cudaDeviceSynchronize());
	client_host(host, c, N * N);
	for (int i = 0; i < N * N; i++)
		client_expect(host[i] == (i % (N + 1) ? 0 :
		    (float)(products + MORE + 2)), "all products have run");
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
