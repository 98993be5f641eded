/* SPDX-License-Identifier: Apache-2.0 */
/* base/table.c -- the tables of base/table.h. */
#include "base/table.h"

#include <string.h>

enum { PROBES = 64 }; /* with half of the slots used, none needs as many */

/* ---- By key -------------------------------------------------------------- */

uint64_t
ac_table_hash(const void *key, size_t bytes)
{
	uint64_t hash = UINT64_C(0x9E3779B97F4A7C15), word;

	for (size_t i = 0; i < bytes; i += sizeof word) {
		memcpy(&word, (const char *)key + i, sizeof word);
		hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
		hash ^= hash >> 32;
	}
	return hash;
}

ac_table_slot *
ac_table_find(struct ac_table *table, uint64_t hash, const void *key,
    size_t bytes, struct ac_table_entry **there_out)
{
	const size_t start = (size_t)(hash >> (64 - table->bits));
	const size_t mask = ((size_t)1 << table->bits) - 1;

	*there_out = NULL;
	for (size_t i = 0; i < PROBES; i++) {
		ac_table_slot *slot = &table->slots[(start + i) & mask];
		struct ac_table_entry *there = ac_table_at(slot);

		if (!there)
			return atomic_load_explicit(&table->used,
			    memory_order_relaxed) < table->most ? slot : NULL;
		if (there->hash == hash && !memcmp(there + 1, key, bytes)) {
			*there_out = there;
			return slot;
		}
	}
	return NULL;
}

bool
ac_table_put(struct ac_table *table, ac_table_slot *slot,
    struct ac_table_entry *there, struct ac_table_entry *entry)
{
	const bool is_new = !there;

	if (!atomic_compare_exchange_strong_explicit(slot, &there, entry,
	    memory_order_acq_rel, memory_order_relaxed))
		return false;
	if (is_new)
		atomic_fetch_add_explicit(&table->used, 1,
		    memory_order_relaxed);
	return true;
}

/* ---- By address ---------------------------------------------------------- */

/* The first row of `home`'s window that has `wanted`. */
static struct ac_row *
find(const struct ac_rows *rows, const void *home, uintptr_t wanted)
{
	const uint64_t hash = (uint64_t)(uintptr_t)home
	    * UINT64_C(0x9E3779B97F4A7C15) >> (64 - rows->bits);
	char *at = (char *)rows->first + (size_t)hash * rows->bytes;

	for (unsigned i = 0; i < rows->window; i++, at += rows->bytes) {
		struct ac_row *row = (struct ac_row *)at;

		if (atomic_load_explicit(&row->address, memory_order_acquire)
		    == wanted)
			return row;
	}
	return NULL;
}

struct ac_row *
ac_rows_find(const struct ac_rows *rows, const void *address)
{
	return address ? find(rows, address, (uintptr_t)address) : NULL;
}

struct ac_row *
ac_rows_take(const struct ac_rows *rows, const void *address)
{
	struct ac_row *row = ac_rows_find(rows, address);

	if (row)
		ac_row_set(row, NULL);
	return row ? row : find(rows, address, 0);
}
