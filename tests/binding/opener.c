/* SPDX-License-Identifier: Apache-2.0 */
/* tests/binding/opener.c -- a library that opens a file which only its own run
 * path leads to. */
#include <dlfcn.h>
#include <stdio.h>

int open_neighbour(void);

int
open_neighbour(void)
{
	void *library = dlopen("libneighbour.so", RTLD_NOW);

	if (!library)
		dprintf(1, "%s\n", dlerror());
	return library != NULL;
}
