/* SPDX-License-Identifier: Apache-2.0 */
/* base/table.h -- two small look-up tables that any thread reads without a
 * lock. Neither takes memory: slots and rows are arrays of their owner, zeroed
 * at first. What finds no room is not stored; the owner does without. */
#ifndef AC_BASE_TABLE_H
#define AC_BASE_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- By key, for ever ---------------------------------------------------
 *
 * Open addressing, published by compare-and-swap. An entry is never moved nor
 * freed; it may give its slot to another one of the same key. */

/* What an entry begins with; its key follows at once, in whole words. */
struct ac_table_entry {
	uint64_t         hash;
	_Atomic uint32_t generation; /* the owner's, who may change it */
};

typedef _Atomic(struct ac_table_entry *) ac_table_slot;

struct ac_table {
	ac_table_slot *slots;   /* 2^bits of them */
	unsigned       bits;
	unsigned       most;    /* entries: half of the slots or fewer */
	_Atomic unsigned used;  /* starts 0 */
};

uint64_t ac_table_hash(const void *key, size_t bytes);

/* The slot of the entry whose key begins with these bytes, or the empty one
 * where it belongs. NULL: there is no such entry, nor room for one. Any thread.
 * *there_out is the entry, or NULL: do not look into the slot for it, which
 * another thread may have filled with another key's since. */
ac_table_slot *ac_table_find(struct ac_table *table, uint64_t hash,
    const void *key, size_t bytes, struct ac_table_entry **there_out);

/* The entry alone; NULL: there is none. */
static inline struct ac_table_entry *
ac_table_get(struct ac_table *table, uint64_t hash, const void *key,
    size_t bytes)
{
	struct ac_table_entry *there;

	(void)ac_table_find(table, hash, key, bytes, &there);
	return there;
}

/* What is in a slot; NULL if it is empty. */
static inline struct ac_table_entry *
ac_table_at(ac_table_slot *slot)
{
	return atomic_load_explicit(slot, memory_order_acquire);
}

/* Put `entry`, complete with its hash, in the place of `there` (NULL: of none).
 * False: another thread was first, look again. Any thread; several together
 * may exceed `most` by as many as they are. */
bool ac_table_put(struct ac_table *table, ac_table_slot *slot,
    struct ac_table_entry *there, struct ac_table_entry *entry);

/* ---- By address, removable ----------------------------------------------
 *
 * A row stands among the `window` ones behind where its address hashes to. One
 * thread at a time may change the table: its owner has a lock for that. A row
 * may be read until its address is dropped; the program does not use a thing
 * while it destroys it. */

/* What a row begins with. */
struct ac_row {
	_Atomic uintptr_t address;  /* 0: the row is free */
};

struct ac_rows {
	void    *first;         /* of 2^bits + window rows */
	size_t   bytes;         /* of a row */
	unsigned bits, window;
};

/* The row of `address`; NULL: there is none. Any thread. */
struct ac_row *ac_rows_find(const struct ac_rows *rows, const void *address);

/* A row for `address`, to be filled and set: its own, which readers no longer
 * find, or a free one. NULL: there is no room. Under the owner's lock. */
struct ac_row *ac_rows_take(const struct ac_rows *rows, const void *address);

/* Readers find it by `address` from now on; NULL: it is free. The same lock. */
static inline void
ac_row_set(struct ac_row *row, const void *address)
{
	atomic_store_explicit(&row->address, (uintptr_t)address,
	    memory_order_release);
}

#endif
