/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/client.h -- what the small client programs share.
 *
 * Each program is an ordinary user of cudart and cuBLAS: it never mentions
 * autocast, checks every status, prints one checksum line on stdout and
 * behaves the same with and without a preload. Exit 0: its promises held;
 * 1: one was broken or a call failed (a line on stderr says which);
 * 2: bad arguments; 77: this libcublas lacks the call. */
#ifndef TESTS_PRELOAD_PROGRAMS_CLIENT_H
#define TESTS_PRELOAD_PROGRAMS_CLIENT_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_ABSENT = 77 };

#define CUDA(call) client_check((int)(call), "cudart", #call)
#define BLAS(call) client_check((int)(call), "cuBLAS", #call)

static inline void
client_check(int status, const char *library, const char *call)
{
	if (!status)
		return;
	fprintf(stderr, "%.*s: %s status %d\n", (int)strcspn(call, "("), call,
	    library, status);
	exit(EXIT_FAILURE);
}

/* A promise the program makes about its own results. */
static inline void
client_expect(bool held, const char *promise)
{
	if (held)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	exit(EXIT_FAILURE);
}

static inline void *
client_allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count ? count : 1, bytes);

	client_expect(memory, "the host has memory");
	return memory;
}

/* FNV-1a, 64 bits; `hash` 0 begins. */
static inline uint64_t
client_hash(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	if (!hash)
		hash = 14695981039346656037u;
	while (count--)
		hash = (hash ^ *at++) * 1099511628211u;
	return hash;
}

/* splitmix64 */
static inline uint64_t
client_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* In [0, 1), 53 bits. */
static inline double
client_uniform(uint64_t *state)
{
	return (double)(client_random(state) >> 11) / 9007199254740992.0;
}

static inline void *
client_bytes(const void *host, size_t bytes)
{
	void *device = NULL;

	CUDA(cudaMalloc(&device, bytes ? bytes : 1));
	CUDA(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
	return device;
}

static inline float *
client_device(const float *host, size_t count)
{
	return client_bytes(host, count * sizeof *host);
}

static inline void
client_host(float *host, const float *device, size_t count)
{
	CUDA(cudaMemcpy(host, device, count * sizeof *host,
	    cudaMemcpyDeviceToHost));
}

/* `count` device floats, uniform in [-size, size). */
static inline float *
client_random_device(size_t count, float size, uint64_t seed)
{
	float *host = client_allocate(count, sizeof *host);
	float *device;

	for (size_t i = 0; i < count; i++)
		host[i] = size * (float)(2 * client_uniform(&seed) - 1);
	device = client_device(host, count);
	free(host);
	return device;
}

/* Scalars of a product. */
static const float one = 1, zero = 0;

/* A function of the host that holds its stream until `client_released`. */
static atomic_int client_released;

static inline void CUDART_CB
client_hold(void *unused)
{
	(void)unused;
	while (!client_released)
		usleep(1000);
}

/* `call` captured once, replayed `times` times, `restore` in front of each. */
static inline void
client_replay(cudaStream_t stream, int64_t times, cublasStatus_t (*call)(void),
    void (*restore)(void))
{
	cudaGraph_t graph;
	cudaGraphExec_t executable;

	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	BLAS(call());
	CUDA(cudaStreamEndCapture(stream, &graph));
	CUDA(cudaGraphInstantiate(&executable, graph, 0));
	for (int64_t i = 0; i < times; i++) {
		restore();
		CUDA(cudaGraphLaunch(executable, stream));
	}
	CUDA(cudaStreamSynchronize(stream));
	CUDA(cudaGraphExecDestroy(executable));
	CUDA(cudaGraphDestroy(graph));
}

#endif
