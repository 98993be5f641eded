/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/plugin_host.c -- a program without CUDA that opens
 * one with it: plugin_host FILE [lazy|deepbind|global|twice]. RTLD_LOCAL and
 * RTLD_NOW unless the word says else; `twice` closes it and opens it again,
 * and must get the same bits. */
#include "plugin.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, PRODUCTS = 5 };

static const struct way {
	const char *name;
	int flags, times;
} ways[] = {
	{ "now", RTLD_NOW | RTLD_LOCAL, 1 },
	{ "lazy", RTLD_LAZY | RTLD_LOCAL, 1 },
	{ "deepbind", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND, 1 },
	{ "global", RTLD_NOW | RTLD_GLOBAL, 1 },
	{ "twice", RTLD_NOW | RTLD_LOCAL, 2 },
};

static uint64_t
open_and_multiply(const char *path, const struct way *way)
{
	void *plugin = dlopen(path, way->flags);
	uint64_t (*multiply)(int), hash;

	if (!plugin) {
		fprintf(stderr, "plugin_host: %s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	*(void **)&multiply = dlsym(plugin, "plugin_multiply");
	if (!multiply) {
		fprintf(stderr, "plugin_host: %s\n", dlerror());
		exit(EXIT_FAILURE);
	}
	hash = multiply(PRODUCTS);
	if (way->times > 1)
		dlclose(plugin);
	return hash;
}

int
main(int argc, char **argv)
{
	const struct way *way = NULL;
	uint64_t hash;

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (!strcmp(argc > 2 ? argv[2] : "now", ways[i].name))
			way = &ways[i];
	if (argc < 2 || !way) {
		fprintf(stderr,
		    "plugin_host FILE [lazy|deepbind|global|twice]\n");
		return EXIT_USAGE;
	}
	hash = open_and_multiply(argv[1], way);
	for (int i = 1; i < way->times; i++)
		if (open_and_multiply(argv[1], way) != hash) {
			fprintf(stderr, "broken: the same bits again\n");
			return EXIT_FAILURE;
		}
	printf("plugin_host %s checksum=%016" PRIx64 "\n", way->name, hash);
	return EXIT_SUCCESS;
}
