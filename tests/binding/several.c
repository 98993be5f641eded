/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/several.c -- several FILE...: open each in turn, keep it, and
 * print what its multiply() and multiply_by_data() answer. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static int
call(void *library, const char *name)
{
	int (*function)(void) = (int (*)(void))(uintptr_t)dlsym(library, name);

	return function ? function() : -1;
}

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

		if (!library) {
			dprintf(1, "%s\n", dlerror());
			return 1;
		}
		dprintf(1, "%d: %d %d\n", i, call(library, "multiply"),
		    call(library, "multiply_by_data"));
	}
	return 0;
}
