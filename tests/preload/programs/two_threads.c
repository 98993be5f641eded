/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/two_threads.c -- two threads multiply at once, on
 * one handle or on one each: two_threads shared|own [PRODUCTS [SEED]].
 * Every result must have the bits that one thread alone gets; alpha differs
 * from call to call, so that a pointer mode or a scalar that leaks from one
 * thread into the other shows. */
#include "client.h"

#include <pthread.h>

enum { THREADS = 2, SHAPES = 4, ROOM = 96 * 96 };

static const struct shape {
	int m, n, k;
} shapes[THREADS][SHAPES] = {
	{ { 64, 48, 32 }, { 17, 23, 29 }, { 96, 96, 96 }, { 1, 64, 80 } },
	{ { 40, 72, 96 }, { 65, 33, 31 }, { 80, 16, 64 }, { 96, 1, 24 } },
};

struct worker {
	int index, products;
	cublasHandle_t handle;
	float *a, *b, *c;
	uint64_t *hashes; /* one per product */
};

/* One product and the hash of its C. */
static uint64_t
multiply(const struct worker *w, int product)
{
	const struct shape s = shapes[w->index][product % SHAPES];
	const float alpha = 1.0f + (float)product / 8 - (float)w->index;
	const float beta = 0;
	const size_t count = (size_t)s.m * (size_t)s.n;
	float host[ROOM];

	BLAS(cublasSgemm(w->handle, CUBLAS_OP_N, CUBLAS_OP_N, s.m, s.n, s.k,
	    &alpha, w->a, s.m, w->b, s.k, &beta, w->c, s.m));
	client_host(host, w->c, count);
	return client_hash(0, host, count * sizeof *host);
}

static void *
work(void *argument)
{
	const struct worker *w = argument;

	/* cuBLAS wants a current context, which this thread has not made. */
	CUDA(cudaSetDevice(0));
	for (int i = 0; i < w->products; i++)
		w->hashes[i] = multiply(w, i);
	return NULL;
}

static void
worker_init(struct worker *w, uint64_t seed)
{
	w->a = client_random_device(ROOM, 1, seed + 1);
	w->b = client_random_device(ROOM, 1, seed + 2);
	w->c = client_random_device(ROOM, 1, seed + 3);
	w->hashes = client_allocate((size_t)w->products, sizeof *w->hashes);
}

/* What each thread must find. Twice: a first call may be treated apart. */
static uint64_t *
alone(struct worker *w)
{
	uint64_t *hashes = w->hashes;

	work(w);
	work(w);
	w->hashes = client_allocate((size_t)w->products, sizeof *w->hashes);
	return hashes;
}

static void
worker_fini(struct worker *w, uint64_t *expected)
{
	CUDA(cudaFree(w->a));
	CUDA(cudaFree(w->b));
	CUDA(cudaFree(w->c));
	free(w->hashes);
	free(expected);
}

int
main(int argc, char **argv)
{
	const int products = argc > 2 ? atoi(argv[2]) : 200;
	const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	struct worker worker[THREADS];
	cublasHandle_t handle[THREADS];
	uint64_t *expected[THREADS], sum = 0;
	pthread_t thread[THREADS];
	bool own;

	if (argc < 2 || products < 1 || (strcmp(argv[1], "shared") &&
	    strcmp(argv[1], "own"))) {
		fprintf(stderr, "two_threads shared|own [PRODUCTS [SEED]]\n");
		return EXIT_USAGE;
	}
	own = !strcmp(argv[1], "own");
	for (int i = 0; i < THREADS; i++) {
		BLAS(cublasCreate(&handle[i]));
		worker[i].index = i;
		worker[i].products = products;
		worker[i].handle = handle[own ? i : 0];
		worker_init(&worker[i], seed + 10 * (uint64_t)i);
		expected[i] = alone(&worker[i]);
	}
	for (int i = 0; i < THREADS; i++)
		client_expect(!pthread_create(&thread[i], NULL, work,
		    &worker[i]), "a thread starts");
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		client_expect(!memcmp(worker[i].hashes, expected[i],
		    (size_t)products * sizeof(uint64_t)),
		    "two threads get the bits that one gets");
		sum = client_hash(sum, expected[i], (size_t)products *
		    sizeof(uint64_t));
		worker_fini(&worker[i], expected[i]);
	}
	for (int i = 0; i < THREADS; i++)
		BLAS(cublasDestroy(handle[i]));
	printf("two_threads %s checksum=%016" PRIx64 "\n", argv[1], sum);
	return EXIT_SUCCESS;
}
