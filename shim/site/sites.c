/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/sites.c -- sites by their queries, for any number of threads. */
#include "shim/site/sites.h"

#include "shim/bind/provider.h"

/* A site is of the generation that was before it was decided: if that ends
 * meanwhile, it is decided again. */
struct ac_table_entry *
ac_sites_find(struct ac_sites *sites, uint64_t hash, const void *query,
    size_t bytes)
{
	for (;;) {
		const uint32_t generation = atomic_load_explicit(
		    &ac_binding_generation, memory_order_acquire);
		struct ac_table_entry *there, *site;
		ac_table_slot *slot = ac_table_find(&sites->table, hash, query,
		    bytes, &there);

		if (!slot || (there && atomic_load_explicit(&there->generation,
		    memory_order_relaxed) == generation))
			return there;
		site = sites->make(query, there);
		if (!site)
			return NULL;
		if (site != there)
			site->hash = hash;
		atomic_store_explicit(&site->generation, generation,
		    memory_order_relaxed);
		if (ac_table_put(&sites->table, slot, there, site))
			return site;
	}
}
