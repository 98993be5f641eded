/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/provider.c -- which loaded library a call belongs to. */
#include "shim/bind/provider.h"

#include "base/elf.h"
#include "base/lock.h"
#include "base/mapped.h"
#include "shim/bind/thunk.h"
#include "shim/bind/trampoline.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { BINDING_SLOTS = 4096, PROBES = 16 }; /* call sites; power of two */
#define UNLOADED UINTPTR_MAX   /* base of a slot whose library is gone */

/* Readers hold pointers to slots, so slots never move. */
static struct ac_provider slots[AC_THUNK_SLOTS];
static _Atomic unsigned slot_count;
static struct ac_lock slot_lock;

static bool
is_provider_of(const struct ac_elf_object *object, enum ac_entry entry)
{
	const char *prefix = ac_entries[entry].provider;

	return object->soname
	    && !strncmp(object->soname, prefix, strlen(prefix));
}

static struct ac_provider *
known_slot(const struct ac_elf_object *object)
{
	for (unsigned i = 0; i < slot_count; i++)
		if (slots[i].object.base == object->base
		    && !strcmp(slots[i].soname, object->soname))
			return &slots[i];
	return NULL;
}

static struct ac_provider *
free_slot(void)
{
	for (unsigned i = 0; i < slot_count; i++)
		if (slots[i].object.base == UNLOADED)
			return &slots[i];
	return slot_count < AC_THUNK_SLOTS ? &slots[slot_count++] : NULL;
}

static struct ac_provider *
slot_of(const struct ac_elf_object *object)
{
	struct ac_provider *slot;

	if (strlen(object->soname) >= AC_PROVIDER_SONAME)
		return NULL;
	ac_lock_take(&slot_lock);
	slot = known_slot(object);
	if (!slot) {
		slot = free_slot();
		if (slot) {
			strcpy(slot->soname, object->soname);
			slot->object = *object;
		}
	}
	ac_lock_give(&slot_lock);
	return slot;
}

/* How near a definition is to the caller, as the loader looks: what was there
 * from the start is everybody's; what was opened since is its opener's and its
 * dependents' alone, and of those a caller means the library that it was linked
 * to. (That a library was opened RTLD_GLOBAL nobody tells us.) */
enum nearness { NOT_FOUND, ELSEWHERE, ANY, LINKED, EVERYBODYS };

struct wanted {
	enum ac_entry entry;
	const struct ac_elf_object *caller;  /* NULL: code of no object */
	const char *file;            /* the version asked for, or NULL */
	bool past_us, past_start;
	ac_fn next;
	enum nearness near, provider_near;
	bool next_is_provider;
	struct ac_elf_object provider;
};

static enum nearness
nearness_of(const struct ac_elf_object *object, const struct wanted *wanted)
{
	const struct ac_elf_object *caller = wanted->caller;
	const char *file = wanted->file;
	const bool is_file = file && object->soname
	    && !strcmp(object->soname, file);

	if (!wanted->past_start
	    && (!file || is_file || !object->defines_versions))
		return EVERYBODYS;
	if (file)
		return is_file ? LINKED : ELSEWHERE;
	if (caller && (caller->base == object->base || (object->soname
	    && ac_elf_needs(caller, object->soname))))
		return LINKED;
	return ANY;
}

/* The loader itself comes last, or nearly, of what is there from the start. */
static bool
is_loader(const struct ac_elf_object *object)
{
	return object->soname && !strncmp(object->soname, "ld-linux", 8);
}

