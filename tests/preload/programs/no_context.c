/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/no_context.c -- a product asked for by a thread that
 * never touched CUDA and so has no context. It must succeed, and agree with
 * the main thread's within 1e-3 of the largest element. */
#include "client.h"

#include <math.h>
#include <pthread.h>

enum { N = 64 };

struct job {
	cublasHandle_t handle;
	const float *a, *b;
	float *c;
	cublasStatus_t status;
};

static void *
multiply(void *argument)
{
	const float alpha = 1, beta = 0;
	struct job *job = argument;

	job->status = cublasSgemm(job->handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N,
	    N, &alpha, job->a, N, job->b, N, &beta, job->c, N);
	return NULL;
}

int
main(void)
{
	const size_t count = (size_t)N * N;
	float *a = client_random_device(count, 1, 1);
	float *b = client_random_device(count, 1, 2);
	float here[N * N], there[N * N], largest = 0, worst = 0;
	struct job job = { .a = a, .b = b };
	pthread_t thread;

	job.c = client_random_device(count, 1, 3);
	BLAS(cublasCreate(&job.handle));
	CUDA(cudaDeviceSynchronize());
	client_expect(!pthread_create(&thread, NULL, multiply, &job),
	    "a thread starts");
	pthread_join(thread, NULL);
	client_check((int)job.status, "cuBLAS", "cublasSgemm");
	client_host(there, job.c, count);
	multiply(&job);
	client_check((int)job.status, "cuBLAS", "cublasSgemm");
	client_host(here, job.c, count);
	for (size_t i = 0; i < count; i++) {
		largest = fmaxf(largest, fabsf(here[i]));
		worst = fmaxf(worst, fabsf(here[i] - there[i]));
	}
	client_expect(largest > 0 && worst <= 1e-3f * largest,
	    "both threads get the same product");
	printf("no_context checksum=%016" PRIx64 "\n",
	    client_hash(0, there, sizeof there));
	BLAS(cublasDestroy(job.handle));
	CUDA(cudaFree(job.c));
	CUDA(cudaFree(b));
	CUDA(cudaFree(a));
	return EXIT_SUCCESS;
}
