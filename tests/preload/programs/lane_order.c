/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lane_order.c -- products that only a preload's own
 * events keep apart: lane_order share|grow. The program itself owes
 * nothing: its streams share no memory that is written.
 * share: two streams, one product each; grow: one stream, the second
 * product larger. */
#include "client.h"

enum { SMALL = 32, LARGE = 192, COUNT = LARGE * LARGE };

struct lane {
	cudaStream_t stream;
	float *a, *c;
};

static void
multiply(cublasHandle_t handle, const struct lane *lane, int n)
{
	BLAS(cublasSetStream(handle, lane->stream));
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one,
	    lane->a, n, lane->a, n, &zero, lane->c, n));
}

static uint64_t
hash_of(const struct lane *lane, int n)
{
	static float host[COUNT];

	client_host(host, lane->c, (size_t)n * (size_t)n);
	return client_hash(0, host, (size_t)n * (size_t)n * sizeof *host);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const bool share = !strcmp(mode, "share");
	const int last = share ? SMALL : LARGE;
	struct lane lane[2];
	cublasHandle_t handle;
	uint64_t hash;

	if (strcmp(mode, "share") && strcmp(mode, "grow"))
		return EXIT_USAGE;
	for (int i = 0; i < 2; i++) {
		CUDA(cudaStreamCreateWithFlags(&lane[i].stream,
		    cudaStreamNonBlocking));
		lane[i].a = client_random_device(COUNT, 1, 1);
		lane[i].c = client_random_device(COUNT, 1, 2);
	}
	CUDA(cudaDeviceSynchronize());
	BLAS(cublasCreate(&handle));
	multiply(handle, &lane[0], SMALL);
	multiply(handle, &lane[share], last);
	CUDA(cudaDeviceSynchronize());
	hash = hash_of(&lane[share], last);
	if (share)
		client_expect(hash == hash_of(&lane[0], SMALL),
		    "both streams get the same bits");
	BLAS(cublasDestroy(handle));
	printf("lane_order %s %016" PRIx64 "\n", mode, hash);
	return EXIT_SUCCESS;
}
