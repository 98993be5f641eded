/* SPDX-License-Identifier: Apache-2.0 */
/* tests/trust/cost.c -- a program whose time is of interest, by the modelled
 * clock. Nothing is waited for before the end.
 *
 *   cost loop M N K CALLS           one product again and again
 *   cost sum M N K CALLS            the same, added to C
 *   cost bad N CALLS                the same, N x N, of terms that cancel to a
 *                                   thousandth
 *   cost linear N CALLS             one of cublasLt, N x N, with RELU_BIAS
 *   cost attention HEADS TOKENS WIDTH CALLS
 *                                   scores of all heads, and what they weigh,
 *                                   in turn
 *   cost sizes M N K SIZES CALLS ROUNDS
 *                                   SIZES sizes from M on, CALLS of each in
 *                                   turn, all of that ROUNDS times
 *   cost tokens CALLS               at 20 places in turn: half the rows of A
 *                                   are zero, the others 1 to 2^-10 in size,
 *                                   and new at each call
 *   cost once SIZES                 one call of each size
 *
 * Prints the microseconds between two events around all of it; loop, linear:
 * and around the second half; once: the bytes of the process's data that each
 * size took.
 * */
#include "tests/preload/programs/client.h"

#include <cublasLt.h>

#include <math.h>

enum { PLACES = 20, TOKENS = 64, IN = 96, OUT = 48 };

static cublasHandle_t handle;
static cudaStream_t stream;
static cudaEvent_t begun, half, ended;
static float beta;

/* One place of the program. */
__attribute__((noinline)) static void
multiply(int m, int n, int k, const float *a, const float *b, float *c)
{
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, a, m,
	    b, k, &beta, c, m));
}

static size_t
area(int rows, int columns)
{
	return (size_t)rows * (size_t)columns;
}

static float *
device(size_t count)
{
	void *memory;

	CUDA(cudaMalloc(&memory, count * sizeof(float)));
	return memory;
}

static void
repeat(int m, int n, int k, int calls, const float *a, const float *b)
{
	float *c = device(area(m, n));

	/* Where sums are made once, the CPU is done with the original's now: a
	 * wait that is bounded in seconds is none for an emulated GPU's. */
	BLAS(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
	multiply(m, n, k, a, b, c);
	BLAS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaEventRecord(begun, stream));
	for (int i = 0; i < calls; i++) {
		if (i == calls / 2)
			CUDA(cudaEventRecord(half, stream));
		multiply(m, n, k, a, b, c);
	}
}

static void
loop(int m, int n, int k, int calls)
{
	repeat(m, n, k, calls, client_random_device(area(m, k), 1, 1),
	    client_random_device(area(k, n), 1, 2));
}

/* A = [ A A ]; the lower half of B is the upper one, less a thousandth. */
static void
bad(int n, int calls)
{
	const size_t all = area(n, n), half_k = (size_t)n / 2;
	float *a = client_random_device(all, 1, 1), *b = device(all);
	float *host = client_allocate(all, sizeof *host);
	uint64_t state = 2;

	CUDA(cudaMemcpy(a + half_k * (size_t)n, a, half_k * (size_t)n *
	    sizeof *a, cudaMemcpyDeviceToDevice));
	for (size_t i = 0; i < all; i++)
		if (i % (size_t)n < half_k)
			host[i] = (float)client_uniform(&state) - 0.5f;
		else
			host[i] = (1e-3f * (float)client_uniform(&state) - 1)
			    * host[i - half_k];
	CUDA(cudaMemcpy(b, host, all * sizeof *b, cudaMemcpyHostToDevice));
	free(host);
	repeat(n, n, n, calls, a, b);
}

struct linear {
	cublasLtMatmulDesc_t operation, pedantic;
	cublasLtMatrixLayout_t layout;          /* of all three */
	const float *a, *b;
	float *c;
};

