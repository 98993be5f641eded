/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/foreign_dlsym.c -- somebody else's hook of dlsym, as vGPU
 * schedulers preload one: it asks for the versioned dlsym of the C library. */
#include "stub.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

/* The version of what was there from the beginning. */
#ifdef __aarch64__
#define FIRST_GLIBC "GLIBC_2.17"
#else
#define FIRST_GLIBC "GLIBC_2.2.5"
#endif

void *
dlsym(void *restrict scope, const char *restrict name)
{
	static void *(*real)(void *, const char *);

	if (!real)
		real = (void *(*)(void *, const char *))(uintptr_t)dlvsym(
		    RTLD_NEXT, "dlsym", FIRST_GLIBC);
	if (!strcmp(name, "cublasSgemm_v2"))
		say("foreign_dlsym.so", name);
	return real(scope, name);
}
