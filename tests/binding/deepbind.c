/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/deepbind.c -- deepbind PLUGIN: linked to libcublas, it
 * multiplies itself and in a plugin that it opens with RTLD_DEEPBIND. */
#include "client.h"

#include <dlfcn.h>
#include <stdint.h>

int
main(int argc, char **argv)
{
	cublasHandle_t handle;
	void *plugin;

	if (argc != 2)
		return 2;
	plugin = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
	if (!plugin)
		return 1;
	print_status("plugin",
	    ((int (*)(void))(uintptr_t)dlsym(plugin, "multiply"))());
	cublasCreate_v2(&handle);
	print_status("linked", MULTIPLY(cublasSgemm_v2, handle));
	cublasDestroy_v2(handle);
	return 0;
}
