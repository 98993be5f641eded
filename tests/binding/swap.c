/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/swap.c -- swap WAY FILE FILE: open, use and close the two files
 * in turn, a hundred times. Each comes to lie where the other was, and whoever
 * keeps what he learnt about an address goes wrong: that every file answers as
 * it did the first time is checked here. WAY: plugin (see host.c), or library
 * (a libcublas, by dlsym). Prints the first answers; exits 3 where the loader
 * did not reuse the address, and nothing was shown. */
#include "client.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

enum { ROUNDS = 100 };

static int
use_library(void *library)
{
	create_fn create = (create_fn)(uintptr_t)dlsym(library,
	    "cublasCreate_v2");
	sgemm_fn sgemm = (sgemm_fn)(uintptr_t)dlsym(library, "cublasSgemm_v2");
	destroy_fn destroy = (destroy_fn)(uintptr_t)dlsym(library,
	    "cublasDestroy_v2");
	cublasHandle_t handle;
	int status;

	create(&handle);
	status = MULTIPLY(sgemm, handle);
	destroy(handle);
	return status;
}

static int
use_plugin(void *library)
{
	return ((int (*)(void))(uintptr_t)dlsym(library, "multiply"))();
}

int
main(int argc, char **argv)
{
	int first[2] = { 0, 0 }, moved = 0;
	uintptr_t address = 0;

	if (argc != 4)
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		struct link_map *library = dlopen(argv[2 + i % 2],
		    RTLD_NOW | RTLD_LOCAL);
		int status;

		if (!library) {
			dprintf(1, "%s\n", dlerror());
			return 1;
		}
		status = strcmp(argv[1], "plugin") ? use_library(library)
		    : use_plugin(library);
		moved += i > 1 && library->l_addr != address;
		address = library->l_addr;
		dlclose(library);
		if (i < 2)
			print_status(argv[1], first[i] = status);
		else if (status != first[i % 2])
			print_status("later", status);
	}
	return moved > ROUNDS / 2 ? 3 : 0;
}
