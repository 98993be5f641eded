/* SPDX-License-Identifier: Apache-2.0 */
/* shim/marker.c -- count the symbols that are passed through as they are, and
 * remember which modules are solvers. */
#include "shim/solver.h"

#include "base/elf.h"
#include "base/guard.h"
#include "report/report.h"
#include "shim/provider.h"
#include "shim/site.h"
#include "shim/start.h"
#include "shim/thunk.h"

#include <stdatomic.h>

enum kind { PRODUCT, CONVOLUTION, SOLVER };

static const struct {
	enum ac_entry entry;
	enum kind kind;
} rows[] = {
#define MARKER(kind, symbol, provider) { ENTRY_##symbol, kind },
#include "shim/marker.def"
#undef MARKER
};

enum { ROW_COUNT = sizeof rows / sizeof *rows };

static void
count(unsigned row)
{
	static _Atomic(struct ac_marker_record *) records[ROW_COUNT];
	struct ac_marker_record *record = atomic_load_explicit(&records[row],
	    memory_order_acquire);

	if (!record) {
		ac_shim_get();
		record = ac_report_marker(ac_entries[rows[row].entry].symbol);
		atomic_store_explicit(&records[row], record,
		    memory_order_release);
	}
	ac_report_count_marker(record);
}

/* Called by marker.S with the row's number and the program's return address;
 * returns what to jump to. */
__attribute__((visibility("hidden")))
ac_fn ac_marker_enter(unsigned row, const void *caller);

ac_fn
ac_marker_enter(unsigned row, const void *caller)
{
	const uint32_t via = ac_thunk_take();
	const bool outermost = ac_guard_enter();

	if (outermost) {
		count(row);
		if (rows[row].kind == SOLVER)
			ac_solver_mark(caller);
		ac_guard_leave();
	}
	return ac_provider_bind(rows[row].entry, caller, via).next;
}

enum { MODULE_SLOTS = 64, CALLER_SLOTS = 256 };

static _Atomic uintptr_t modules[MODULE_SLOTS];

bool
ac_solver_is(uintptr_t base)
{
	for (unsigned i = 0; i < MODULE_SLOTS; i++) {
		const uintptr_t at = atomic_load_explicit(&modules[i],
		    memory_order_acquire);

		if (!at)
			return false;
		if (at == base + 1)
			return true;
	}
	return false;
}

/* Base + 1, since a program that is not position independent has base 0. */
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
	static _Atomic(const void *) seen[CALLER_SLOTS];
	_Atomic(const void *) *slot =
	    &seen[(uintptr_t)caller >> 2 & (CALLER_SLOTS - 1)];
	struct ac_elf_object module;

	if (atomic_load_explicit(slot, memory_order_relaxed) == caller)
		return;
	if (ac_elf_object_at(caller, &module) && !ac_solver_is(module.base))
		add_module(module.base);
	atomic_store_explicit(slot, caller, memory_order_relaxed);
}
