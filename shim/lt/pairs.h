/* SPDX-License-Identifier: Apache-2.0 */
/* shim/lt/pairs.h -- words compared two at a time, for what every call
 * compares: a call of memcmp() takes twice as long. */
#ifndef AC_SHIM_LT_PAIRS_H
#define AC_SHIM_LT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t ac_lt_pair __attribute__((vector_size(16)));
/* The same wherever it is. */
typedef uint64_t ac_lt_loose_pair
    __attribute__((vector_size(16), aligned(8), may_alias));

/* What differs in the pair of that number. */
static inline ac_lt_pair
ac_lt_xor(const void *left, const void *right, unsigned number)
{
	return ((const ac_lt_loose_pair *)left)[number]
	    ^ ((const ac_lt_loose_pair *)right)[number];
}

static inline bool
ac_lt_is_none(ac_lt_pair bits)
{
	return !(bits[0] | bits[1]);
}

#endif
