/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/many_streams.c -- one handle, 16 streams in turn:
 * many_streams [STEPS]. X <- W X wanders from stream to stream, each step
 * waiting for the last one by an event; between them every stream multiplies
 * something of its own. The bits must be those of one stream. */
#include "client.h"

enum { STREAMS = 16, N = 56 };

struct state {
	cublasHandle_t handle;
	cudaStream_t stream[STREAMS];
	cudaEvent_t event[STREAMS];
	float *weights, *start;
	float *chain[STREAMS], *own[STREAMS];
};

/* `wide`: over all streams; else on the first. Hash of chain and others. */
static uint64_t
run(struct state *s, int steps, bool wide)
{
	const size_t count = (size_t)N * N;
	const float *from = s->start;
	float host[N * N];
	uint64_t hash = 0;

	for (int i = 0; i < STREAMS; i++)
		CUDA(cudaMemset(s->own[i], 0xff, sizeof host));
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < steps; i++) {
		const int at = i % STREAMS, before = (i + STREAMS - 1) %
		    STREAMS;
		cudaStream_t stream = s->stream[wide ? at : 0];

		BLAS(cublasSetStream(s->handle, stream));
		if (i)
			CUDA(cudaStreamWaitEvent(stream, s->event[before], 0));
		BLAS(cublasSgemm(s->handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &one, s->weights, N, from, N, &zero, s->chain[at], N));
		CUDA(cudaEventRecord(s->event[at], stream));
		BLAS(cublasSgemm(s->handle, CUBLAS_OP_T, CUBLAS_OP_N, N, N, N,
		    &one, s->weights, N, s->chain[at], N, &zero, s->own[at],
		    N));
		from = s->chain[at];
	}
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < STREAMS && i < steps; i++) {
		client_host(host, s->chain[i], count);
		hash = client_hash(hash, host, sizeof host);
		client_host(host, s->own[i], count);
		hash = client_hash(hash, host, sizeof host);
	}
	return hash;
}

int
main(int argc, char **argv)
{
	const int steps = argc > 1 ? atoi(argv[1]) : 64;
	const size_t count = (size_t)N * N;
	struct state s;
	uint64_t hash;

	/* sqrt(3 / N): W X keeps the size of X. No reader is overtaken: who
	 * writes a chain buffer again waits, event by event, for its reader. */
	s.weights = client_random_device(count, 0.2315f, 1);
	s.start = client_random_device(count, 1, 2);
	BLAS(cublasCreate(&s.handle));
	for (int i = 0; i < STREAMS; i++) {
		CUDA(cudaStreamCreateWithFlags(&s.stream[i],
		    cudaStreamNonBlocking));
		CUDA(cudaEventCreateWithFlags(&s.event[i],
		    cudaEventDisableTiming));
		s.chain[i] = client_random_device(count, 1, 3);
		s.own[i] = client_random_device(count, 1, 4);
	}
	run(&s, steps, false); /* a first call may be treated apart */
	hash = run(&s, steps, false);
	client_expect(run(&s, steps, true) == hash,
	    "16 streams give the bits of one");
	BLAS(cublasDestroy(s.handle));
	for (int i = 0; i < STREAMS; i++) {
		CUDA(cudaEventDestroy(s.event[i]));
		CUDA(cudaStreamDestroy(s.stream[i]));
		CUDA(cudaFree(s.chain[i]));
		CUDA(cudaFree(s.own[i]));
	}
	CUDA(cudaFree(s.start));
	CUDA(cudaFree(s.weights));
	printf("many_streams checksum=%016" PRIx64 "\n", hash);
	return EXIT_SUCCESS;
}
