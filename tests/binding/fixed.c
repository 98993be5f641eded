/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/fixed.c -- linked to libcublas at a fixed address: its code has
 * the function's address as a constant, for which the linker makes an entry in
 * the program that stands for the function everywhere. */
#include "client.h"

int
main(void)
{
	sgemm_fn volatile by_address = cublasSgemm_v2;
	cublasHandle_t handle = NULL;

	cublasCreate_v2(&handle);
	print_status("call", MULTIPLY(cublasSgemm_v2, handle));
	print_status("address", MULTIPLY(by_address, handle));
	cublasDestroy_v2(handle);
	return 0;
}