static cublasLtMatmulDesc_t
relu_bias(cublasComputeType_t type, const float *bias)
{
	const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_RELU_BIAS;
	cublasLtMatmulDesc_t operation;

	BLAS(cublasLtMatmulDescCreate(&operation, type, CUDA_R_32F));
	BLAS(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
	BLAS(cublasLtMatmulDescSetAttribute(operation,
	    CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
	return operation;
}

static void
follow(const struct linear *l, cublasLtMatmulDesc_t operation)
{
	BLAS(cublasLtMatmul((cublasLtHandle_t)handle, operation, &one, l->a,
	    l->layout, l->b, l->layout, &zero, l->c, l->layout, l->c, l->layout,
	    NULL, NULL, 0, stream));
}

/* As loop() does. */
static void
linear(int n, int calls)
{
	const float *bias = client_random_device((size_t)n, 1, 3);
	struct linear l = {
		.operation = relu_bias(CUBLAS_COMPUTE_32F, bias),
		.pedantic = relu_bias(CUBLAS_COMPUTE_32F_PEDANTIC, bias),
		.a = client_random_device(area(n, n), 1, 1),
		.b = client_random_device(area(n, n), 1, 2),
		.c = device(area(n, n))
	};

	BLAS(cublasLtMatrixLayoutCreate(&l.layout, CUDA_R_32F, (uint64_t)n,
	    (uint64_t)n, n));
	CUDA(cudaDeviceSynchronize());
	follow(&l, l.pedantic);
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaEventRecord(begun, stream));
	for (int i = 0; i < calls; i++) {
		if (i == calls / 2)
			CUDA(cudaEventRecord(half, stream));
		follow(&l, l.operation);
	}
	BLAS(cublasLtMatrixLayoutDestroy(l.layout));
	BLAS(cublasLtMatmulDescDestroy(l.operation));
	BLAS(cublasLtMatmulDescDestroy(l.pedantic));
}

struct attention {
	const float *query, *key, *value;
	float *scores, *result;
	int heads, tokens, width;
};

static void
attend(const struct attention *a)
{
	const int tokens = a->tokens, width = a->width;
	const long long head = (long long)area(tokens, width);
	const long long map = (long long)area(tokens, tokens);

	BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_T, CUBLAS_OP_N, tokens,
	    tokens, width, &one, a->key, width, head, a->query, width, head,
	    &zero, a->scores, tokens, map, a->heads));
	BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, width,
	    tokens, tokens, &one, a->value, width, head, a->scores, tokens, map,
	    &zero, a->result, width, head, a->heads));
}

/* As loop() does. */
static void
attention(int heads, int tokens, int width, int calls)
{
	const size_t all = (size_t)heads * area(tokens, width);
	const struct attention a = {
		.query = client_random_device(all, 1, 1),
		.key = client_random_device(all, 1, 2),
		.value = client_random_device(all, 1, 3),
		.scores = device((size_t)heads * area(tokens, tokens)),
		.result = device(all),
		.heads = heads, .tokens = tokens, .width = width
	};

	BLAS(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
	attend(&a);
	BLAS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaEventRecord(begun, stream));
	for (int i = 0; i < calls; i++)
		attend(&a);
}

/* Each size has its own C, so that what recurs is there already. */
static void
sizes(int m, int n, int k, const int *counts)
{
	const int most = counts[0], calls = counts[1], rounds = counts[2];
	const float *a = client_random_device(area(m + most, k), 1, 1);
	const float *b = client_random_device(area(k, n), 1, 2);
	float **c = client_allocate((size_t)most, sizeof *c);

	for (int i = 0; i < most; i++)
		c[i] = i && rounds == 1 ? c[0] : device(area(m + most, n));
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaEventRecord(begun, stream));
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < most; i++)
			for (int call = 0; call < calls; call++)
				multiply(m + i, n, k, a, b, c[i]);
	free(c);
}

static void
draw_tokens(float *a, uint64_t *seed)
{
	for (int i = 0; i < TOKENS; i++) {
		const bool none = client_uniform(seed) < 0.5;
		const int down = (int)(client_uniform(seed) * 11);

		for (int p = 0; p < IN; p++)
			a[p * TOKENS + i] = none ? 0 : ldexpf((float)
			    (2 * client_uniform(seed) - 1), -down);
	}
}

