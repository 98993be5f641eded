/* SPDX-License-Identifier: Apache-2.0 */
/* shim/graph/address_map.h -- notes on the program's descriptors by address,
 * found and changed without a lock. There is always room: a note stays in its
 * row for good, and serves the next address there once its own is dropped.
 *
 * The program does not use a descriptor while it makes or destroys it: so one
 * thread at a time writes a note, and nobody reads it then. */
#ifndef AC_SHIM_ADDRESS_MAP_H
#define AC_SHIM_ADDRESS_MAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What a note begins with. */
struct ac_addressed {
	struct ac_addressed *next;      /* in its row */
	_Atomic uintptr_t    address;   /* 0: free; 1: being written */
};

struct ac_by_address {
	_Atomic(struct ac_addressed *) *row;    /* 2^bits of them */
	unsigned bits;
	size_t   bytes;                         /* of a note */
};

static inline _Atomic(struct ac_addressed *) *
ac_by_address_row(const struct ac_by_address *table, const void *address)
{
	return &table->row[(uint64_t)(uintptr_t)address
	    * UINT64_C(0x9E3779B97F4A7C15) >> (64 - table->bits)];
}

/* The note of `address`; NULL: there is none. */
static inline void *
ac_by_address_find(const struct ac_by_address *table, const void *address)
{
	struct ac_addressed *note = atomic_load_explicit(
	    ac_by_address_row(table, address), memory_order_acquire);

	if ((uintptr_t)address <= 1)
		return NULL;
	while (note && atomic_load_explicit(&note->address,
	    memory_order_acquire) != (uintptr_t)address)
		note = note->next;
	return note;
}

/* One for `address`, which has none: to be written, then set. NULL: the system
 * has no memory. */
void *ac_by_address_take(const struct ac_by_address *table,
    const void *address);

/* It is found by `address` from now on; NULL: it is free. */
static inline void
ac_by_address_set(struct ac_addressed *note, const void *address)
{
	atomic_store_explicit(&note->address, (uintptr_t)address,
	    memory_order_release);
}

#endif
