/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/preload/programs/two_toolkits.c -- a program of CUDA 13 that opens a
 * plugin of CUDA 12: two_toolkits PLUGIN [again]. Both multiply by turns, each
 * with its own cuBLAS; `again` closes and opens the plugin between. The two
 * must get the same bits each time.
 */
#include "client.h"
#include "plugin.h"

#include <dlfcn.h>

#ifndef FIRST
#define FIRST 0 /* calls of each that may be as the program made them */
#endif
enum { N = 64, TURNS = 3, PRODUCTS = 2 };

static uint64_t
multiply(cublasHandle_t handle, const float *a, float *c)
{
	static float host[N * N];
	const float one = 1, zero = 0;

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

int
main(int argc, char **argv)
{
	const bool again = argc > 2 && !strcmp(argv[2], "again");
	float *a = client_random_device((size_t)N * N, 1, 1);
	float *c = client_random_device((size_t)N * N, 1, 2);
	uint64_t (*of_plugin)(int), own, others;
	cublasHandle_t handle;
	void *plugin;

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
			dlclose(plugin);
			plugin = open_plugin(argv[1], &of_plugin);
			(void)of_plugin(FIRST);
		}
		client_expect(of_plugin(PRODUCTS) == others,
		    "the plugin's product stays");
	}
	BLAS(cublasDestroy(handle));
	printf("two_toolkits %016" PRIx64 " %016" PRIx64 "\n", own, others);
	return EXIT_SUCCESS;
}
