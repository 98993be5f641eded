/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/own_kernel.c -- what nvcc makes of a program with a
 * kernel of its own, by hand: own_kernel [twice|unknown|unregistered]. saxpy
 * between two products; twice: launched again after its module was registered
 * again; unknown: a kernel without a twin; unregistered: one of a module that
 * was taken away. */
#include "client.h"

enum { N = 64, COUNT = N * N, BLOCK = 256 };

void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **module);
void __cudaUnregisterFatBinary(void **module);
char __cudaInitModule(void **module);
void __cudaRegisterFunction(void **module, const char *host, char *device,
    const char *name, int threads, uint3 *thread, uint3 *block,
    dim3 *block_size, dim3 *grid_size, int *warp_size);
void __cudaRegisterVar(void **module, char *host, char *address,
    const char *name, int external, size_t size, int constant, int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
    struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block,
    size_t *shared, void *stream);

static char saxpy_stub, unknown_stub, variable;
static void **module;

static void
register_all(void)
{
	static char saxpy[] = "_Z5saxpyifPKfPf", unknown[] = "_Z7unknownPf";

	module = __cudaRegisterFatBinary(NULL);
	__cudaRegisterFunction(module, &saxpy_stub, saxpy, saxpy, -1, NULL,
	    NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(module, &unknown_stub, unknown, unknown, -1,
	    NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterVar(module, &variable, &variable, "variable", 0, 1, 0,
	    0);
	__cudaRegisterFatBinaryEnd(module);
	__cudaInitModule(module);
}

/* kernel<<<grid, BLOCK>>>(count, a, x, y) */
static int
launch(const char *stub, int count, float a, const float *x, float *y)
{
	dim3 grid = { (COUNT + BLOCK - 1) / BLOCK, 1, 1 };
	dim3 block = { BLOCK, 1, 1 };
	void *params[] = { &count, &a, &x, &y };
	size_t shared = 1;
	cudaStream_t stream;

	client_expect(!__cudaPushCallConfiguration(grid, block, 0, NULL),
	    "a launch is configured");
	grid.x = block.x = 0;
	CUDA(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
	client_expect(grid.x == COUNT / BLOCK && block.x == BLOCK && !shared,
	    "what was configured comes back");
	return cudaLaunchKernel(stub, grid, block, params, shared, stream);
}

int
main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	static float host[COUNT];
	cublasHandle_t handle;
	float *x, *y;
	int status;

	register_all();
	for (int i = 0; i < COUNT; i++)
		host[i] = (float)(i % 3);
	x = client_device(host, COUNT);
	y = client_device(host, COUNT);
	BLAS(cublasCreate(&handle));
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, x, N,
	    x, N, &zero, y, N));
	if (!strcmp(mode, "twice")) {
		CUDA(launch(&saxpy_stub, COUNT, 5, x, y));
		__cudaUnregisterFatBinary(module);
		register_all();
		CUDA(launch(&saxpy_stub, COUNT, 5, x, y));
	} else if (!strcmp(mode, "unregistered")) {
		__cudaUnregisterFatBinary(module);
		status = launch(&saxpy_stub, COUNT, 10, x, y);
		printf("unregistered status=%d\n", status);
		return EXIT_SUCCESS;
	} else {
		status = launch(strcmp(mode, "unknown") ? &saxpy_stub :
		    &unknown_stub, COUNT, 10, x, y);
		if (status) {
			printf("status=%d\n", status);
			return EXIT_SUCCESS;
		}
	}
	client_host(host, y, COUNT);
	printf("saxpy %g %g\n", (double)host[0], (double)host[COUNT - 1]);
	BLAS(cublasDestroy(handle));
	__cudaUnregisterFatBinary(module);
	return EXIT_SUCCESS;
}
