/* SPDX-License-Identifier: Apache-2.0 */
/* kernels/load/driver.c -- finds libcuda.so.1 and the rows of driver.def in it.
 *
 * Never linked to the driver; opens it only for ac_driver_get(), and never
 * closes it. No lock is held while the loader or the driver runs, so that what
 * they call back into may come here again. */
#include "kernels/load/driver.h"

#include "base/elf.h"
#include "base/lock.h"
#include "base/log.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define SONAME "libcuda.so.1"

enum need { NEEDED, OPTIONAL };

/* Where each row's pointer goes in struct ac_driver. */
static const struct row {
	char        name[40];   /* no address for the loader to fill in */
	int         version;
	enum need   need;
	size_t      offset;
} rows[] = {
#define DRIVER(name, version, need, params) \
	{ #name, version, need, offsetof(struct ac_driver, name) },
#include "kernels/load/driver.def"
#undef DRIVER
};

/* A driver without cuGetProcAddress (before CUDA 11.3): the plain name is an
 * older ABI than the row's where cuda.h redefines it. */
static const char suffixed[][40] = {
	"cuMemGetInfo_v2",
	"cuEventDestroy_v2",
	"cuMemHostRegister_v2",
	"cuMemHostGetDevicePointer_v2",
	"cuDevicePrimaryCtxRelease_v2",
	"cuCtxPushCurrent_v2",
	"cuCtxPopCurrent_v2",
	"cuMemAlloc_v2",
	"cuMemFree_v2",
	"cuMemcpyHtoDAsync_v2",
	"cuMemcpyDtoHAsync_v2",
};

typedef ac_cu_result (*look_up_v2)(const char *, void **, int,
    unsigned long long, int *);
typedef ac_cu_result (*look_up_v1)(const char *, void **, int,
    unsigned long long);

/* What finds a row's function in one loaded driver. */
struct finder {
	struct ac_elf_object object;
	look_up_v2 v2; /* CUDA 12 and later */
	look_up_v1 v1; /* 11.3 to 11.8; also there later */
};

static _Atomic(const struct ac_driver *) current;
static atomic_bool refused; /* there is none, or it is of no use */
static struct ac_lock publishing;

static const char *
symbol_of(const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < sizeof suffixed / sizeof *suffixed; i++)
		if (!strncmp(name, suffixed[i], length)
		    && !strcmp(suffixed[i] + length, "_v2"))
			return suffixed[i];
	return name;
}

static void *
find(const struct finder *finder, const struct row *row)
{
	/* 0: the default streams as cuBLAS itself sees them; the flag for
	 * per-thread default streams would change the meaning of stream 0. */
	const unsigned long long flags = 0;
	void *function = NULL;
	int status = 0;

	if (finder->v2)
		return finder->v2(row->name, &function, row->version, flags,
		    &status) ? NULL : function;
	if (finder->v1)
		return finder->v1(row->name, &function, row->version, flags)
		    ? NULL : function;
	return ac_elf_definition(&finder->object, symbol_of(row->name));
}

/* Fill `driver` from the rows. Returns the first needed row that the driver
 * lacks, NULL if it has all. */
static const struct row *
fill(const struct finder *finder, struct ac_driver *driver)
{
	memset(driver, 0, sizeof *driver);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		void *function = find(finder, &rows[i]);
		if (!function && rows[i].need == NEEDED)
			return &rows[i];
		memcpy((char *)driver + rows[i].offset, &function,
		    sizeof function);
	}
	return NULL;
}

/* Remembered for the life of the process, and said once. */
static void
refuse(const struct row *missing)
{
	if (atomic_exchange_explicit(&refused, true, memory_order_relaxed))
		return;
	if (missing)
		ac_log(AC_LOG_INFO, "the CUDA driver has no %s: "
		    "nothing will be recast", missing->name);
	else
		ac_log(AC_LOG_INFO, "no CUDA driver (" SONAME "): "
		    "nothing will be recast");
}

/* First come, first published: threads that looked at the same time found the
 * same, and all leave with the same table. */
static const struct ac_driver *
publish(const struct ac_driver *found)
{
	static struct ac_driver table;

	ac_lock_take(&publishing);
	if (!atomic_load_explicit(&current, memory_order_relaxed)) {
		table = *found;
		atomic_store_explicit(&current, &table, memory_order_release);
	}
	ac_lock_give(&publishing);
	return &table;
}

static bool
finder_init(struct finder *finder)
{
	void *v1, *v2;

	if (!ac_elf_find_object(SONAME, &finder->object))
		return false;
	v1 = ac_elf_definition(&finder->object, "cuGetProcAddress");
	v2 = ac_elf_definition(&finder->object, "cuGetProcAddress_v2");
	memcpy(&finder->v1, &v1, sizeof v1);
	memcpy(&finder->v2, &v2, sizeof v2);
	return true;
}

const struct ac_driver *
ac_driver_loaded(void)
{
	const struct ac_driver *driver =
	    atomic_load_explicit(&current, memory_order_acquire);
	const struct row *missing;
	struct ac_driver found;
	struct finder finder;

	if (driver || atomic_load_explicit(&refused, memory_order_relaxed))
		return driver;
	if (!finder_init(&finder))
		return NULL; /* not yet: the next call looks again */
	missing = fill(&finder, &found);
	if (!missing)
		return publish(&found);
	refuse(missing);
	return NULL;
}

/* glibc 2.34 moved dlopen into libc: found at run time, no version is needed.
 * The driver stays open for good, as libcudart keeps it. */
static void
open_driver(void)
{
	void *(*open)(const char *, int);
	void *address = ac_elf_next_early("dlopen");

	if (!address)
		return;
	memcpy(&open, &address, sizeof open);
	(void)open(SONAME, RTLD_NOW | RTLD_LOCAL);
}

const struct ac_driver *
ac_driver_get(void)
{
	const struct ac_driver *driver = ac_driver_loaded();

	if (driver || atomic_load_explicit(&refused, memory_order_relaxed))
		return driver;
	open_driver();
	driver = ac_driver_loaded();
	if (!driver)
		refuse(NULL);
	return driver;
}
