/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/many_sums.c -- sums in many places of many Cs:
 * many_sums COUNT: 400 calls of cublasSgemm, each from one of 16 places, onto
 * one of COUNT Cs, which it writes or adds to. Prints a hash of all that was
 * ever there. */
#include "client.h"

enum { SIZE = 64, CALLS = 400, MOST = 256 };

static cublasHandle_t handle;

#define PLACE(number) \
	__attribute__((noinline)) static cublasStatus_t \
	place_##number(const float *a, const float *b, float beta, float *c) \
	{ \
		return cublasSgemm(handle, CUBLAS_OP_N, number & 1 \
		    ? CUBLAS_OP_T : CUBLAS_OP_N, SIZE, SIZE, SIZE, &one, a, \
		    SIZE, b, SIZE, &beta, c, SIZE); \
	}
#define PLACES(row) row(0) row(1) row(2) row(3) row(4) row(5) row(6) row(7) \
	row(8) row(9) row(10) row(11) row(12) row(13) row(14) row(15)
#define NAME(number) place_##number,
PLACES(PLACE)

int
main(int argc, char **argv)
{
	static cublasStatus_t (*const places[])(const float *, const float *,
	    float, float *) = { PLACES(NAME) };
	const int count = argc > 1 ? atoi(argv[1]) : 0;
	const float *a = client_random_device(SIZE * SIZE, 1, 1);
	const float *b = client_random_device(SIZE * SIZE, 1, 2);
	static float host[SIZE * SIZE];
	uint64_t seed = 3, hash = 0;
	float *c[MOST];

	client_expect(count > 0 && count <= MOST, "so many Cs");
	for (int i = 0; i < count; i++)
		c[i] = client_random_device(SIZE * SIZE, 1, 4);
	BLAS(cublasCreate(&handle));
	for (int i = 0; i < CALLS; i++) {
		float *to = c[client_random(&seed) % (uint64_t)count];
		const float beta = client_random(&seed) % 2 ? 0.5f : 0;

		BLAS(places[client_random(&seed) % 16](a, b, beta, to));
		client_host(host, to, SIZE * SIZE);
		hash = client_hash(hash, host, sizeof host);
	}
	BLAS(cublasDestroy(handle));
	printf("%016" PRIx64 "\n", hash);
	return EXIT_SUCCESS;
}
