/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/recast/recast_module.c -- recast.ptx as load.c wants it. Names in the
 * order of load.h's AC_KERNEL_*. */
#include "kernels/load/load.h"

extern const unsigned char ac_recast_ptx[], ac_recast_ptx_end[]
    __attribute__((visibility("hidden")));

static const char *const names[AC_KERNEL_COUNT] = {
	"ac_verified_probe", "ac_verified_cast", "ac_verified_verify",
	"ac_verified_mend", "ac_recast_ranges", "ac_recast_symmetric",
	"ac_conv_check"
};
static struct ac_kernels_table table;

const struct ac_kernels_module ac_recast_module = {
	.packed = { ac_recast_ptx, ac_recast_ptx_end },
	.image = AC_KERNELS_IMAGE_OF("recast"),
	.refused = "no recast",
	.names = names,
	.count = AC_KERNEL_COUNT,
	.table = &table,
};

enum ac_kernels_status
ac_kernels_load(ac_cu_context context, uint64_t id,
    const struct ac_kernels **kernels_out)
{
	const struct ac_driver *driver = ac_driver_get();

	return driver ? ac_kernels_find(&ac_recast_module, driver, context, id,
	    kernels_out) : AC_KERNELS_NO_DRIVER;
}
