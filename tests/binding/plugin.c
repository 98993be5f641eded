/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/plugin.c -- linked to libcublas; opened by host.c. Multiplies
 * by a call, and by a pointer that the loader filled in. AT_LOAD: a thread that
 * its constructor starts and waits for multiplies as well. SOLVES: it
 * solves a system first, which only the preload has a function for. */
#include "client.h"

#include <pthread.h>

int multiply(void);
int multiply_by_data(void);

/* Not static, or the compiler would see through it. */
sgemm_fn plugin_sgemm = cublasSgemm_v2;

int
multiply(void)
{
	cublasHandle_t handle = NULL;
	int status;

	cublasCreate_v2(&handle);
#ifdef SOLVES
	cublasStrsm_v2(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
	    CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 0, 0, NULL, NULL, 1, NULL, 1);
#endif
	status = MULTIPLY(cublasSgemm_v2, handle);
	if (handle)
		cublasDestroy_v2(handle);
	return status;
}

int
multiply_by_data(void)
{
	cublasHandle_t handle = NULL;
	int status;

	cublasCreate_v2(&handle);
	status = MULTIPLY(plugin_sgemm, handle);
	if (handle)
		cublasDestroy_v2(handle);
	return status;
}

#ifdef AT_LOAD
static void *
run(void *unused)
{
	(void)unused;
	print_status("at load", multiply());
	return NULL;
}

__attribute__((constructor)) static void
start(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, run, NULL))
		pthread_join(thread, NULL);
}
#endif
