/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/where.c -- finds what belongs to this program: next to it in a build
 * tree, under the same prefix when installed, else where it was configured to
 * be. Never asks PATH or the environment. */
#include "cmd/command.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef AC_LIBDIR
#define AC_LIBDIR "/usr/local/lib"
#endif
#ifndef AC_EMULATOR_DIR
#define AC_EMULATOR_DIR AC_LIBDIR "/libautocast/emulator"
#endif

/* Candidates, the first that exists wins. Not absolute: from our directory. */
static const char *const libraries[] = {
	"libautocast.so", "../libautocast.so", ".libs/libautocast.so",
	"../lib/libautocast/libautocast.so",
	AC_LIBDIR "/libautocast/libautocast.so"
};
static const char *const emulators[] = {
	"emulator", "../emulator", "../lib/libautocast/emulator",
	AC_EMULATOR_DIR
};

static bool
own_directory(char *path_out, size_t size)
{
	const ssize_t length = readlink("/proc/self/exe", path_out, size - 1);
	char *slash;

	if (length <= 0)
		return false;
	path_out[length] = '\0';
	slash = strrchr(path_out, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}

/* The candidate under which `proof` (may be "") is readable. */
static bool
find(const char *const *candidates, size_t count, const char *proof,
    char *path_out)
{
	char own[PATH_MAX];
	const bool has_own = own_directory(own, sizeof own);

	for (size_t i = 0; i < count; i++) {
		const bool absolute = candidates[i][0] == '/';
		struct ac_text tried = AC_TEXT_OF(2 * PATH_MAX);

		if (!absolute && !has_own)
			continue;
		if (!absolute)
			ac_text_addf(&tried, "%s/", own);
		ac_text_add(&tried, candidates[i]);
		if (!realpath(tried.data, path_out))
			continue;
		ac_text_add(&tried, proof);
		if (!tried.truncated && !access(tried.data, R_OK))
			return true;
	}
	return false;
}

const char *
ac_where_library(void)
{
	static char path[PATH_MAX];

	return find(libraries, sizeof libraries / sizeof *libraries, "", path)
	    ? path : NULL;
}

const char *
ac_where_emulator(void)
{
	static char path[PATH_MAX];

	return find(emulators, sizeof emulators / sizeof *emulators,
	    "/libcublas.so.13", path) ? path : NULL;
}
