/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/conv/conv_check.c -- queues the sample of a convolution with a grid
 * that fits. The conductor of convolutions calls it; nothing here waits or
 * allocates. */
#include "kernels/conv/conv_body.h"
#include "kernels/load/load.h"

enum {
	SCANNED = 8,            /* outputs that a thread looks through */
	BLOCKS_PER_SM = 8       /* of AC_CAST_BLOCK threads: a full SM */
};

static unsigned
grid_of(const struct ac_conv_job *job, const struct ac_kernels *kernels)
{
	const int64_t sms = kernels->sm_count > 0 ? kernels->sm_count : 1;
	const int64_t sample = job->count[0] * job->count[1];
	int64_t blocks = job->scan_count / (AC_CONV_LANES * SCANNED) + 1;

	if (blocks < sample)
		blocks = sample;
	return (unsigned)(blocks < sms * BLOCKS_PER_SM ? blocks
	    : sms * BLOCKS_PER_SM);
}

enum ac_kernels_status
ac_conv_check(const struct ac_kernels *kernels,
    const struct ac_conv_check *check, ac_cu_stream stream)
{
	struct ac_conv_job job;
	void *arguments[] = { &job };

	ac_conv_job_make(check, &job);
	return kernels->driver->cuLaunchKernel(
	    kernels->function[AC_KERNEL_CONV_CHECK], grid_of(&job, kernels),
	    1, 1, AC_CONV_LANES, 1, 1, 0, stream, arguments, NULL)
	    ? AC_KERNELS_LAUNCH : AC_KERNELS_OK;
}
