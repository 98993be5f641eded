/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/alternating.c -- one call, whose operands change their
 * size by powers of two: alternating FORM MODE CALLS, FORM single, strided or
 * arrays. MODE steady: not at all; alternate: by 2^40, back and forth.
 *
 * Prints how many calls gave other bits than the first one with those operands,
 * and the hash of the first.
 * */
#include "client.h"

#include <math.h>

enum { M = 64, N = 48, K = 80, BATCH = 3, STEP = 40 };

struct state {
	cublasHandle_t handle;
	float *host[2], *device[2], *product, *result;
	void *array[3];
	size_t count[2];
};

/* Rows of A, columns of B graded over 28 binades: what a cast loses at the
 * small end shows in the outputs that have nothing else. */
static void
fill(float *x, size_t count, size_t lines, uint64_t *seed)
{
	for (size_t i = 0; i < count; i++)
		x[i] = ldexpf((float)(2 * client_uniform(seed) - 1),
		    -(int)(28 * (i % lines) / lines));
}

/* Addresses of BATCH matrices, where the GPU finds them. */
static void *
addresses(float *first, size_t apart)
{
	float *host[BATCH];
	void *device = NULL;

	for (size_t i = 0; i < BATCH; i++)
		host[i] = first + i * apart;
	CUDA(cudaMalloc(&device, sizeof host));
	CUDA(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
	return device;
}

static void
state_init(struct state *s)
{
	uint64_t seed = 1;

	s->count[0] = (size_t)M * K * BATCH;
	s->count[1] = (size_t)K * N * BATCH;
	for (int i = 0; i < 2; i++) {
		s->host[i] = client_allocate(s->count[i], sizeof(float));
		fill(s->host[i], s->count[i], i ? 1 : M, &seed);
		s->device[i] = client_device(s->host[i], s->count[i]);
	}
	s->result = client_allocate((size_t)M * N * BATCH, sizeof(float));
	s->product = client_device(s->result, (size_t)M * N * BATCH);
	s->array[0] = addresses(s->device[0], (size_t)M * K);
	s->array[1] = addresses(s->device[1], (size_t)K * N);
	s->array[2] = addresses(s->product, (size_t)M * N);
	BLAS(cublasCreate(&s->handle));
}

static void
state_fini(struct state *s)
{
	BLAS(cublasDestroy(s->handle));
	for (int i = 0; i < 2; i++) {
		free(s->host[i]);
		CUDA(cudaFree(s->device[i]));
	}
	for (int i = 0; i < 3; i++)
		CUDA(cudaFree(s->array[i]));
	CUDA(cudaFree(s->product));
	free(s->result);
}

static void
upload(struct state *s, int operand, int power)
{
	float *scaled = client_allocate(s->count[operand], sizeof *scaled);

	for (size_t i = 0; i < s->count[operand]; i++)
		scaled[i] = ldexpf(s->host[operand][i], power);
	CUDA(cudaMemcpy(s->device[operand], scaled,
	    s->count[operand] * sizeof *scaled, cudaMemcpyHostToDevice));
	free(scaled);
}

static void
multiply(struct state *s, const char *form)
{
	if (!strcmp(form, "single"))
		BLAS(cublasSgemm(s->handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K,
		    &one, s->device[0], M, s->device[1], K, &zero, s->product,
		    M));
	else if (!strcmp(form, "strided"))
		BLAS(cublasSgemmStridedBatched(s->handle, CUBLAS_OP_N,
		    CUBLAS_OP_N, M, N, K, &one, s->device[0], M, M * K,
		    s->device[1], K, K * N, &zero, s->product, M, M * N,
		    BATCH));
	else
		BLAS(cublasSgemmBatched(s->handle, CUBLAS_OP_N, CUBLAS_OP_N, M,
		    N, K, &one, (const float *const *)s->array[0], M,
		    (const float *const *)s->array[1], K, &zero,
		    (float *const *)s->array[2], M, BATCH));
}

static uint64_t
hash_of(struct state *s)
{
	const size_t count = (size_t)M * N * BATCH;

	client_host(s->result, s->product, count);
	return client_hash(0, s->result, count * sizeof(float));
}

int
main(int argc, char **argv)
{
	uint64_t first[2] = { 0 };
	struct state s;
	int other = 0;

	if (argc != 4)
		return EXIT_USAGE;
	state_init(&s);
	for (int call = 0; call < atoi(argv[3]); call++) {
		const int at = !strcmp(argv[2], "alternate") ? call % 2 : 0;
		uint64_t hash;

		upload(&s, 0, at * STEP);
		upload(&s, 1, 0);
		multiply(&s, argv[1]);
		hash = hash_of(&s);
		if (!first[at])
			first[at] = hash;
		other += hash != first[at];
	}
	state_fini(&s);
	printf("other=%d first=%016" PRIx64 "\n", other, first[0]);
	return EXIT_SUCCESS;
}
