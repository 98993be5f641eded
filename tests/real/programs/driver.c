/* SPDX-License-Identifier: Apache-2.0 */
/* tests/real/programs/driver.c -- what kernels/ finds in NVIDIA's libcuda.so.1
 * on a machine without a device. Arguments: "first" opens the library before
 * kernels/ asks for it, "late" leaves that to kernels/. */
#include "kernels/load/driver.h"
#include "kernels/load/load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*look_up)(const char *, void **, int, unsigned long long, int *);

static const struct row {
	const char *name, *need;
	int         version;
} rows[] = {
#define DRIVER(name, version, need, params) { #name, #need, version },
#include "kernels/load/driver.def"
#undef DRIVER
};
enum { ROWS = sizeof rows / sizeof *rows };

static void *
function_of(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function)
		fprintf(stderr, "%s is missing\n", name);
	return function;
}

/* A line per row: what NVIDIA's own look-up says of it, and whether kernels/
 * has the same. */
static void
say_rows(const char *when, look_up find, const struct ac_driver *driver)
{
	void *ours[ROWS];

	_Static_assert(sizeof ours == sizeof *driver, "a pointer per row");
	memcpy(ours, driver, sizeof ours);
	for (int i = 0; i < ROWS; i++) {
		void *function = NULL;
		int status = -1;
		const int result = find(rows[i].name, &function,
		    rows[i].version, 0, &status);

		printf("%s row %s %d %s: %s, %s\n", when, rows[i].name,
		    rows[i].version, rows[i].need,
		    !result && function ? "found" : "absent",
		    ours[i] == function ? "the same" : "ANOTHER");
	}
}

/* No context can be current here. */
static void
say_load(const char *when)
{
	const struct ac_kernels *kernels = NULL;
	const enum ac_kernels_status status =
	    ac_kernels_get(&ac_recast_module, &kernels);

	printf("%s load: %s\n", when, status != AC_KERNELS_NO_CONTEXT
	    ? "ANOTHER ANSWER" : kernels ? "KERNELS" : "no context");
}

int
main(int count, char **argument)
{
	void *library = NULL, *address;
	const struct ac_driver *driver;
	int (*get_version)(int *);
	int version = -1;
	look_up find;
	Dl_info info;

	if (count == 2 && !strcmp(argument[1], "first"))
		library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	driver = ac_driver_get();
	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (!library || !driver) {
		printf("library %s, driver %s\n", library ? "open" : dlerror(),
		    driver ? "found" : "refused");
		return 1;
	}
	address = function_of(library, "cuGetProcAddress_v2");
	memcpy(&find, &address, sizeof find);
	address = function_of(library, "cuDriverGetVersion");
	memcpy(&get_version, &address, sizeof get_version);
	if (!find || !get_version || !dladdr(address, &info))
		return 1;
	printf("file %s\n", info.dli_fname);
	if (get_version(&version))
		return 1;
	printf("version %d\n", version);
	say_rows("before", find, driver);
	say_load("before");
	printf("init: %d\n", driver->cuInit(0));
	say_rows("after", find, driver);
	say_load("after");
	return 0;
}
