/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/late.c -- late SCOPE LIBRARY PLUGIN: a running program opens
 * libautocast itself, `local` or `global`, then a plugin that multiplies, and
 * multiplies by the library's own entry. `last`: the plugin comes first. */
#include "client.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

int
main(int argc, char **argv)
{
	void *library, *plugin = NULL;
	cublasHandle_t handle = NULL;
	create_fn create;
	sgemm_fn sgemm;

	if (argc != 4)
		return 2;
	if (!strcmp(argv[1], "last"))
		plugin = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
	library = dlopen(argv[2], RTLD_NOW
	    | (strcmp(argv[1], "global") ? RTLD_LOCAL : RTLD_GLOBAL));
	if (!plugin)
		plugin = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
	if (!library || !plugin) {
		dprintf(1, "%s\n", dlerror());
		return 1;
	}
	print_status("plugin",
	    ((int (*)(void))(uintptr_t)dlsym(plugin, "multiply"))());
	create = (create_fn)(uintptr_t)dlsym(library, "cublasCreate_v2");
	sgemm = (sgemm_fn)(uintptr_t)dlsym(library, "cublasSgemm_v2");
	if (!create || !sgemm)
		return 1;
	create(&handle);
	print_status("entry", MULTIPLY(sgemm, handle));
	return 0;
}
