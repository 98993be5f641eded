/* SPDX-License-Identifier: Apache-2.0 */
/* autocast_dynamic.h -- autocast.h without linking: with AUTOCAST_DYNAMIC
 * defined before the first of these headers is included, every public function
 * is an inline one here or in autocast_scaler_dynamic.h. It looks for the
 * library in the process, where LD_PRELOAD, a dependency or an earlier
 * dlopen(RTLD_GLOBAL) put it, and works without it: one binary for both.
 *
 *   When   Once, at the first call that needs to know, for each program or
 *          shared object that was compiled so; the answer stays. What is
 *          loaded afterwards is not found.
 *   Found  The functions are the library's.
 *   Not    autocast_region_push() and _pop() return AUTOCAST_OK, and nothing
 *          comes of them. autocast_status_string() answers all the same.
 *          autocast_last_error() is always "". A scaler is a disabled one:
 *          autocast_scaler_dynamic.h.
 *   Older  What an older library does not have returns AUTOCAST_E_ABI.
 *
 * Handles may be passed on to code that is linked with the library only if the
 * library was found. Needs a C library with dlsym(): before glibc 2.34 link
 * with -ldl; a program that is linked statically finds nothing. gcc and clang,
 * C11 and C++11 or later. */
#ifndef AUTOCAST_DYNAMIC_H
#define AUTOCAST_DYNAMIC_H

#ifndef AUTOCAST_DYNAMIC
#ifdef AUTOCAST_H
#error "define AUTOCAST_DYNAMIC before the first header of libautocast"
#endif
#define AUTOCAST_DYNAMIC 1
#endif

#include "autocast.h"
#include "autocast_functions.h"

#include <dlfcn.h>

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" /* in C there are no others */
extern "C" {
#endif

/* ---- Looking up -------------------------------------------------------- */

/* The table that was found; NULL: not looked yet. One for all files of a
 * program or shared object: weak, so that they may all define it. */
extern const struct autocast_functions *autocast_functions_found;
__attribute__((weak, visibility("hidden")))
const struct autocast_functions *autocast_functions_found = NULL;

/* The library's table, or one of size 0. Never NULL. */
static inline const struct autocast_functions *
autocast_functions_find(void)
{
	static struct autocast_functions none; /* never written */
	const struct autocast_functions *table, *before = NULL;
	const struct autocast_functions *(*get)(uint32_t) = NULL;
	void *address;

	table = __atomic_load_n(&autocast_functions_found, __ATOMIC_ACQUIRE);
	if (table != NULL)
		return table;
	/* NULL is RTLD_DEFAULT, which only _GNU_SOURCE would name. */
	address = dlsym(NULL, "autocast_functions_get");
	if (address == NULL)
		(void)dlerror(); /* it is nothing that the program did */
	else
		__builtin_memcpy(&get, &address, sizeof(get));
	if (get != NULL)
		table = get(AUTOCAST_ABI);
	if (table == NULL)
		table = &none;
	/* Whoever was first has decided for all. */
	if (!__atomic_compare_exchange_n(&autocast_functions_found, &before,
	    table, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		table = before;
	return table;
}

/* The entry that is `offset` bytes into the table, NULL if it has none. */
static inline autocast_function
autocast_functions_entry(size_t offset)
{
	const struct autocast_functions *table = autocast_functions_find();
	autocast_function entry = NULL;

	if (table->size >= offset + sizeof(entry))
		__builtin_memcpy(&entry, (const char *)table + offset,
		    sizeof(entry));
	return entry;
}

/* The library's autocast_NAME, of that type, or NULL. */
#define AUTOCAST_FIND(name) ((__typeof__(&autocast_##name))                   \
	autocast_functions_entry(offsetof(struct autocast_functions, name)))

/* What a function that was not found returns. */
static inline autocast_status
autocast_functions_missing(void)
{
	return autocast_functions_find()->size == 0 ?
	    AUTOCAST_E_ABSENT : AUTOCAST_E_ABI;
}

/* ---- Status ------------------------------------------------------------ */

static inline const char *
autocast_status_string(autocast_status status)
{
	static const char *const meanings[] = {
#define AUTOCAST_STATUS_MEANING(name, meaning) meaning,
		AUTOCAST_STATUS_LIST(AUTOCAST_STATUS_MEANING)
#undef AUTOCAST_STATUS_MEANING
	};
	__typeof__(&autocast_status_string) call = AUTOCAST_FIND(status_string);

	if (call != NULL)
		return call(status);
	if ((unsigned)status >= AUTOCAST_STATUS_COUNT)
		return "unknown status";
	return meanings[status];
}

static inline const char *
autocast_last_error(void)
{
	__typeof__(&autocast_last_error) call = AUTOCAST_FIND(last_error);

	return call != NULL ? call() : "";
}

/* ---- Regions ----------------------------------------------------------- */

static inline autocast_status
autocast_region_push(const char *name, int enabled, const char *rung)
{
	__typeof__(&autocast_region_push) call = AUTOCAST_FIND(region_push);

	return call != NULL ? call(name, enabled, rung) : AUTOCAST_OK;
}

static inline autocast_status
autocast_region_pop(void)
{
	__typeof__(&autocast_region_pop) call = AUTOCAST_FIND(region_pop);

	return call != NULL ? call() : AUTOCAST_OK;
}

#ifdef __cplusplus
} /* extern "C" */
#pragma GCC diagnostic pop
#endif

#endif
