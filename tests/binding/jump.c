/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/jump.c -- a call that faults inside the provider, a signal
 * handler that jumps out of it, and then a call like any other. */
#include "client.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

static sigjmp_buf back;

static void
leave(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

int
main(void)
{
	cublasHandle_t handle, bad = (cublasHandle_t)(uintptr_t)8;

	signal(SIGSEGV, leave);
	cublasCreate_v2(&handle);
	if (!sigsetjmp(back, 1))
		print_status("no fault", MULTIPLY(cublasSgemm_v2, bad));
	else
		dprintf(1, "jumped out\n");
	print_status("after it", MULTIPLY(cublasSgemm_v2, handle));
	cublasDestroy_v2(handle);
	return 0;
}
