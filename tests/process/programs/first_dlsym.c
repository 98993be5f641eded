/* SPDX-License-Identifier: Apache-2.0 */
/* tests/process/programs/first_dlsym.c -- one product by each way to a
 * function: linked, looked up in the global scope, in a handle, by version.
 * For a sanitizer's program, whose runtime looks names up before main() and
 * before its own functions are bound. Exit status 0 if all answered success. */
#include <cublas_api.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef cublasStatus_t (*sgemm_fn)(cublasHandle_t, cublasOperation_t,
    cublasOperation_t, int, int, int, const float *, const float *, int,
    const float *, int, const float *, float *, int);

static cublasHandle_t handle;

static int
multiply(sgemm_fn sgemm)
{
	const float one = 1;
	float x[64] = { 0 };

	return !sgemm || sgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 8, 8, 8, &one,
	    x, 8, x, 8, &one, x, 8) != CUBLAS_STATUS_SUCCESS;
}

static sgemm_fn
look_up(void *in)
{
	return (sgemm_fn)(uintptr_t)dlsym(in, "cublasSgemm_v2");
}

int
main(void)
{
	void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_LOCAL);
	int *memory = malloc(10 * sizeof *memory);
	int failed;

	if (!library || !memory || cublasCreate_v2(&handle))
		return 2;
	failed = multiply(cublasSgemm_v2);
	failed |= multiply(look_up(RTLD_DEFAULT)) << 1;
	failed |= multiply(look_up(library)) << 2;
	failed |= multiply((sgemm_fn)(uintptr_t)dlvsym(library,
	    "cublasSgemm_v2", "libcublas.so.13")) << 3;
	failed |= (dlsym(library, "cublasNoSuch") || !dlerror()) << 4;
	failed |= cublasDestroy_v2(handle) << 5;
	free(memory);
	dlclose(library);
	if (failed)
		fprintf(stderr, "first_dlsym: %x\n", (unsigned)failed);
	return failed ? 1 : 0;
}
