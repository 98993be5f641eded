/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/churn.c -- a new stream for every call: churn CALLS.
 * Each is destroyed right after its product was queued. All products are the
 * same: prints how many have other bits than the last one, then the largest
 * resident size that the process reached, in KiB. */
#include "client.h"

#include <sys/resource.h>

enum { N = 64, COUNT = N * N };

int
main(int argc, char **argv)
{
	const int calls = argc > 1 ? atoi(argv[1]) : 0;
	float *a = client_random_device(COUNT, 1, 1);
	float *b = client_random_device(COUNT, 1, 2);
	float *c = client_random_device(COUNT, 1, 3);
	uint64_t *hash = client_allocate((size_t)calls + 1, sizeof *hash);
	struct rusage usage;
	cublasHandle_t handle;
	float host[COUNT];
	int other = 0;

	if (calls < 1)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	for (int i = 0; i < calls; i++) {
		cudaStream_t stream;

		CUDA(cudaStreamCreate(&stream));
		BLAS(cublasSetStream(handle, stream));
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &one, a, N, b, N, &zero, c, N));
		CUDA(cudaStreamDestroy(stream));
		CUDA(cudaDeviceSynchronize());
		client_host(host, c, COUNT);
		hash[i] = client_hash(0, host, sizeof host);
	}
	for (int i = 0; i < calls; i++)
		other += hash[i] != hash[calls - 1];
	BLAS(cublasSetStream(handle, NULL));
	BLAS(cublasDestroy(handle));
	getrusage(RUSAGE_SELF, &usage);
	printf("other=%d resident=%ld\n", other, usage.ru_maxrss);
	free(hash);
	return EXIT_SUCCESS;
}
