/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/pair.c -- finds and takes operand pairs; open addressing, never
 * emptied. */
#include "shim/trial/pair.h"

enum { PROBES = 64, BITS = 63 };

/* False: another thread did, for what `there_out` says. */
static bool
take(struct ac_pairs *pairs, unsigned at, uint64_t key, uint64_t *there_out)
{
	const uint32_t before = atomic_fetch_add_explicit(&pairs->met, 1,
	    memory_order_relaxed);

	*there_out = 0;
	if (atomic_compare_exchange_strong(&pairs->of[at].key, there_out,
	    key | before % BITS))
		return true;
	atomic_fetch_sub_explicit(&pairs->met, 1, memory_order_relaxed);
	return false;
}

unsigned
ac_pair_search(struct ac_pairs *pairs, uint64_t key)
{
	if (!key)
		return AC_PAIR_OTHERS;
	for (unsigned i = 0; i < PROBES; i++) {
		const unsigned at = ac_pair_slot(key, i);
		uint64_t there = atomic_load_explicit(&pairs->of[at].key,
		    memory_order_acquire);

		if (!there && take(pairs, at, key, &there))
			return at;
		if (ac_pair_is(there, key))
			return at;
	}
	return AC_PAIR_OTHERS;
}

unsigned
ac_pair_count_out(const struct ac_pairs *pairs, uint32_t bits)
{
	unsigned count = 0;

	if (!pairs->any_out)
		return 0;
	for (unsigned i = 0; i < AC_PAIR_OTHERS; i++)
		count += (pairs->of[i].out & bits) == bits;
	return count;
}
