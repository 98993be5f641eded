/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/turning.c -- data that turn bad while many calls are
 * on their way: turning THREADS CALLS [careless]. Each thread has a handle and
 * two streams; CALLS times, C = A B / 8 + C / 2 on one and D = C E / 8 + D / 2
 * on the other, each behind the other's event. From the 70th time on, A and B
 * are graded along K, so that FP16 has not the range for them. A late change of
 * precision stays in C and D. Prints the hash of each thread's. The main thread
 * makes both calls once before the others begin.
 * careless: without the events. */
#include "client.h"

#include <math.h>
#include <pthread.h>

enum { N = 48, K = 64, GOOD = 70, BINADES = 45, THREADS = 8 };

struct worker {
	pthread_t thread;
	int calls;
	bool careless;
	cublasHandle_t handle;
	cudaStream_t stream[2];
	cudaEvent_t event[2];
	float *a[2], *b[2], *e, *c, *d;
	uint64_t hash;
};

static float *
graded(size_t count, bool rows, int sign, uint64_t seed)
{
	float *host = client_allocate(count, sizeof *host), *device;

	for (size_t i = 0; i < count; i++)
		host[i] = ldexpf((float)(2 * client_uniform(&seed) - 1),
		    sign * (int)(BINADES * (rows ? i % K : i / N) / K));
	device = client_device(host, count);
	free(host);
	return device;
}

static void
worker_init(struct worker *w, uint64_t seed)
{
	w->a[0] = client_random_device(N * K, 1, seed);
	w->b[0] = client_random_device(K * N, 1, seed + 100);
	w->a[1] = graded(N * K, false, -1, seed + 200);
	w->b[1] = graded(K * N, true, 1, seed + 300);
	w->e = client_random_device(N * N, 1, seed + 400);
	w->c = client_random_device(N * N, 1, seed + 500);
	w->d = client_random_device(N * N, 1, seed + 600);
	for (int i = 0; i < 2; i++) {
		CUDA(cudaStreamCreateWithFlags(&w->stream[i],
		    cudaStreamNonBlocking));
		CUDA(cudaEventCreateWithFlags(&w->event[i],
		    cudaEventDisableTiming));
	}
	BLAS(cublasCreate(&w->handle));
}

static void
worker_fini(struct worker *w)
{
	float *const memory[] = {
		w->a[0], w->a[1], w->b[0], w->b[1], w->e, w->c, w->d
	};

	BLAS(cublasDestroy(w->handle));
	for (int i = 0; i < 2; i++) {
		CUDA(cudaEventDestroy(w->event[i]));
		CUDA(cudaStreamDestroy(w->stream[i]));
	}
	for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
		CUDA(cudaFree(memory[i]));
}

/* The other stream goes on behind what this one has to do so far. */
static void
hand_over(struct worker *w, int from)
{
	if (w->careless)
		return;
	CUDA(cudaEventRecord(w->event[from], w->stream[from]));
	CUDA(cudaStreamWaitEvent(w->stream[!from], w->event[from], 0));
}

static void *
work(void *argument)
{
	const float eighth = 0.125f, half = 0.5f;
	struct worker *w = argument;

	for (int i = 1; i <= w->calls; i++) {
		const int bad = i >= GOOD;
		BLAS(cublasSetStream(w->handle, w->stream[0]));
		BLAS(cublasSgemm(w->handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, K,
		    &eighth, w->a[bad], N, w->b[bad], K, &half, w->c, N));
		hand_over(w, 0);
		BLAS(cublasSetStream(w->handle, w->stream[1]));
		BLAS(cublasSgemm(w->handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &eighth, w->c, N, w->e, N, &half, w->d, N));
		hand_over(w, 1);
	}
	CUDA(cudaStreamSynchronize(w->stream[0]));
	CUDA(cudaStreamSynchronize(w->stream[1]));
	return NULL;
}

static void
take_hash(struct worker *w)
{
	static float host[N * N];

	client_host(host, w->c, N * N);
	w->hash = client_hash(0, host, sizeof host);
	client_host(host, w->d, N * N);
	w->hash = client_hash(w->hash, host, sizeof host);
}

int
main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[1]) : 0;
	struct worker worker[THREADS + 1] = {{ .calls = 0 }};

	if (threads < 1 || threads > THREADS)
		return EXIT_USAGE;
	for (int i = 0; i <= threads; i++) {
		worker[i].calls = i < threads ? atoi(argv[2]) : 1;
		worker[i].careless = argc > 3;
		worker_init(&worker[i], (uint64_t)i);
	}
	CUDA(cudaDeviceSynchronize());
	work(&worker[threads]);
	for (int i = 0; i < threads; i++)
		client_expect(!pthread_create(&worker[i].thread, NULL, work,
		    &worker[i]), "a thread can be made");
	for (int i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		take_hash(&worker[i]);
		printf("%016" PRIx64 "\n", worker[i].hash);
	}
	for (int i = 0; i <= threads; i++)
		worker_fini(&worker[i]);
	return EXIT_SUCCESS;
}
