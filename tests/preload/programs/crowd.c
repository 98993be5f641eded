/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/crowd.c -- threads that all make the same calls:
 * crowd FIRST LAST CALLS. Threads FIRST to LAST, each with two handles, four
 * streams, and data of its own by its number; CALLS times on each stream,
 * C = A B / 8 + C / 2 for two sizes. All begin together, and nobody waits for
 * anybody before the end.
 * Prints the hash of each thread's results. */
#include "client.h"

#include <pthread.h>

enum { THREADS = 8, HANDLES = 2, STREAMS = 4, N = 40, LESS = 33,
	COUNT = N * N };

struct worker {
	pthread_t thread;
	int number, calls;
	cublasHandle_t handle[HANDLES];
	cudaStream_t stream[STREAMS];
	float *a, *b, *c[STREAMS], *d[STREAMS];
};

static pthread_barrier_t barrier;

static void
multiply(cublasHandle_t handle, int n, const struct worker *w, float *c)
{
	const float alpha = 0.125f, beta = 0.5f;

	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha,
	    w->a, n, w->b, n, &beta, c, n));
}

static void *
work(void *argument)
{
	const struct worker *w = argument;

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < w->calls; i++)
		for (int s = 0; s < STREAMS; s++) {
			cublasHandle_t handle = w->handle[s % HANDLES];

			BLAS(cublasSetStream(handle, w->stream[s]));
			multiply(handle, N, w, w->c[s]);
			multiply(handle, LESS, w, w->d[s]);
		}
	return NULL;
}

static void
worker_init(struct worker *w, int number, int calls)
{
	const uint64_t seed = 100 * (uint64_t)number;

	w->number = number;
	w->calls = calls;
	w->a = client_random_device(COUNT, 1, seed + 1);
	w->b = client_random_device(COUNT, 1, seed + 2);
	for (int i = 0; i < HANDLES; i++)
		BLAS(cublasCreate(&w->handle[i]));
	for (int i = 0; i < STREAMS; i++) {
		CUDA(cudaStreamCreateWithFlags(&w->stream[i],
		    cudaStreamNonBlocking));
		w->c[i] = client_random_device(COUNT, 1, seed + 3);
		w->d[i] = client_random_device(COUNT, 1, seed + 4);
	}
}

static uint64_t
worker_hash(const struct worker *w)
{
	float host[COUNT];
	uint64_t hash = 0;

	for (int i = 0; i < STREAMS; i++) {
		client_host(host, w->c[i], COUNT);
		hash = client_hash(hash, host, sizeof host);
		client_host(host, w->d[i], COUNT);
		hash = client_hash(hash, host, sizeof host);
	}
	return hash;
}

int
main(int argc, char **argv)
{
	const int first = argc > 3 ? atoi(argv[1]) : 0;
	const int last = argc > 3 ? atoi(argv[2]) : THREADS;
	static struct worker worker[THREADS];

	if (first < 0 || last < first || last >= THREADS)
		return EXIT_USAGE;
	for (int i = first; i <= last; i++)
		worker_init(&worker[i], i, atoi(argv[3]));
	CUDA(cudaDeviceSynchronize());
	pthread_barrier_init(&barrier, NULL, (unsigned)(last - first + 1));
	for (int i = first; i <= last; i++)
		client_expect(!pthread_create(&worker[i].thread, NULL, work,
		    &worker[i]), "a thread starts");
	for (int i = first; i <= last; i++)
		pthread_join(worker[i].thread, NULL);
	CUDA(cudaDeviceSynchronize());
	for (int i = first; i <= last; i++) {
		printf("%d %016" PRIx64 "\n", i, worker_hash(&worker[i]));
		for (int j = 0; j < HANDLES; j++)
			BLAS(cublasDestroy(worker[i].handle[j]));
	}
	return EXIT_SUCCESS;
}
