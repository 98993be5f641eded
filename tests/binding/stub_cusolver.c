/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub_cusolver.c -- libcusolver.so.12: linked to libcublas, it
 * multiplies on the program's thread (getrf) or on one of its own (potrf). */
#include "client.h"
#include "stub.h"

#include <pthread.h>

SHOWN int cusolverDnSgetrf(void *handle);
SHOWN int cusolverDnSpotrf(void *handle);

static void *
multiply(void *status_out)
{
	cublasHandle_t handle;

	*(int *)status_out = -1;
	if (cublasCreate_v2(&handle) == CUBLAS_STATUS_SUCCESS) {
		*(int *)status_out = MULTIPLY(cublasSgemm_v2, handle);
		cublasDestroy_v2(handle);
	}
	return NULL;
}

SHOWN int
cusolverDnSgetrf(void *handle)
{
	int status;

	(void)handle;
	say("libcusolver.so.12", "cusolverDnSgetrf");
	multiply(&status);
	return status;
}

SHOWN int
cusolverDnSpotrf(void *handle)
{
	pthread_t thread;
	int status = -1;

	(void)handle;
	say("libcusolver.so.12", "cusolverDnSpotrf");
	if (!pthread_create(&thread, NULL, multiply, &status))
		pthread_join(thread, NULL);
	return status;
}
