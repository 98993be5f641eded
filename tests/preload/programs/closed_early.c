/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/closed_early.c -- `closed_early LIBAUTOCAST`: opens
 * the library in the running program, has a thread count through it, closes it,
 * and only then lets the thread end: nothing of the library may run any
 * more. */
#include <cublas_api.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static cublasHandle_t handle;
static __typeof__(&cublasSgemm_v2) multiply;
static pthread_barrier_t together;

static void *
run(void *status)
{
	static float x[64];
	const float one = 1;

	*(cublasStatus_t *)status = multiply(handle, CUBLAS_OP_N, CUBLAS_OP_N,
	    8, 8, 8, &one, x, 8, x, 8, &one, x, 8);
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	return NULL;
}

int
main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	cublasStatus_t status;
	pthread_t thread;

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 99;
	}
	multiply = (__typeof__(multiply))(uintptr_t)dlsym(library,
	    "cublasSgemm_v2");
	if (!multiply || cublasCreate_v2(&handle) ||
	    pthread_barrier_init(&together, NULL, 2) ||
	    pthread_create(&thread, NULL, run, &status))
		return 98;
	pthread_barrier_wait(&together);
	if (dlclose(library))
		return 97;
	pthread_barrier_wait(&together);
	pthread_join(thread, NULL);
	return status != CUBLAS_STATUS_SUCCESS;
}
