/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/versions.c -- versions VERSION VERSION: two versions of
 * libcublas in one process, none of them global. Each is reached by a plugin
 * that is linked to it and by dlsym(); then each is handed the other's handle.
 * Prints what every one of these calls answered. */
#include "client.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

struct version {
	sgemm_fn sgemm;
	destroy_fn destroy;
	cublasHandle_t handle;
};

static void *
open_or_leave(const char *pattern, const char *version)
{
	char file[64];
	void *library;

	snprintf(file, sizeof file, pattern, version);
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		dprintf(1, "%s\n", dlerror());
		exit(1);
	}
	return library;
}

static void
use_plugin(const char *version)
{
	void *plugin = open_or_leave("plugin%s.so", version);
	int (*multiply)(void) =
	    (int (*)(void))(uintptr_t)dlsym(plugin, "multiply");
	int (*by_data)(void) =
	    (int (*)(void))(uintptr_t)dlsym(plugin, "multiply_by_data");

	print_status("linked", multiply());
	print_status("by data", by_data());
}

static struct version
use_library(const char *version)
{
	void *library = open_or_leave("libcublas.so.%s", version);
	create_fn create = (create_fn)(uintptr_t)dlsym(library,
	    "cublasCreate_v2");
	struct version v = {
		(sgemm_fn)(uintptr_t)dlsym(library, "cublasSgemm_v2"),
		(destroy_fn)(uintptr_t)dlsym(library, "cublasDestroy_v2"), NULL
	};

	create(&v.handle);
	print_status("by dlsym", MULTIPLY(v.sgemm, v.handle));
	return v;
}

int
main(int argc, char **argv)
{
	struct version a, b;

	if (argc != 3)
		return 2;
	use_plugin(argv[1]);
	use_plugin(argv[2]);
	a = use_library(argv[1]);
	b = use_library(argv[2]);
	print_status("handle of the other", MULTIPLY(b.sgemm, a.handle));
	print_status("handle of the other", MULTIPLY(a.sgemm, b.handle));
	a.destroy(a.handle);
	b.destroy(b.handle);
	return 0;
}
