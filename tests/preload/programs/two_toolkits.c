/* SPDX-License-Identifier: Apache-2.0 */
/* tests/preload/programs/two_toolkits.c -- a program of CUDA 13 that opens a
 * plugin of CUDA 12: two_toolkits PLUGIN [again|moved]. Both multiply in turn,
 * each with its own cuBLAS. `again` closes the plugin between and opens it;
 * `moved` has its libraries come back elsewhere, and ends with how often the
 * plugin itself did. The two must get the same bits each time. */
#include "client.h"
#include "plugin.h"

#include <dlfcn.h>
#include <sys/mman.h>

#ifndef FIRST
#define FIRST 0 /* calls of each that may be as the program made them */
#endif
enum { N = 64, TURNS = 3, PRODUCTS = 2 };

static uint64_t
multiply(cublasHandle_t handle, const float *a, float *c)
{
	static float host[N * N];
	BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N,
	    a, N, &zero, c, N));
	client_host(host, c, (size_t)N * N);
	return client_hash(0, host, sizeof host);
}

static void *
open_plugin(const char *path, uint64_t (**multiply_out)(int))
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!plugin)
		fprintf(stderr, "two_toolkits: %s\n", dlerror());
	client_expect(plugin, "the plugin opens");
	*(void **)multiply_out = dlsym(plugin, "plugin_multiply");
	client_expect(*multiply_out, "the plugin multiplies");
	return plugin;
}

/* ---- Elsewhere ----------------------------------------------------------- */

enum { LIBRARIES = 2, PAGE = 4096 };

/* Where the plugin's cuBLAS and cublasLt begin. */
static int
find_libraries(void *at[LIBRARIES])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512], last[512] = "";
	int found = 0;

	while (maps && found < LIBRARIES && fgets(line, sizeof line, maps)) {
		const char *name = strstr(line, "/libcublas");

		if (!name || !strstr(name, ".so.12") || !strcmp(name, last))
			continue;
		strcpy(last, name);
		at[found++] = (void *)(uintptr_t)strtoull(line, NULL, 16);
	}
	if (maps)
		fclose(maps);
	return found;
}

/* Close it, and let nothing be where its libraries were. */
static void
close_plugin(void *plugin, bool blocks)
{
	void *at[LIBRARIES], *none[LIBRARIES];
	const int found = blocks ? find_libraries(at) : 0;

	dlclose(plugin);
	client_expect(!blocks || !find_libraries(none),
	    "the plugin's libraries go with it");
	/* Where a page cannot be had, something else is there already. */
	for (int i = 0; i < found; i++)
		(void)mmap(at[i], PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS
		    | MAP_FIXED_NOREPLACE, -1, 0);
}

int
main(int argc, char **argv)
{
	const bool moves = argc > 2 && !strcmp(argv[2], "moved");
	const bool again = moves || (argc > 2 && !strcmp(argv[2], "again"));
	float *a = client_random_device((size_t)N * N, 1, 1);
	float *c = client_random_device((size_t)N * N, 1, 2);
	uint64_t (*of_plugin)(int), (*before)(int), own, others;
	cublasHandle_t handle;
	void *plugin;
	int moved = 0;

	if (argc < 2)
		return EXIT_USAGE;
	BLAS(cublasCreate(&handle));
	plugin = open_plugin(argv[1], &of_plugin);
	for (int i = 0; i < FIRST; i++)
		(void)multiply(handle, a, c);
	(void)of_plugin(FIRST);
	own = multiply(handle, a, c);
	others = of_plugin(PRODUCTS);
	for (int i = 1; i < TURNS; i++) {
		client_expect(multiply(handle, a, c) == own,
		    "the program's own product stays");
		if (again) {
			before = of_plugin;
			close_plugin(plugin, moves);
			plugin = open_plugin(argv[1], &of_plugin);
			moved += of_plugin != before;
			(void)of_plugin(FIRST);
		}
		client_expect(of_plugin(PRODUCTS) == others,
		    "the plugin's product stays");
	}
	BLAS(cublasDestroy(handle));
	printf("two_toolkits %016" PRIx64 " %016" PRIx64, own, others);
	printf(moves ? " %d\n" : "\n", moved);
	return EXIT_SUCCESS;
}
