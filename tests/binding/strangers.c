/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/strangers.c -- strangers LIBRARY: linked to libcublas, it goes
 * on multiplying while a library that has nothing to do with it is opened and
 * closed, again and again. Exits 3 if that costs memory. */
#include "client.h"

#include <dlfcn.h>
#include <unistd.h>

enum { WARM = 200, ROUNDS = 4000, SPARE_PAGES = 64 };

static long
resident_pages(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size, resident = 0;

	if (!file || fscanf(file, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident;
}

int
main(int argc, char **argv)
{
	cublasHandle_t handle;
	long before = 0;

	if (argc != 2)
		return 2;
	cublasCreate_v2(&handle);
	for (int i = 0; i < ROUNDS; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);

		if (!library)
			return 1;
		dlclose(library);
		if (i == WARM)
			before = resident_pages();
		MULTIPLY(cublasSgemm_v2, handle);
		MULTIPLY(cublasSgemm_v2, handle);
		MULTIPLY(cublasSgemm_v2, handle);
		MULTIPLY(cublasSgemm_v2, handle);
	}
	cublasDestroy_v2(handle);
	return resident_pages() > before + SPARE_PAGES ? 3 : 0;
}
