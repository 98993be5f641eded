/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/stub/reload.c -- reload PLUGIN: open it, multiply, close it,
 * and occupy where its libcublas was, four times: the plugin comes back at its
 * old address, the library elsewhere. Who keeps a pointer into it crashes. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Where a file of that name is mapped, NULL if it is not. */
static void *
mapping_of(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long at = 0;
	char line[512];

	while (maps && fgets(line, sizeof line, maps))
		if (strstr(line, name)) {
			sscanf(line, "%lx", &at);
			break;
		}
	if (maps)
		fclose(maps);
	return (void *)at;
}

int
main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && i < 4; i++) {
		void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
		int (*multiply)(void);
		void *library;

		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		multiply = (int (*)(void))(uintptr_t)dlsym(plugin, "multiply");
		if (!multiply || multiply())
			return 1;
		library = mapping_of("libcublas.so.13");
		dlclose(plugin);
		if (mapping_of("libcublas.so.13"))
			return 1;
		if (mmap(library, 0x5000, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS
		    | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
			return 1;
	}
	return argc != 2;
}
