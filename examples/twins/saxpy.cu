/* SPDX-License-Identifier: Apache-2.0 */
/* examples/twins/saxpy.cu -- a program with a kernel of its own between two
 * matrix products. The emulated GPU runs the kernel by its PTX, or, which is
 * faster, by a CPU twin, which saxpy_twin.c brings:
 *
 *     nvcc -cudart shared -o saxpy saxpy.cu -lcublas
 *     cc -shared -fPIC -o saxpy_twin.so saxpy_twin.c
 *     AUTOCAST_EMU_TWINS=$PWD/saxpy_twin.so autocast run --emulate ./saxpy
 */
#include <cublas_v2.h>
#include <stdio.h>

enum { N = 64, COUNT = N * N, BLOCK = 256 };

__global__ void
saxpy(int count, float a, const float *x, float *y)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		y[i] = a * x[i] + y[i];
}

__global__ void
without_a_twin(float *x)
{
	*x = 1;
}

static int
failed(const char *what, int status)
{
	fprintf(stderr, "saxpy: %s: status %d\n", what, status);
	return 1;
}

int
main(int argc, char **)
{
	static float host[COUNT];
	const float one = 1, zero = 0;
	cublasHandle_t handle;
	float *x, *y;
	cudaError_t status;

	for (int i = 0; i < COUNT; i++)
		host[i] = (float)(i % 3);
	cudaMalloc(&x, sizeof host);
	cudaMalloc(&y, sizeof host);
	cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
	cublasCreate(&handle);
	cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, x, N, x,
	    N, &zero, y, N);
	if (argc > 1)
		without_a_twin<<<1, 1>>>(x);
	else
		saxpy<<<(COUNT + BLOCK - 1) / BLOCK, BLOCK>>>(COUNT, 10, x, y);
	status = cudaGetLastError();
	if (status)
		return failed(cudaGetErrorName(status), status);
	status = cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
	if (status)
		return failed("cudaMemcpy", status);
	printf("saxpy %g %g\n", (double)host[0], (double)host[COUNT - 1]);
	return 0;
}