#define PLACE(i) case i: \
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, TOKENS, OUT, IN,  \
	    &one, a, TOKENS, b, IN, &zero, c, TOKENS));                     \
	break;

static void
tokens_at(int place, const float *a, const float *b, float *c)
{
	switch (place) {
	PLACE(0) PLACE(1) PLACE(2) PLACE(3) PLACE(4) PLACE(5) PLACE(6)
	PLACE(7) PLACE(8) PLACE(9) PLACE(10) PLACE(11) PLACE(12) PLACE(13)
	PLACE(14) PLACE(15) PLACE(16) PLACE(17) PLACE(18) PLACE(19)
	default: exit(EXIT_USAGE);
	}
}

static void
tokens(int calls)
{
	float *host = client_allocate(TOKENS * IN, sizeof *host);
	float *a = device(TOKENS * IN), *c = device(TOKENS * OUT);
	const float *b[PLACES];
	uint64_t seed = 5;

	for (int i = 0; i < PLACES; i++)
		b[i] = client_random_device(IN * OUT, 1, 100 + (uint64_t)i);
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaEventRecord(begun, stream));
	for (int i = 0; i < calls; i++) {
		draw_tokens(host, &seed);
		CUDA(cudaMemcpyAsync(a, host, TOKENS * IN * sizeof *a,
		    cudaMemcpyHostToDevice, stream));
		tokens_at(i % PLACES, a, b[i % PLACES], c);
	}
	free(host);
}

static long
data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	client_expect(file && fscanf(file, "%*d %*d %*d %*d %*d %ld", &pages)
	    == 1, "the kernel tells the size of the process");
	fclose(file);
	return 4096 * pages;
}

/* Of at least 2^24 operations each, since less is never tried. */
static void
once(int most)
{
	enum { WIDE = 128 };
	const float *a = client_random_device(2 * WIDE * 1024, 1, 1);
	const float *b = client_random_device(2 * WIDE * 1024, 1, 2);
	float *c = device(4 * WIDE * WIDE);
	long before = 0;

	for (int i = 0; i < most + WIDE; i++) {
		if (i == WIDE) {
			CUDA(cudaDeviceSynchronize());
			before = data_bytes();
		}
		multiply(WIDE + i % WIDE, WIDE + i / WIDE, 512, a, b, c);
	}
	CUDA(cudaDeviceSynchronize());
	printf("%ld\n", (data_bytes() - before) / most);
}

static double
microseconds(cudaEvent_t from)
{
	float ms;

	CUDA(cudaEventElapsedTime(&ms, from, ended));
	return 1000 * (double)ms;
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int v[6] = { 0 };

	for (int i = 0; i < 6 && i + 2 < argc; i++)
		v[i] = atoi(argv[i + 2]);
	if (argc < 3)
		return EXIT_USAGE;
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreate(&begun));
	CUDA(cudaEventCreate(&half));
	CUDA(cudaEventCreate(&ended));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetStream(handle, stream));
	beta = !strcmp(mode, "sum");
	if (!strcmp(mode, "loop") || !strcmp(mode, "sum"))
		loop(v[0], v[1], v[2], v[3]);
	else if (!strcmp(mode, "bad"))
		bad(v[0], v[1]);
	else if (!strcmp(mode, "linear"))
		linear(v[0], v[1]);
	else if (!strcmp(mode, "attention"))
		attention(v[0], v[1], v[2], v[3]);
	else if (!strcmp(mode, "sizes"))
		sizes(v[0], v[1], v[2], v + 3);
	else if (!strcmp(mode, "tokens"))
		tokens(v[0]);
	else if (!strcmp(mode, "once"))
		once(v[0]);
	else
		return EXIT_USAGE;
	if (strcmp(mode, "once")) {
		CUDA(cudaEventRecord(ended, stream));
		CUDA(cudaEventSynchronize(ended));
		printf("%.3f", microseconds(begun));
		if (!strcmp(mode, "loop") || !strcmp(mode, "linear"))
			printf(" %.3f", microseconds(half));
		printf("\n");
	}
	BLAS(cublasDestroy(handle));
	return EXIT_SUCCESS;
}
