/* SPDX-License-Identifier: Apache-2.0 */
/* scaler/failure.c -- what the driver's errors, and those of kernels/, mean to
 * the program. Asks nothing itself. */
#include "scaler/scaler.h"

#include "api/status.h"

/* CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and those after it */
enum { CAPTURE_FIRST = 900, CAPTURE_LAST = 908 };

/* CUDA_ERROR_NOT_INITIALIZED: we have, so that it was in the parent. */
enum { FORKED = 3 };

autocast_status
ac_cuda_status(int result, const char *call)
{
	if (!result)
		return AUTOCAST_OK;
	if (result >= CAPTURE_FIRST && result <= CAPTURE_LAST)
		return ac_status_fail(AUTOCAST_E_CAPTURE, "%s: not possible "
		    "while a stream captures (CUDA error %d)", call, result);
	if (result == FORKED)
		return ac_status_fail(AUTOCAST_E_CUDA, "%s failed: CUDA does "
		    "not survive fork()", call);
	return ac_status_fail(AUTOCAST_E_CUDA, "%s failed: CUDA error %d", call,
	    result);
}

autocast_status
ac_init_status(int result)
{
	if (!result)
		return AUTOCAST_OK;
	if (result == FORKED)
		return ac_status_fail(AUTOCAST_E_NO_DRIVER, "cuInit failed: "
		    "CUDA does not survive fork()");
	return ac_status_fail(AUTOCAST_E_NO_DRIVER,
	    "cuInit failed: CUDA error %d", result);
}

autocast_status
ac_kernels_failed(enum ac_kernels_status failed)
{
	switch (failed) {
	case AC_KERNELS_OK:
		return AUTOCAST_OK;
	case AC_KERNELS_NO_DRIVER:
		return ac_status_fail(AUTOCAST_E_NO_DRIVER,
		    "there is no usable libcuda.so.1");
	case AC_KERNELS_NO_MODULE:
		return ac_status_fail(AUTOCAST_E_CUDA,
		    "the driver did not take the scaler's kernels");
	case AC_KERNELS_NO_CONTEXT:
		return ac_status_fail(AUTOCAST_E_CUDA,
		    "no CUDA context is current");
	case AC_KERNELS_LAUNCH:
		break;
	}
	return ac_status_fail(AUTOCAST_E_CUDA, "cuLaunchKernel failed");
}
