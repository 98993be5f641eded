/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/sensitive.c -- sensitive SITES CALLS LIMIT
 * [WORD=NUMBER]... [SITE]...: so many products of different widths, in turn, so
 * many times. The outputs of each SITE (from 0) count: is one off by more than
 * LIMIT of the square root of its terms' squares, it prints "spoilt", else
 * "good"; with LIMIT 0 a hash of their bits.
 *
 *   m=, k=, n=, step=   sizes; the first width, and how much wider the next is
 *   cancel=SITE         there A is two halves whose products cancel to 2^-20
 *   took=1              and the microseconds of each product by events, the
 *                       last ones of each */
#include "client.h"

#include <math.h>

static int m = 512, k = 2048, first = 512, step = 8, cancels = -1, took;
static float *a, *opposed, *b, *c;
static float *da, *dopposed, *db, *dc;
static cudaEvent_t begun, ended;

static bool
take_word(const char *word)
{
	static const struct { const char *name; int *to; } words[] = {
		{ "m=", &m }, { "k=", &k }, { "n=", &first },
		{ "step=", &step }, { "cancel=", &cancels }, { "took=", &took }
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strncmp(word, words[i].name, strlen(words[i].name))) {
			*words[i].to = atoi(strchr(word, '=') + 1);
			return true;
		}
	return false;
}

static void
fill(float *x, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i++)
		x[i] = (float)((double)(client_random(&seed) >> 11) * 0x1p-53
		    - 0.5);
}

/* The first row is held against FP64. */
static bool
is_spoilt(const float *x, int n, double limit)
{
	for (int j = 0; j < n; j++) {
		double sum = 0, square = 0;

		for (int l = 0; l < k; l++) {
			const double term = (double)x[l * m]
			    * (double)b[(size_t)j * (size_t)k + (size_t)l];

			sum += term;
			square += term * term;
		}
		if (!(fabs((double)c[(size_t)j * (size_t)m] - sum)
		    <= limit * sqrt(square)))
			return true;
	}
	return false;
}

static bool
multiply(cublasHandle_t handle, int site, bool counts, double limit,
    uint64_t *bits_out)
{
	const int n = first + step * site;
	const size_t bytes = sizeof *c * (size_t)m * (size_t)n;
	CUDA(cudaEventRecord(begun, 0));
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one,
	    site == cancels ? dopposed : da, m, db, k, &zero, dc, m));
	CUDA(cudaEventRecord(ended, 0));
	if (!counts)
		return false;
	CUDA(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
	*bits_out = client_hash(*bits_out, c, bytes);
	return limit > 0 && is_spoilt(site == cancels ? opposed : a, n,
	    limit);
}

static bool
is_named(int site, int argc, char **argv)
{
	for (int i = 4; i < argc; i++)
		if (!strchr(argv[i], '=') && atoi(argv[i]) == site)
			return true;
	return false;
}

/* B is the same in its lower half, and the other A the opposite but for
 * 2^-20. */
static void
make_opposed(size_t wide)
{
	const size_t rows = (size_t)k, half = rows / 2;
	const size_t count = (size_t)m * half;

	for (size_t j = 0; j < wide; j++)
		memcpy(b + j * rows + half, b + j * rows, half * sizeof *b);
	for (size_t i = 0; i < count; i++) {
		opposed[i] = a[i];
		opposed[count + i] = -a[i] * (1 + 0x1p-20f);
	}
}

static void
make_data(size_t wide)
{
	const size_t count = (size_t)m * (size_t)k, terms = wide * (size_t)k;

	a = client_allocate(count, sizeof *a);
	opposed = client_allocate(count, sizeof *a);
	b = client_allocate(terms, sizeof *b);
	c = client_allocate(wide * (size_t)m, sizeof *c);
	fill(a, count, 1);
	fill(b, terms, 2);
	if (cancels >= 0)
		make_opposed(wide);
	da = client_device(a, count);
	dopposed = client_device(opposed, count);
	db = client_device(b, terms);
	dc = client_device(c, wide * (size_t)m);
	CUDA(cudaEventCreate(&begun));
	CUDA(cudaEventCreate(&ended));
}

static void
free_data(void)
{
	CUDA(cudaEventDestroy(begun));
	CUDA(cudaEventDestroy(ended));
	CUDA(cudaFree(da));
	CUDA(cudaFree(db));
	CUDA(cudaFree(dc));
	CUDA(cudaFree(dopposed));
	free(a);
	free(opposed);
	free(b);
	free(c);
}

static void
tell_time(int site)
{
	float ms;

	CUDA(cudaDeviceSynchronize());
	CUDA(cudaEventElapsedTime(&ms, begun, ended));
	printf("site %d took %.3f\n", site, (double)ms * 1000);
}

int
main(int argc, char **argv)
{
	const int sites = argc > 3 ? atoi(argv[1]) : 0;
	const int calls = argc > 3 ? atoi(argv[2]) * sites : 0;
	bool spoilt = false;
	uint64_t bits = 0;
	cublasHandle_t handle;

	for (int i = 4; i < argc; i++)
		if (strchr(argv[i], '=') && !take_word(argv[i]))
			return EXIT_USAGE;
	if (sites < 1)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	make_data((size_t)(first + step * sites));
	for (int i = 0; i < calls; i++) {
		spoilt |= multiply(handle, i % sites, is_named(i % sites, argc,
		    argv), atof(argv[3]), &bits);
		if (took && i >= calls - sites)
			tell_time(i % sites);
	}
	CUDA(cudaDeviceSynchronize());
	if (atof(argv[3]) > 0)
		printf("%s\n", spoilt ? "spoilt" : "good");
	else
		printf("bits %016" PRIx64 "\n", bits);
	BLAS(cublasDestroy(handle));
	free_data();
	return 0;
}
