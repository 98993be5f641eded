/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/watch.c -- preloaded behind the library, where the C
 * library's dlsym() would be: writes down who asked for what and what he got,
 * one line each, to the file WATCH. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *(*dlsym_fn)(void *, const char *);

static const char *
module(const void *address)
{
	Dl_info info;
	const char *slash;

	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return "-";
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

static void
note(const void *caller, const char *name, const void *found)
{
	static __thread int inside;
	char line[512];
	int file, size;

	if (inside || strncmp(name, "cu", 2))
		return;
	inside = 1;
	size = snprintf(line, sizeof line, "%s %s %s\n", module(caller), name,
	    module(found));
	file = open(getenv("WATCH"), O_WRONLY | O_APPEND | O_CREAT, 0600);
	if (file >= 0) {
		if (write(file, line, (size_t)size) != size)
			abort();
		close(file);
	}
	inside = 0;
}

void *dlsym(void *restrict handle, const char *restrict name);

__attribute__((visibility("default"))) void *
dlsym(void *restrict handle, const char *restrict name)
{
	static dlsym_fn next;
	void *found;

	if (!next) /* by version: not by way of dlsym() itself */
		next = (dlsym_fn)(uintptr_t)dlvsym(RTLD_NEXT, "dlsym",
		    "GLIBC_2.2.5");
	found = next(handle, name);
	note(__builtin_return_address(0), name, found);
	return found;
}
