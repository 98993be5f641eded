/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/corpus_client.c -- products of the guard's corpus, as
 * a program asks cuBLAS for them.
 *
 * corpus_client sites FIRST COUNT CALLS: the cases of COUNT seeds from FIRST.
 * Each has a size and a process of its own, since like sizes of a place share
 * their verdicts, and is asked for CALLS times; a line per call:
 *     SEED FAMILY CALL ERROR HASH
 * corpus_client turn SEED SEED CALLS CALLS: one size, the data of one case,
 * then those of another; the same lines. ERROR is that of the Frobenius norm
 * against FP64, HASH that of the result's bits.
 * */
#include "client.h"

#include "tests/corpus/families.h"

#include <math.h>
#include <sys/wait.h>

enum {
	SIDE = CORPUS_SIDE,
	MOST = CORPUS_SIDE * CORPUS_K_MAX
};

struct state {
	cublasHandle_t handle;
	struct corpus_case c;
	double *roomy, *truth;
	float *a, *b, *product; /* on the device */
	float *result;
};

static void
state_init(struct state *s)
{
	const size_t square = (size_t)SIDE * SIDE;

	s->c.a = client_allocate(MOST, sizeof(float));
	s->c.b = client_allocate(MOST, sizeof(float));
	s->roomy = client_allocate(2 * (size_t)MOST, sizeof(double));
	s->truth = client_allocate(square, sizeof(double));
	s->result = client_allocate(square, sizeof(float));
	s->a = client_device(s->c.a, MOST);
	s->b = client_device(s->c.b, MOST);
	s->product = client_device(s->result, square);
	BLAS(cublasCreate(&s->handle));
}

static void
state_fini(struct state *s)
{
	BLAS(cublasDestroy(s->handle));
	CUDA(cudaFree(s->a));
	CUDA(cudaFree(s->b));
	CUDA(cudaFree(s->product));
	free(s->c.a);
	free(s->c.b);
	free(s->roomy);
	free(s->truth);
	free(s->result);
}

/* Draws the case of `seed`, and puts it on the device. */
static void
draw(struct state *s, uint64_t seed)
{
	const size_t bytes = (size_t)SIDE * sizeof(float);

	corpus_draw(seed, s->roomy, &s->c);
	corpus_product_double(s->c.a, s->c.b, s->c.k, s->roomy, s->truth);
	CUDA(cudaMemcpy(s->a, s->c.a, bytes * (size_t)s->c.k,
	    cudaMemcpyHostToDevice));
	CUDA(cudaMemcpy(s->b, s->c.b, bytes * (size_t)s->c.k,
	    cudaMemcpyHostToDevice));
}

/* One product of the upper left m x n; a NaN is as wrong as can be. */
static void
multiply(struct state *s, int m, int n, int call)
{
	const int k = (int)s->c.k;
	double wrong = 0, size = 0;
	uint64_t hash = 0;

	CUDA(cudaMemset(s->product, 0xff, SIDE * SIDE * sizeof(float)));
	BLAS(cublasSgemm(s->handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one,
	    s->a, SIDE, s->b, k, &zero, s->product, SIDE));
	client_host(s->result, s->product, (size_t)SIDE * SIDE);
	for (int j = 0; j < n; j++) {
		const float *column = s->result + (size_t)j * SIDE;
		hash = client_hash(hash, column, (size_t)m * sizeof *column);
		for (int i = 0; i < m; i++) {
			const double wanted = s->truth[i + j * SIDE];
			wrong += pow((double)column[i] - wanted, 2);
			size += wanted * wanted;
		}
	}
	printf("%" PRIu64 " %s %d %.3e %016" PRIx64 "\n", s->c.seed,
	    corpus_families[s->c.family], call, !(wrong >= 0) ? 1e9 :
	    size > 0 ? sqrt(wrong / size) : sqrt(wrong), hash);
}

static void
site(uint64_t seed, int calls)
{
	struct state s;

	state_init(&s);
	draw(&s, seed);
	for (int call = 1; call <= calls; call++)
		multiply(&s, SIDE - (int)(seed % 32),
		    SIDE - (int)(seed / 32 % 32), call);
	state_fini(&s);
}

static void
sites(uint64_t first, int count, int calls)
{
	for (uint64_t seed = first; count--; seed++) {
		int status = 0;
		const pid_t child = fork();

		client_expect(child >= 0, "fork");
		if (!child) {
			site(seed, calls);
			exit(EXIT_SUCCESS);
		}
		client_expect(waitpid(child, &status, 0) == child && !status,
		    "a case ends well");
	}
}

/* The products of one size: `calls` of the first case, then of the second. */
static void
turn(struct state *s, const uint64_t seed[2], const int calls[2])
{
	int call = 0;

	for (int i = 0; i < 2; i++) {
		const int64_t k = s->c.k;
		draw(s, seed[i]);
		client_expect(!i || s->c.k == k, "both cases have one size");
		while (call < calls[0] + i * calls[1])
			multiply(s, SIDE, SIDE, ++call);
	}
}

int
main(int argc, char **argv)
{
	uint64_t seed[2];
	int count[2];
	struct state s;

	if (argc < 5 || argc > 6)
		return EXIT_USAGE;
	for (int i = 0; i < 2; i++) {
		seed[i] = strtoull(argv[2 + i], NULL, 0);
		count[i] = atoi(argv[argc - 2 + i]);
	}
	if (argc == 5 && !strcmp(argv[1], "sites")) {
		sites(seed[0], count[0], count[1]);
		return EXIT_SUCCESS;
	}
	if (argc != 6 || strcmp(argv[1], "turn"))
		return EXIT_USAGE;
	state_init(&s);
	turn(&s, seed, count);
	state_fini(&s);
	return EXIT_SUCCESS;
}
