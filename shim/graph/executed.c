/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/executed.c -- plans by address (shim/graph/executed.h). */
#include "shim/graph/executed.h"

#include "base/lock.h"
#include "base/table.h"

enum { BITS = 12, WINDOW = 8 };

static struct known {
	struct ac_row row;
	struct ac_site_record *record;
	enum ac_reason reason;
} plans[(1 << BITS) + WINDOW];
static const struct ac_rows rows = { plans, sizeof *plans, BITS, WINDOW };
static struct ac_lock lock;

void
ac_executed_add(cudnnBackendDescriptor_t plan, struct ac_site_record *record,
    enum ac_reason reason)
{
	struct known *known;

	ac_lock_take(&lock);
	known = (struct known *)ac_rows_take(&rows, plan);
	if (known) {
		known->record = record;
		known->reason = reason;
		ac_row_set(&known->row, plan);
	}
	ac_lock_give(&lock);
}

void
ac_executed_drop(cudnnBackendDescriptor_t plan)
{
	struct ac_row *row;

	/* Of most descriptors nothing is known. */
	if (!ac_rows_find(&rows, plan))
		return;
	ac_lock_take(&lock);
	row = ac_rows_find(&rows, plan);
	if (row)
		ac_row_set(row, NULL);
	ac_lock_give(&lock);
}

bool
ac_executed_count(cudnnBackendDescriptor_t plan)
{
	const struct known *known = (const struct known *)ac_rows_find(&rows,
	    plan);

	if (known)
		ac_report_count(known->record, known->reason);
	return known != NULL;
}
