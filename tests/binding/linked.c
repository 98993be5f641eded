/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/linked.c -- linked to libcublas. `linked [N]`: N products. */
#include "client.h"

#include <stdlib.h>

int
main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1;
	cublasHandle_t handle = NULL;

	if (cublasCreate_v2(&handle) != CUBLAS_STATUS_SUCCESS)
		dprintf(1, "no handle\n");
	for (int i = 0; i < count; i++)
		print_status("linked", MULTIPLY(cublasSgemm_v2, handle));
	if (handle)
		cublasDestroy_v2(handle);
	return 0;
}
