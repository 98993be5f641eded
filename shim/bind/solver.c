/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/solver.c -- the list of modules that solve, and how often they do.
 * One that begins or ends to count makes every site be decided again. */
#include "shim/bind/solver.h"

#include "base/elf.h"
#include "shim/bind/provider.h"

enum {
	MODULE_SLOTS = 64, CALLER_SLOTS = 256,
	FEWEST_PRODUCTS = 1000,  /* for each solve: then they are the rule */
	WINDOW = 8192,           /* products; then the past counts half */
	/* Each change costs every site of the module its trial, and its memory:
	 * who goes to and fro stays a solver, which is the safe side. */
	MOST_CHANGES = 64
};
#define ONE_SOLVE (UINT64_C(1) << 32)

static struct ac_solver modules[MODULE_SLOTS];

/* Callers whose module is known. */
static struct {
	_Atomic(const void *) caller;
	_Atomic(struct ac_solver *) module;
} seen[CALLER_SLOTS];

struct ac_solver *
ac_solver_of(uintptr_t base)
{
	for (unsigned i = 0; i < MODULE_SLOTS; i++)
		if (atomic_load_explicit(&modules[i].base,
		    memory_order_acquire) == base + 1)
			return &modules[i];
	return NULL;
}

/* ---- How often --------------------------------------------------------- */

static void
judge(struct ac_solver *solver, uint64_t ratio)
{
	const bool counts = (ratio >> 32) * FEWEST_PRODUCTS > (uint32_t)ratio;
	bool before = !counts;

	if (atomic_load_explicit(&solver->counts, memory_order_relaxed)
	    == counts || (!counts && atomic_load_explicit(&solver->changes,
	    memory_order_relaxed) >= MOST_CHANGES))
		return;
	if (!atomic_compare_exchange_strong(&solver->counts, &before, counts))
		return;
	atomic_fetch_add_explicit(&solver->changes, 1, memory_order_relaxed);
	ac_binding_forget_decisions();
}

/* The same, of both halves: the past fades. */
static uint64_t
faded(uint64_t ratio)
{
	return ratio >> 33 << 32 | (uint32_t)ratio >> 1;
}

static void
add(struct ac_solver *solver, uint64_t what)
{
	uint64_t now = atomic_fetch_add_explicit(&solver->ratio, what,
	    memory_order_relaxed) + what;

	if ((uint32_t)now >= WINDOW || now >> 32 >= WINDOW)
		(void)atomic_compare_exchange_strong_explicit(&solver->ratio,
		    &now, faded(now), memory_order_relaxed,
		    memory_order_relaxed);
	judge(solver, now);
}

void
ac_solver_multiplied(struct ac_solver *solver)
{
	add(solver, 1);
}

/* ---- Which modules ----------------------------------------------------- */

/* NULL: there is no place left. */
static struct ac_solver *
add_module(uintptr_t base)
{
	for (unsigned i = 0; i < MODULE_SLOTS; i++) {
		uintptr_t empty = 0;

		if (atomic_compare_exchange_strong(&modules[i].base, &empty,
		    base + 1) || empty == base + 1)
			return &modules[i];
	}
	return NULL;
}

static struct ac_solver *
find_module(const void *caller)
{
	const unsigned slot = (uintptr_t)caller >> 2 & (CALLER_SLOTS - 1);
	struct ac_solver *solver;
	struct ac_elf_object module;

	if (atomic_load_explicit(&seen[slot].caller, memory_order_acquire)
	    == caller) {
		solver = atomic_load_explicit(&seen[slot].module,
		    memory_order_acquire);
		/* Not another's, who took the place meanwhile. */
		if (atomic_load_explicit(&seen[slot].caller,
		    memory_order_acquire) == caller)
			return solver;
	}
	if (!ac_elf_object_at(caller, &module))
		return NULL;
	solver = ac_solver_of(module.base);
	if (!solver)
		solver = add_module(module.base);
	atomic_store_explicit(&seen[slot].caller, NULL, memory_order_release);
	atomic_store_explicit(&seen[slot].module, solver, memory_order_release);
	atomic_store_explicit(&seen[slot].caller, caller, memory_order_release);
	return solver;
}

void
ac_solver_mark(const void *caller)
{
	struct ac_solver *solver = find_module(caller);

	if (solver)
		add(solver, ONE_SOLVE);
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
		uintptr_t base = atomic_load(&modules[i].base);

		if (!base--)
			continue;
		if (ac_elf_each(is_at, &base))
			continue;
		atomic_store(&modules[i].counts, false);
		atomic_store(&modules[i].ratio, 0);
		atomic_store(&modules[i].changes, 0);
		atomic_store(&modules[i].base, 0);
	}
	for (unsigned i = 0; i < CALLER_SLOTS; i++)
		atomic_store_explicit(&seen[i].caller, NULL,
		    memory_order_relaxed);
}
