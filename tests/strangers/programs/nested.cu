/* SPDX-License-Identifier: Apache-2.0 */
/* tests/strangers/programs/nested.cu -- dynamic parallelism: a kernel that
 * launches kernels, until nothing is left to halve. */
#include "user.h"

__global__ void
halve(int *count, int left)
{
	atomicAdd(count, 1);
	if (left > 1)
		halve<<<1, 1>>>(count, left / 2);
}

int
main()
{
	int *count = upload(std::vector<int>(1));

	halve<<<1, 1>>>(count, 16);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	expect("launches, beyond 5", download(count, 1)[0] - 5, 0);
	return wrong;
}
