/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/peers.cu -- two GPUs: a product on each half of the
 * rows, a kernel that reads the other GPU's memory, a copy between them. */
#include <cublas_v2.h>
#include "user.h"

enum { N = 256, HALF = N / 2 };

__global__ void
gather(const float *theirs, float *mine, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		mine[i] = theirs[i];
}

int
main()
{
	const auto a = uniforms(N * N), b = uniforms(N * N);
	const float one = 1, zero = 0;
	float *part[2], *read, *copied;
	double error = 0, norm = 0;
	int devices, can, bad = 0;

	CHECK(cudaGetDeviceCount(&devices));
	if (devices < 2) {
		printf("one device: nothing to do\n");
		return 1;
	}
	CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
	expect("peers can reach each other", !can, 0);
	for (int d = 0; d < 2; d++) {
		cublasHandle_t blas;

		CHECK(cudaSetDevice(d));
		CHECK(cublasCreate(&blas));
		float *const da = upload(a), *const db = upload(b);
		CHECK(cudaMalloc(&part[d], N * HALF * 4));
		for (int turn = 0; turn < 5; turn++)
			CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, N,
			    HALF, N, &one, da, N, db + d * HALF * N, N, &zero,
			    part[d], N));
		CHECK(cudaDeviceSynchronize());
		const auto c = download(part[d], N * HALF);
		for (int j = 0; j < HALF; j++)
			for (int i = 0; i < N; i++) {
				double sum = 0;

				for (int k = 0; k < N; k++)
					sum += (double)a[k * N + i] *
					    b[(d * HALF + j) * N + k];
				error += pow(c[j * N + i] - sum, 2);
				norm += sum * sum;
			}
	}
	expect("products on both", sqrt(error / norm), product_error());
	CHECK(cudaDeviceEnablePeerAccess(0, 0));
	CHECK(cudaMalloc(&read, N * HALF * 4));
	CHECK(cudaMalloc(&copied, N * HALF * 4));
	gather<<<N * HALF / 128, 128>>>(part[0], read, N * HALF);
	CHECK(cudaMemcpyPeer(copied, 1, part[0], 0, N * HALF * 4));
	const auto x = download(read, N * HALF), y = download(copied, N *
	    HALF);
	CHECK(cudaSetDevice(0));
	const auto z = download(part[0], N * HALF);
	for (int i = 0; i < N * HALF; i++)
		bad += x[i] != z[i] || y[i] != z[i];
	expect("read and copied", bad, 0);
	return wrong;
}
