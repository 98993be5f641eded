/* SPDX-License-Identifier: Apache-2.0 */
/* shim/loader_hooks.c -- what must be known of the loader's doings.
 *
 * dlclose() is wrapped so that no pointer into a library outlives it: another
 * version of cuBLAS may be mapped at the same address next. */
#include "base/elf.h"
#include "shim/catalogue.h"
#include "shim/handle.h"
#include "shim/lane.h"
#include "shim/provider.h"
#include "shim/site.h"

#include <dlfcn.h>
#include <stdatomic.h>

static int
read_unload_count(struct dl_phdr_info *info, size_t size, void *count_out)
{
	(void)size;
	*(unsigned long long *)count_out = info->dlpi_subs;
	return 1;
}

static unsigned long long
unload_count(void)
{
	unsigned long long count = 0;

	dl_iterate_phdr(read_unload_count, &count);
	return count;
}

static void
forget(struct ac_provider *provider)
{
	ac_handle_forget_all(provider);
	ac_lane_abandon_all(provider);
}

typedef int (*dlclose_fn)(void *);

/* An ordinary call and return: unlike its kin, dlclose() does not care who
 * called it. */
AC_EXPORT int
dlclose(void *handle)
{
	static _Atomic(dlclose_fn) real;
	const unsigned long long before = unload_count();
	dlclose_fn next = atomic_load(&real);
	int status;

	if (!next) {
		next = (dlclose_fn)(uintptr_t)ac_elf_next("dlclose");
		if (!next)
			return -1;
		atomic_store(&real, next);
	}
	status = next(handle);
	if (unload_count() != before) {
		ac_provider_forget_unloaded(forget);
		ac_site_forget_decisions();
	}
	return status;
}
