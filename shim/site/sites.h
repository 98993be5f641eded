/* SPDX-License-Identifier: Apache-2.0 */
/* shim/site/sites.h -- how sites are found by what is asked about a call, and
 * decided where they are new. Products have the first look in line
 * (shim/site/site.h). */
#ifndef AC_SHIM_SITES_H
#define AC_SHIM_SITES_H

#include "base/table.h"

/* Sites by their queries: those are the keys. */
struct ac_sites {
	struct ac_table table;
	/* A site of `query`, decided, in memory that is never freed. `there` is
	 * the one of an older generation (shim/bind/provider.h), or NULL: it is
	 * returned itself where the decision is the same, since programs unload
	 * libraries by the thousand. NULL: there is no room. Any thread,
	 * several at a time for one query. */
	struct ac_table_entry *(*make)(const void *query,
	    struct ac_table_entry *there);
};

/* The site whose query begins with `bytes` bytes as these, made if it is new,
 * and again in each generation. NULL: there is no room for it. Any thread, no
 * lock. */
struct ac_table_entry *ac_sites_find(struct ac_sites *sites, uint64_t hash,
    const void *query, size_t bytes);

#endif
