/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/loader_hooks.c -- what the hooks of dlsym(), dlvsym(), dlopen() and
 * dlclose() decide. The entry points are in loader_hooks.S. */
#include "shim/bind/loader_hooks.h"

#include "base/elf.h"
#include "base/elf_symbol.h"
#include "shim/bind/provider.h"
#include "shim/bind/solver.h"
#include "shim/start/start.h"
#include "shim/bind/thunk.h"

#include <dlfcn.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

_Atomic uint64_t ac_loader_left;

/* ---- The real functions ------------------------------------------------ */

/* What loader_hooks.S jumps to; null until ac_loader_find() ran. */
extern void *(*volatile ac_real_dlsym)(void *, const char *) HIDDEN;
extern void *(*volatile ac_real_dlvsym)(void *, const char *, const char *)
    HIDDEN;
extern void *(*volatile ac_real_dlopen)(const char *, int) HIDDEN;
void *(*volatile ac_real_dlsym)(void *, const char *);
void *(*volatile ac_real_dlvsym)(void *, const char *, const char *);
void *(*volatile ac_real_dlopen)(const char *, int);

HIDDEN void ac_loader_find(void);

/* May be the first code of the process that runs. Other threads may do the
 * same at once and find the same. */
AC_ELF_EARLY void
ac_loader_find(void)
{
	ac_real_dlvsym = (__typeof__(ac_real_dlvsym))(uintptr_t)
	    ac_elf_next_early("dlvsym");
	ac_real_dlopen = (__typeof__(ac_real_dlopen))(uintptr_t)
	    ac_elf_next_early("dlopen");
	ac_real_dlsym = (__typeof__(ac_real_dlsym))(uintptr_t)
	    ac_elf_next_early("dlsym");
}

/* ---- dlsym() and dlvsym() ---------------------------------------------- */

/* What the hook returns; if not final, it jumps to the real function. */
struct answer {
	void     *address;
	uintptr_t is_final;
};
static const struct answer not_ours = { NULL, 0 };

static struct answer
final(const void *address)
{
	return (struct answer){ (void *)(uintptr_t)address, 1 };
}

/* The wrapped entry called `name`; ENTRY_WRAPPED if there is none. */
static enum ac_entry
entry_called(const char *name)
{
	unsigned entry = 0;

	if (strncmp(name, "cublas", 6) && strncmp(name, "cudnn", 5)
	    && strncmp(name, "cusolver", 8))
		return ENTRY_WRAPPED;
	while (entry < ENTRY_WRAPPED && strcmp(ac_entries[entry].symbol, name))
		entry++;
	return (enum ac_entry)entry;
}

/* libcudnn.so.9 looks its own names up in its parts, those look up cublasLt's:
 * an answer of ours would lead back to them. */
static bool
looks_itself_up(const void *caller)
{
	struct ac_elf_object module;

	return ac_elf_object_at(caller, &module) && module.soname
	    && (!strncmp(module.soname, "libcudnn", 8)
	    || !strncmp(module.soname, "libcublas", 9));
}

/* `found` as the program is to see it. */
static struct answer
answer(enum ac_entry entry, void *found)
{
	struct ac_provider *provider;
	bool is_provider = false;
	ac_fn thunk = NULL;

	provider = ac_provider_at(found, entry, &is_provider);
	if (provider)
		thunk = ac_thunk_of(ac_provider_slot(provider), entry);
	if (!thunk) {
		if (is_provider)
			atomic_fetch_add(&ac_loader_left, 1);
		return final(found);
	}
	return final((const void *)(uintptr_t)thunk);
}

static bool
is_program(const void *address)
{
	struct ac_elf_object module;

	return ac_elf_object_at(address, &module) && !*module.path;
}

/* In the global scope we come before every provider and would make it look
 * present when it is not. RTLD_NEXT, said by us, asks for what is behind.
 * `has_more`: the caller's scope may be wider than the global one. */
static struct answer
global(enum ac_entry entry, const void *caller, const char *version,
    bool has_more)
{
	const char *name = ac_entries[entry].symbol;
	void *behind;

	if (!version && ac_elf_definer_before_us(name))
		return not_ours;
	behind = version ? ac_real_dlvsym(RTLD_NEXT, name, version)
	    : ac_real_dlsym(RTLD_NEXT, name);
	if (behind)
		return version ? answer(entry, behind) : not_ours;
	/* How a plugin was opened only the loader knows: a provider that is
	 * loaded at all may be in its scope. */
	if (!version && has_more && ac_provider_bind(entry, caller, 0).provider)
		return not_ours;
	return final(NULL);
}

HIDDEN struct answer ac_loader_look_up(void *handle, const char *name,
    const void *caller, const char *version);

/* Called by loader_hooks.S for names that start with "cu". `version` is NULL
 * for dlsym(). */
struct answer
ac_loader_look_up(void *handle, const char *name, const void *caller,
    const char *version)
{
	const enum ac_entry entry = entry_called(name);
	struct ac_elf_object object;
	void *found;

	if (entry == ENTRY_WRAPPED || handle == RTLD_NEXT
	    || looks_itself_up(caller))
		return not_ours;
	if (!ac_real_dlsym || !ac_real_dlvsym)
		ac_loader_find();
	if (!ac_real_dlsym || !ac_real_dlvsym)
		return not_ours;
	if (handle == RTLD_DEFAULT)
		return global(entry, caller, version, !is_program(caller));
	found = version ? ac_real_dlvsym(handle, name, version)
	    : ac_real_dlsym(handle, name);
	if (!found)
		return final(NULL);
	/* The program's own handle, dlopen(NULL): its scope is the global
	 * one. */
	if (ac_elf_object_at(found, &object) && ac_elf_is_ours(&object))
		return global(entry, caller, version, false);
	return answer(entry, found);
}

/* ---- dlopen() ---------------------------------------------------------- */

HIDDEN int ac_loader_deepbind(void);

/* Called by loader_hooks.S for flags with RTLD_DEEPBIND; returns which flags
 * may stay. Such a library binds to the provider past us. */
int
ac_loader_deepbind(void)
{
	ac_shim_count_deepbind();
	return ac_policy_strips_deepbind(ac_shim_policy()) ? ~RTLD_DEEPBIND
	    : ~0;
}
