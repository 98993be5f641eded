/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/foreign_dlsym.c -- somebody else's hook of dlsym, as vGPU
 * schedulers preload one: it asks for the versioned dlsym of the C library. */
#include "stub.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

void *
dlsym(void *restrict scope, const char *restrict name)
{
	static void *(*real)(void *, const char *);

	if (!real)
		real = (void *(*)(void *, const char *))(uintptr_t)dlvsym(
		    RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	if (!strcmp(name, "cublasSgemm_v2"))
		say("foreign_dlsym.so", name);
	return real(scope, name);
}
