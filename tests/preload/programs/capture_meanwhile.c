/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/capture_meanwhile.c -- a capture in global mode, which
 * any unsafe call of any thread invalidates, while another thread multiplies:
 * capture_meanwhile first|settled. first: the process has never multiplied
 * before, and what is captured is no product; settled: the capturing thread
 * has, and captures a product. Where the program itself calls something
 * unsafe, it says so to CUDA. */
#include "client.h"

#include <pthread.h>

enum { N = 80, COUNT = N * N, CALLS = 160 };

struct work {
	cublasHandle_t handle;
	cudaStream_t stream;
	float *a, *b, *c;
};

static pthread_barrier_t barrier;

static void
multiply(const struct work *w)
{
	BLAS(cublasSgemm(w->handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &one,
	    w->a, N, w->b, N, &zero, w->c, N));
}

/* Waiting is unsafe under another thread's capture: an H100 answered 900. */
static void
wait_for(cudaStream_t stream)
{
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;

	CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaThreadExchangeStreamCaptureMode(&mode));
}

static void *
meanwhile(void *argument)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < CALLS; i++) {
		multiply(argument);
		wait_for(((struct work *)argument)->stream);
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}

static uint64_t
hash_of(const struct work *w)
{
	static float host[COUNT];

	CUDA(cudaDeviceSynchronize());
	client_host(host, w->c, COUNT);
	return client_hash(0, host, sizeof host);
}

static void
record(const struct work *w, bool settled)
{
	if (settled)
		multiply(w);
	else
		CUDA(cudaMemsetAsync(w->c, 0, COUNT * sizeof *w->c,
		    w->stream));
}

int
main(int argc, char **argv)
{
	const bool settled = argc == 2 && !strcmp(argv[1], "settled");
	struct work work[2];
	float *other[3];
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	pthread_t thread;
	uint64_t hash;

	if (argc != 2 || (!settled && strcmp(argv[1], "first")))
		return EXIT_USAGE;
	for (int i = 0; i < 2; i++) {
		BLAS(cublasCreate(&work[i].handle));
		CUDA(cudaStreamCreateWithFlags(&work[i].stream,
		    cudaStreamNonBlocking));
		BLAS(cublasSetStream(work[i].handle, work[i].stream));
		work[i].a = client_random_device(COUNT, 1, 1);
		work[i].b = client_random_device(COUNT, 1, 2);
		work[i].c = client_random_device(COUNT, 1, 3);
	}
	for (int i = 0; i < 3; i++)
		other[i] = client_random_device(COUNT, 1, 4 + (uint64_t)i);
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; settled && i < 4; i++) {
		/* Others' data first: a graph wants to have seen them vary. */
		CUDA(cudaMemcpy(work[0].a, i < 3 ? other[i] : work[1].a,
		    COUNT * sizeof *work[0].a, cudaMemcpyDeviceToDevice));
		CUDA(cudaDeviceSynchronize());
		multiply(&work[0]);
		CUDA(cudaDeviceSynchronize());
	}
	pthread_barrier_init(&barrier, NULL, 2);
	client_expect(!pthread_create(&thread, NULL, meanwhile, &work[1]),
	    "a thread starts");
	CUDA(cudaStreamBeginCapture(work[0].stream,
	    cudaStreamCaptureModeGlobal));
	record(&work[0], settled);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	record(&work[0], settled);
	CUDA(cudaStreamEndCapture(work[0].stream, &graph));
	pthread_join(thread, NULL);
	CUDA(cudaGraphInstantiate(&exec, graph, 0));
	CUDA(cudaGraphLaunch(exec, work[0].stream));
	hash = hash_of(&work[1]);
	if (!settled) {
		CUDA(cudaDeviceSynchronize());
		multiply(&work[0]);
	}
	client_expect(hash_of(&work[0]) == hash,
	    "both threads get the same bits");
	for (int i = 0; i < 2; i++)
		BLAS(cublasDestroy(work[i].handle));
	return EXIT_SUCCESS;
}
