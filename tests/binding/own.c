/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/own.c -- own [FILE]: a program that exports a cublasSgemm_v2 of
 * its own, as one that is linked to static cuBLAS may, and looks it up; with a
 * libcublas opened RTLD_GLOBAL behind it, if FILE says so. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int cublasSgemm_v2(void);

int
cublasSgemm_v2(void)
{
	return 77;
}

static void
ask(const char *name, void *scope)
{
	int (*sgemm)(void) =
	    (int (*)(void))(uintptr_t)dlsym(scope, "cublasSgemm_v2");

	dprintf(1, "%s %d\n", name, sgemm ? sgemm() : -1);
}

int
main(int argc, char **argv)
{
	if (argc > 1 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
		return 1;
	ask("RTLD_DEFAULT", RTLD_DEFAULT);
	ask("dlopen(NULL)", dlopen(NULL, RTLD_NOW));
	return 0;
}
