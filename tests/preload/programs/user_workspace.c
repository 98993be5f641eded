/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/user_workspace.c -- the program gave the handle a
 * workspace of its own. user_workspace [PRODUCTS]: whatever multiplies, the
 * bytes around it keep their pattern; the line says whether those inside did
 * (inside=untouched) or not (inside=used). */
#include "client.h"

enum { GUARD = 4096, INSIDE = 4 << 20, N = 192, PATTERN = 0xa5 };

static bool
all_pattern(const unsigned char *at, size_t count)
{
	while (count--)
		if (*at++ != PATTERN)
			return false;
	return true;
}

int
main(int argc, char **argv)
{
	const int products = argc > 1 ? atoi(argv[1]) : 4;
	const size_t count = (size_t)N * N;
	const size_t bytes = INSIDE + 2 * (size_t)GUARD;
	const float alpha = 1, beta = 0;
	float *a = client_random_device(count, 1, 1);
	float *b = client_random_device(count, 1, 2);
	float *c = client_random_device(count, 1, 3);
	float *host_c = client_allocate(count, sizeof *host_c);
	unsigned char *host = client_allocate(bytes, 1);
	unsigned char *workspace;
	cublasHandle_t handle;
	bool untouched;

	CUDA(cudaMalloc((void **)&workspace, bytes));
	CUDA(cudaMemset(workspace, PATTERN, bytes));
	BLAS(cublasCreate(&handle));
	BLAS(cublasSetWorkspace(handle, workspace + GUARD, INSIDE));
	for (int i = 0; i < products; i++)
		BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N,
		    &alpha, a, N, b, N, &beta, c, N));
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(host, workspace, bytes, cudaMemcpyDeviceToHost));
	client_host(host_c, c, count);
	client_expect(all_pattern(host, GUARD) &&
	    all_pattern(host + GUARD + INSIDE, GUARD),
	    "nothing around the workspace is written");
	untouched = all_pattern(host + GUARD, INSIDE);
	printf("user_workspace checksum=%016" PRIx64 " inside=%s\n",
	    client_hash(0, host_c, count * sizeof *host_c),
	    untouched ? "untouched" : "used");
	BLAS(cublasDestroy(handle));
	CUDA(cudaFree(workspace));
	CUDA(cudaFree(c));
	CUDA(cudaFree(b));
	CUDA(cudaFree(a));
	free(host);
	free(host_c);
	return EXIT_SUCCESS;
}
