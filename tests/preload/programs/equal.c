/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/equal.c -- equal calls: equal UNSEEN KIND... Every
 * spelling of a product is asked for on each of those kinds of data: three
 * times in a row; once with all the others in between, behind larger products
 * that went through the same memory; once on another stream. Prints the
 * spelling, the kind, the hash of the first C, and how many later ones had
 * other bits. UNSEEN calls of each spelling are made before any is looked at.
 * */
#include "gemm_client.h"

enum { M = 72, N = 56, K = 200, BATCH = 3, LARGE = 256 };
enum { KINDS = 64, STREAMS = 2 };

struct kind {
	const char *name;
	float *a, *b;           /* device */
	uint64_t hash;
	int seen, other;
};

struct state {
	cublasHandle_t handle;
	cudaStream_t stream[STREAMS];
	float *before, *after, *c, *large;
	size_t count;           /* of C */
	struct kind kind[KINDS];
	int kinds;
};

static const struct product product = {
	.transa = CUBLAS_OP_T, .transb = CUBLAS_OP_N, .m = M, .n = N, .k = K,
	.lda = K, .ldb = K, .ldc = M, .batch = BATCH, .stride_a = M * K,
	.stride_b = K * N, .stride_c = M * N, .alpha = 1.5f, .beta = 0.5f,
	.compute = CUBLAS_COMPUTE_32F,
};

static float *
narrow(const double *wide, int64_t lines)
{
	float *host = client_allocate((size_t)(BATCH * lines * K),
	    sizeof *host), *device;

	for (int64_t i = 0; i < BATCH * lines * K; i++)
		host[i] = (float)wide[i];
	device = client_device(host, (size_t)(BATCH * lines * K));
	free(host);
	return device;
}

static void
kind_init(const char *name, struct kind *kind)
{
	const struct distribution *d = distribution_find(name);
	double *a = client_allocate(BATCH * M * K, sizeof *a);
	double *b = client_allocate(BATCH * K * N, sizeof *b);
	uint64_t seed = 1;

	client_expect(d, "there are such data");
	for (int i = 0; i < BATCH; i++) {
		double *to = b + i * K * N;
		double *rows = client_allocate(K * N, sizeof *rows);

		distribution_fill(d, &seed, M, N, K, a + i * M * K, rows);
		for (int j = 0; j < K * N; j++)
			to[j % N * K + j / N] = rows[j];
		free(rows);
	}
	*kind = (struct kind){ .name = name, .a = narrow(a, M),
		.b = narrow(b, N) };
	free(a);
	free(b);
}

static void
state_init(char **names, struct state *s)
{
	uint64_t seed = 2;

	BLAS(cublasCreate(&s->handle));
	for (int i = 0; i < STREAMS; i++)
		CUDA(cudaStreamCreate(&s->stream[i]));
	s->count = (size_t)M * N * BATCH;
	s->before = client_allocate(s->count, sizeof *s->before);
	s->after = client_allocate(s->count, sizeof *s->after);
	for (size_t i = 0; i < s->count; i++)
		s->before[i] = (float)(2 * client_uniform(&seed) - 1);
	s->c = client_device(s->before, s->count);
	s->large = client_random_device((size_t)3 * LARGE * LARGE, 1e3f, 3);
	for (; *names && s->kinds < KINDS; names++)
		kind_init(*names, &s->kind[s->kinds++]);
	CUDA(cudaDeviceSynchronize());
}

static void
state_fini(struct state *s)
{
	BLAS(cublasDestroy(s->handle));
	for (int i = 0; i < STREAMS; i++)
		CUDA(cudaStreamDestroy(s->stream[i]));
	for (int i = 0; i < s->kinds; i++) {
		CUDA(cudaFree(s->kind[i].a));
		CUDA(cudaFree(s->kind[i].b));
	}
	CUDA(cudaFree(s->c));
	CUDA(cudaFree(s->large));
	free(s->before);
	free(s->after);
}

static uint64_t
multiply(struct state *s, const struct form *form, const struct kind *kind,
    int stream)
{
	const size_t bytes = s->count * sizeof *s->before;
	const struct operands o = { &product.alpha, &product.beta, kind->a,
		kind->b, s->c };

	CUDA(cudaMemcpy(s->c, s->before, bytes, cudaMemcpyHostToDevice));
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasSetStream(s->handle, s->stream[stream]));
	BLAS(form_call(form, s->handle, &product, &o));
	CUDA(cudaStreamSynchronize(s->stream[stream]));
	client_host(s->after, s->c, s->count);
	return client_hash(0, s->after, bytes);
}

static void
look(struct state *s, const struct form *form, struct kind *kind, int stream)
{
	const uint64_t hash = multiply(s, form, kind, stream);

	if (!kind->seen++)
		kind->hash = hash;
	kind->other += hash != kind->hash;
}

/* Another site, on the same stream: it leaves its traces in what we lend. */
static void
intrude(struct state *s)
{
	const size_t side = (size_t)LARGE * LARGE;
	BLAS(cublasSetStream(s->handle, s->stream[0]));
	BLAS(cublasSgemm(s->handle, CUBLAS_OP_N, CUBLAS_OP_T, LARGE, LARGE,
	    LARGE, &one, s->large, LARGE, s->large + side, LARGE, &zero,
	    s->large + 2 * side, LARGE));
	CUDA(cudaStreamSynchronize(s->stream[0]));
}

static void
ask(struct state *s, const struct form *form, int unseen)
{
	for (int i = 0; i < unseen; i++)
		multiply(s, form, &s->kind[0], 0);
	for (int i = 0; i < s->kinds; i++) {
		s->kind[i].seen = s->kind[i].other = 0;
		for (int call = 0; call < 3; call++)
			look(s, form, &s->kind[i], 0);
	}
	for (int i = 0; i < s->kinds; i++) {
		intrude(s);
		look(s, form, &s->kind[i], 0);
	}
	for (int i = 0; i < s->kinds; i++)
		look(s, form, &s->kind[i], 1);
}

int
main(int argc, char **argv)
{
	static const char *const forms[] = { "sgemm", "strided", "batched" };
	static struct state s;

	if (argc < 3)
		return EXIT_USAGE;
	state_init(argv + 2, &s);
	for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
		ask(&s, form_find(forms[f]), atoi(argv[1]));
		for (int i = 0; i < s.kinds; i++)
			printf("%s %s %016" PRIx64 " other=%d\n", forms[f],
			    s.kind[i].name, s.kind[i].hash, s.kind[i].other);
	}
	state_fini(&s);
	return EXIT_SUCCESS;
}
