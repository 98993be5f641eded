/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/reset_exit.c -- products, cudaDeviceReset, the end:
 * reset_exit [return|exit|quick|destroy|late|again]. `quick` leaves by _exit,
 * `destroy` destroys the handle before the reset, `late` after it (the others
 * never do), `again` multiplies once more after it, with a new handle, and must
 * get the same bits.
 * */
#include "client.h"

enum { N = 96, PRODUCTS = 5 };

static uint64_t
multiply(cublasHandle_t *handle_out)
{
	const size_t count = (size_t)N * N;
	const float alpha = 1, beta = 0;
	float *a = client_random_device(count, 1, 1);
	float *b = client_random_device(count, 1, 2);
	float *c = client_random_device(count, 1, 3);
	float host[N * N];

	BLAS(cublasCreate(handle_out));
	for (int i = 0; i < PRODUCTS; i++)
		BLAS(cublasSgemm(*handle_out, CUBLAS_OP_T, CUBLAS_OP_N, N, N,
		    N, &alpha, a, N, b, N, &beta, c, N));
	client_host(host, c, count);
	return client_hash(0, host, sizeof host);
}

int
main(int argc, char **argv)
{
	static const char *const ways[] = {
		"return", "exit", "quick", "destroy", "late", "again", NULL
	};
	const char *way = argc > 1 ? argv[1] : "return";
	cublasHandle_t handle;
	uint64_t hash;
	int known = 0;

	while (ways[known] && strcmp(ways[known], way))
		known++;
	if (!ways[known]) {
		fprintf(stderr,
		    "reset_exit return|exit|quick|destroy|late|again\n");
		return EXIT_USAGE;
	}
	hash = multiply(&handle);
	if (!strcmp(way, "destroy"))
		BLAS(cublasDestroy(handle));
	CUDA(cudaDeviceReset());
	if (!strcmp(way, "late"))
		(void)cublasDestroy(handle); /* whatever cuBLAS thinks of it */
	if (!strcmp(way, "again")) {
		client_expect(multiply(&handle) == hash,
		    "the same bits after a reset");
		CUDA(cudaDeviceReset());
	}
	printf("reset_exit %s checksum=%016" PRIx64 "\n", way, hash);
	fflush(stdout);
	if (!strcmp(way, "quick"))
		_exit(EXIT_SUCCESS);
	if (!strcmp(way, "exit"))
		exit(EXIT_SUCCESS);
	return EXIT_SUCCESS;
}
