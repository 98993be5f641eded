/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/inner.c -- a part of libcublas that looks a name of libcublas
 * up: inside() is 1 if it gets that library's own function, 2 if somebody
 * else's. */
#include "stub.h"

#include <dlfcn.h>
#include <string.h>

int cu_inside(void *);

SHOWN int
cu_inside(void *unused)
{
	void *library = dlopen("libcublas.so.13", RTLD_NOW);
	void *found = library ? dlsym(library, "cublasSgemm_v2") : unused;
	Dl_info info;

	return found && dladdr(found, &info)
	    && strstr(info.dli_fname, "libcublas.so.13") ? 1 : 2;
}
