/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/two_cudnns.c -- a program with two plugins, each
 * linked to a cuDNN of its own: two_cudnns PLUGIN PLUGIN. They convolve by
 * turns, and must get the same bits at each turn; prints those of either.
 * */
#include "plugin.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, TURNS = 3, PLUGINS = 2 };

static uint64_t (*
open_plugin(const char *path))(int)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	uint64_t (*multiply)(int) = NULL;

	if (plugin)
		*(void **)&multiply = dlsym(plugin, "plugin_multiply");
	if (!multiply) {
		fprintf(stderr, "two_cudnns: %s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	return multiply;
}

int
main(int argc, char **argv)
{
	uint64_t (*convolve[PLUGINS])(int), bits[PLUGINS], first[PLUGINS];

	if (argc != 1 + PLUGINS)
		return EXIT_USAGE;
	for (int i = 0; i < PLUGINS; i++)
		convolve[i] = open_plugin(argv[1 + i]);
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < PLUGINS; i++) {
			bits[i] = convolve[i](1);
			if (!turn)
				first[i] = bits[i];
			if (bits[i] != first[i]) {
				fprintf(stderr, "broken: other bits, %s\n",
				    argv[1 + i]);
				return EXIT_FAILURE;
			}
		}
	printf("two_cudnns %016" PRIx64 " %016" PRIx64 "\n", first[0],
	    first[1]);
	return EXIT_SUCCESS;
}
