/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/captured.c -- products in a graph: captured MODE WARM
 * [idle], MODE global, thread or relaxed. WARM calls on a stream, each on other
 * data, then one more on those of the last that is captured four times over,
 * and the graph launched three times; idle: next to one like it that never is.
 * Promises that a captured product gives the bits of one that was just queued,
 * if WARM > 3. */
#include "client.h"

enum { N = 96, CAPTURED = 4, LAUNCHES = 3 };

struct state {
	cublasHandle_t handle;
	cudaStream_t stream;
	float *a, *b, *c;
};

static void
multiply(const struct state *s)
{
	BLAS(cublasSgemm(s->handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &one,
	    s->a, N, s->b, N, &zero, s->c, N));
}

/* Of C, which is then overwritten. */
static uint64_t
take(const struct state *s)
{
	static float host[N * N];

	CUDA(cudaStreamSynchronize(s->stream));
	client_host(host, s->c, (size_t)N * N);
	CUDA(cudaMemset(s->c, 0xff, sizeof host));
	CUDA(cudaDeviceSynchronize());
	return client_hash(0, host, sizeof host);
}

static cudaGraphExec_t
capture(const struct state *s, enum cudaStreamCaptureMode mode)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	CUDA(cudaStreamBeginCapture(s->stream, mode));
	for (int i = 0; i < CAPTURED; i++)
		multiply(s);
	CUDA(cudaStreamEndCapture(s->stream, &graph));
	CUDA(cudaGraphInstantiate(&executable, graph, 0));
	CUDA(cudaGraphDestroy(graph));
	return executable;
}

/* Data as large as `call` is far from the last one. */
static void
vary(const struct state *s, int call, int last)
{
	float *a = client_random_device((size_t)N * N,
	    (float)(1 + last - call), 1);

	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(s->a, a, (size_t)N * N * sizeof *a,
	    cudaMemcpyDeviceToDevice));
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaFree(a));
}

static void
run(const struct state *s, enum cudaStreamCaptureMode mode, int warm,
    bool has_idle)
{
	uint64_t queued = 0, replayed = 0;
	cudaGraphExec_t graph, idle = NULL;

	for (int i = 0; i < warm; i++) {
		vary(s, i, warm - 1);
		multiply(s);
		queued = take(s);
	}
	if (has_idle) {
		idle = capture(s, mode);
		multiply(s); /* what memory it needs, the next one has */
		queued = take(s);
	}
	graph = capture(s, mode);
	for (int i = 0; i < LAUNCHES; i++) {
		CUDA(cudaGraphLaunch(graph, s->stream));
		replayed = take(s);
		client_expect(warm <= 3 || replayed == queued,
		    "a captured product has the bits of a queued one");
	}
	multiply(s);
	queued = take(s);
	CUDA(cudaGraphExecDestroy(graph));
	if (idle)
		CUDA(cudaGraphExecDestroy(idle));
	printf("captured %016" PRIx64 " %016" PRIx64 "\n", replayed, queued);
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		enum cudaStreamCaptureMode mode;
	} modes[] = {
		{ "global", cudaStreamCaptureModeGlobal },
		{ "thread", cudaStreamCaptureModeThreadLocal },
		{ "relaxed", cudaStreamCaptureModeRelaxed },
	};
	struct state s;

	if (argc < 3 || argc > 4)
		return EXIT_USAGE;
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		if (strcmp(modes[i].name, argv[1]))
			continue;
		s.a = client_random_device((size_t)N * N, 1, 1);
		s.b = client_random_device((size_t)N * N, 1, 2);
		s.c = client_random_device((size_t)N * N, 1, 3);
		/* The stream does not wait for what was copied before. */
		CUDA(cudaDeviceSynchronize());
		CUDA(cudaStreamCreateWithFlags(&s.stream,
		    cudaStreamNonBlocking));
		BLAS(cublasCreate(&s.handle));
		BLAS(cublasSetStream(s.handle, s.stream));
		run(&s, modes[i].mode, atoi(argv[2]), argc == 4);
		BLAS(cublasDestroy(s.handle));
		CUDA(cudaStreamDestroy(s.stream));
		CUDA(cudaFree(s.a));
		CUDA(cudaFree(s.b));
		CUDA(cudaFree(s.c));
		return EXIT_SUCCESS;
	}
	return EXIT_USAGE;
}
