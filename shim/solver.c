/* SPDX-License-Identifier: Apache-2.0 */
/* shim/solver.c -- the list of solver modules. Modules that come to be on it
 * make every site be decided again. */
#include "shim/solver.h"

#include "base/elf.h"
#include "shim/site.h"

#include <stdatomic.h>

enum { MODULE_SLOTS = 64, CALLER_SLOTS = 256 };

/* Base + 1, since a program that is not position independent has base 0. */
static _Atomic uintptr_t modules[MODULE_SLOTS];

/* Callers whose module is known to be on the list. */
static _Atomic(const void *) seen[CALLER_SLOTS];

bool
ac_solver_is(uintptr_t base)
{
	for (unsigned i = 0; i < MODULE_SLOTS; i++)
		if (atomic_load_explicit(&modules[i], memory_order_acquire)
		    == base + 1)
			return true;
	return false;
}

static void
add_module(uintptr_t base)
{
	for (unsigned i = 0; i < MODULE_SLOTS; i++) {
		uintptr_t empty = 0;

		if (atomic_compare_exchange_strong(&modules[i], &empty,
		    base + 1)) {
			ac_site_forget_decisions();
			return;
		}
		if (empty == base + 1)
			return;
	}
}

void
ac_solver_mark(const void *caller)
{
	_Atomic(const void *) *slot =
	    &seen[(uintptr_t)caller >> 2 & (CALLER_SLOTS - 1)];
	struct ac_elf_object module;

	if (atomic_load_explicit(slot, memory_order_relaxed) == caller)
		return;
	if (ac_elf_object_at(caller, &module) && !ac_solver_is(module.base))
		add_module(module.base);
	atomic_store_explicit(slot, caller, memory_order_relaxed);
}

static bool
is_at(const struct ac_elf_object *object, void *base)
{
	return object->base == *(const uintptr_t *)base;
}

void
ac_solver_forget_unloaded(void)
{
	for (unsigned i = 0; i < MODULE_SLOTS; i++) {
		uintptr_t base = atomic_load(&modules[i]);

		if (!base--)
			continue;
		if (!ac_elf_each(is_at, &base))
			atomic_store(&modules[i], 0);
	}
	for (unsigned i = 0; i < CALLER_SLOTS; i++)
		atomic_store_explicit(&seen[i], NULL, memory_order_relaxed);
}
