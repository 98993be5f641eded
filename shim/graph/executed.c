/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/executed.c -- plans by address (shim/graph/executed.h): each
 * in one of the few rows behind where its address hashes to. */
#include "shim/graph/executed.h"

#include <stdatomic.h>

enum { BITS = 12, ROWS = 1 << BITS, WINDOW = 8 };

static struct row {
	_Atomic(cudnnBackendDescriptor_t) plan;    /* NULL: free */
	_Atomic(struct ac_site_record *) record;
	_Atomic uint32_t reason;
} rows[ROWS + WINDOW];

static const char being_set; /* no plan has its address */

static struct row *
window_of(cudnnBackendDescriptor_t plan)
{
	return &rows[(uint64_t)(uintptr_t)plan * UINT64_C(0x9E3779B97F4A7C15)
	    >> (64 - BITS)];
}

static struct row *
find(cudnnBackendDescriptor_t plan)
{
	struct row *row = window_of(plan);

	for (unsigned i = 0; i < WINDOW; i++, row++)
		if (atomic_load_explicit(&row->plan, memory_order_acquire)
		    == plan)
			return row;
	return NULL;
}

void
ac_executed_add(cudnnBackendDescriptor_t plan, struct ac_site_record *record,
    enum ac_reason reason)
{
	cudnnBackendDescriptor_t busy =
	    (cudnnBackendDescriptor_t)(uintptr_t)&being_set;
	struct row *row = window_of(plan);

	for (unsigned i = 0; i < WINDOW; i++, row++) {
		cudnnBackendDescriptor_t none = NULL;

		if (!atomic_compare_exchange_strong_explicit(&row->plan, &none,
		    busy, memory_order_acq_rel, memory_order_relaxed))
			continue;
		atomic_store_explicit(&row->record, record,
		    memory_order_relaxed);
		atomic_store_explicit(&row->reason, (uint32_t)reason,
		    memory_order_relaxed);
		atomic_store_explicit(&row->plan, plan, memory_order_release);
		return;
	}
}

void
ac_executed_drop(cudnnBackendDescriptor_t plan)
{
	struct row *row = plan ? find(plan) : NULL;

	if (row)
		atomic_store_explicit(&row->plan, NULL, memory_order_release);
}

bool
ac_executed_count(cudnnBackendDescriptor_t plan)
{
	const struct row *row = plan ? find(plan) : NULL;

	if (!row)
		return false;
	ac_report_count(atomic_load_explicit(&row->record,
	    memory_order_relaxed), (enum ac_reason)atomic_load_explicit(
	    &row->reason, memory_order_relaxed));
	return true;
}
