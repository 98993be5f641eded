/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/many.c -- many FILE...: as many libraries called libcublas, all
 * open at once, each multiplying with a handle of its own by dlsym(). */
#include "client.h"

#include <dlfcn.h>
#include <stdint.h>

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		create_fn create;
		sgemm_fn sgemm;
		cublasHandle_t handle;

		if (!library) {
			dprintf(1, "%s\n", dlerror());
			return 1;
		}
		create = (create_fn)(uintptr_t)dlsym(library,
		    "cublasCreate_v2");
		sgemm = (sgemm_fn)(uintptr_t)dlsym(library, "cublasSgemm_v2");
		create(&handle);
		print_status("many", MULTIPLY(sgemm, handle));
	}
	return 0;
}
