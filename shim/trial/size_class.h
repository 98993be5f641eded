/* SPDX-License-Identifier: Apache-2.0 */
/* shim/trial/size_class.h -- what calls of one place and of like sizes share:
 * what is known of their accuracy, and whether it pays to find out more.
 *
 * A place is a function, a return address, transposes, types, and the line of
 * the policy that decided. Like sizes have m, n, k and batch between the same
 * powers of two. A program whose sizes vary (tokens, routing) would spend more
 * on trying each of them than it gains. */
#ifndef AC_SHIM_SIZE_CLASS_H
#define AC_SHIM_SIZE_CLASS_H

#include "base/table.h"
#include "policy/policy.h"

#include <stdatomic.h>

/* Predicted times, in nanoseconds: never a clock's, so that what happens when
 * depends on the calls alone. */
struct ac_credit {
	_Atomic uint64_t spent;     /* on the calls so far */
	_Atomic uint64_t saved;     /* what recasting all of them would have */
	_Atomic uint64_t tries;     /* on trying candidates */
};

struct ac_verdicts;

struct ac_size_class {
	struct ac_table_entry entry;
	uint64_t key[5];
	_Atomic(struct ac_verdicts *) verdicts; /* trial.c's; NULL: none yet */
	struct ac_credit credit;
	/* Of the class, and of all sizes at its place: calls are numbered by
	 * these, so that what is promised in calls is in calls of a place. */
	_Atomic uint64_t own_calls;
	_Atomic(_Atomic uint64_t *) calls;
};

/* The class of calls from `place` (a return address and a form) with these
 * sizes, under `decision`, with its candidates in its order; NULL: the table is
 * full. Any thread; never freed. */
struct ac_size_class *ac_size_class_of(const uint64_t place[2],
    const int64_t size[4], const struct ac_decision *decision);

/* Whether times are predicted, so that there is a credit to go by. */
bool ac_credit_is_kept(const struct ac_decision *decision);

/* One more call. */
void ac_credit_count(struct ac_credit *credit,
    const struct ac_decision *decision);

/* Whether trying the candidates in `bits` is paid for: recasting the calls so
 * far would have saved twice what all tries cost, or the calls took fifty times
 * that. */
bool ac_credit_affords(const struct ac_credit *credit,
    const struct ac_decision *decision, uint32_t bits);

/* They were tried. */
void ac_credit_charge(struct ac_credit *credit,
    const struct ac_decision *decision, uint32_t bits);

#endif
