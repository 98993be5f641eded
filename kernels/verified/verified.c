/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified.c -- queues the kernels of a verified product, each
 * with a grid that fits. Nothing here waits or allocates. */
#include "kernels/verified/verified.h"
#include "kernels/load/load.h"
#include "kernels/recast/cast.h"

enum {
	MEND_BLOCK = 128,
	MEND_PER_SM = 3         /* one wave */
};

static enum ac_kernels_status
launch(const struct ac_kernels *kernels, enum ac_kernel kernel, int64_t blocks,
    unsigned threads, const struct ac_verified *v, ac_cu_stream stream)
{
	void *arguments[] = { (void *)(uintptr_t)v };

	if (blocks < 1 || blocks > INT32_MAX)
		return AC_KERNELS_LAUNCH;
	return kernels->driver->cuLaunchKernel(kernels->function[kernel],
	    (unsigned)blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL)
	    ? AC_KERNELS_LAUNCH : AC_KERNELS_OK;
}

enum ac_kernels_status
ac_verified_probe(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream)
{
	return launch(kernels, AC_KERNEL_VERIFIED_PROBE,
	    ac_verified_probe_blocks(v), AC_CAST_BLOCK, v, stream);
}

enum ac_kernels_status
ac_verified_cast(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream)
{
	return launch(kernels, AC_KERNEL_VERIFIED_CAST,
	    ac_verified_cast_blocks(v), AC_CAST_BLOCK, v, stream);
}

enum ac_kernels_status
ac_verified_verify(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream)
{
	return launch(kernels, AC_KERNEL_VERIFIED_VERIFY,
	    ac_verified_verify_blocks(v), AC_CAST_BLOCK, v, stream);
}

enum ac_kernels_status
ac_verified_mend(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream)
{
	const int sms = kernels->sm_count > 0 ? kernels->sm_count : 1;

	return launch(kernels, AC_KERNEL_VERIFIED_MEND,
	    (int64_t)sms * MEND_PER_SM, MEND_BLOCK, v, stream);
}