static bool
consider(const struct ac_elf_object *object, void *data)
{
	struct wanted *wanted = data;
	const bool is_provider = is_provider_of(object, wanted->entry);
	enum nearness near;
	ac_fn found;

	if (is_loader(object))
		wanted->past_start = true;
	if (ac_elf_is_ours(object)) {
		wanted->past_us = true;
		return false;
	}
	if (!wanted->past_us)
		return false;
	found = (ac_fn)(uintptr_t)ac_elf_definition(object,
	    ac_entries[wanted->entry].symbol);
	if (!found)
		return false;
	near = nearness_of(object, wanted);
	if (near > wanted->near) {
		wanted->next = found;
		wanted->near = near;
		wanted->next_is_provider = is_provider;
	}
	if (is_provider && near > ELSEWHERE && near > wanted->provider_near) {
		wanted->provider = *object;
		wanted->provider_near = near;
	}
	/* From the start all are near or not at all; what is opened later comes
	 * later, and is at best linked to. */
	return wanted->provider_near >= LINKED;
}

static struct ac_binding
resolve(enum ac_entry entry, const void *caller)
{
	struct wanted wanted = { .entry = entry };
	struct ac_binding binding = { ac_entry_missing(entry), NULL };
	struct ac_elf_object calling;

	if (ac_elf_object_at(caller, &calling)) {
		wanted.caller = &calling;
		wanted.file = ac_elf_needed_file(&calling,
		    ac_entries[entry].symbol);
	}
	ac_elf_each(consider, &wanted);
	/* We may have been opened after the provider: then what comes before us
	 * counts too, if it is one (an interposer there would call us back). */
	if (!wanted.next) {
		wanted.past_us = true;
		wanted.past_start = false;
		ac_elf_each(consider, &wanted);
		if (!wanted.provider_near)
			return binding;
	}
	if (wanted.next)
		binding.next = wanted.next;
	/* Behind an interposer there is one; a copy that a library has of its
	 * own, or somebody else's cuBLAS, is none. */
	if (wanted.provider_near
	    && (wanted.next_is_provider || wanted.near == EVERYBODYS))
		binding.provider = slot_of(&wanted.provider);
	else
		binding.provider = ac_trampoline_leads(binding.next, entry);
	return binding;
}

struct node {
	const void *caller;
	enum ac_entry entry;
	_Atomic uint32_t generation;
	struct ac_binding binding;
};

static _Atomic uint32_t generation; /* of what is loaded */

/* Append-only; a node is published by one compare-and-swap and only its
 * generation ever changes. When a probe run is full the binding is resolved
 * again at each call. */
static _Atomic(struct node *) bindings[BINDING_SLOTS];

static unsigned
slot_index(enum ac_entry entry, const void *caller)
{
	uint64_t mix = ((uint64_t)(uintptr_t)caller << 8 ^ (uint64_t)entry)
	    * UINT64_C(0x9E3779B97F4A7C15);

	return (unsigned)(mix >> 40) & (BINDING_SLOTS - 1);
}

static bool
is_same(const struct node *node, const void *caller, struct ac_binding binding)
{
	return node->caller == caller && node->binding.next == binding.next
	    && node->binding.provider == binding.provider;
}

/* Takes the first place that is empty or of an older generation, or confirms
 * what was there before. */
static void
remember(unsigned start, enum ac_entry entry, const void *caller,
    struct ac_binding binding)
{
	const uint32_t now = atomic_load(&generation);
	struct node *node = NULL;

	for (unsigned i = 0; i < PROBES; i++) {
		_Atomic(struct node *) *place =
		    &bindings[(start + i) & (BINDING_SLOTS - 1)];
		struct node *there = atomic_load(place);

		if (there && is_same(there, caller, binding)) {
			atomic_store(&there->generation, now);
			return;
		}
		if (there && atomic_load(&there->generation) == now)
			continue;
		if (!node) {
			node = ac_mapped_take(sizeof *node);
			if (!node)
				return;
			*node = (struct node){ caller, entry, now, binding };
		}
		if (atomic_compare_exchange_strong_explicit(place, &there, node,
		    memory_order_release, memory_order_relaxed))
			return;
	}
}

static struct ac_binding
bind_slot(enum ac_entry entry, struct ac_provider *provider)
{
	const ac_fn next = ac_provider_get(provider, entry);

	return (struct ac_binding){
		next ? next : ac_entry_missing(entry), provider
	};
}

