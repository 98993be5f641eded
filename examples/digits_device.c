/* SPDX-License-Identifier: Apache-2.0 */
/* examples/digits_device.c -- memory, copies and random numbers of both digits
 * programs; knows nothing of networks. */
#include "digits_device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
fail(const char *call, const char *why)
{
	fprintf(stderr, "%s: %.*s failed: %s\n", program_invocation_short_name,
	    (int)strcspn(call, "("), call, why);
	exit(EXIT_FAILURE);
}

void
check_cuda(cudaError_t status, const char *call)
{
	if (status != cudaSuccess)
		fail(call, cudaGetErrorString(status));
}

void
check_blas(cublasStatus_t status, const char *call)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		fail(call, cublasGetStatusString(status));
}

void *
allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory) {
		fprintf(stderr, "%s: out of memory\n",
		    program_invocation_short_name);
		exit(EXIT_FAILURE);
	}
	return memory;
}

float *
device_floats(size_t count)
{
	void *memory;

	CUDA(cudaMalloc(&memory, count * sizeof(float)));
	CUDA(cudaMemset(memory, 0, count * sizeof(float)));
	return memory;
}

void
upload(float *device, const float *host, size_t count)
{
	CUDA(cudaMemcpy(device, host, count * sizeof *host,
	    cudaMemcpyHostToDevice));
}

void
download(float *host, const float *device, size_t count)
{
	CUDA(cudaMemcpy(host, device, count * sizeof *host,
	    cudaMemcpyDeviceToHost));
}

/* Knuth's MMIX generator: the same numbers on every machine. */
static uint32_t
random_bits(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 32);
}

float
random_symmetric(uint64_t *state)
{
	return (float)(int32_t)random_bits(state) / 2147483648.0f;
}

void
shuffle(int *order, int count, uint64_t *state)
{
	for (int i = count - 1; i > 0; i--) {
		int j = (int)(random_bits(state) % (uint32_t)(i + 1));
		int kept = order[i];
		order[i] = order[j];
		order[j] = kept;
	}
}

void
save(const char *path, const float *device, size_t count)
{
	float *values = allocate(count, sizeof *values);
	FILE *file = fopen(path, "wb");

	download(values, device, count);
	if (!file || fwrite(values, sizeof *values, count, file) != count
	    || fclose(file)) {
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
		    path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	free(values);
}
