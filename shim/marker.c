/* SPDX-License-Identifier: Apache-2.0 */
/* shim/marker.c -- count the symbols that are passed through as they are, and
 * tell solver.c who factorises. */
#include "shim/solver.h"

#include "base/guard.h"
#include "report/report.h"
#include "shim/provider.h"
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
