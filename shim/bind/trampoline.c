/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/trampoline.c -- which libraries pass calls on, and where to. */
#include "shim/bind/trampoline.h"

#include "base/elf.h"
#include "base/lock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ROWS = 16 };   /* libraries times families; more are left alone */

static struct row {
	uintptr_t           base;      /* of the library */
	struct ac_provider *provider;  /* NULL: free */
} rows[ROWS];
static struct ac_lock lock;

/* Calls of the program that create handles and reach no provider, as far as is
 * known, and what was made by providers meanwhile, whoever waits for it. */
enum { MADE = 8 };
static _Atomic unsigned waiting;
static struct made {
	const void         *handle;    /* NULL: none */
	enum ac_entry       entry;
	struct ac_provider *provider;
} made[MADE];
static unsigned made_next;

static bool
is_of(const struct ac_provider *provider, enum ac_entry entry)
{
	const char *prefix = ac_entries[entry].provider;

	return !strncmp(provider->soname, prefix, strlen(prefix));
}

/* A library that leads to several of a family leads to the last one. */
static void
learn(ac_fn function, enum ac_entry entry, struct ac_provider *provider)
{
	struct ac_elf_object object;
	struct row *place = NULL;

	if (!ac_elf_object_at((const void *)(uintptr_t)function, &object))
		return;
	ac_lock_take(&lock);
	for (unsigned i = 0; i < ROWS; i++)
		if (!rows[i].provider)
			place = place ? place : &rows[i];
		else if (rows[i].base == object.base
		    && is_of(rows[i].provider, entry)) {
			place = &rows[i];
			break;
		}
	if (place)
		*place = (struct row){ object.base, provider };
	ac_lock_give(&lock);
}

void
ac_trampoline_begin(const struct ac_wrapped *call)
{
	if (call->outermost && !call->binding.provider)
		atomic_fetch_add(&waiting, 1);
}

static void
note(const void *handle, enum ac_entry entry, struct ac_provider *provider)
{
	ac_lock_take(&lock);
	made[made_next++ % MADE] = (struct made){ handle, entry, provider };
	ac_lock_give(&lock);
}

/* Of the last of those that wait, what was made meanwhile is stale. */
static struct ac_provider *
end(const void *handle, enum ac_entry entry)
{
	struct ac_provider *provider = NULL;

	ac_lock_take(&lock);
	for (unsigned i = 0; handle && i < MADE; i++)
		if (made[i].handle == handle && made[i].entry == entry)
			provider = made[i].provider;
	if (atomic_fetch_sub(&waiting, 1) == 1)
		memset(made, 0, sizeof made);
	ac_lock_give(&lock);
	return provider;
}

struct ac_provider *
ac_trampoline_maker(const struct ac_wrapped *call, enum ac_entry entry,
    const void *handle)
{
	struct ac_provider *provider = call->binding.provider;

	if (call->outermost && !provider) {
		provider = end(handle, entry);
		if (provider)
			learn(call->binding.next, entry, provider);
		return provider;
	}
	if (!call->outermost && handle && provider && atomic_load(&waiting))
		note(handle, entry, provider);
	return call->outermost && handle ? provider : NULL;
}

struct ac_provider *
ac_trampoline_leads(ac_fn function, enum ac_entry entry)
{
	struct ac_provider *provider = NULL;
	struct ac_elf_object object;

	if (!ac_elf_object_at((const void *)(uintptr_t)function, &object))
		return NULL;
	ac_lock_take(&lock);
	for (unsigned i = 0; i < ROWS && !provider; i++)
		if (rows[i].provider && rows[i].base == object.base
		    && is_of(rows[i].provider, entry))
			provider = rows[i].provider;
	ac_lock_give(&lock);
	return provider;
}

static bool
is_at(const struct ac_elf_object *object, void *base)
{
	return object->base == *(const uintptr_t *)base;
}

void
ac_trampoline_forget(const struct ac_provider *provider)
{
	ac_lock_take(&lock);
	for (unsigned i = 0; i < ROWS; i++)
		if (rows[i].provider && (rows[i].provider == provider
		    || !ac_elf_each(is_at, &rows[i].base)))
			rows[i].provider = NULL;
	ac_lock_give(&lock);
}