__attribute__((cold, noinline))
static struct ac_binding
bind_caller(enum ac_entry entry, const void *caller)
{
	const struct ac_binding binding = resolve(entry, caller);

	if (binding.provider) /* else it may be loaded later: ask again */
		remember(slot_index(entry, caller), entry, caller, binding);
	return binding;
}

struct ac_binding
ac_provider_bind(enum ac_entry entry, const void *caller, uint32_t via)
{
	const unsigned start = slot_index(entry, caller);
	const struct node *node;

	if (via)
		return bind_slot(entry, &slots[(via >> AC_THUNK_SHIFT) - 1]);
	for (unsigned i = 0; i < PROBES; i++) {
		node = atomic_load(&bindings[(start + i) % BINDING_SLOTS]);
		if (!node)
			break;
		if (node->caller == caller && node->entry == entry
		    && atomic_load(&node->generation)
		    == atomic_load(&generation))
			return node->binding;
	}
	return bind_caller(entry, caller);
}

ac_fn
ac_provider_look_up(struct ac_provider *provider, enum ac_entry entry)
{
	uintptr_t real = (uintptr_t)atomic_load_explicit(&provider->real[entry],
	    memory_order_acquire);

	if (!real && provider->object.base == UNLOADED)
		return NULL;
	if (!real) {
		real = (uintptr_t)ac_elf_definition(&provider->object,
		    ac_entries[entry].symbol);
		if (!real)
			real = AC_PROVIDER_ABSENT;
		atomic_store_explicit(&provider->real[entry], (ac_fn)real,
		    memory_order_release);
	}
	return real == AC_PROVIDER_ABSENT ? NULL : (ac_fn)real;
}

struct ac_provider *
ac_provider_at(const void *address, enum ac_entry entry, bool *is_provider_out)
{
	struct ac_elf_object object;
	struct ac_provider *provider;

	if (!ac_elf_object_at(address, &object)
	    || !is_provider_of(&object, entry)
	    || ac_elf_definition(&object, ac_entries[entry].symbol) != address)
		return NULL;
	provider = slot_of(&object);
	*is_provider_out = true;
	return provider;
}

bool
ac_provider_is_any(void)
{
	return slot_count != 0;
}

unsigned
ac_provider_slot(const struct ac_provider *provider)
{
	return (unsigned)(provider - slots);
}

bool
ac_provider_is_complete(struct ac_provider *provider)
{
	enum { OPTIONAL, NEEDED };
	static const struct {
		enum ac_entry entry;
		int need;
	} rows[] = {
#define COMPANION(symbol, provider, need) { ENTRY_##symbol, need },
#include "shim/bind/entries.def"
		{ ENTRY_cublasGemmEx, NEEDED },
		{ ENTRY_cublasGemmStridedBatchedEx, NEEDED },
	};

	for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].need == NEEDED
		    && is_provider_of(&provider->object, rows[i].entry)
		    && !ac_provider_get(provider, rows[i].entry))
			return false;
	return true;
}

_Atomic uint32_t ac_binding_generation;

void
ac_binding_forget_decisions(void)
{
	atomic_fetch_add(&ac_binding_generation, 1);
}

/* ---- What is unloaded -------------------------------------------------- */

/* Bindings of an older generation lead nowhere, so they are told apart by it;
 * a slot whose library is gone matches nothing and is used again. */
void
ac_provider_forget_unloaded(void (*forget)(struct ac_provider *))
{
	struct ac_elf_object object;

	ac_lock_take(&slot_lock);
	for (unsigned i = 0; i < slot_count; i++) {
		if (slots[i].object.base == UNLOADED
		    || (ac_elf_object_at(slots[i].object.symbols, &object)
		    && object.base == slots[i].object.base))
			continue;
		slots[i].object.base = UNLOADED;
		for (unsigned entry = 0; entry < ENTRY_COUNT; entry++)
			atomic_store(&slots[i].real[entry], NULL);
		forget(&slots[i]);
	}
	ac_lock_give(&slot_lock);
	atomic_fetch_add(&generation, 1);
}
