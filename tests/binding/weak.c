/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/weak.c -- a program that can do without NVIDIA's libraries, and
 * does: it calls what it finds defined. */
#include "client.h"

#pragma weak cublasSgemm_v2
#pragma weak cublasCreate_v2
#pragma weak cublasLtMatmul
#pragma weak cudnnConvolutionForward
extern int cublasLtMatmul(void *);
extern int cudnnConvolutionForward(void *);

int
main(void)
{
	cublasHandle_t handle = NULL;

	if (cublasCreate_v2)
		print_status("create", (int)cublasCreate_v2(&handle));
	if (cublasSgemm_v2)
		print_status("product", MULTIPLY(cublasSgemm_v2, handle));
	if (cublasLtMatmul)
		print_status("lt", cublasLtMatmul(NULL));
	if (cudnnConvolutionForward)
		print_status("cudnn", cudnnConvolutionForward(NULL));
	return 0;
}
