/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/wide.c -- sizes past 32 bits, each with a small one that has
 * the same low half, twice over: none may be taken for another. */
#include "client.h"

/* One place, however a compiler unrolls the loops around it. */
static __attribute__((noinline)) int
multiply(cublasHandle_t handle, const int64_t size[3])
{
	struct client_data data = { .one = 1 };

	return cublasSgemm_v2_64(handle, CUBLAS_OP_N, CUBLAS_OP_T, size[0],
	    size[1], size[2], &data.one, data.a, 8, data.b, 8, &data.one,
	    data.c, 8) != CUBLAS_STATUS_SUCCESS;
}

int
main(void)
{
	const int64_t far = INT64_C(1) << 32;
	const int64_t sizes[][3] = {
		{ 4, 5, 6 }, { 4 + far, 5, 6 }, { 4, 5 + far, 6 },
		{ 4, 5, 6 + far }, { 4, 5 + 2 * far, 6 }, { -4, 5, 6 },
	};
	cublasHandle_t handle;
	int failed = cublasCreate_v2(&handle) % 100 != 0;

	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
			failed |= multiply(handle, sizes[i]);
	return failed;
}
