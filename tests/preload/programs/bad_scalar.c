/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/bad_scalar.c -- alpha is where nothing can be read:
 * bad_scalar FROM TO. 2000 products from one place; every fourth of those
 * from FROM to TO has such an alpha, and the program's signal handler jumps out
 * of cuBLAS. Data of 200 to 599 lose too much in FP16.
 * */
#include "client.h"

#include <setjmp.h>
#include <signal.h>

enum { N = 96, CALLS = 2000, SAMPLED = 4, WILD = 200, TAME = 600 };

struct state {
	cublasHandle_t handle;
	float *a, *b, *c;
	float tame[N * N], wild[N * N];
};

static sigjmp_buf out;

static void
jump(int signal)
{
	(void)signal;
	siglongjmp(out, 1);
}

static void
multiply(const struct state *s, const float *alpha)
{
	if (!sigsetjmp(out, 1))
		BLAS(cublasSgemm(s->handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N,
		    alpha, s->a, N, s->b, N, &zero, s->c, N));
}

static void
run(const struct state *s, long from, long to)
{
	for (int i = 1; i <= CALLS; i++) {
		const bool bad = i >= from && i <= to &&
		    (i - from) % SAMPLED == 0;

		if (i == WILD || i == TAME)
			CUDA(cudaMemcpy(s->a, i == WILD ? s->wild : s->tame,
			    sizeof s->wild, cudaMemcpyHostToDevice));
		multiply(s, bad ? (const float *)0x10 : &one);
		if (i % 64 == 0)
			CUDA(cudaDeviceSynchronize());
	}
}

int
main(int argc, char **argv)
{
	static struct state s;

	if (argc != 3)
		return EXIT_USAGE;
	for (int i = 0; i < N * N; i++)
		s.wild[i] = i % N == i / N ? 1e9f : 1e-4f * (float)(i % 7);
	s.a = client_random_device(N * N, 1, 1);
	s.b = client_random_device(N * N, 1, 2);
	s.c = client_random_device(N * N, 1, 3);
	client_host(s.tame, s.a, N * N);
	BLAS(cublasCreate(&s.handle));
	client_expect(signal(SIGSEGV, jump) != SIG_ERR, "a handler");
	run(&s, atol(argv[1]), atol(argv[2]));
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasDestroy(s.handle));
	return EXIT_SUCCESS;
}
