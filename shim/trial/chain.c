/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/chain.c -- a table of Cs, by address: who wrote there last; and
 * one of what each origin did with each, all of which is read when a sum has
 * cancelled. Two threads that write one entry at once may tear it: then a
 * writer is missed, or one too many leaves. */
#include "shim/trial/chain.h"

#include <stddef.h>

#define MIX UINT64_C(0x9E3779B97F4A7C15)
enum { CS_BITS = 10, LINKS_BITS = 11, LINKS = 1 << LINKS_BITS };

static struct written {
	_Atomic uintptr_t c;
	_Atomic(struct ac_origin *) by;
} cs[1 << CS_BITS];

/* What calls of one origin last did with one C, each kind apart: a place that
 * begins each sum, and ends it, has begun the next one when it is heard that
 * the last one cancelled. */
static struct link {
	_Atomic uintptr_t from, to;
	_Atomic(struct ac_origin *) by;     /* NULL: no entry */
	_Atomic uint64_t when;
	_Atomic uint32_t kind;
} links[LINKS];
static _Atomic uint64_t now = 1;

#define SET(to, value) \
	atomic_store_explicit(&(to), value, memory_order_relaxed)

/* Entries may lie so far behind their place. Where they collide depends on
 * addresses, which no run shares with another: while there is room, nothing
 * that is decided does. */
enum { NEAR = 16 };

/* That of `c`, or the one to be its. */
__attribute__((noinline))
static struct written *
find_written(uintptr_t c, size_t home)
{
	struct written *first = NULL;

	for (size_t i = 0; i < NEAR; i++) {
		struct written *w = &cs[(home + i) % (1 << CS_BITS)];

		if (w->c == c)
			return w;
		if (!w->c && !first)
			first = w;
	}
	return first ? first : &cs[home];
}

static inline bool
is_of(const struct link *l, uintptr_t from, const struct ac_origin *origin,
    enum ac_chain_kind kind)
{
	return l->from == from && l->by == origin && l->kind == kind;
}

/* Where there is no room, the oldest. */
__attribute__((noinline))
static struct link *
find_link(uintptr_t from, const struct ac_origin *origin,
    enum ac_chain_kind kind, size_t home)
{
	struct link *oldest = &links[home];

	for (size_t i = 0; i < NEAR; i++) {
		struct link *l = &links[(home + i) % LINKS];

		if (is_of(l, from, origin, kind))
			return l;
		if (l->when < oldest->when)
			oldest = l;
	}
	return oldest;
}

struct ac_origin *
ac_chain_note(struct ac_origin *origin, const void *c, uint64_t bytes,
    enum ac_chain_kind kind)
{
	const uintptr_t from = (uintptr_t)c;
	const size_t at = from * MIX >> (64 - CS_BITS);
	const size_t home = (from ^ ((uintptr_t)origin + (unsigned)kind)
	    * MIX) * MIX >> (64 - LINKS_BITS);
	struct written *w = cs[at].c == from ? &cs[at]
	    : find_written(from, at);
	struct link *l = is_of(&links[home], from, origin, kind) ? &links[home]
	    : find_link(from, origin, kind, home);
	struct ac_origin *last = kind != AC_CHAIN_WRITES && w->c == from
	    ? w->by : NULL;

	if (kind != AC_CHAIN_READS) {
		SET(w->c, from);
		SET(w->by, origin);
	}
	SET(l->from, from);
	SET(l->to, from + bytes);
	SET(l->by, origin);
	SET(l->when, now++);
	SET(l->kind, kind);
	return last;
}

/* When all of what `l` adds to was last written whole; 0: that is not known, or
 * the program has done so again since. */
static uint64_t
begun(const struct link *l)
{
	uint64_t when = 0;

	for (unsigned i = 0; i < LINKS; i++)
		if (links[i].by && links[i].kind == AC_CHAIN_WRITES
		    && links[i].from <= l->from && links[i].to >= l->to
		    && links[i].when > when && links[i].when < l->when)
			when = links[i].when;
	return when;
}

static void
add(struct ac_origin *one, struct ac_origin **all, unsigned *count)
{
	for (unsigned i = 0; i < *count; i++)
		if (all[i] == one)
			return;
	if (*count <= AC_CHAIN_MOST)
		all[(*count)++] = one;
}

/* Of one C that was added to: add all origins that have a part in it. One whose
 * sum was written over since has none, if that is known. */
static void
find(const struct link *l, struct ac_origin **all, unsigned *count)
{
	const uint64_t since = begun(l);

	for (unsigned i = 0; i < LINKS; i++)
		if (links[i].by && links[i].kind != AC_CHAIN_READS
		    && links[i].from < l->to && links[i].to > l->from
		    && links[i].when >= since && (!since
		    || links[i].kind == AC_CHAIN_ADDS
		    || links[i].when < l->when))
			add(links[i].by, all, count);
}

/* Each that is found is asked for its own in turn. */
unsigned
ac_chain_writers(struct ac_origin *origin,
    struct ac_origin *writers_out[AC_CHAIN_MOST])
{
	struct ac_origin *all[1 + AC_CHAIN_MOST] = { origin };
	unsigned count = 1;

	for (unsigned asked = 0; asked < count; asked++)
		for (unsigned i = 0; i < LINKS; i++)
			if (links[i].by == all[asked]
			    && links[i].kind != AC_CHAIN_WRITES)
				find(&links[i], all, &count);
	for (unsigned i = 1; i < count; i++)
		writers_out[i - 1] = all[i];
	return count - 1;
}
