/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/stub_cublaslt.c -- libcublasLt.so.13: one product. */
#include "stub.h"

SHOWN int cublasLtMatmul(void *handle);

SHOWN int
cublasLtMatmul(void *handle)
{
	(void)handle;
	say("libcublasLt.so.13", "cublasLtMatmul");
	return 4200;
}
