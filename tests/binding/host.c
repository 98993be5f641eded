/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/host.c -- host MODE FILE FUNCTION...: open FILE and print what
 * its functions answer. MODE: now, lazy, deep, lazy-deep, or namespace (where
 * no preload is). */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int
flags_of(const char *mode)
{
	int flags = strncmp(mode, "lazy", 4) ? RTLD_NOW : RTLD_LAZY;

	if (strstr(mode, "deep"))
		flags |= RTLD_DEEPBIND;
	return flags | RTLD_LOCAL;
}

int
main(int argc, char **argv)
{
	void *library = NULL;

	if (argc > 2)
		library = strcmp(argv[1], "namespace")
		    ? dlopen(argv[2], flags_of(argv[1]))
		    : dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW);
	if (!library) {
		dprintf(1, "%s\n", argc > 2 ? dlerror() : "usage");
		return 1;
	}
	for (int i = 3; i < argc; i++) {
		int (*function)(void *) =
		    (int (*)(void *))(uintptr_t)dlsym(library, argv[i]);

		if (!function)
			return 1;
		dprintf(1, "%s %d\n", argv[i], function(NULL));
	}
	return 0;
}
