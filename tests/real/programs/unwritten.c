/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/unwritten.c -- prints how many bytes of a descriptor of a
 * product cublasLtMatmulDescInit() leaves as they were. */
#include <cublasLt.h>

#include <stdio.h>
#include <string.h>

int
main(void)
{
	union {
		cublasLtMatmulDescOpaque_t operation;
		unsigned char bytes[sizeof(cublasLtMatmulDescOpaque_t)];
	} first, second;
	int left = 0;

	memset(&first, 0x55, sizeof first);
	memset(&second, 0xaa, sizeof second);
	if (cublasLtMatmulDescInit(&first.operation, CUBLAS_COMPUTE_32F,
	    CUDA_R_32F) || cublasLtMatmulDescInit(&second.operation,
	    CUBLAS_COMPUTE_32F, CUDA_R_32F))
		return 1;
	for (unsigned i = 0; i < sizeof first; i++)
		left += first.bytes[i] == 0x55 && second.bytes[i] == 0xaa;
	printf("%d of %zu\n", left, sizeof first);
	return 0;
}
