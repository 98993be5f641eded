/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/size_class.c -- the table of classes, and the arithmetic of
 * credit. */
#include "shim/trial/size_class.h"

#include "base/mapped.h"

#include <string.h>

enum {
	BITS = 12,              /* of the number of slots */
	GAIN = 2, LOSS = 50,    /* of ac_credit_affords() */
	/* What comes on top of a try's product: three launches and the
	 * sample. */
	TRY_NS = 10000
};

static ac_table_slot slots[1 << BITS];
static struct ac_table table = { slots, BITS, 1 << (BITS - 1), 0 };

/* The power of two that is not below. */
static uint64_t
power(int64_t size)
{
	return size > 1 ? 64 - (uint64_t)__builtin_clzll((uint64_t)size - 1)
	    : 0;
}

static uint64_t
candidates_of(const struct ac_decision *decision)
{
	uint64_t word = decision->is_doubtful;

	for (unsigned i = 0; i < decision->candidate_count; i++)
		word = word << 8 | (uint64_t)decision->candidate[i].rung << 4
		    | (uint64_t)decision->candidate[i].tactic;
	return word;
}

/* The entry of `key`, made if it is new. */
static struct ac_size_class *
entry_of(const uint64_t key[5])
{
	const size_t bytes = sizeof ((struct ac_size_class *)NULL)->key;
	const uint64_t hash = ac_table_hash(key, bytes);
	struct ac_size_class *made = NULL;

	for (;;) {
		struct ac_table_entry *there;
		ac_table_slot *slot = ac_table_find(&table, hash, key, bytes,
		    &there);

		if (!slot || there)
			return (struct ac_size_class *)there;
		if (!made && !(made = ac_mapped_take(sizeof *made)))
			return NULL;
		made->entry.hash = hash;
		memcpy(made->key, key, bytes);
		if (ac_table_put(&table, slot, NULL, &made->entry))
			return made;
	}
}

struct ac_size_class *
ac_size_class_of(const uint64_t place[2], const int64_t size[4],
    const struct ac_decision *decision)
{
	const uint64_t all[5] = { place[0], place[1], 0, 0, UINT64_MAX };
	const uint64_t key[5] = {
		place[0], place[1],
		power(size[0]) | power(size[1]) << 8 | power(size[2]) << 16
		    | power(size[3]) << 24 | (uint64_t)decision->line << 32,
		(uint64_t)(uintptr_t)decision->source,
		candidates_of(decision),
	};
	struct ac_size_class *sizes = entry_of(all), *made = entry_of(key);

	if (!made || !sizes)
		return NULL;
	atomic_store(&made->calls, &sizes->own_calls);
	return made;
}

/* ---- Credit -------------------------------------------------------------- */

static uint64_t
nanoseconds(double seconds)
{
	return seconds > 0 && seconds < 1e6 ? (uint64_t)(seconds * 1e9) : 0;
}

bool
ac_credit_is_kept(const struct ac_decision *decision)
{
	return decision->judges_profit && decision->keep_seconds > 0
	    && decision->guard == AC_GUARD_ON;
}

void
ac_credit_count(struct ac_credit *credit, const struct ac_decision *decision)
{
	const double gain = decision->keep_seconds
	    - decision->candidate[0].seconds;

	atomic_fetch_add_explicit(&credit->spent,
	    nanoseconds(decision->keep_seconds), memory_order_relaxed);
	atomic_fetch_add_explicit(&credit->saved, nanoseconds(gain),
	    memory_order_relaxed);
}

static uint64_t
cost_of(const struct ac_decision *decision, uint32_t bits)
{
	uint64_t cost = 0;

	for (unsigned i = 0; i < decision->candidate_count; i++)
		if (bits >> i & 1)
			cost += nanoseconds(decision->candidate[i].seconds)
			    + TRY_NS;
	return cost;
}

bool
ac_credit_affords(const struct ac_credit *credit,
    const struct ac_decision *decision, uint32_t bits)
{
	const uint64_t cost = credit->tries + cost_of(decision, bits);

	return !ac_credit_is_kept(decision) || credit->saved >= GAIN * cost
	    || credit->spent >= LOSS * cost;
}

void
ac_credit_charge(struct ac_credit *credit, const struct ac_decision *decision,
    uint32_t bits)
{
	atomic_fetch_add_explicit(&credit->tries, cost_of(decision, bits),
	    memory_order_relaxed);
}
