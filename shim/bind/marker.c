/* SPDX-License-Identifier: Apache-2.0 */
/* shim/bind/marker.c -- count the symbols that are passed through as they are,
 * and tell solver.c who factorises. */
#include "shim/bind/marker.h"

#include "report/report.h"
#include "shim/bind/solver.h"
#include "shim/start/start.h"
#include "shim/bind/wrapper.h"

#include <stdatomic.h>

enum kind { PRODUCT, CONVOLUTION, RECURRENT, SOLVER };

static const struct {
	enum ac_entry entry;
	enum kind kind;
} rows[] = {
#define MARKER(kind, symbol, provider) { ENTRY_##symbol, kind },
#include "shim/bind/entries.def"
};

void
ac_marker_count(enum ac_entry entry)
{
	static _Atomic(struct ac_marker_record *) records[ENTRY_WRAPPED];
	struct ac_marker_record *record = atomic_load_explicit(&records[entry],
	    memory_order_acquire);

	if (!record) {
		ac_shim_get();
		record = ac_report_marker(ac_entries[entry].symbol);
		atomic_store_explicit(&records[entry], record,
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
	const struct ac_wrapped call = ac_wrapper_bound(
	    ac_wrapper_enter(caller), rows[row].entry);

	if (call.outermost) {
		ac_marker_count(rows[row].entry);
		if (rows[row].kind == SOLVER)
			ac_solver_mark(caller);
	}
	ac_wrapper_leave(&call);
	return call.binding.next;
}
