/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/sites.c -- sites by their queries, for any number of threads. */
#include "shim/site/sites.h"

#include "shim/site/site.h"

#include <string.h>

enum { PROBES = 64 };

static uint64_t
hash_of(const void *query, size_t bytes)
{
	uint64_t hash = UINT64_C(0x9E3779B97F4A7C15), word;

	for (size_t i = 0; i < bytes; i += sizeof word) {
		memcpy(&word, (const char *)query + i, sizeof word);
		hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
		hash ^= hash >> 32;
	}
	return hash;
}

/* As `table` makes it, of the generation that was before it was decided: if
 * that ends meanwhile, it is decided again. */
static struct ac_site_head *
make(struct ac_sites *table, const void *query, uint64_t hash,
    struct ac_site_head *there)
{
	const uint32_t generation = atomic_load_explicit(&ac_binding_generation,
	    memory_order_acquire);
	struct ac_site_head *made;

	if (!there && atomic_load_explicit(&table->used, memory_order_relaxed)
	    >= table->slot_count / 2)
		return NULL;
	made = table->make(query, there);
	if (!made)
		return NULL;
	if (made != there)
		made->hash = hash;
	atomic_store_explicit(&made->generation, generation,
	    memory_order_relaxed);
	return made;
}

struct ac_site_head *
ac_sites_find(struct ac_sites *table, const void *query,
    size_t bytes)
{
	const uint64_t hash = hash_of(query, bytes);
	unsigned i = 0;

	while (i < PROBES) {
		_Atomic(struct ac_site_head *) *slot =
		    &table->slots[(hash + i) & (table->slot_count - 1)];
		struct ac_site_head *there = atomic_load_explicit(slot,
		    memory_order_acquire), *was = there, *made;

		if (there && (there->hash != hash
		    || memcmp(there + 1, query, bytes))) {
			i++;
			continue;
		}
		if (there && atomic_load_explicit(&there->generation,
		    memory_order_relaxed) == atomic_load_explicit(
		    &ac_binding_generation, memory_order_acquire))
			return there;
		made = make(table, query, hash, there);
		if (!made)
			return NULL;
		/* Another thread may have been first: look again. */
		if (!atomic_compare_exchange_strong_explicit(slot, &was, made,
		    memory_order_acq_rel, memory_order_acquire))
			continue;
		if (!there)
			atomic_fetch_add_explicit(&table->used, 1,
			    memory_order_relaxed);
		return made;
	}
	return NULL;
}
