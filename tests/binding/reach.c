/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/reach.c -- reach WAY FILE [VERSION]: look cublasSgemm_v2 up in
 * the libcublas FILE by dlsym() or dlvsym(), multiply, print the status.
 * WAY: handle (opened RTLD_LOCAL), default (RTLD_GLOBAL, RTLD_DEFAULT). */
#include "client.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

static void *scope;
static const char *version;

static uintptr_t
find(const char *name)
{
	void *found = version ? dlvsym(scope, name, version)
	    : dlsym(scope, name);

	if (!found)
		dprintf(1, "%s\n", dlerror());
	return (uintptr_t)found;
}

int
main(int argc, char **argv)
{
	const int global = argc > 2 && !strcmp(argv[1], "default");
	cublasHandle_t handle = NULL;
	create_fn create;
	sgemm_fn sgemm;
	destroy_fn destroy;

	if (argc < 3)
		return 2;
	version = argv[3];
	scope = dlopen(argv[2], RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!scope) {
		dprintf(1, "%s\n", dlerror());
		return 1;
	}
	if (global)
		scope = RTLD_DEFAULT;
	create = (create_fn)find("cublasCreate_v2");
	sgemm = (sgemm_fn)find("cublasSgemm_v2");
	destroy = (destroy_fn)find("cublasDestroy_v2");
	if (!create || !sgemm || !destroy)
		return 1;
	create(&handle);
	print_status(argv[1], MULTIPLY(sgemm, handle));
	if (handle)
		destroy(handle);
	return 0;
}
