/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/address_map.c -- room for notes (shim/graph/address_map.h). */
#include "shim/graph/address_map.h"

#include "base/mapped.h"

enum { FREE, BEING_WRITTEN };

void *
ac_by_address_take(const struct ac_by_address *table, const void *address)
{
	_Atomic(struct ac_addressed *) *row = ac_by_address_row(table, address);
	struct ac_addressed *note = atomic_load_explicit(row,
	    memory_order_acquire);

	for (; note; note = note->next) {
		uintptr_t was = FREE;

		if (atomic_compare_exchange_strong_explicit(&note->address,
		    &was, BEING_WRITTEN, memory_order_acquire,
		    memory_order_relaxed))
			return note;
	}
	note = ac_mapped_take(table->bytes);
	if (!note)
		return NULL;
	note->address = BEING_WRITTEN;
	AC_MAPPED_PUSH(row, note, next);
	return note;
}
