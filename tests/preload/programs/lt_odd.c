/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/lt_odd.c -- one descriptor for many calls of cublasLt,
 * on which an attribute that no product of FP32 has is set and unset between
 * them. Prints the status of each call. */
#include "lt_client.h"

enum { CALLS = 24 };

int
main(void)
{
	const struct lt_wanted wanted = { .kind = &lt_kinds[LT_FP32],
		.m = 64, .n = 48, .k = 32, .batch = 1, .alpha = 1,
		.epilogue = CUBLASLT_EPILOGUE_DEFAULT };
	struct lt_problem *p = lt_make(&wanted, 1);
	struct lt_descriptors d;
	cublasLtHandle_t handle;

	BLAS(cublasLtCreate(&handle));
	lt_describe(p, &d);
	for (int i = 0; i < CALLS; i++) {
		const void *scale = i >= CALLS / 2 && i % 2 ? p->a.device
		    : NULL;

		LT_SET(d.operation, A_SCALE_POINTER, scale);
		printf("%d ", (int)lt_multiply(handle, p, &d, NULL, NULL, 0,
		    NULL));
		CUDA(cudaStreamSynchronize(NULL));
	}
	printf("\n");
	lt_undescribe(&d);
	lt_drop(p);
	BLAS(cublasLtDestroy(handle));
	return EXIT_SUCCESS;
}
