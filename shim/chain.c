/* SPDX-License-Identifier: Apache-2.0 */
/* shim/chain.c -- the table of Cs. Threads that write one C at a time may lose a
 * writer; a program that did so would have lost its sum. */
#include "shim/chain.h"

#include <stddef.h>
#include <stdint.h>

enum { CS = 64 };

struct written {
	_Atomic uintptr_t c;
	_Atomic(struct ac_trial *) by[AC_CHAIN_LINKS];
};
static struct written table[CS];

static struct written *
written_of(uintptr_t c)
{
	return &table[(uint64_t)c * UINT64_C(0x9E3779B97F4A7C15) >> 58];
}

static struct ac_trial *
writer(const struct written *w, unsigned i)
{
	return atomic_load_explicit(&w->by[i], memory_order_relaxed);
}

/* C begins anew. */
static void
begin(struct written *w, uintptr_t c, struct ac_trial *trial)
{
	atomic_store_explicit(&w->c, c, memory_order_relaxed);
	atomic_store_explicit(&w->by[0], trial, memory_order_relaxed);
	for (unsigned i = 1; i < AC_CHAIN_LINKS; i++)
		atomic_store_explicit(&w->by[i], NULL, memory_order_relaxed);
}

/* A fifth one takes the place of the last. */
static void
link_with(struct ac_chain *chain, struct ac_trial *other)
{
	unsigned i = 0;

	for (; i < AC_CHAIN_LINKS - 1; i++) {
		const struct ac_trial *there = atomic_load_explicit(
		    &chain->with[i], memory_order_relaxed);

		if (there == other)
			return;
		if (!there)
			break;
	}
	atomic_store_explicit(&chain->with[i], other, memory_order_release);
}

bool
ac_chain_note(struct ac_chain *chain, struct ac_trial *trial, const void *c,
    bool adds)
{
	struct written *w = written_of((uintptr_t)c);
	const bool is_known = atomic_load_explicit(&w->c, memory_order_relaxed)
	    == (uintptr_t)c;
	unsigned i = 0;

	if (!adds || !is_known) {
		if (!is_known || writer(w, 0) != trial || writer(w, 1))
			begin(w, (uintptr_t)c, trial);
		return false;
	}
	for (; i < AC_CHAIN_LINKS && writer(w, i); i++)
		if (writer(w, i) != trial)
			link_with(chain, writer(w, i));
	for (unsigned j = 0; j < i; j++)
		if (writer(w, j) == trial)
			return true;
	atomic_store_explicit(&w->by[i < AC_CHAIN_LINKS ? i
	    : AC_CHAIN_LINKS - 1], trial, memory_order_relaxed);
	return true;
}
