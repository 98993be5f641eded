/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/verified/verified.c -- queues the kernels of a verified product, each
 * with a grid that fits; verified.ptx as a module. Nothing here waits or
 * allocates. */
#include "kernels/verified/verified.h"
#include "kernels/load/load.h"
#include "kernels/recast/cast.h"

enum {
	MEND_BLOCK = 128,
	MEND_PER_SM = 3         /* one wave */
};

enum kernel { PROBE, CAST, VERIFY, MEND, KERNELS };
static const char *const names[KERNELS] = {
	"ac_verified_probe", "ac_verified_cast", "ac_verified_verify",
	"ac_verified_mend"
};

extern const char ac_verified_ptx[] __attribute__((visibility("hidden")));
static struct ac_kernels_table table;
const struct ac_kernels_module ac_verified_module = {
	.text = ac_verified_ptx,
	.refused = "no verified products",
	.image = AC_KERNELS_IMAGE_OF("verified"),
	.names = names,
	.count = KERNELS,
	.table = &table,
};

enum ac_kernels_status
ac_verified_load(ac_cu_context context, uint64_t id,
    const struct ac_kernels **kernels_out)
{
	const struct ac_driver *driver = ac_driver_get();

	return driver ? ac_kernels_find(&ac_verified_module, driver, context,
	    id, kernels_out) : AC_KERNELS_NO_DRIVER;
}

static enum ac_kernels_status
launch(const struct ac_kernels *kernels, enum kernel kernel, int64_t blocks,
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
	return launch(kernels, PROBE, ac_verified_probe_blocks(v),
	    AC_CAST_BLOCK, v, stream);
}

enum ac_kernels_status
ac_verified_cast(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream)
{
	return launch(kernels, CAST, ac_verified_cast_blocks(v),
	    AC_CAST_BLOCK, v, stream);
}

enum ac_kernels_status
ac_verified_verify(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream)
{
	return launch(kernels, VERIFY, ac_verified_verify_blocks(v),
	    AC_CAST_BLOCK, v, stream);
}

enum ac_kernels_status
ac_verified_mend(const struct ac_kernels *kernels,
    const struct ac_verified *v, ac_cu_stream stream)
{
	const int sms = kernels->sm_count > 0 ? kernels->sm_count : 1;

	return launch(kernels, MEND, (int64_t)sms * MEND_PER_SM, MEND_BLOCK, v,
	    stream);
}
