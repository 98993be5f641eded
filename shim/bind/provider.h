/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/provider.h -- NVIDIA's own functions, found without dlsym().
 *
 * A provider is one loaded NVIDIA library. A call is bound to the definition
 * the loader would have chosen had we not been there: the first object after
 * us that defines the symbol unversioned (another interposer) or in the
 * library version the caller was linked against. Whatever else we call for
 * that call comes from the same provider: versions never mix. */
#ifndef AC_SHIM_PROVIDER_H
#define AC_SHIM_PROVIDER_H

#include "base/elf.h"
#include "shim/bind/catalogue.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	AC_PROVIDER_SONAME = 48,
	AC_PROVIDER_ABSENT = 1  /* in place of an address: not exported */
};

/* provider.c's own but for what ac_provider_get() reads of it. */
struct ac_provider {
	_Atomic(ac_fn) real[ENTRY_COUNT];  /* NULL: not looked up yet */
	struct ac_elf_object object;
	char soname[AC_PROVIDER_SONAME];
};

struct ac_binding {
	ac_fn next;                   /* what the program's call reaches; never
	                               * NULL: without a provider it returns
	                               * CUBLAS_STATUS_NOT_INITIALIZED */
	struct ac_provider *provider; /* NULL if there is none */
};

/* Bind a call of `entry` that returns to `caller` and came through the thunk
 * noted by `via` (shim/bind/thunk.h; 0: none, then it is cached by entry and
 * caller). Any thread. */
struct ac_binding ac_provider_bind(enum ac_entry entry, const void *caller,
    uint32_t via);

/* The provider in which `address` is its own `entry`; NULL if it is no such
 * thing, or if there are more providers than slots (then *is_provider_out is
 * true all the same). */
struct ac_provider *ac_provider_at(const void *address, enum ac_entry entry,
    bool *is_provider_out);

/* Whether any provider was ever met: before, nothing is remembered that an
 * unload could make wrong. */
bool ac_provider_is_any(void);

/* Its number, below AC_THUNK_SLOTS; the same until it is unloaded. */
unsigned ac_provider_slot(const struct ac_provider *provider);

/* The provider's own `entry`, NULL if it does not export it. */
ac_fn ac_provider_look_up(struct ac_provider *provider, enum ac_entry entry);

static inline ac_fn
ac_provider_get(struct ac_provider *provider, enum ac_entry entry)
{
	const ac_fn real = atomic_load_explicit(&provider->real[entry],
	    memory_order_acquire);

	return (uintptr_t)real > AC_PROVIDER_ABSENT ? real
	    : ac_provider_look_up(provider, entry);
}

/* Whether the provider exports all that a recast of one of its calls needs. */
bool ac_provider_is_complete(struct ac_provider *provider);

/* Decisions about calls are of a generation; those of an older one are made
 * again at the next call. A module became a solver, or is gone: the next
 * generation. A site that is decided as before stays where it is. */
extern _Atomic uint32_t ac_binding_generation
    __attribute__((visibility("hidden")));
void ac_binding_forget_decisions(void);

/* Libraries were unloaded: forget every binding, and every provider that is no
 * longer there, calling `forget` for each (which must not come back here). */
void ac_provider_forget_unloaded(void (*forget)(struct ac_provider *));

/* `symbol` of `provider`, typed by NVIDIA's own prototype; may be NULL for a
 * companion that its row calls OPTIONAL. */
#define PROVIDER(provider, symbol) \
	((__typeof__(&symbol))ac_provider_get(provider, ENTRY_##symbol))

/* The same of one that ac_provider_is_complete() has found: no more to do. */
#define FOUND(provider, symbol) \
	((__typeof__(&symbol))atomic_load_explicit( \
	    &(provider)->real[ENTRY_##symbol], memory_order_acquire))

#endif
