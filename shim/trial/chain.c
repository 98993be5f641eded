/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/chain.c -- the table of Cs. Threads that write one C at a time may
 * lose a writer; a program that did so would have lost its sum. */
#include "shim/trial/chain.h"

#include <stddef.h>

struct ac_chain_c ac_chain_cs[1 << AC_CHAIN_BITS];

static struct ac_origin *
writer(const struct ac_chain_c *w, unsigned i)
{
	return atomic_load_explicit(&w->by[i], memory_order_relaxed);
}

/* C begins anew. */
static void
begin(struct ac_chain_c *w, uintptr_t c, struct ac_origin *origin)
{
	atomic_store_explicit(&w->c, c, memory_order_relaxed);
	atomic_store_explicit(&w->by[0], origin, memory_order_relaxed);
	for (unsigned i = 1; i < AC_CHAIN_LINKS; i++)
		atomic_store_explicit(&w->by[i], NULL, memory_order_relaxed);
}

/* A fifth one takes the place of the last. */
static void
link_with(struct ac_chain *chain, struct ac_origin *other)
{
	unsigned i = 0;

	for (; i < AC_CHAIN_LINKS - 1; i++) {
		const struct ac_origin *there = atomic_load_explicit(
		    &chain->with[i], memory_order_relaxed);

		if (there == other)
			return;
		if (!there)
			break;
	}
	atomic_store_explicit(&chain->with[i], other, memory_order_release);
}

bool
ac_chain_search(struct ac_chain *chain, struct ac_origin *origin,
    const void *c, bool adds)
{
	struct ac_chain_c *w = ac_chain_at(c);
	const bool is_known = atomic_load_explicit(&w->c, memory_order_relaxed)
	    == (uintptr_t)c;
	unsigned i = 0;

	if (!adds || !is_known) {
		begin(w, (uintptr_t)c, origin);
		return false;
	}
	for (; i < AC_CHAIN_LINKS && writer(w, i); i++)
		if (writer(w, i) != origin)
			link_with(chain, writer(w, i));
	for (unsigned j = 0; j < i; j++)
		if (writer(w, j) == origin)
			return true;
	atomic_store_explicit(&w->by[i < AC_CHAIN_LINKS ? i
	    : AC_CHAIN_LINKS - 1], origin, memory_order_relaxed);
	return true;
}

bool
ac_chain_read(struct ac_chain *chain, const struct ac_origin *origin,
    const void *c)
{
	const struct ac_chain_c *w = ac_chain_at(c);
	const bool is_known = atomic_load_explicit(&w->c, memory_order_relaxed)
	    == (uintptr_t)c;

	for (unsigned i = 0; is_known && i < AC_CHAIN_LINKS; i++)
		if (writer(w, i) && writer(w, i) != origin)
			link_with(chain, writer(w, i));
	return is_known;
}
