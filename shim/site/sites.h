/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/sites.h -- the table in which convolutions, RNNs and scaling find
 * what was decided. Products are found without a call (shim/site/site.h). */
#ifndef AC_SHIM_SITES_H
#define AC_SHIM_SITES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What each site of a table begins with, and is the table's; its query follows
 * at once. */
struct ac_site_head {
	uint64_t         hash;       /* of the query */
	_Atomic uint32_t generation; /* of decisions; see shim/site/site.h */
};

/* Open addressing, published by compare-and-swap, never emptied. */
struct ac_sites {
	_Atomic(struct ac_site_head *) *slots;
	size_t slot_count;                 /* a power of two; half are used */
	/* A site of `query`, decided, in memory that is never freed. `there` is
	 * the one of an older generation, or NULL: it is returned itself where
	 * the decision is the same, since programs unload libraries by the
	 * thousand. NULL: there is no room. Any thread, several at a time for
	 * one query. */
	struct ac_site_head *(*make)(const void *query,
	    struct ac_site_head *there);
	_Atomic size_t used;
};

/* The site whose query begins with `bytes` bytes as these, whole words, that
 * tell it from all others; made if it is new, and again once a module was
 * unloaded. NULL: there is no room for it. Any thread, no lock. */
struct ac_site_head *ac_sites_find(struct ac_sites *table,
    const void *query, size_t bytes);

#endif
